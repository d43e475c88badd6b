"""Claims of BV; the file names are the paper's own numbers."""
