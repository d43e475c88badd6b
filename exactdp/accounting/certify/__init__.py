"""What all accounting shares: decisions, decimal grids, certified searches, sums on lattices."""
