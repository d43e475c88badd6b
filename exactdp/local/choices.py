"""Exact choices for many users at once.

What a mechanism does with them is written once, for arrays. For a few users they are the single
choices of a source, which an enumeration follows; for many they are bulk draws of the same law.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers import Bernoulli, Source, UniformInteger

__all__ = ["Bits", "Integers", "below", "coins"]

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: So many choices are made one by one.
FEW = 16


def coins(p: Fraction, n: int, source: Source) -> Bits:
    """n independent bits, True with probability p."""
    if n <= FEW:
        return np.array([source.bernoulli(p) for _ in range(n)], dtype=bool)
    return Bernoulli(p).sample_many(n, source).astype(bool)


def below(size: int, n: int, source: Source) -> Integers:
    """n independent uniform integers in [0, size)."""
    if n <= FEW:
        return np.array([source.below(size) for _ in range(n)], dtype=np.int64)
    return UniformInteger(0, size - 1).sample_many(n, source)
