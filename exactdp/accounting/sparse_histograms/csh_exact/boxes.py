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
        parts = [self]
        for _ in range(2):
            parts = [half for part in parts for half in part._halves(k)]
        return parts

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

    A pair is below the corner by at least

        distance (D^2 of the corner - D^2) + covariance (t - t of the corner) + (last_r - r) extra.

    In units of the noise, D^2 = a - a^2/T and t = a/T, with T = j + kappa = whole - r. So this is
    quadratic in a, and linear in 1/T, which is convex in r: it lies above its tangent.
    """

    distance: arb
    covariance: arb
    extra: arb
    corner: tuple[arb, arb]
    whole: arb
    last_r: int

    def relief(self, part: Box) -> arb:
        """A lower bound for all pairs of a part of the box; linear in r, so two ends suffice."""
        middle = self.whole - (part.first_r + part.last_r) // 2
        least = arb("inf")
        for r in {part.first_r, part.last_r}:
            inverse = (2 * middle - self.whole + r) / middle**2  # at most 1/T
            squared, covariance = self.corner
            constant = self.distance * squared - self.covariance * covariance
            linear = self.covariance * inverse - self.distance
            square = self.distance * inverse
            row = _lowest(constant, linear, square, part.first_a, part.last_a)
            least = least.min((row + (self.last_r - r) * self.extra).lower())
        return least.max(arb(0)) if least.is_finite() else arb(0)


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
