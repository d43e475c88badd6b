"""Levels: random rounding of a value to an integer from 0 to m, and the inverse."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from exactdp.mechanisms.projections.ramp import Ramp
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, rounded
from exactdp.samplers import Source


@dataclass(frozen=True)
class EqualSteps:
    """Steps of equal width from 0. count: their number. size: the width, > 0."""

    count: int
    size: Fraction

    def place(self, value: Fraction) -> Fraction:
        """The fractional number of steps up to a value."""
        return min(value / self.size, Fraction(self.count))

    def rounded(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        """The values' places, each rounded at random without bias to an adjacent step."""
        return np.minimum(rounded(entries, self.size, source), self.count)

    def value(self, place: Fraction) -> Fraction:
        """The value at a place."""
        return self.size * place

    def values(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at many places, as floats."""
        scaled: NDArray[np.float64] = places * float(self.size)
        return scaled


@dataclass(frozen=True)
class GrowingSteps:
    """Steps between edges 0 <= b_0 < b_1 < ... < b_m, each at least as wide as the previous step.

    Values below b_0 are at place 0, whose value is b_0. Methods: as for EqualSteps.
    """

    edges: tuple[Fraction, ...]

    @classmethod
    def geometric(
        cls, start: Fraction, width: Fraction, top: Fraction, together: int = 1
    ) -> GrowingSteps:
        """Edges start * (1 + width/start)^j up to top, with widths rounded up to 2^-32 * width.

        together: the number of steps is a multiple of `together`.
        """
        edges = [start]
        while edges[-1] < top or (len(edges) - 1) % together:
            wide = ceil(edges[-1] / start * (1 << 32))
            edges.append(edges[-1] + width * Fraction(wide, 1 << 32))
        return cls(tuple(edges))

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    def place(self, value: Fraction) -> Fraction:
        step = min(bisect_right(self.edges, value), self.count) - 1
        if step < 0:
            return Fraction(0)
        start, end = self.edges[step : step + 2]
        return min(step + (value - start) / (end - start), Fraction(self.count))

    def rounded(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        # a value >= edge if and only if its numerator >= the edge's, rounded up
        least = [ceil(edge * entries.denominator) for edge in self.edges]
        cell = np.searchsorted(np.array(least, object), entries.numerators, side="right") - 1
        steps = cell.astype(np.int64)
        for j in np.unique(steps[(steps >= 0) & (steps < self.count)]).tolist():
            there = np.flatnonzero(cell == j)
            start, end = self.edges[j : j + 2]
            moved = entries.numerators[there].astype(object) * start.denominator
            above = NonzeroEntries(
                there,
                moved - start.numerator * entries.denominator,
                start.denominator * entries.denominator,
            )
            steps[there] += rounded(above, end - start, source)
        return np.maximum(steps, 0)

    def value(self, place: Fraction) -> Fraction:
        below = min(floor(place), self.count - 1)
        return self.edges[below] + (place - below) * (self.edges[below + 1] - self.edges[below])

    def values(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        edges = list(map(float, self.edges))
        return np.interp(places, np.arange(len(edges)), edges)


@dataclass(frozen=True)
class Cells:
    """Cells of several steps each, across which the probability of a bit follows a ramp.

    fine: the steps; the first is the narrowest and determines the privacy loss. ramp: how the
    probability rises over the `ramp.steps` steps of a cell.
    """

    fine: EqualSteps | GrowingSteps
    ramp: Ramp

    @property
    def count(self) -> int:
        """m, the number of cells."""
        return -(-self.fine.count // self.ramp.steps)

    @property
    def width(self) -> Fraction:
        """Width of the first cell."""
        return self.fine.value(Fraction(self.ramp.steps)) - self.fine.value(Fraction(0))

    def places(self, value: Fraction) -> dict[int, Fraction]:
        """The law of the level of one value, from 0 to m."""
        law: dict[int, Fraction] = {}
        marks, whole = self.ramp.set_before
        place = self.fine.place(value)
        below, part = floor(place), place % 1
        for near, weight in ((below, 1 - part), (below + 1, part)):
            level, step = divmod(near, self.ramp.steps)
            up = weight * Fraction(int(marks[step]), whole)
            for y, chance in ((level, weight - up), (level + 1, up)):
                if chance:
                    law[y] = law.get(y, Fraction(0)) + chance
        return law

    def level(self, entries: NonzeroEntries, source: Source) -> NDArray[np.int64]:
        """The random levels of all values: 0, ..., m; values beyond the last edge have level m."""
        levels, steps = np.divmod(self.fine.rounded(entries, source), self.ramp.steps)
        marks, whole = self.ramp.set_before
        random_levels: NDArray[np.int64] = levels + source.uneven_coins(marks[steps], whole)
        return random_levels

    def value(self, level: Fraction) -> Fraction:
        """The value of a level, which may be fractional; linear between steps."""
        return self.fine.value(level * self.ramp.steps)

    def values(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of many levels, as floats."""
        return self.fine.values(levels * self.ramp.steps)
