"""Claims of CSH; the file names are the paper's own numbers."""
