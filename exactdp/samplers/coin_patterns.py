"""Many coins with the same P(1) = p, sixteen per table look-up.

The 2^16 patterns of sixteen coins have rational probabilities, at most seventeen different ones. A
uniform word of 16 bits selects a cell; a pattern of probability w owns floor(2^16 w) of the cells.
If no pattern owns the cell, a few more bits split the free cells, and each pattern owns some of the
new cells for the remainder of w, and so on. This is the optimal tree of Knuth and Yao, several
levels at a time: about 1.1 random bits per coin, compared with 7.4 in bulk_coins. It pays if
reading random bits dominates the time.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers.rejection import LIMIT, never_settled

#: (n, bits) -> n words of this number of uniform bits.
Reader = Callable[[int, int], NDArray[np.unsignedinteger]]

#: Number of coins of a pattern.
COINS = 16

#: log2 of the largest number of cells of a level: the tables of two levels stay in cache.
_CELL_BITS = 18

#: Number of patterns that are made at a time, so that the arrays stay in cache.
_AT_ONCE = 1 << 16

Patterns = NDArray[np.uint16]
Places = NDArray[np.intp]

_NONE = np.empty(0, np.intp), np.empty(0, np.intp)


class _Level:
    """The cells of one level: table[cell] is the pattern that owns a cell below `owned`.

    bits: number of bits read at this level. left: for each number of ones, the remaining
    probability of a pattern, in cells of this level times the scale. nobodys: number of free cells.
    cells: number of cells. owed: as `left`, before this level. by_ones: patterns by number of ones.
    """

    def __init__(
        self, cells: int, bits: int, owed: list[int], scale: int, by_ones: list[NDArray[np.uint16]]
    ) -> None:
        counts = [due // scale for due in owed]
        self.bits, self.left = bits, [due % scale for due in owed]
        bought = [np.repeat(patterns, n) for patterns, n in zip(by_ones, counts, strict=True)]
        self.owned = sum(len(patterns) for patterns in bought)
        self.nobodys = cells - self.owned
        self.table = np.concatenate([*bought, np.zeros(self.nobodys, np.uint16)])


class CoinPatterns:
    """Patterns of independent coins with 0 < P(1) = p < 1; bit i of a pattern is coin i."""

    def __init__(
        self, p: Fraction, coins: int = COINS, first_bits: int = 16, cell_bits: int = _CELL_BITS
    ) -> None:
        self._by_ones = _patterns(coins)
        up, down = p.numerator, p.denominator - p.numerator
        self._scale = p.denominator**coins
        self._cell_bits = cell_bits
        owed = [up**n * down ** (coins - n) << first_bits for n in range(coins + 1)]
        self.levels = {0: self._level(1 << first_bits, first_bits, owed)}

    def _level(self, cells: int, bits: int, owed: list[int]) -> _Level:
        return _Level(cells, bits, owed, self._scale, self._by_ones)

    def level(self, depth: int) -> _Level:
        """The level at this depth, built on first use."""
        if depth not in self.levels:  # if two threads build it, both build the same
            last = self.level(depth - 1)
            bits = min(max(self._cell_bits - last.nobodys.bit_length(), 1), 16)
            owed = [due << bits for due in last.left]
            self.levels[depth] = self._level(last.nobodys << bits, bits, owed)
        return self.levels[depth]

    def draw(self, n: int, read: Reader) -> Patterns:
        """n patterns: two levels in parts that stay in cache, then the few remaining words."""
        patterns, size = np.empty(n, np.uint16), min(n, _AT_ONCE) or 1
        places, unsettled = np.empty(size, np.intp), [_NONE]
        for start in range(0, n, size):
            part = patterns[start : start + size]
            begun = self._begun(part, places[: part.size], read)
            where, rest = self._read_on(1, part, begun, read)
            unsettled.append((where + start, rest))
        left = np.concatenate([w for w, _ in unsettled]), np.concatenate([r for _, r in unsettled])
        for depth in range(2, LIMIT):
            if not left[0].size:
                return patterns
            left = self._read_on(depth, patterns, left, read)
        raise never_settled("coins")

    def _begun(self, patterns: Patterns, places: Places, read: Reader) -> tuple[Places, Places]:
        """Fill in patterns of owned cells; return indices and cell numbers of the other words."""
        level = self.levels[0]
        cells = read(patterns.size, level.bits)
        places[:] = cells
        level.table.take(
            places, out=patterns, mode="wrap"
        )  # all indices are valid; "wrap" is the fastest mode
        where = np.flatnonzero(cells >= level.owned) if level.nobodys else _NONE[0]
        return where, places.take(where) - level.owned

    def _read_on(
        self, depth: int, patterns: Patterns, begun: tuple[Places, Places], read: Reader
    ) -> tuple[Places, Places]:
        """As _begun, at this depth, for words that are in free cells of the level before.

        begun: the indices of these words, and the numbers of their cells.
        """
        where, cells = begun
        if not where.size:
            return begun
        level = self.level(depth)
        cells = cells << level.bits
        cells |= read(where.size, level.bits)
        patterns[where] = level.table.take(cells, mode="wrap")
        again = np.flatnonzero(cells >= level.owned)
        return where.take(again), cells.take(again) - level.owned


@lru_cache(8)
def coin_patterns(p: Fraction) -> CoinPatterns:
    """The cached tables for 0 < p < 1; a few megabytes each."""
    return CoinPatterns(p)


@lru_cache(4)
def _patterns(coins: int) -> list[NDArray[np.uint16]]:
    """The patterns with 0, 1, 2, ... ones."""
    ones = np.zeros(1, np.uint8)
    for _ in range(coins):
        ones = np.concatenate([ones, ones + 1])
    return [np.flatnonzero(ones == n).astype(np.uint16) for n in range(coins + 1)]
