"""Exact samplers of noise from uniform random bits; each sampler has an exact law."""

from exactdp.lazy import face

__getattr__, __dir__, __all__ = face(__name__)
