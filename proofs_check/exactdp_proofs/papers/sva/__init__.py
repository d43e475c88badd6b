"""Claims of SVA; the file names are the paper's own numbers."""
