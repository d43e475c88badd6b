"""Searches for the worst neighbours of the correlated sparse histogram (CSH) at many points."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.sparse_histograms.analysis import Point
from exactdp.accounting.sparse_histograms.csh_exact import (
    Family,
    Worst,
    evaluate,
    likely,
    noise_only,
    pair,
    threshold_only,
)
from exactdp.balls import Ends, ball


class Searches:
    """The exact analysis for one correlation and one number of contributions.

    A finished search is remembered, and the last worst neighbours are tried first in the next.
    """

    def __init__(self, correlation: Fraction | None, contributions: int) -> None:
        self.correlation, self.contributions = correlation, contributions
        self._complete: dict[tuple[Point, int], tuple[Ends, Worst]] = {}
        self._last: Worst | None = None

    def delta(self, point: Point) -> arb:
        """A ball around delta at the working precision."""
        return self._search(point, None)[0].hull()

    def worst(self, point: Point) -> Worst:
        """The neighbours with the largest delta found."""
        return self._search(point, None)[1]

    def until(self, point: Point, target: arb) -> Ends:
        """Ends around delta, which may be far apart once delta is known to exceed the target."""
        return self._search(point, target)[0]

    def ends(self, point: Point) -> arb:
        """A lower bound: the larger delta of the two cases with all counters shared, or none."""
        sigma, ratio = ball(point.sigma), ball(point.tau / point.threshold_sigma)
        noise = noise_only(
            point.k, sigma, ball(point.epsilon), self.correlation, self.contributions
        )
        extras = threshold_only(point.k, ratio, self.correlation, self.contributions)
        return noise.max(extras)

    def climbed(self, point: Point, _: arb) -> Callable[[Point], arb]:
        """The lower bound by the neighbours that hill climbing finds."""
        found = likely(self._family(point), self._last)
        if found is None:
            return self.ends
        self._last = found
        return self._of(found)

    def searched(self, point: Point, target: arb) -> Callable[[Point], arb]:
        """The lower bound by the worst neighbours, or by some whose delta exceeds the target."""
        return self._of(self._search(point, target)[1])

    def _search(self, point: Point, target: arb | None) -> tuple[Ends, Worst]:
        key = point, ctx.prec
        if key not in self._complete:
            value, worst = evaluate(self._family(point), target, self._last)
            if 0 < worst.r < min(point.k, self.contributions):  # the two ends are always evaluated
                self._last = worst
            if target is not None and value.lower > target:
                return value, worst
            self._complete[key] = value, worst
        return self._complete[key]

    def _of(self, worst: Worst) -> Callable[[Point], arb]:
        return lambda point: pair(self._family(point), worst.j, worst.a, worst.r).lower()

    def _family(self, point: Point) -> Family:
        return Family(
            point.k,
            point.sigma,
            point.tau,
            point.epsilon,
            point.threshold_sigma,
            self.correlation,
            self.contributions,
        )
