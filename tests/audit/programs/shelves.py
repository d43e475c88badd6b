"""Modules in which programs keep something, by every way in which code gets at them."""

memo = None
first = None


class Thing:
    """Of this module."""
