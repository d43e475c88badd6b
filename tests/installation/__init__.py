"""The wheel and each extra alone, in environments that have nothing else."""
