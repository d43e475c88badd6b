"""Exactly universal hash functions from entries to rows, by a few array operations.

A key is split into 32-bit halves of 64-bit words, x = (x0, x1), (x2, x3), ... With random words
a_i, v = ((x1 + a0)(x0 + a1) + (x3 + a2)(x2 + a3) + ... + b mod 2^64) >> 32 is uniform and pairwise
independent (pair-multiply-shift: Dietzfelbinger 1996; Thorup, "High speed hashing for integers and
strings", 2015). The row of v is floor(v s/2^32), except for 2^32 mod s values of v, which would
make some rows more likely. For these the row is (c x + e mod P) mod s with a prime P > x, another
universal family (Carter, Wegman 1979). Two keys share a row with probability 1/s if at most one of
them uses the second family, and with probability at most 1/s if both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.samplers import Source

#: Keys split into 32-bit halves: one row per half, low before high, and one column per key.
Keys = NDArray[np.uint64]

#: Exponents of Mersenne primes 2^61 - 1, ...; the last prime is larger than every key.
_MERSENNE = (61, 89, 127, 521, 1279, 2203, 4253)

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

    words: a_0, a_1, ..., b for each level. rest: pairs (c, e), 1 <= c < P and 0 <= e < P, for each
    level. word_bits: length of a word: 64, or less for proofs by enumeration.
    """

    d: int
    s: int
    words: NDArray[np.uint64]
    rest: tuple[tuple[int, int], ...]
    word_bits: int = 64

    @classmethod
    def draw(cls, levels: int, d: int, s: int, source: Source) -> UniversalHashes:
        """Random functions, one for each level."""
        width, prime = 2 * words_per_key(d) + 1, _prime(d)
        words = source.words(levels * width, 64).reshape(levels, width)
        rest = tuple((1 + source.below(prime - 1), source.below(prime)) for _ in range(levels))
        return cls(d, s, words.astype(np.uint64), rest)

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
        half = np.uint64(self.word_bits // 2)
        value = self._mixed(keys, level)
        value *= np.uint64(self.s)
        row = value >> half
        if self._uneven:
            value &= (np.uint64(1) << half) - np.uint64(1)
            for i in np.flatnonzero(value < np.uint64(self._uneven)):
                column, place = (i, level) if isinstance(level, int) else (0, int(level[i]))
                row[i] = self._row_of_the_rest(keys[:, column], place)
        return row

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

    def _row_of_the_rest(self, halves: NDArray[np.uint64], level: int) -> int:
        c, e = self.rest[level]
        key = sum(int(x) << i * self.word_bits // 2 for i, x in enumerate(halves))
        return (c * key + e) % _prime(self.d) % self.s

    @cached_property
    def _uneven(self) -> int:
        """2^(word_bits/2) mod s: the number of values v that use the second family."""
        return (1 << self.word_bits // 2) % self.s

    @staticmethod
    def size(levels: int, d: int) -> int:
        """Size of the coefficients of `levels` functions, in bytes."""
        return levels * (8 * (2 * words_per_key(d) + 1) + 2 * _prime_bytes(d))

    def to_bytes(self) -> bytes:
        """All coefficients."""
        size = _prime_bytes(self.d)
        rest = b"".join(x.to_bytes(size, "little") for pair in self.rest for x in pair)
        return self.words.astype("<u8").tobytes() + rest

    @classmethod
    def from_bytes(cls, data: bytes, levels: int, d: int, s: int) -> UniversalHashes:
        """The functions from to_bytes; data has size(levels, d) bytes. Raises InvalidParameter."""
        width, prime, size = 2 * words_per_key(d) + 1, _prime(d), _prime_bytes(d)
        words = np.frombuffer(data, "<u8", levels * width).reshape(levels, width)
        start = 8 * levels * width
        ends = range(start, start + 2 * levels * size, size)
        numbers = [int.from_bytes(data[i : i + size], "little") for i in ends]
        if any(x >= prime for x in numbers) or not all(numbers[::2]):
            raise InvalidParameter(
                "data", Described("invalid coefficients"), "hash functions written by to_bytes"
            )
        rest = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        return cls(d, s, words.astype(np.uint64), rest)


def _prime(d: int) -> int:
    """A prime larger than every key and every row."""
    return int((1 << _exponent(d)) - 1)


def _exponent(d: int) -> int:
    return next(e for e in _MERSENNE if e > (d - 1).bit_length())


def _prime_bytes(d: int) -> int:
    return _exponent(d) // 8 + 1
