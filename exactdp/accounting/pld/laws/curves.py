"""A loss with a curve that is known at some points: chords above the curve.

delta(epsilon) for epsilon >= 0 is that of the worst neighbours at each epsilon, in either order. So
the curve is a maximum of convex curves, and the curve of a pair: for x < 1, D(x) = 1 - x + x
D(1/x), which exchanges the masses under P and Q. The points may be rounded up: chords through
points above a convex curve are above the curve, also if some points are left out. Points are left
out where the given points are not convex. One step alone has the curve itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.outcomes import Outcome
from exactdp.accounting.pld.laws.discrete import DiscreteLaw
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure

__all__ = ["CurveLaw", "KnownCurve"]

_BITS = 256

#: Points on a curve per width of the loss of the noise, and the least number of points.
_DENSITY = 24
_FEWEST = 32


class Curve(Hashable, Protocol):
    """The exact curve of a mechanism, for the worst neighbours at each epsilon, in either order."""

    @property
    def shown(self) -> Fraction:
        """A lower bound of delta at every epsilon."""

    @property
    def mu(self) -> Fraction:
        """About the width of the losses."""

    @property
    def most_points(self) -> int:
        """Largest number of points that a composition evaluates."""

    def delta(self, epsilon: Fraction) -> Enclosure:
        """An enclosure of relative width 1e-9 or less."""


@dataclass(frozen=True)
class CurveLaw(DiscreteLaw):
    """The loss of a pair with this curve; a composition uses chords above the curve."""

    curve_of_one: Curve
    symmetric = True

    @property
    def accuracy(self) -> Fraction:
        return Fraction(1, 10**8)  # `Curve.delta` has a relative width of 1e-9

    @property
    def unit(self) -> Fraction | None:
        return self.known.unit

    @property
    def known(self) -> KnownCurve:
        """The curve at some points."""
        return _known(self.curve_of_one)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        return self.known.outcomes(tail_bits)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return self.known.infinite(tail_bits)

    def mass_at_infinity(self) -> arb:
        return ball(self.curve_of_one.shown).lower().max(arb(0))

    def excess(self, epsilon: Fraction) -> arb:
        found = self.curve_of_one.delta(epsilon)
        return ball(found.lower).union(ball(found.upper))


#: A point on a curve: its index, x = e^epsilon, an upper bound of delta.
_Point = tuple[int, arb, arb]


@dataclass(frozen=True)
class KnownCurve(DiscreteLaw):
    """The loss of a pair that dominates in both orders, from upper bounds of its delta.

    step: of epsilon. deltas: at the epsilons 0, step, 2 step, ..., none below the true one, and
    below 1; beyond the last epsilon, the last delta is an upper bound.
    """

    step: Fraction
    deltas: tuple[Fraction, ...]

    @property
    def unit(self) -> Fraction | None:
        return self.step

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        with precision(_BITS):
            centre, *points = self._convex_points()
            start = self._slope_at_one(centre, points)
            slopes = [start, *(_slope(a, b) for a, b in pairwise(points)), arb(0)]
            listed = [
                Outcome.at(index * self.step, x * (after - before), after - before)
                for (index, x, _), (before, after) in zip(points, pairwise(slopes), strict=False)
            ]
            beyond = (points or [centre])[-1][2]
            at_zero = (1 - beyond - sum((x.p + x.q for x in listed), arb(0))).max(arb(0))
        for outcome in listed:
            yield outcome
            yield outcome.reversed()
        yield Outcome.at(Fraction(0), at_zero, at_zero)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        with precision(_BITS):
            centre, *points = self._convex_points()
            self._slope_at_one(centre, points)
            beyond = (points or [centre])[-1][2]
        return beyond, beyond

    def _convex_points(self) -> list[_Point]:
        """The points that are kept: slopes rise and end below 0."""
        kept: list[_Point] = []
        for index, delta in enumerate(self.deltas):
            point = index, ball(index * self.step).exp(), ball(delta)
            while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < _slope(kept[-1], point):
                kept.pop()
            kept.append(point)
        while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < 0:
            kept.pop()
        return kept

    def _slope_at_one(self, centre: _Point, points: list[_Point]) -> arb:
        """The slope just after x = 1; removes first points that do not fit a convex curve.

        The chord across x = 1, from the mirror image of the first point to that point, is used
        where it is flatter than the chord from the centre.
        """
        while points:
            across = (points[0][2] - 1) / (points[0][1] + 1)
            if len(points) == 1 or across < _slope(points[0], points[1]):
                return across.max(_slope(centre, points[0]))
            points.pop(0)
        return arb(0)


def _slope(left: _Point, right: _Point) -> arb:
    return (right[2] - left[2]) / (right[1] - left[1])


@lru_cache(maxsize=32)
def _known(curve: Curve) -> KnownCurve:
    """The curve up to about the epsilon where delta is its lower bound `shown`."""
    flat = curve.shown * Fraction(10_001, 10_000)
    low, high = Fraction(0), Fraction(float(curve.mu))
    while curve.delta(high).upper > flat:
        low, high = high, 2 * high
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if curve.delta(middle).upper > flat else (low, middle)
    count = min(max(math.ceil(_DENSITY * high / curve.mu), _FEWEST), curve.most_points)
    step = high / count
    return KnownCurve(step, tuple(curve.delta(i * step).upper for i in range(count + 1)))
