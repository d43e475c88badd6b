"""Lazy inverse CDF for many draws at once.

The first word of randomness indexes a table of outcomes. Only where a step of F falls inside that
word's cell are further bits read and compared with floor(2^w F); only where those agree, the draw
is finished with big integers on an enclosure of F. Every draw has exactly the law of F.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import ExactDPError
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.inverse_cdf import Cdf, draw
from exactdp.samplers.source import Source

__all__ = ["FIRST_BITS", "WORD_BITS", "OutOfRange", "Table"]

FIRST_BITS = 16
WORD_BITS = 64


class OutOfRange(ExactDPError, OverflowError):
    """A draw fell outside int64, which happens with a probability below 2^-180."""


class Table:
    """Inversion of one distribution function.

    cdf: the distribution function, for the draws that the table does not settle.
    first: the least outcome z with a threshold.
    thresholds: floor(2^word_bits F(z)) for z = first, first + 1, ...; outcomes beyond both ends are
    settled by the cdf, so the table may stop where they are rare.
    limit: the largest size of an outcome; a draw beyond it raises OutOfRange.
    first_bits, word_bits: bits that index the table, and bits of a threshold.
    """

    def __init__(
        self,
        cdf: Cdf,
        first: int,
        thresholds: list[int],
        *,
        limit: int = 1 << 62,
        first_bits: int = FIRST_BITS,
        word_bits: int = WORD_BITS,
    ) -> None:
        self._cdf = cdf
        self._first = first
        self._limit = limit
        kept = [level for level in thresholds if level < 1 << word_bits]
        last = first + len(kept)
        self._open_low = cdf.low is None or cdf.low < first
        # a level of 2^word_bits is an F(z) of 1: nothing lies beyond
        self._open_high = len(kept) == len(thresholds) and (cdf.high is None or cdf.high > last)
        self._first_bits = first_bits
        self._more_bits = word_bits - first_bits
        self._thresholds = np.array(kept, dtype=np.uint64)
        self._build()

    def _build(self) -> None:
        cells = np.arange(1 << self._first_bits, dtype=np.uint64) << np.uint64(self._more_bits)
        ends = cells + np.uint64((1 << self._more_bits) - 1)
        below = np.searchsorted(self._thresholds, cells, side="left")
        inside = np.searchsorted(self._thresholds, ends, side="right") - below
        split = inside > 0
        if self._open_low:
            split |= below == 0
        if self._open_high:
            split |= below == len(self._thresholds)
        #: outcome - first >= 0, or -1 - (number of thresholds below the cell)
        self._lookup = np.where(split, -1 - below, below).astype(np.int32)
        self._many = inside > 1

    @property
    def outcomes(self) -> range:
        """The outcomes that the table itself can settle."""
        return range(self._first, self._first + len(self._thresholds) + 1)

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        places = self.draw_places(n, source)
        if self._first:
            places += self._first
        return places

    def draw_places(self, n: int, source: Source) -> Integers:
        """The same draws, counted from the first outcome."""
        words = source.words(n, self._first_bits)
        found = self._lookup.take(words, mode="clip")
        result = found.astype(np.int64)
        unsettled = np.flatnonzero(found < 0)
        if unsettled.size:
            self._refine(result, unsettled, words[unsettled], source)
        return result

    def _refine(
        self, result: Integers, where: NDArray[np.intp], words: NDArray[Any], source: Source
    ) -> None:
        more = source.words(where.size, self._more_bits).astype(np.uint64)
        keys = words.astype(np.uint64) << np.uint64(self._more_bits) | more
        thresholds, top = self._thresholds, len(self._thresholds)
        place = -1 - result[where]
        compared = np.minimum(place, top - 1)
        against = thresholds.take(compared)
        place += (keys > against) & (place < top)
        many = np.flatnonzero(self._many.take(words))
        if many.size:
            place[many] = np.searchsorted(thresholds, keys[many], side="left")
            against[many] = thresholds.take(np.minimum(place[many], top - 1))
        result[where] = place
        open_ = keys == against
        if self._open_low:
            open_ |= place == 0
        if self._open_high:
            open_ |= place == top
        for i in np.flatnonzero(open_):
            count = self._first_bits + self._more_bits
            value = draw(self._cdf, source.bits, int(keys[i]), count)
            if abs(value) > self._limit:
                raise OutOfRange(f"a draw fell outside int64: {value}")
            result[where[i]] = value - self._first
