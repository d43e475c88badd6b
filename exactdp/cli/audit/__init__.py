"""exactdp audit: search for violations of a privacy claim, or check a stated number."""
