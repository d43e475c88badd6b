"""Boxes of pairs (r, a), with bounds on delta for all pairs of a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import Bound


@dataclass(frozen=True)
class Box:
    """All pairs with first_r <= r <= last_r, first_a <= a <= last_a, j = k - r.

    Their delta is at most that of the box's corner: j = k - first_r, r = last_r, the largest D^2
    and the smallest t.
    """

    first_r: int
    last_r: int
    first_a: int
    last_a: int
    seen: Bound | None = None
    count: int = 0  # cells used for the corner, or for the corner of the parent box
    slopes: Slopes | None = None  # how fast delta falls away from the corner, at least

    @property
    def single(self) -> bool:
        return self.first_r == self.last_r and self.first_a == self.last_a

    def most(self, part: Box) -> arb:
        """An upper bound for a part of this box."""
        if self.seen is None:
            return arb(1)
        relief = arb(0) if self.slopes is None else self.slopes.relief(part)
        return (self.seen.upper - relief).upper()

    def parts(self, k: int) -> list[Box]:
        """The box halved twice."""
        return [part for half in self._halves(k) for part in half._halves(k)]

    def _halves(self, k: int) -> tuple[Box, ...]:
        """The box halved along its longer side, relative to the values of r and a there.

        The side of r counts twice, because r changes both D^2 and G.
        """
        if self.single:
            return (self,)
        fresh = replace(self, seen=None, slopes=None)
        span_r = Fraction(2 * (self.last_r - self.first_r), min(self.last_r, k - self.first_r))
        if span_r >= Fraction(self.last_a - self.first_a, self.last_a):
            middle = (self.first_r + self.last_r) // 2
            return replace(fresh, last_r=middle), replace(fresh, first_r=middle + 1)
        middle = (self.first_a + self.last_a) // 2
        return replace(fresh, last_a=middle), replace(fresh, first_a=middle + 1)


class Slopes(NamedTuple):
    """Lower bounds on how fast delta falls away from the corner of a box, for all its pairs.

    With T = j + kappa at the corner, D^2 is concave in a and in j, where it rises by a^2/T^2 at
    least, and t falls by a/T^2 (lambda = 1). So a pair is below the corner by at least

        start + (cost - gain) a + gain a^2/T + (r - first_r)(cost a/T + gain a^2/T^2)
        + (last_r - r) extra.
    """

    start: arb
    gain: arb
    cost: arb
    extra: arb
    total: arb
    first_r: int
    last_r: int

    def relief(self, part: Box) -> arb:
        """A lower bound for all pairs of a part of the box; linear in r, so two ends suffice."""
        least = self._row(part.first_r, part).min(self._row(part.last_r, part)).lower()
        return least.max(arb(0)) if least.is_finite() else arb(0)

    def _row(self, r: int, part: Box) -> arb:
        down = (r - self.first_r) / self.total
        linear = self.cost - self.gain + down * self.cost
        square = self.gain / self.total * (1 + down)
        least = _lowest(self.start, linear, square, part.first_a, part.last_a)
        return least + (self.last_r - r) * self.extra


def smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; a bound that is not finite is ignored."""
    return other if other < bound else bound


def _lowest(constant: arb, linear: arb, square: arb, first: int, last: int) -> arb:
    """A lower bound on a convex quadratic between two integers: its tangent's smaller end."""
    at = (-linear / (2 * square)).mid() if square > 0 else arb(first)
    at = at.max(arb(first)).min(arb(last))
    tilt = linear + 2 * square * at
    value = constant + (linear + square * at) * at
    return value + (tilt * (first - at)).min(tilt * (last - at))
