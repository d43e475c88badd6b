"""Certified privacy loss distributions: bounds of delta and epsilon from both sides."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
