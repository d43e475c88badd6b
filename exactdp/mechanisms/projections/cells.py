"""Levels: how a value becomes an integer from 0 to m by random rounding, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.vectors import Entries, rounded
from exactdp.samplers import Source

__all__ = ["Cells", "EqualCells", "GrowingCells"]


class Cells(ABC):
    """Cells between edges b_0 < b_1 < ... < b_m. Values of a cell are rounded to its ends.

    No cell is narrower than the first, whose width says what a change of a value costs.
    """

    @property
    @abstractmethod
    def count(self) -> int:
        """m."""

    @property
    @abstractmethod
    def width(self) -> Fraction:
        """Of the first cell."""

    @abstractmethod
    def level(self, entries: Entries, source: Source) -> NDArray[np.int64]:
        """Each value rounded at random: 0, ..., m, and m for what lies beyond the last edge."""

    @abstractmethod
    def value(self, level: Fraction) -> Fraction:
        """The value of a level, or of a place between two: linear between edges."""

    @abstractmethod
    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for floats."""


@dataclass(frozen=True)
class EqualCells(Cells):
    """m cells of one width."""

    number: int
    size: Fraction

    @property
    def count(self) -> int:
        return self.number

    @property
    def width(self) -> Fraction:
        return self.size

    def level(self, entries: Entries, source: Source) -> NDArray[np.int64]:
        return np.minimum(rounded(entries, self.size, source), self.number)

    def value(self, level: Fraction) -> Fraction:
        return self.size * level

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = levels * float(self.size)
        return scaled


@dataclass(frozen=True)
class GrowingCells(Cells):
    """Cells given by their edges 0 <= b_0 < b_1 < ... < b_m, none narrower than the one before.

    Values below b_0 are of level 0, which stands for b_0.
    """

    edges: tuple[Fraction, ...]

    @classmethod
    def geometric(cls, start: Fraction, width: Fraction, top: Fraction) -> GrowingCells:
        """Edges start (1 + width/start)^j up to top, widths rounded up to 2^-32 of the first."""
        edges = [start]
        while edges[-1] < top:
            wide = ceil(edges[-1] / start * (1 << 32))
            edges.append(edges[-1] + width * Fraction(wide, 1 << 32))
        return cls(tuple(edges))

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    @property
    def width(self) -> Fraction:
        return self.edges[1] - self.edges[0]

    def level(self, entries: Entries, source: Source) -> NDArray[np.int64]:
        # a value is at or beyond an edge exactly where its numerator is at or beyond this
        least = [ceil(edge * entries.denominator) for edge in self.edges]
        cell = np.searchsorted(np.array(least, object), entries.numerators, side="right") - 1
        found = cell.astype(np.int64)
        for j in np.unique(found[(found >= 0) & (found < self.count)]).tolist():
            there = np.flatnonzero(cell == j)
            start, end = self.edges[j : j + 2]
            moved = entries.numerators[there].astype(object) * start.denominator
            above = Entries(
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
