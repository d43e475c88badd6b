"""Lazy inversion of a CDF by a table: single draws by a look-up, and draws in bulk.

The outcome of a uniform real U is the least z with U < F(z). The first bits of U index a table of
cells; if no step of F falls into the cell, the outcome is known. Otherwise more bits are compared
with floor(2^w F), and only if these are equal, ball arithmetic on F determines the outcome. The
outcome depends only on the bits of U, so every way of reading them (64 at once, one by one, or 16
and then more for whole arrays) has exactly the law of F.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import OutOfRange
from exactdp.samplers.cdf import Cdf
from exactdp.samplers.integer_law import Integers, slices
from exactdp.samplers.inverse_cdf import draw, settle
from exactdp.samplers.source import Source, Words

FIRST_BITS = 16
SECOND_BITS = 16
WORD_BITS = 64

#: Marks draws in bulk whose first bits do not determine the outcome; smaller than all outcomes.
UNSETTLED = np.iinfo(np.int64).min

_NONE = np.uint64(2**64 - 1)


class Table:
    """Inversion of one distribution function.

    cdf: the distribution function, for draws that the table does not determine.
    first: the least outcome z with a threshold.
    thresholds: floor(2^word_bits F(z)) for z = first, first + 1, ...; the cdf determines outcomes
    beyond both ends, so the table may omit rare outcomes.
    limit: largest |outcome| in bulk; a draw beyond raises OutOfRange.
    first_bits: bits that index the table. second_bits: further bits that bulk draws compare.
    word_bits: bits of a threshold.
    """

    def __init__(
        self,
        cdf: Cdf,
        first: int,
        thresholds: list[int],
        *,
        limit: int = 1 << 62,
        first_bits: int = FIRST_BITS,
        second_bits: int = SECOND_BITS,
        word_bits: int = WORD_BITS,
    ) -> None:
        self.cdf = cdf
        self.word_bits = word_bits
        self._first = first
        self._limit = limit
        kept = [level for level in thresholds if level < 1 << word_bits]
        last = first + len(kept)
        self._open_low = cdf.low is None or cdf.low < first
        # a threshold of 2^word_bits means F(z) = 1: no outcome lies beyond
        self._open_high = len(kept) == len(thresholds) and (cdf.high is None or cdf.high > last)
        self.first_bits = first_bits
        self._second_bits = second_bits
        self._more_bits = word_bits - first_bits
        self._last_bits = self._more_bits - second_bits
        self._thresholds = np.array(kept, dtype=np.uint64)
        #: thresholds for comparisons in bulk, and a sentinel that no key exceeds
        self._short = np.append(self._thresholds >> np.uint64(self._last_bits), _NONE)
        self.lookup = self._cells(first_bits)
        # the same arrays as lists, whose single entries are faster to read
        self._levels = self._thresholds.data
        self._places = self.lookup.data

    def _cells(self, first_bits: int) -> NDArray[np.signedinteger]:
        """For the first bits: outcome - first if it is determined, else -1 - (thresholds below)."""
        small = len(self._thresholds) < 2**15  # half the memory, so more of it stays in cache
        cells = np.arange(1 << first_bits, dtype=np.uint64) << np.uint64(self._more_bits)
        ends = cells + np.uint64((1 << self._more_bits) - 1)
        below = np.searchsorted(self._thresholds, cells, side="left")
        split = np.searchsorted(self._thresholds, ends, side="right") > below
        if self._open_low:
            split |= below == 0
        if self._open_high:
            split |= below == len(self._thresholds)
        return np.where(split, -1 - below, below).astype(np.int16 if small else np.int32)

    @property
    def outcomes(self) -> range:
        """The outcomes that the table can determine."""
        return range(self._first, self._first + len(self._thresholds) + 1)

    def find(self, word: int) -> int | None:
        """The outcome if all uniform reals that start with these word_bits bits have the same."""
        place = self._places[word >> self._more_bits]
        if place >= 0:
            return self._first + place
        levels = self._levels
        place, top = bisect_left(levels, word, -1 - place), len(levels)
        if (
            (place < top and levels[place] == word)
            or (place == 0 and self._open_low)
            or (place == top and self._open_high)
        ):
            return settle(self.cdf, word, self.word_bits)
        return self._first + place

    def sample(self, source: Source) -> int:
        """One draw."""
        return source.invert(self)

    def fill(self, values: Integers, source: Source) -> None:
        """As many independent draws as an array has places, each in its place."""
        for part in slices(values.size):
            self._fill_part(values[part], source)

    def _fill_part(self, values: Integers, source: Source) -> None:
        words = source.words(values.size, self.first_bits)
        self._settled.take(words, out=values, mode="clip")
        where = np.flatnonzero(values == UNSETTLED)
        if where.size:
            values[where] = self.finish(words[where], source)

    @cached_property
    def _settled(self) -> Integers:
        """For the first bits: the outcome if it is determined, else UNSETTLED."""
        return np.where(self.lookup < 0, UNSETTLED, self.lookup + np.int64(self._first))

    def finish(self, words: Words, source: Source) -> Integers:
        """The outcomes of draws with known first bits, by reading more bits."""
        more = source.words(words.size, self._second_bits)
        keys = words.astype(np.uint64) << np.uint64(self._second_bits) | more
        place = self.lookup.take(words, mode="clip").astype(np.int64)
        place ^= place >> 63  # -1 - (thresholds below) becomes the number of thresholds below
        steps, top = self._short, len(self._levels)
        for _ in range(2):  # nearly all cells contain at most two steps
            place += keys > steps.take(place)
        against = steps.take(place)
        behind = np.flatnonzero(keys > against)
        if behind.size:
            place[behind] = np.searchsorted(steps, keys[behind], side="left")
            against[behind] = steps.take(place[behind])
        unsettled = keys == against
        if self._open_low:
            unsettled |= place == 0
        if self._open_high:
            unsettled |= place == top
        place += self._first
        for i in np.flatnonzero(unsettled):
            place[i] = self._finish_one(int(keys[i]), source)
        return place

    def _finish_one(self, key: int, source: Source) -> int:
        bits = self._last_bits
        word = key << bits | source.bits(bits)
        value = self.find(word)
        if value is None:
            value = draw(self.cdf, source.bits, word, self.word_bits)
        if abs(value) > self._limit:
            raise OutOfRange(f"a draw is outside int64: {value}")
        return value
