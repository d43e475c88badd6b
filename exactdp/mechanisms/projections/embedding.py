"""The bit array: unary codes hashed level by level, then randomly flipped bits.

Level b (from 0) has the bits b s, ..., b s + s - 1; bit b s + h_b(i) is set if the level of entry i
is above b. If all levels share one array of s bits, bit h_b(i) is set instead. The array is packed
into bytes, lowest bit first. Source: Aumüller, Lebeda and Pagh (ALP), Algorithm 2.
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

#: Bits that are processed at a time, so that they stay in cache.
_LAID_OUT = 1 << 21


class Layer:
    """Entries and their levels, integers from 0 to m, for m levels of the array."""

    def __init__(self, ids: NDArray[Any], levels: NDArray[np.int64], hashes: HashFunctions) -> None:
        order = np.argsort(-levels, kind="stable")
        self._keys, self._falling = hashes.keys(ids[order]), -levels[order]
        self._hashes = hashes

    def rows(self, place: int, b: int) -> NDArray[np.intp]:
        """Rows of the entries with a level above b, by the hash function of level `place`."""
        above = int(np.searchsorted(self._falling, -b, side="left"))
        if not above:
            return np.empty(0, np.intp)
        return self._hashes.rows(self._keys[:, :above], place).astype(np.intp)


@dataclass(frozen=True)
class Layout:
    """The array's layout. rows: per level. places: number of levels. shared: one array for all."""

    rows: int
    places: int
    shared: bool = False

    @property
    def size(self) -> int:
        """Number of bits of the array."""
        return self.rows if self.shared else self.rows * self.places

    def start(self, place: int) -> int:
        """Index of the first bit of a level."""
        return 0 if self.shared else self.rows * place


def embed(layers: Sequence[Layer], layout: Layout, m: int, flip: Fraction, source: Source) -> Bits:
    """The noisy array, with m levels for each layer. flip: probability that a bit is flipped."""
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
    """Times at which each entry's random walk of +-1 bits is at its maximum.

    walk: the levels of the array in the order of reading, and whether a bit 1 counts as -1 there.
    Returns the sum and the number of these times, for each entry. Source: ALP, Algorithm 3.
    """
    n = keys.shape[1]
    below = np.zeros(n, np.int64)  # distance of the partial sum to its maximum so far
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
    """The average time at which the random walk of one entry's +-1 bits is at its maximum.

    where: indices of the bits, in the order of reading. turned: whether a bit 1 counts as -1.
    Source: ALP, Algorithm 3.
    """
    sums = np.cumsum(np.where(_read(bits, where) ^ turned, 1, -1))
    largest = max(int(sums.max()), 0)
    steps = np.flatnonzero(sums == largest) + 1
    return Fraction(int(steps.sum()), len(steps) + (largest == 0))  # the sum before step 1 is 0


def _read(bits: Bits, where: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits at these indices of the packed array."""
    byte = bits[(where >> np.uint64(3)).astype(np.intp)]
    bit: NDArray[np.uint8] = byte >> (where & np.uint64(7)).astype(np.uint8) & np.uint8(1)
    return bit
