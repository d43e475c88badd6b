"""Another module with names like those of shelves.py."""

memo = None
