"""Accountants in the shape that other libraries expect, with certified answers."""
