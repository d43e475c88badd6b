"""Exact random choices for many users at once, as arrays; an enumeration branches over each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers import Source

Bits = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: Below this number of bits, no superfluous bits are drawn: an enumeration branches over each.
_FEW = 1 << 10


def coins(p: Fraction, n: int, source: Source) -> Bits:
    """n independent bits, True with probability p."""
    words = source.coins(n, p)
    return np.unpackbits(words.view(np.uint8), count=n, bitorder="little").view(np.bool_)


def below(size: int, n: int, source: Source) -> Integers:
    """n independent uniform integers in [0, size)."""
    return source.below_many(n, size)


def coin_rows(p: Fraction, users: int, k: int, source: Source) -> NDArray[np.uint8]:
    """For every user a row of k bits, each 1 with probability p, packed lowest bit first."""
    width, rest = -(-k // 8), k % 8
    if rest and users * k < _FEW:  # exactly k coins per user: fewer branches to enumerate
        return np.packbits(coins(p, users * k, source).reshape(users, k), axis=1, bitorder="little")
    words = source.coins(users * width * 8, p)
    rows = words.astype("<u8", copy=False).view(np.uint8)[: users * width].reshape(users, width)
    if rest:
        rows[:, -1] &= np.uint8((1 << rest) - 1)
    return rows


def own_bits(rows: NDArray[np.uint8], values: Integers) -> Bits:
    """Bit values[i] of row i."""
    flat, places, shift = _places(rows, values)
    return (flat.take(places) >> shift & 1).view(np.bool_)


def with_own(rows: NDArray[np.uint8], values: Integers, own: Bits) -> NDArray[np.uint8]:
    """The rows with bit values[i] of row i set to own[i]."""
    flat, places, shift = _places(rows, values)
    flat[places] = (flat[places] & ~(np.uint8(1) << shift)) | (own.view(np.uint8) << shift)
    return rows


def turned(rows: NDArray[np.uint8], values: Integers) -> NDArray[np.uint8]:
    """The rows with bit values[i] of row i flipped."""
    flat, places, shift = _places(rows, values)
    flat[places] ^= np.uint8(1) << shift
    return rows


def _places(
    rows: NDArray[np.uint8], values: Integers
) -> tuple[NDArray[np.uint8], Integers, NDArray[np.uint8]]:
    """All bytes as one array; for bit values[i] of row i, the byte index and bit position."""
    places = np.arange(len(rows)) * rows.shape[1] + (values >> 3)
    return rows.reshape(-1), places, (values & 7).astype(np.uint8)
