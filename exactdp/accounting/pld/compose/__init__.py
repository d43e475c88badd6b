"""Compositions of measures on a grid, in doubles or balls, with bounds of all errors."""
