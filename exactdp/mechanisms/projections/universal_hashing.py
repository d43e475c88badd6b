"""Hash functions from entries to rows: exactly universal, and as quick as a few array operations.

A key is cut into 32-bit halves of 64-bit words, x = (x0, x1), (x2, x3), ... With random words a_i,
((x1 + a0)(x0 + a1) + (x3 + a2)(x2 + a3) + ... + b mod 2^64) >> 32 is uniform and pairwise
independent (pair-multiply-shift: Dietzfelbinger 1996; Thorup, "High speed hashing for integers and
strings", 2015). Such a v goes to the row floor(v s/2^32), unless it is one of the 2^32 mod s values
that would make rows unequally likely; then the row is (c x + e mod P) mod s for a prime P > x, a
universal family of its own (Carter, Wegman 1979). Two keys share a row with probability 1/s where
one of them or none is sent on, and at most 1/s where both are.
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

#: Keys cut into words: one row per half, low before high, one column per key.
Keys = NDArray[np.uint64]

#: Exponents of Mersenne primes: 2^61 - 1, ...; the last is beyond every key.
_MERSENNE = (61, 89, 127, 521, 1279, 2203, 4253)

#: Bits of the largest key.
MOST_BITS = 4096


class HashFunctions(Protocol):
    """One function per level, from entries to rows."""

    def keys(self, ids: Sequence[int] | NDArray[Any]) -> Keys:
        """Entries in the form that rows takes; any number of columns of it may be taken."""

    def rows(self, keys: Keys, level: int) -> NDArray[np.uint64]:
        """The row of each key at a level, counted from 0."""


@dataclass(frozen=True)
class Tables:
    """Any functions, by their tables: table[level][entry]. For proofs by enumeration."""

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
    """64-bit words of a key below d."""
    return max(-(-(d - 1).bit_length() // 64), 1)


@dataclass(frozen=True, eq=False)
class UniversalHashes:
    """Independent functions from [0, d) to [0, s), one per level, by their public coefficients.

    words: a_0, a_1, ..., b of every level. rest: the pairs (c, e), 1 <= c < P and 0 <= e < P.
    word_bits: 64; fewer in proofs, where keys have as many bits per word.
    """

    d: int
    s: int
    words: NDArray[np.uint64]
    rest: tuple[tuple[int, int], ...]
    word_bits: int = 64

    @classmethod
    def draw(cls, levels: int, d: int, s: int, source: Source) -> UniversalHashes:
        """As many random functions."""
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
        """v, of half a word; sums modulo 2^word_bits are kept in the upper bits of 64."""
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
        """How many values of half a word are too many to be shared out among the rows."""
        return (1 << self.word_bits // 2) % self.s

    @staticmethod
    def size(levels: int, d: int) -> int:
        """Bytes of so many functions."""
        return levels * (8 * (2 * words_per_key(d) + 1) + 2 * _prime_bytes(d))

    def to_bytes(self) -> bytes:
        """All coefficients."""
        size = _prime_bytes(self.d)
        rest = b"".join(x.to_bytes(size, "little") for pair in self.rest for x in pair)
        return self.words.astype("<u8").tobytes() + rest

    @classmethod
    def from_bytes(cls, data: bytes, levels: int, d: int, s: int) -> UniversalHashes:
        """Read what to_bytes wrote; data has size(levels, d) bytes."""
        width, prime, size = 2 * words_per_key(d) + 1, _prime(d), _prime_bytes(d)
        words = np.frombuffer(data, "<u8", levels * width).reshape(levels, width)
        start = 8 * levels * width
        ends = range(start, start + 2 * levels * size, size)
        numbers = [int.from_bytes(data[i : i + size], "little") for i in ends]
        if any(x >= prime for x in numbers) or not all(numbers[::2]):
            raise InvalidParameter(
                "data", Described("other coefficients"), "hash functions as written"
            )
        rest = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        return cls(d, s, words.astype(np.uint64), rest)


def _prime(d: int) -> int:
    """A prime above every key and every row."""
    return int((1 << _exponent(d)) - 1)


def _exponent(d: int) -> int:
    return next(e for e in _MERSENNE if e > (d - 1).bit_length())


def _prime_bytes(d: int) -> int:
    return _exponent(d) // 8 + 1
