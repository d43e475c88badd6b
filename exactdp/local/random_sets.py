"""Uniform random sets of given sizes, for many users at once, as rows of packed bits.

Independent coins for all elements give a set that is uniform given its size. Then uniformly random
elements are removed or added until the size is right: either by guessing elements and flipping
those that help, or by listing the elements that may be flipped. The coin's probability and the
choice between guesses and lists affect only the running time, not the law.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.local.bulk_choices import Bits, Integers, coin_rows
from exactdp.samplers import Source

Rows = NDArray[np.uint8]

#: When less than this fraction of the users still guesses, the others' rows are set aside.
_BUSY = 0.85

#: Standard deviations by which coins aim below half-full sets: adding is faster than removing.
_ASIDE = 0.6

#: Smaller sets are filled without coins: nearly every guess finds a new element.
_SPARSE = Fraction(1, 32)

#: Approximate largest total number of listed elements.
_LISTED = 1 << 23

#: Bytes whose ones are counted at a time.
_COUNTED = 1 << 17

_ALL = np.uint8(255)


@dataclass(frozen=True)
class Effort:
    """Settings that affect the running time of random_sets, but not the law.

    listed: up to this number of users are served by lists at once. guesses: largest number of
    guesses per other user; by default enough for nearly all of them, as more than one guess in 32
    helps. width: bits of a guess, with 2^width >= population; 16 or 32 by default.
    """

    listed: int = 64
    guesses: int | None = None
    width: int | None = None

    def guess(self, population: int, n: int, source: Source) -> tuple[Integers, Bits]:
        """n elements, and which of them are valid; the valid elements are uniform.

        Each element has an interval of random words. If an interval has more words than others, its
        first words are invalid. Source: Lemire 2019.
        """
        width = self.width or (16 if population <= 1 << 11 else 32)
        wide: Any = np.uint32 if width <= 16 else np.uint64
        products = source.words(n, width).astype(wide) * wide(population)
        valid = (products & wide((1 << width) - 1)) >= wide((1 << width) % population)
        return (products >> wide(width)).astype(np.int64), valid


_EFFORT = Effort()


def random_sets(population: int, sizes: Integers, source: Source, effort: Effort = _EFFORT) -> Rows:
    """One uniform subset of [0, population) of a given size for every user."""
    rows = coin_rows(_chance(population, sizes), len(sizes), population, source)
    missing = _guessed(rows, population, sizes - ones_of(rows), source, effort)
    users = np.flatnonzero(missing)
    if users.size:
        rows[users] = _resized(rows[users], population, missing[users], source)
    return rows


def ones_of(rows: Rows) -> Integers:
    """The number of ones in every row, summed over pairs of bits, fours, bytes, and rows."""
    ones, width = np.empty(len(rows), np.int64), rows.shape[1]
    step = max(_COUNTED // width, 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        pairs = part - (part >> 1 & 0x55)
        fours = (pairs & 0x33) + (pairs >> 2 & 0x33)
        counts = (fours + (fours >> 4) & 0x0F).reshape(-1)
        starts = np.arange(0, counts.size, width)
        np.add.reduceat(counts, starts, out=ones[start : start + step], dtype=np.int64)
    return ones


def _chance(population: int, sizes: Integers) -> Fraction:
    """Approximate fraction of the population in a set, in multiples of 1/256."""
    share = float(sizes.mean()) / population if len(sizes) else 0.0
    if min(share, 1 - share) < _SPARSE:
        return Fraction(round(share))
    aside = _ASIDE * sqrt(share * (1 - share) / population)
    aimed = share - aside if share < 0.5 else share + aside
    return Fraction(round(256 * min(max(aimed, 0.0), 1.0)), 256)


def _guessed(
    rows: Rows, population: int, missing: Integers, source: Source, effort: Effort
) -> Integers:
    """Guess elements for every user, and flip each that brings the size nearer, in place.

    missing: number of elements to add to every set, negative to remove. Returns what is left.
    """
    flat, users, still = rows.reshape(-1), np.flatnonzero(missing), missing.copy()
    start, left = users * rows.shape[1], np.abs(missing[users]).astype(np.uint32)
    side = np.where(missing[users] > 0, _ALL, np.uint8(0))  # bits that differ from this are flipped
    most = 40 * (int(left.max(initial=0)) + 10) if effort.guesses is None else effort.guesses
    listed = min(effort.listed, _LISTED // population)
    for _ in range(most):
        number = np.count_nonzero(left)
        if number <= listed:
            break
        if number < _BUSY * left.size:
            still[users], busy = 0, np.flatnonzero(left)
            users, start, left, side = users[busy], start[busy], left[busy], side[busy]
        places, valid = effort.guess(population, len(users), source)
        bit = valid.view(np.uint8) << (places.astype(np.uint8) & 7)
        places >>= 3
        places += start
        old_bytes = flat.take(places)
        bit &= (old_bytes ^ side) & -(left > 0).view(np.uint8)
        flat[places] = old_bytes ^ bit
        left -= bit != 0
    still[users] = left * np.sign(missing[users])
    return still


def _resized(rows: Rows, population: int, missing: Integers, source: Source) -> Rows:
    """The sets with `missing` elements added, by listing the elements that may be flipped."""
    marks = np.unpackbits(rows, axis=1, count=population, bitorder="little")
    pool = marks ^ (missing > 0)[:, None].view(np.uint8)
    amount = pool.sum(axis=1, dtype=np.int64)
    places, start = np.flatnonzero(pool), np.cumsum(amount) - amount
    flat = marks.reshape(-1)
    for users, ranks in _distinct(amount, np.abs(missing), source):
        flat[places[start[users] + ranks]] ^= 1
    return np.packbits(marks, axis=1, bitorder="little")


def _distinct(
    pools: Integers, sizes: Integers, source: Source
) -> Iterator[tuple[Integers, Integers]]:
    """sizes[i] distinct uniform integers below pools[i], for all users i at once.

    Yields pairs of arrays: users, and one integer for each. Source: Floyd's algorithm (Bentley,
    Floyd 1987).
    """
    chosen = np.full((len(pools), int(sizes.max(initial=0))), -1, np.int64)
    for step in range(chosen.shape[1]):
        users = np.flatnonzero(sizes > step)
        last = pools[users] - sizes[users] + step
        elements = source.below_each(last + 1)
        taken = (chosen[users, :step] == elements[:, None]).any(axis=1)
        elements[taken] = last[taken]
        chosen[users, step] = elements
        yield users, elements
