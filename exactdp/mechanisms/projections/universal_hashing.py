"""Pairwise independent hash functions from entries to rows, by a few array operations.

A key is split into 32-bit halves of 64-bit words, x = (x0, x1), (x2, x3), ... With random words
a_i, v = ((x1 + a0)(x0 + a1) + (x3 + a2)(x2 + a3) + ... + b mod 2^64) >> 32 is uniform and pairwise
independent (pair-multiply-shift: Dietzfelbinger 1996; Thorup, "High speed hashing for integers and
strings", 2015). The row of v is floor(v s/2^32), so a row has at most ceil(2^32/s) values v, and
two keys share a row with probability at most ceil(2^32/s)/2^32 < 1/s + 2^-32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers import Source

#: Keys split into 32-bit halves: one row per half, low before high, and one column per key.
Keys = NDArray[np.uint64]

#: Bits of the largest key.
MOST_BITS = 4096


class HashFunctions(Protocol):
    """One function per level, from entries to rows."""

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        """Entries in the form that rows takes; a subset of the columns is valid, too."""

    def rows(self, keys: Keys, level: int) -> NDArray[np.uint64]:
        """The row of each key at a level, counted from 0."""


@dataclass(frozen=True)
class Tables:
    """Arbitrary functions given by tables, table[level][entry], for proofs by enumeration."""

    table: tuple[tuple[int, ...], ...]

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        return np.asarray(ids, np.uint64).reshape(1, -1)

    def rows(self, keys: Keys, level: int | NDArray[np.intp]) -> NDArray[np.uint64]:
        """The row of each key at a level, or of a single key at each of several levels."""
        rows: NDArray[np.uint64] = self._array[level, keys[0]]
        return rows

    @cached_property
    def _array(self) -> NDArray[np.uint64]:
        return np.array(self.table, np.uint64)


def words_per_key(d: int) -> int:
    """Number of 64-bit words of a key below d."""
    return max(-(-(d - 1).bit_length() // 64), 1)


@dataclass(frozen=True, eq=False)
class UniversalHashes:
    """Independent random functions from [0, d) to [0, s), one per level, with public coefficients.

    words: a_0, a_1, ..., b for each level. word_bits: length of a word: 64, or less for proofs by
    enumeration.
    """

    d: int
    s: int
    words: NDArray[np.uint64]
    word_bits: int = 64

    @classmethod
    def draw(cls, levels: int, d: int, s: int, source: Source) -> UniversalHashes:
        """Random functions, one for each level."""
        words = source.words(levels * (2 * words_per_key(d) + 1), 64).reshape(levels, -1)
        return cls(d, s, words.astype(np.uint64))

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        half = np.uint64(self.word_bits // 2)
        if self.d <= 1 << 64:
            parts = np.asarray(ids, np.uint64).reshape(1, -1)
        else:
            count = words_per_key(self.d)
            raw = b"".join(int(x).to_bytes(8 * count, "little") for x in ids)
            parts = np.ascontiguousarray(np.frombuffer(raw, "<u8").reshape(-1, count).T)
        halves = np.empty((2 * len(parts), parts.shape[1]), np.uint64)
        halves[::2], halves[1::2] = parts & ((np.uint64(1) << half) - np.uint64(1)), parts >> half
        return halves

    def rows(self, keys: Keys, level: int | NDArray[np.intp]) -> NDArray[np.uint64]:
        """The row of each key at a level, or of a single key at each of several levels."""
        value = self._mixed(keys, level)
        value *= np.uint64(self.s)
        value >>= np.uint64(self.word_bits // 2)
        return value

    def _mixed(self, keys: Keys, level: int | NDArray[np.intp]) -> NDArray[np.uint64]:
        """v, half a word long; sums modulo 2^word_bits are computed in the upper bits of 64."""
        shift = np.uint64(64 - self.word_bits)
        a = self.words[level].T
        total: NDArray[np.uint64] = np.zeros(keys.shape[1], np.uint64) + (a[-1] << shift)
        for i in range(0, len(keys), 2):
            factor = keys[i + 1] + a[i]
            factor <<= shift
            factor *= keys[i] + a[i + 1]
            total += factor
        total >>= np.uint64(64 - self.word_bits // 2)
        return total

    @staticmethod
    def size(levels: int, d: int) -> int:
        """Size of the coefficients of `levels` functions, in bytes."""
        return levels * 8 * (2 * words_per_key(d) + 1)

    def to_bytes(self) -> bytes:
        """All coefficients."""
        return self.words.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, levels: int, d: int, s: int) -> UniversalHashes:
        """The functions from to_bytes; data has size(levels, d) bytes."""
        words = np.frombuffer(data, "<u8").reshape(levels, -1)
        return cls(d, s, words.astype(np.uint64))


def collision_bound(s: int) -> Fraction:
    """The largest probability that two keys share one of s rows, s <= 2^32."""
    return Fraction(-(-(1 << 32) // s), 1 << 32)
