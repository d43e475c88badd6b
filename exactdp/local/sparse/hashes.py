"""Two families of hash functions x -> (h(x), s(x)): a bin and a sign for every item.

Linear: (h, s) is a random linear map over GF(2), after a public bijection of the items that breaks
up the structure of their numbers. For x != y, s(x) s(y) is a fair sign given h, and h(x) = h(y)
with probability 1/b; the mean and the variance of the estimates need no more. A random shift would
not change s(x) B[h(x)], so none is used. One Walsh-Hadamard transform decodes the reports of any
number of users for all items: s(x) B[h(x)] = (1/b) sum over u of B^[u] (-1)^<a + H'u, x>, where
B^ is the transform of the bins, a the row of the sign and H' the rows of the bins.

Keyed: BLAKE2b with a key of 124 random bits per user, as the pseudorandom function of the paper.
The values at different items are computationally independent, but must be computed one by one.

Source: Zhou et al. (SVA), Algorithm 1; Carter and Wegman 1979 (linear maps are pairwise
independent).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.local.bulk_choices import Integers, below
from exactdp.local.walsh import parity
from exactdp.samplers import Source

#: Hash functions of many users: one row of numbers per user.
Functions: TypeAlias = Integers
#: A pair of equally long arrays: bins and signs.
Places: TypeAlias = tuple[Integers, Integers]

_ROUNDS = 3
_KEY_BITS = 62
_ITEMS_PER_DIGEST = 32


@dataclass(frozen=True)
class Linear:
    """Random GF(2)-linear maps of items in [0, d) to a bin and a sign.

    d: number of items. bins: b; if b is no power of two, at least 4b values of the map are spread
    over the bins as evenly as possible. key: of the public bijection.
    """

    d: int
    bins: int
    key: int

    @property
    def bin_bits(self) -> int:
        """The number of bits of the map."""
        exact = (self.bins - 1).bit_length()
        return exact if self.bins == 1 << exact else exact + 2

    @property
    def hit(self) -> Fraction:
        """The largest probability of a bin."""
        return _largest_share(self.bins, self.bin_bits)

    @property
    def index_bits(self) -> int:
        """D: the number of bits of an item, at least 1."""
        return max((self.d - 1).bit_length(), 1)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ranges of the numbers of a function: the row of the sign, and the rows of the bin."""
        return (1 << self.index_bits,) * (1 + self.bin_bits)

    def draw(self, n: int, source: Source) -> Functions:
        """n independent uniform functions."""
        rows = below(1 << self.index_bits, n * len(self.sizes), source)
        return rows.reshape(n, len(self.sizes))

    def places(self, functions: Functions, items: Integers) -> Places:
        """Bin and sign of item i under function i."""
        mixed = self.mixed(items)
        sign = 1 - 2 * parity(functions[:, 0] & mixed)
        place = np.zeros(len(items), np.int64)
        for j in range(self.bin_bits):
            place |= parity(functions[:, 1 + j] & mixed) << j
        return place * self.bins >> self.bin_bits, sign

    def unfolded(self, bins: Integers) -> Integers:
        """The value of the bin for every value of the map (columns)."""
        return bins[:, np.arange(1 << self.bin_bits) * self.bins >> self.bin_bits]

    def frequencies(self, functions: Functions) -> Integers:
        """a + H'u for every function (rows) and every u in [0, 2^bin_bits) (columns)."""
        frequencies = np.empty((len(functions), 1 << self.bin_bits), np.int64)
        frequencies[:, 0] = functions[:, 0]
        for j in range(self.bin_bits):
            half = 1 << j
            np.bitwise_xor(
                frequencies[:, :half],
                functions[:, 1 + j, None],
                out=frequencies[:, half : 2 * half],
            )
        return frequencies

    def mixed(self, items: Integers) -> Integers:
        """The public bijection of [0, 2^D), by odd factors and shifts by half the length."""
        mask, shift = np.uint64((1 << self.index_bits) - 1), np.uint64((self.index_bits + 1) // 2)
        mixed = items.astype(np.uint64)
        for factor in self._factors:
            mixed = mixed * factor & mask
            mixed ^= mixed >> shift
        return mixed.view(np.int64)

    @cached_property
    def _factors(self) -> NDArray[np.uint64]:
        digest = hashlib.blake2b(str(self.key).encode(), digest_size=8 * _ROUNDS).digest()
        return np.frombuffer(digest, "<u8") | np.uint64(1)


@dataclass(frozen=True)
class Keyed:
    """BLAKE2b of the item with a key of 124 bits: at most 2^15 bins, and a sign.

    Word x mod 32 of the digest of x div 32 determines the bin and sign of item x.
    """

    d: int
    bins: int

    @property
    def hit(self) -> Fraction:
        """The largest probability of a bin."""
        return _largest_share(self.bins, 15)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Ranges of the numbers of a function: two halves of its key."""
        return (1 << _KEY_BITS,) * 2

    def draw(self, n: int, source: Source) -> Functions:
        """n independent keys."""
        return below(1 << _KEY_BITS, 2 * n, source).reshape(n, 2)

    def places(self, functions: Functions, items: Integers) -> Places:
        """Bin and sign of item i under function i."""
        blocks, offsets = items // _ITEMS_PER_DIGEST, items % _ITEMS_PER_DIGEST
        keys = np.ascontiguousarray(functions, "<i8").tobytes()
        messages = np.ascontiguousarray(blocks, "<i8").tobytes()
        digests = b"".join(
            hashlib.blake2b(messages[8 * i : 8 * i + 8], key=keys[16 * i : 16 * i + 16]).digest()
            for i in range(len(items))
        )
        words = np.frombuffer(digests, "<u2").reshape(-1, _ITEMS_PER_DIGEST)
        return self._read(words[np.arange(len(items)), offsets])

    def all_places(self, function: Functions) -> Places:
        """Bin and sign of every item in [0, d) under one function."""
        key, blake = function.astype("<i8").tobytes(), hashlib.blake2b
        blocks = range(-(-self.d // _ITEMS_PER_DIGEST))
        digests = b"".join([blake(i.to_bytes(8, "little"), key=key).digest() for i in blocks])
        return self._read(np.frombuffer(digests, "<u2")[: self.d])

    def _read(self, words: NDArray[np.uint16]) -> Places:
        wide = words.astype(np.int64)
        return (wide & 0x7FFF) * self.bins >> 15, 1 - 2 * (wide >> 15)


def _largest_share(bins: int, bits: int) -> Fraction:
    """The largest share of 2^bits values that one of evenly filled bins has."""
    return Fraction(-(-(1 << bits) // bins), 1 << bits)
