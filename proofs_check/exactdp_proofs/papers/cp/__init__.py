"""Claims of CP; the file names are the paper's own numbers."""
