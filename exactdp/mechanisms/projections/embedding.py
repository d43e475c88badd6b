"""The bit array: unary codes hashed level by level, then flipped at random (ALP, Algorithm 2).

Level b (from 0) has the bits b s, ..., b s + s - 1; bit b s + h_b(i) is set where the level of
entry i is above b. The array is packed, 8 bits to a byte, the first bit lowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.hashing import HashFunctions, Keys
from exactdp.samplers import Source

__all__ = ["Bits", "Layer", "embed", "peaks"]

Bits = NDArray[np.uint8]

#: Bits laid out at once, so that they stay in cache.
_LAID_OUT = 1 << 21


class Layer:
    """Entries with levels from 0 to m, for m levels of the array."""

    def __init__(self, ids: NDArray[Any], levels: NDArray[np.int64], hashes: HashFunctions) -> None:
        order = np.argsort(-levels, kind="stable")
        self._keys, self._falling = hashes.keys(ids[order]), -levels[order]
        self._hashes = hashes

    def rows(self, place: int, b: int) -> NDArray[np.intp]:
        """Where the entries of a level above b are, by the hash function of a place."""
        above = int(np.searchsorted(self._falling, -b, side="left"))
        if not above:
            return np.empty(0, np.intp)
        return self._hashes.rows(self._keys[:, :above], place).astype(np.intp)


def embed(layers: Sequence[Layer], s: int, m: int, flip: Fraction, source: Source) -> Bits:
    """The noisy array of s rows and m levels for each layer."""
    size = s * m * len(layers)
    noise = source.coins(size, flip).astype("<u8", copy=False).view(np.uint8)
    bits = noise[: -(-size // 8)]
    together = max(_LAID_OUT // s // 8 * 8, 8)  # levels come in eights: whole bytes
    for start in range(0, m * len(layers), together):
        stop = min(start + together, m * len(layers))
        laid_out = np.zeros((stop - start) * s, np.uint8)
        for place in range(start, stop):
            rows = layers[place // m].rows(place, place % m)
            laid_out[(place - start) * s :][rows] = 1
        packed = np.packbits(laid_out, bitorder="little")
        bits[start * s // 8 :][: packed.size] ^= packed
    return bits


def peaks(
    bits: Bits, keys: Keys, hashes: HashFunctions, s: int, walk: Sequence[tuple[int, bool]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the partial sums of each entry's +-1 bits are largest: sum and number of the places.

    walk: the places of the array in the order they are read in, and whether a 1 is a -1 there.
    Source: ALP, Algorithm 3.
    """
    n = keys.shape[1]
    below = np.zeros(n, np.int64)  # how far the partial sum is below the top so far
    total, count = np.zeros(n, np.int64), np.ones(n, np.int64)
    for step, (place, turned) in enumerate(walk, 1):
        where = hashes.rows(keys, place)
        where += np.uint64(place * s)
        byte = bits[(where >> np.uint64(3)).astype(np.intp)]
        bit = byte >> (where & np.uint64(7)).astype(np.uint8) & np.uint8(1)
        below += np.where(bit ^ turned, -1, 1)
        top, fresh = below == 0, np.flatnonzero(below < 0)
        count += top
        total += top * step
        below[fresh], count[fresh], total[fresh] = 0, 1, step
    return total, count
