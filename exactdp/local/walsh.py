"""The Walsh-Hadamard transform in exact integers, and signs of single entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def walsh(values: Integers) -> Integers:
    """sum over y of values[..., y] (-1)^<x, y> for every x.

    values: integers; the length of the last axis is a power of two. Exact if the sums of absolute
    values fit int64.

    >>> walsh(np.array([3, 1, 0, 0]))
    array([4, 2, 4, 2])
    """
    size = values.shape[-1]
    transformed, half = values.astype(np.int64), 1
    while half < size:
        pairs = transformed.reshape(*values.shape[:-1], size // (2 * half), 2, half)
        total, difference = pairs.sum(axis=-2), pairs[..., 0, :] - pairs[..., 1, :]
        transformed = np.stack([total, difference], axis=-2)
        half *= 2
    return transformed.reshape(values.shape)


def parity(words: Integers, bits: int = 63) -> Integers:
    """The sum of the lowest `bits` bits of every word, modulo 2."""
    folded = words.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        if shift < bits:
            folded ^= folded >> shift
    return folded & 1
