"""Exact choices for many users at once, as arrays; an enumeration branches over every one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers import Source

__all__ = ["Bits", "Integers", "below", "coins"]

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]


def coins(p: Fraction, n: int, source: Source) -> Bits:
    """n independent bits, True with probability p."""
    words = source.coins(n, p)
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").view(np.bool_)


def below(size: int, n: int, source: Source) -> Integers:
    """n independent uniform integers in [0, size)."""
    return source.below_many(n, size)
