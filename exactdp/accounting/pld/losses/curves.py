"""A loss with a curve that is known at some points: chords above the curve.

delta(epsilon) for epsilon >= 0 belongs to the worst neighbours at each epsilon, in either order. So
the curve is a maximum of convex curves, and the curve of a pair: for x < 1, D(x) = 1 - x + x
D(1/x), where D(1/x) belongs to the pair in the other order. The points may be rounded up: chords
through points above a convex curve are above the curve, also if some points are left out. Points
are left out where the given points are not convex. One step alone has the curve itself.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.lattice import Lattice, Outcome
from exactdp.accounting.pld.grid.moved import Cell
from exactdp.accounting.pld.losses.base import Family, LossLaw
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.accounting.pld.losses.one_release import DeltaCurve, delta_at
from exactdp.balls import ball, precision
from exactdp.bisection import halved

_BITS = 256

#: Points on a curve per width of the loss of the noise, and the least number of points.
_DENSITY = 24
_FEWEST = 32


class Curve(DeltaCurve, Protocol):
    """The exact curve of a mechanism, with what a composition needs."""

    @property
    def delta_floor(self) -> Fraction:
        """A lower bound of delta at every epsilon."""

    @property
    def mu(self) -> Fraction:
        """About the width of the losses."""

    @property
    def most_points(self) -> int:
        """Largest number of points that a composition evaluates."""

    @property
    def family(self) -> Family | None:
        """All pairs of neighbours of the mechanism, where they are known."""


@dataclass(frozen=True)
class CurveLaw(ListedLaw):
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
    def family(self) -> Family | None:
        return self.curve_of_one.family

    @property
    def known(self) -> KnownCurve:
        """The curve at some points."""
        return _known(self.curve_of_one)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        return self.known.outcomes(tail_bits)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return self.known.infinite(tail_bits)

    def mass_at_infinity(self) -> arb:
        return ball(self.curve_of_one.delta_floor).lower().max(arb(0))

    def cells(self, lattice: Lattice, tail_bits: int, rate: Fraction) -> Iterator[Cell]:
        return LossLaw.cells(self, lattice, tail_bits, rate)  # only bounds of the ratio are known

    def excess(self, epsilon: Fraction) -> arb:
        delta = delta_at(self.curve_of_one, epsilon)
        return ball(delta.lower).union(ball(delta.upper))


@dataclass(frozen=True)
class KnownCurve(ListedLaw):
    """The loss of a pair that dominates in both orders, from upper bounds of its delta.

    step: of epsilon. deltas: at the epsilons 0, step, 2 step, ..., none below the true one, and
    below 1; beyond the last epsilon, the last delta is an upper bound.
    """

    step: Fraction
    deltas: tuple[Fraction, ...]
    symmetric = True

    @property
    def unit(self) -> Fraction | None:
        return self.step

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        return iter(self._chords[0])

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        beyond = self._chords[1]
        return beyond, beyond

    def excess(self, epsilon: Fraction) -> arb:
        losses, above = self._sums
        with precision(_BITS):
            p, q = above[bisect_right(losses, epsilon)]
            return p - ball(epsilon).exp() * q + self._chords[1]

    @cached_property
    def _sums(self) -> tuple[list[Fraction], list[tuple[arb, arb]]]:
        """The losses, which rise, and the masses under P and Q from each of them on."""
        outcomes = self._chords[0]
        above = [(arb(0), arb(0))]
        with precision(_BITS):
            for outcome in reversed(outcomes):
                p, q = above[-1]
                above.append((p + outcome.p, q + outcome.q))
        return [outcome.exact for outcome in outcomes if outcome.exact is not None], above[::-1]

    @property
    def losses(self) -> list[Fraction]:
        """The epsilons of the deltas."""
        return [index * self.step for index in range(len(self.deltas))]

    @cached_property
    def _chords(self) -> tuple[list[Outcome], arb]:
        with precision(_BITS):
            deltas = [ball(delta) for delta in self.deltas]
            return chords(self.losses, deltas, deltas)


#: A point on a curve: loss, x = e^loss, an upper bound of delta.
Point = tuple[Fraction, arb, arb]


def chords(
    losses: Sequence[Fraction], deltas: Sequence[arb], reverse: Sequence[arb]
) -> tuple[list[Outcome], arb]:
    """The outcomes of a pair whose curve is nowhere below the given points, and the mass at
    infinity.

    losses: rising, the first 0. deltas, reverse: upper bounds of delta at these losses, in both
    orders of the neighbours, below 1.
    """
    points: list[Point] = [(Fraction(0), arb(0), arb(1))]  # delta is 1 at x = 0
    for loss, delta in zip(reversed(losses[1:]), reversed(reverse[1:]), strict=True):
        x = ball(-loss).exp()
        points.append((-loss, x, 1 - x + x * delta))
    points.append((Fraction(0), arb(1), deltas[0].min(reverse[0])))
    points += [(x, ball(x).exp(), y) for x, y in zip(losses[1:], deltas[1:], strict=True)]
    return kinks(points)


def kinks(points: Sequence[Point]) -> tuple[list[Outcome], arb]:
    """The outcomes of a convex curve that falls, and its last value.

    points: in the order of x, the first at x = 0. Points above the lower convex hull are ignored.
    """
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < _slope(kept[-1], point):
            kept.pop()
        kept.append(point)
    while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < 0:
        kept.pop()
    slopes = [*(_slope(a, b) for a, b in pairwise(kept)), arb(0)]
    outcomes = [
        Outcome.at(loss, x * (after - before), after - before)
        for (loss, x, _), (before, after) in zip(kept[1:], pairwise(slopes), strict=True)
    ]
    return outcomes, kept[-1][2]


def _slope(left: Point, right: Point) -> arb:
    return (right[2] - left[2]) / (right[1] - left[1])


@lru_cache(maxsize=32)
def _known(curve: Curve) -> KnownCurve:
    """The curve up to about the epsilon at which delta reaches its lower bound `delta_floor`."""
    flat = curve.delta_floor * Fraction(10_001, 10_000)
    low, high = Fraction(0), Fraction(float(curve.mu))
    while curve.delta(high).upper > flat:
        low, high = high, 2 * high
    _, high = halved(low, high, lambda epsilon: curve.delta(epsilon).upper <= flat, times=10)
    count = min(max(math.ceil(_DENSITY * high / curve.mu), _FEWEST), curve.most_points)
    step = high / count
    return KnownCurve(step, tuple(curve.delta(i * step).upper for i in range(count + 1)))
