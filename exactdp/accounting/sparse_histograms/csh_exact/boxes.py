"""Boxes of pairs (r, p), p = a/(j + kappa), with bounds on delta for all pairs of a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import Bound

#: Weights that decide which side of a box is halved. The slopes leave an error of second order in
#: the side, and in r a small part of first order, because the G of more shared counters stands for
#: the G of fewer ones.
_FIRST_ORDER, _SHARE_WEIGHT = 0.03, 0.3


@dataclass(frozen=True)
class Box:
    """All pairs with first_r <= r <= last_r, least <= p <= most, j = k - r, p = a/(j + kappa).

    In units of the noise, D^2 = (j + kappa) p (1 - p) and t = p: where delta is large, delta hardly
    changes along lines of constant p. The delta of a pair is at most the delta of the box's corner:
    j = k - first_r, r = last_r, the largest D^2 and the smallest t.
    """

    first_r: int
    last_r: int
    least: arb
    most: arb
    numbers: tuple[int, int] | None = None  # the first and the last a, if r is fixed
    seen: Bound | None = None
    count: int = 0  # cells used for the corner, or for the corner of the parent box
    slopes: Slopes | None = None  # how fast delta falls away from the corner, at least

    @property
    def single(self) -> bool:
        return self.numbers is not None and self.numbers[0] == self.numbers[1]

    @property
    def peak(self) -> arb:
        """The largest p (1 - p)."""
        best = self.most if self.most < 0.5 else self.least.max(arb(0.5))
        return best * (1 - best)

    def at_most(self, part: Box) -> arb:
        """An upper bound for a part of this box."""
        if self.seen is None:
            return arb(1)
        relief = arb(0) if self.slopes is None else self.slopes.relief(part)
        return (self.seen.upper - relief).upper()

    def parts(self, whole: arb) -> list[Box]:
        """The box halved twice; whole = k + kappa."""
        return [part for half in self._halves(whole) for part in half._halves(whole)]

    def _halves(self, whole: arb) -> tuple[Box, ...]:
        """The box halved along the side on which delta varies more."""
        if self.single:
            return (self,)
        fresh = replace(self, seen=None, slopes=None)
        if self.numbers is not None:
            (first, last), total = self.numbers, whole - self.first_r
            middle = (first + last) // 2
            return (
                replace(fresh, numbers=(first, middle), most=middle / total),
                replace(fresh, numbers=(middle + 1, last), least=(middle + 1) / total),
            )
        span, share = arb(self.last_r - self.first_r), 1 - self.least / self.most
        part = span / self.last_r + span / (whole - self.first_r)
        if part * (part + _FIRST_ORDER) > _SHARE_WEIGHT * share * share:
            middle = (self.first_r + self.last_r) // 2
            return replace(fresh, last_r=middle), replace(fresh, first_r=middle + 1)
        centre = ((self.least + self.most) / 2).mid()
        return replace(fresh, most=centre), replace(fresh, least=centre)


class Slopes(NamedTuple):
    """Lower bounds on how fast delta falls away from the corner of a box, for all its pairs.

    A pair is below the corner by at least

        distance (D^2 of the corner - D^2) + covariance (t - t of the corner) + (last_r - r) extra,

    which is linear in r and a convex function of p.
    """

    distance: arb
    covariance: arb
    extra: arb
    squared: arb
    least: arb
    whole: arb
    last_r: int

    def relief(self, part: Box) -> arb:
        """A lower bound for all pairs of a part of the box; linear in r, so two ends suffice."""
        lowest = arb("inf")
        for r in {part.first_r, part.last_r}:
            square = self.distance * (self.whole - r)
            constant = self.distance * self.squared - self.covariance * self.least
            linear = self.covariance - square
            row = constant + _lowest(linear, square, part.least, part.most)
            lowest = lowest.min((row + (self.last_r - r) * self.extra).lower())
        return lowest.max(arb(0)) if lowest.is_finite() else arb(0)


def smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; a bound that is not finite is ignored."""
    return other if other < bound else bound


def _lowest(linear: arb, square: arb, first: arb, last: arb) -> arb:
    """A lower bound on linear p + square p^2, square >= 0: its tangent's smaller end."""
    at = (-linear / (2 * square)).mid() if square > 0 else first
    at = at.max(first).min(last)
    tilt = linear + 2 * square * at
    return (linear + square * at) * at + (tilt * (first - at)).min(tilt * (last - at))
