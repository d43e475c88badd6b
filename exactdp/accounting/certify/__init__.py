"""Shared by all accounting: decisions, decimal grids, certified searches, sums on lattices."""
