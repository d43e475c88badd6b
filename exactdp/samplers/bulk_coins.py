"""Many exact biased coins at once, 64 per word, from the binary digits of p.

A coin with P(1) = p = 0.b1 b2 b3 ... (binary) is made from fair coins: toss until the first 0, at
toss j, and return b_j; P(1) is the sum of b_j 2^-j. Words of fair coins do that for 64 lanes in a
few bitwise operations, until no lane still tosses: about 7.4 words per 64 coins, or the number of
binary digits of p if that is smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers.rejection import LIMIT, never_settled

LANES = 64

#: (n, bits) -> n words of this number of uniform bits.
Reader = Callable[[int, int], NDArray[np.unsignedinteger]]

#: Number of words that are made at a time, so that the arrays stay in cache.
_AT_ONCE = 1 << 14

#: Number of tosses after which finished words are set aside; before, nearly none are finished.
_EARLY = 4


def packed(n: int, p: Fraction, read: Reader, lanes: int = LANES) -> NDArray[np.uint64]:
    """n coins with P(1) = p; coin i is bit i % lanes of word i // lanes.

    Bits after the last coin are 0.
    """
    size = -(-n // lanes)
    words = np.empty(size, np.uint64)
    for start in range(0, size, _AT_ONCE):
        part = words[start : start + _AT_ONCE]
        part[:] = _tossed(len(part), p, read, lanes)
    if n % lanes:
        words[-1] &= np.uint64((1 << n % lanes) - 1)
    return words


def _tossed(size: int, p: Fraction, read: Reader, lanes: int) -> NDArray[np.uint64]:
    """`size` words of coins."""
    full = np.uint64((1 << lanes) - 1)
    if p.denominator == 1:
        return np.full(size, full if p else 0, np.uint64)
    words = np.zeros(size, np.uint64)
    where: NDArray[np.intp] | None = None  # indices of unfinished words; None: all
    tossing = np.full(size, full)
    for turn, digit in enumerate(_digits(p)):
        on = tossing & read(len(tossing), lanes)
        if digit:
            done = tossing ^ on
            if where is None:
                words |= done
            else:
                words[where] |= done
        tossing = on
        if turn >= _EARLY:
            left = np.flatnonzero(tossing)
            if not left.size:
                return words
            tossing, where = tossing[left], left if where is None else where[left]
        if turn == LIMIT:
            raise never_settled("biased coins")
    return words  # all further digits are 0


def _digits(p: Fraction) -> Iterator[bool]:
    """The binary digits of 0 < p < 1, up to the last 1 if there is one."""
    rest, whole = p.numerator, p.denominator
    while rest:
        rest *= 2
        digit = rest >= whole
        rest -= whole if digit else 0
        yield digit


def uneven(numerators: NDArray[Any], denominator: int, read: Reader) -> NDArray[np.bool_]:
    """Coins with P(1) = numerators / denominator, 0 <= numerators <= denominator < 2^63."""
    tossed: NDArray[np.bool_] = below(len(numerators), denominator, read) < numerators.astype(
        np.uint64
    )
    return tossed


def below(n: int, size: int, read: Reader) -> NDArray[np.uint64]:
    """n uniform integers in [0, size), size <= 2^64, by rejection."""
    bits = (size - 1).bit_length()
    result = np.zeros(n, np.uint64)
    missing = np.arange(n if bits else 0)
    for _ in range(LIMIT):
        if not missing.size:
            return result
        words = read(missing.size, bits)
        result[missing] = words
        missing = missing[words.astype(np.uint64) > np.uint64(size - 1)]
    raise never_settled("uniform integers")


def below_each(sizes: NDArray[np.int64], read: Reader) -> NDArray[np.int64]:
    """Independent uniform integers in [0, sizes[i]), 1 <= sizes[i] <= 2^62.

    By rejection, from as many bits as each size needs, so at least half of the words are accepted.
    """
    result = np.zeros(len(sizes), np.int64)
    masks = sizes - 1
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    missing, bits = np.flatnonzero(masks), int(masks.max(initial=0)).bit_length()
    for _ in range(LIMIT):
        if not missing.size:
            return result
        candidates = read(missing.size, bits).astype(np.int64) & masks[missing]
        result[missing] = candidates
        missing = missing[candidates >= sizes[missing]]
    raise never_settled("uniform integers")


def scaled(n: int, size: int, read: Reader, bits: int) -> NDArray[np.int64]:
    """n uniform integers in [0, size), size <= 2^bits, bits <= 32, mostly from one word each.

    A word w gives the integer part of w size/2^bits; if an integer has more words than others, its
    first words are rejected.
    Source: Lemire 2019.
    """
    wide: Any = np.uint32 if bits <= 16 else np.uint64
    excess, mask = (1 << bits) % size, wide((1 << bits) - 1)
    result = np.empty(n, np.int64)
    missing: NDArray[np.intp] | slice = slice(None)
    count = n
    for _ in range(LIMIT):
        products = read(count, bits).astype(wide) * wide(size)
        result[missing] = products >> wide(bits)
        if not excess:
            return result
        again = np.flatnonzero((products & mask) < excess)
        if not again.size:
            return result
        missing, count = again if isinstance(missing, slice) else missing[again], again.size
    raise never_settled("uniform integers")
