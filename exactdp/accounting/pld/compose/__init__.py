"""Compositions of measures on a grid, in doubles, balls or integers, with bounds of all errors."""
