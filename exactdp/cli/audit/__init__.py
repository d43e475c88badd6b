"""exactdp audit: look for outputs that break a promise, or check a number somebody printed."""
