"""Claims of ALP; the file names are the paper's own numbers."""
