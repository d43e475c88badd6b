"""Very many coins of one chance, sixteen by one look-up.

The 2^16 patterns of sixteen coins of chance p have rational probabilities, and no more than
seventeen different ones. A uniform word of 16 bits is a number of a cell; a pattern of probability
w owns floor(2^16 w) of the cells. The word of a cell that nobody owns is read on by a few bits: the
cells are split, and what was left over of w buys some of the new ones, and so on. This is the
optimal tree of Knuth and Yao, several of its levels at a time: about 1.1 random bits a coin where
words of coins take 7.4. Worth it where reading is what takes time.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers.rejection import LIMIT, never_settled

#: n words of so many uniform bits.
Reader = Callable[[int, int], NDArray[np.unsignedinteger]]

#: Coins of a pattern.
COINS = 16

#: Most cells at once, as a power of two: the tables of two levels stay in cache.
_CELL_BITS = 18

#: Patterns made at once: they and what they are made of stay in cache.
_AT_ONCE = 1 << 16

Patterns = NDArray[np.uint16]
Places = NDArray[np.intp]

_NONE = np.empty(0, np.intp), np.empty(0, np.intp)


class _Level:
    """Cells at one depth: of those below `owned`, table[cell] is the pattern that owns it.

    bits: how many are read to come here. left: by number of ones, what every pattern is still owed
    behind this level, in cells of this level times the scale. nobodys: how many cells that makes.
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
    """Independent coins of a chance 0 < p < 1, so many to a pattern: bit i is coin i."""

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
        """The level after so many; made when the first word comes there."""
        if depth not in self.levels:  # two threads may both make it, and make the same
            last = self.level(depth - 1)
            bits = min(max(self._cell_bits - last.nobodys.bit_length(), 1), 16)
            owed = [due << bits for due in last.left]
            self.levels[depth] = self._level(last.nobodys << bits, bits, owed)
        return self.levels[depth]

    def draw(self, n: int, read: Reader) -> Patterns:
        """n patterns: two levels part by part, in cache, and the few words that go on, together."""
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
        """Fill in what the first level settles; where it does not, and the numbers of the cells."""
        level = self.levels[0]
        cells = read(patterns.size, level.bits)
        places[:] = cells
        level.table.take(places, out=patterns, mode="wrap")  # none is outside: the quickest way
        where = np.flatnonzero(cells >= level.owned) if level.nobodys else _NONE[0]
        return where, places.take(where) - level.owned

    def _read_on(
        self, depth: int, patterns: Patterns, begun: tuple[Places, Places], read: Reader
    ) -> tuple[Places, Places]:
        """The same at the next level, for words that came to cells that are nobody's."""
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
    """The tables of a chance 0 < p < 1, some megabytes, made once."""
    return CoinPatterns(p)


@lru_cache(4)
def _patterns(coins: int) -> list[NDArray[np.uint16]]:
    """The patterns with 0, 1, 2, ... ones."""
    ones = np.zeros(1, np.uint8)
    for _ in range(coins):
        ones = np.concatenate([ones, ones + 1])
    return [np.flatnonzero(ones == n).astype(np.uint16) for n in range(coins + 1)]
