"""The exact analysis of the correlated sparse histogram (CSH): a search for the worst case."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point
from exactdp.accounting.sparse_histograms.csh_exact import (
    Estimates,
    Family,
    Worst,
    evaluate,
    noise_only,
    threshold_only,
)
from exactdp.balls import Ends, ball, precision

#: Working precision of the search for the worst case, in bits.
_WORST_BITS = 128
#: Only between these numbers are an estimate and its distance from 1 accurate to many digits.
_LEAST_ESTIMATE, _MOST_ESTIMATE = 1e-280, 0.999
#: Largest number of cells of one search, where a calibration makes many.
_FEW_CELLS = 1_000_000


class Exact(Analysis):
    """The exact analysis for one correlation and one number of contributions.

    A finished search is remembered, and the last worst neighbours are tried first in the next.
    """

    name, source = "exact", "exactdp statement explain exact-csh, exact over all neighbours"
    tight = larger_part = searched = True
    relative_width = Fraction(1, 10**9)
    cap_bits = 512  # more precision does not settle a comparison that the search leaves open

    def __init__(self, correlation: Fraction | None, contributions: int) -> None:
        self.correlation, self.contributions = correlation, contributions
        self._complete: dict[tuple[Point, int], tuple[Ends, Worst]] = {}
        self._last: Worst | None = None

    def neighbours(self, k: int) -> str:
        """Users change some counters, in one direction."""
        return sparse_counters(k, None if self.contributions == k else self.contributions)

    def evaluate(self, point: Point) -> Ends:
        """Ends around delta at the working precision."""
        return self._search(point, None)[0]

    def worst(self, point: Point) -> Worst:
        """The neighbours with the largest delta found."""
        with precision(_WORST_BITS):
            return self._search(point, None)[1]

    def noise_only(self, k: int, sigma: arb, epsilon: arb) -> arb:
        """The delta of neighbours whose counters are in both histograms."""
        return noise_only(k, sigma, epsilon, self.correlation, self.contributions)

    def threshold_only(self, k: int, ratio: arb) -> arb:
        """The delta of neighbours whose counters are in one histogram."""
        return threshold_only(k, ratio, self.correlation, self.contributions)

    def against(self, point: Point, target: arb) -> Ends:
        """Ends around delta, which may be far apart once the target is decided."""
        return self._search(point, target)[0]

    def about(self, point: Point) -> arb:
        """About the larger delta of the two cases with all counters shared, or none."""
        noise = self.noise_only(point.k, ball(point.sigma), ball(point.epsilon))
        extra = Estimates(self._family(point)).exceeded(min(point.k, self.contributions))
        if _LEAST_ESTIMATE < extra < _MOST_ESTIMATE:
            return noise.max(arb(extra))
        return noise.max(self.threshold_only(point.k, ball(point.tau / point.threshold_sigma)))

    def near(self, point: Point) -> Callable[[Point], arb]:
        """The estimated delta of the neighbours between the two ends that seem the worst."""
        worst = Estimates(self._family(point)).best(self._last)
        if worst is None:
            return lambda _: arb(0)
        self._last = worst

        def delta(point: Point) -> arb:
            estimate = Estimates(self._family(point)).pair(worst.j, worst.a, worst.r)
            return arb(min(estimate, _MOST_ESTIMATE))

        return delta

    def _search(self, point: Point, target: arb | None) -> tuple[Ends, Worst]:
        key = point, ctx.prec
        if key not in self._complete:
            few = {} if target is None else {"most_cells": _FEW_CELLS}
            value, worst = evaluate(self._family(point), target, self._last, **few)
            if 0 < worst.r < min(point.k, self.contributions):  # the two ends are always evaluated
                self._last = worst
            if target is not None and value.lower > target:
                return value, worst
            self._complete[key] = value, worst
        return self._complete[key]

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
