"""Binomial distributions with any number of trials, for rare events."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist

from flint import arb, ctx

from exactdp.samplers.cdf import RealCdf


def binomial_cdf(
    trials: int, chance: Callable[[], arb], mean: float, exact: Fraction | None = None
) -> RealCdf:
    """The distribution function of the number of successes; a draw takes time about the mean.

    trials: >= 0, of any size. chance: computes the probability of a success, a ball below 1. mean:
    approximately trials * chance. exact: the probability as a short fraction, if there are few
    trials.
    """
    sums = _Sums(trials, chance)

    def value(j: int) -> Fraction:
        p = exact or Fraction(0)
        return sum((comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(j + 1)),
                   Fraction(0))  # fmt: skip

    def quantile(level: float) -> float:
        # a start of a search: floats suffice
        inside = min(max(level, 1e-300), 1 - 1e-16)
        return mean + sqrt(mean) * NormalDist().inv_cdf(inside) - 0.5

    # no upper end: a search for it would sum all terms
    most = None if exact is None else trials
    return RealCdf(0, most, sums.at_most, quantile, None if exact is None else value)


class _Sums:
    """P(K <= j) as balls, by summing terms, cached for each precision."""

    def __init__(self, trials: int, chance: Callable[[], arb]) -> None:
        self._trials, self._chance = trials, chance
        self._known: dict[int, tuple[arb, list[arb], arb]] = {}  # odds, sums, last term

    def at_most(self, j: int) -> arb:
        if ctx.prec not in self._known:
            chance = self._chance()
            term = (self._trials * (-chance).log1p()).exp()
            self._known[ctx.prec] = chance / (1 - chance), [term], term
        odds, sums, term = self._known[ctx.prec]
        while len(sums) <= j:
            i = len(sums)
            term = term * odds * (self._trials - i + 1) / i
            sums.append(sums[-1] + term)
        self._known[ctx.prec] = odds, sums, term
        return sums[j]
