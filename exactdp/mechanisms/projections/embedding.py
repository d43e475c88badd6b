"""The bit array: unary codes hashed level by level, then flipped at random (ALP, Algorithm 2).

Level b (from 0) has the bits b s, ..., b s + s - 1; bit b s + h_b(i) is set where the level of
entry i is above b. Where levels share one array of s bits it is bit h_b(i). The array is packed, 8
bits to a byte, the first bit lowest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.universal_hashing import HashFunctions, Keys
from exactdp.samplers import Source

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


@dataclass(frozen=True)
class Layout:
    """Where the bits are. rows: of a level. places: levels in all. shared: one array for all."""

    rows: int
    places: int
    shared: bool = False

    @property
    def size(self) -> int:
        """Bits in all."""
        return self.rows if self.shared else self.rows * self.places

    def start(self, place: int) -> int:
        """The first bit of a level."""
        return 0 if self.shared else self.rows * place


def embed(layers: Sequence[Layer], layout: Layout, m: int, flip: Fraction, source: Source) -> Bits:
    """The noisy array of m levels for each layer."""
    noise = source.coins(layout.size, flip).astype("<u8", copy=False).view(np.uint8)
    bits = noise[: -(-layout.size // 8)]
    together = max(_LAID_OUT // layout.rows // 8 * 8, 8)  # levels come in eights: whole bytes
    together = layout.places if layout.shared else together
    for first in range(0, layout.places, together):
        last = min(first + together, layout.places)
        start = layout.start(first)
        laid_out = np.zeros(layout.size if layout.shared else layout.start(last) - start, np.uint8)
        for place in range(first, last):
            rows = layers[place // m].rows(place, place % m)
            laid_out[layout.start(place) - start :][rows] = 1
        packed = np.packbits(laid_out, bitorder="little")
        bits[start // 8 :][: packed.size] ^= packed
    return bits


def peaks(
    bits: Bits, keys: Keys, hashes: HashFunctions, layout: Layout, walk: Sequence[tuple[int, bool]]
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
        where += np.uint64(layout.start(place))
        below += np.where(_read(bits, where) ^ turned, -1, 1)
        top, fresh = below == 0, np.flatnonzero(below < 0)
        count += top
        total += top * step
        below[fresh], count[fresh], total[fresh] = 0, 1, step
    return total, count


def peak(bits: Bits, where: NDArray[np.uint64], turned: NDArray[np.bool_]) -> Fraction:
    """The average place where the partial sums of one entry's +-1 bits are largest.

    where: the bits of the walk, in the order they are read in. turned: whether a 1 is a -1 there.
    Source: ALP, Algorithm 3.
    """
    sums = np.cumsum(np.where(_read(bits, where) ^ turned, 1, -1))
    largest = max(int(sums.max()), 0)
    steps = np.flatnonzero(sums == largest) + 1
    return Fraction(int(steps.sum()), len(steps) + (largest == 0))  # the sum before step 1 is 0


def _read(bits: Bits, where: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits at these places of the packed array."""
    byte = bits[(where >> np.uint64(3)).astype(np.intp)]
    bit: NDArray[np.uint8] = byte >> (where & np.uint64(7)).astype(np.uint8) & np.uint8(1)
    return bit
