"""Levels: random rounding of a value to an integer from 0 to m, and the inverse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.ramp import Ramp
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, rounded
from exactdp.samplers import Source


class Cells(ABC):
    """Cells between edges b_0 < ... < b_m; a value is rounded at random to an end of its cell.

    The first cell is the narrowest; its width determines the privacy loss.
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """m."""

    @property
    @abstractmethod
    def width(self) -> Fraction:
        """Width of the first cell."""

    @abstractmethod
    def places(self, value: Fraction) -> dict[int, Fraction]:
        """The law of the level of one value, from 0 to the last edge."""

    @abstractmethod
    def level(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        """The random levels of all values: 0, ..., m; values beyond the last edge have level m."""

    @abstractmethod
    def value(self, level: Fraction) -> Fraction:
        """The value of a level, which may be fractional; linear between edges."""

    @abstractmethod
    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of many levels, as floats."""


@dataclass(frozen=True)
class EqualCells(Cells):
    """m cells of equal width. number: m. size: the width, > 0."""

    number: int
    size: Fraction

    @property
    def count(self) -> int:
        return self.number

    @property
    def width(self) -> Fraction:
        return self.size

    def places(self, value: Fraction) -> dict[int, Fraction]:
        return _between(value / self.size)

    def level(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        return np.minimum(rounded(entries, self.size, source), self.number)

    def value(self, level: Fraction) -> Fraction:
        return self.size * level

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = levels * float(self.size)
        return scaled


@dataclass(frozen=True)
class GrowingCells(Cells):
    """Cells between edges 0 <= b_0 < b_1 < ... < b_m, each at least as wide as the previous cell.

    Values below b_0 have level 0, whose value is b_0.
    """

    edges: tuple[Fraction, ...]

    @classmethod
    def geometric(
        cls, start: Fraction, width: Fraction, top: Fraction, together: int = 1
    ) -> GrowingCells:
        """Edges start * (1 + width/start)^j up to top, with widths rounded up to 2^-32 * width.

        together: the number of cells is a multiple of this.
        """
        edges = [start]
        while edges[-1] < top or (len(edges) - 1) % together:
            wide = ceil(edges[-1] / start * (1 << 32))
            edges.append(edges[-1] + width * Fraction(wide, 1 << 32))
        return cls(tuple(edges))

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    @property
    def width(self) -> Fraction:
        return self.edges[1] - self.edges[0]

    def places(self, value: Fraction) -> dict[int, Fraction]:
        cell = min(bisect_right(self.edges, value), self.count) - 1
        if cell < 0:
            return {0: Fraction(1)}
        start, end = self.edges[cell : cell + 2]
        return _between(cell + (value - start) / (end - start))

    def level(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        # a value >= edge if and only if its numerator >= the edge's, rounded up
        least = [ceil(edge * entries.denominator) for edge in self.edges]
        cell = np.searchsorted(np.array(least, object), entries.numerators, side="right") - 1
        found = cell.astype(np.int64)
        for j in np.unique(found[(found >= 0) & (found < self.count)]).tolist():
            there = np.flatnonzero(cell == j)
            start, end = self.edges[j : j + 2]
            moved = entries.numerators[there].astype(object) * start.denominator
            above = NonzeroEntries(
                there,
                moved - start.numerator * entries.denominator,
                start.denominator * entries.denominator,
            )
            found[there] += rounded(above, end - start, source)
        return np.maximum(found, 0)

    def value(self, level: Fraction) -> Fraction:
        below = min(floor(level), self.count - 1)
        return self.edges[below] + (level - below) * (self.edges[below + 1] - self.edges[below])

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        edges = list(map(float, self.edges))
        return np.interp(levels, np.arange(len(edges)), edges)


@dataclass(frozen=True)
class RampCells(Cells):
    """Cells of several steps each, across which the probability of a bit follows a ramp.

    fine: the steps, which determine the privacy loss. ramp: its number of steps per cell.
    """

    fine: Cells
    ramp: Ramp

    @property
    def count(self) -> int:
        return -(-self.fine.count // self.ramp.steps)

    @property
    def width(self) -> Fraction:
        return self.fine.value(Fraction(self.ramp.steps)) - self.fine.value(Fraction(0))

    def places(self, value: Fraction) -> dict[int, Fraction]:
        law: dict[int, Fraction] = {}
        marks, whole = self.ramp.set_before
        for place, weight in self.fine.places(value).items():
            level, step = divmod(place, self.ramp.steps)
            up = weight * Fraction(int(marks[step]), whole)
            for y, part in ((level, weight - up), (level + 1, up)):
                if part:
                    law[y] = law.get(y, Fraction(0)) + part
        return law

    def level(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        levels, steps = np.divmod(self.fine.level(entries, source), self.ramp.steps)
        marks, whole = self.ramp.set_before
        found: NDArray[np.int64] = levels + source.uneven_coins(marks[steps], whole)
        return found

    def value(self, level: Fraction) -> Fraction:
        return self.fine.value(level * self.ramp.steps)

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.fine.values(levels * self.ramp.steps)


def _between(place: Fraction) -> dict[int, Fraction]:
    """The law of a fractional level after random rounding."""
    below = floor(place)
    part = place - below
    return {below: 1 - part, below + 1: part} if part else {below: Fraction(1)}
