"""What two counts say together: the joint confidence region of an event's two probabilities.

An event is seen hits times in trials on the favoured side (probability p) and other_hits times in
other_trials on the other side (probability q). A promise (epsilon, delta) says p <= e^epsilon q +
delta. The plain way to refute it takes a Clopper-Pearson bound for p and one for q, each at
alpha/2; that wastes most of the error budget, because both bounds are rarely wrong together.

Here the error budget is spread over the outcomes of the other side instead. For every q, count y
on the other side gets the level

    a_q(y) = min(1, t_q / F_q(y)^g),   F_q(y) = P(Binomial(other_trials, q) <= y),

with t_q as large as E[a_q(Y)] <= alpha allows, and the point (p, q) is rejected when
P(Binomial(trials, p) >= hits) <= a_q(other_hits). The two sides are independent, so a true point is
rejected with probability at most E[a_q(Y)] <= alpha. For each q this is a Clopper-Pearson lower
bound for p at the level a_q(other_hits); the rejected points hold for every epsilon and delta at
once, so bounds on both may be read from the same region. The exponent g is 1 (Fisher's
combination), or 2 where the other side is expected to show few or no hits; it is fixed before the
counts are known.

[0, 1] is covered by intervals [a, b] of q; on each, t_q is bounded below for all its points:
E[a_q(Y)] <= E_a[min(1, t/F_b(Y)^g)], because F falls with q and a_q falls with y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.audit.bounds import binomial
from exactdp.audit.bounds.regions import ConfidenceRegion
from exactdp.audit.bounds.tails import at_most
from exactdp.balls import ball, precision
from exactdp.bisection import halved

_BITS = 96
_POWER = 2  # the exponent g where few hits are expected on the other side
_LOOSE = 1e-6  # standard deviations by which a bound may be looser than necessary
_FEW = 12  # other_trials * q up to which the expectation is summed term by term


@dataclass
class Region(ConfidenceRegion):
    """The joint confidence region of one event, in one direction.

    hits, trials: of the favoured side. other_hits, other_trials: of the other side.
    alpha: probability that the region misses the true pair, exact, > 0 and < 1.
    few: whether few hits were expected on the other side, before they were counted.
    """

    alpha: Fraction
    few: bool = False

    def _beyond(self) -> Fraction:
        if self.other_hits == self.other_trials:
            return Fraction(1)
        level = Fraction(math.nextafter(self._any_level() ** (1 / self._power), 0))
        return binomial._upper(self.other_hits, self.other_trials, level)

    def _lowest(self, a: Fraction, b: Fraction) -> Fraction:
        with precision(_BITS):
            base = Fraction(self._level(a, b))
            tail = at_most(self.other_hits, self.other_trials, a)
            level = (ball(base) / tail**self._power).lower()
            share = min(Fraction(math.nextafter(float(level), 0)), Fraction(1))
        if share >= 1:
            return Fraction(1)
        return binomial._lower(self.hits, self.trials, share, _LOOSE)

    @property
    def _power(self) -> int:
        return _POWER if self.few else 1

    def _any_level(self) -> float:
        """t for every q at once: E[min(1, t/F^g)] is largest for a continuous F, uniform."""
        return _level_for_any(self.alpha, self._power)

    def _level(self, a: Fraction, b: Fraction) -> float:
        """A t that is small enough for every q in [a, b]."""
        safe = self._any_level()
        if self.other_trials * b > _FEW or b >= 1:
            return safe
        pmf, cdf = _floats(self.other_trials, float(a), float(b))
        weight = cdf ** -float(self._power)

        def mean(t: float) -> float:
            return float((pmf * np.minimum(1.0, t * weight)).sum())

        t = _bisect(mean, float(self.alpha)) * (1 - 1e-6)
        return t if t > safe and self._proved(a, b, t, len(pmf)) else safe

    def _proved(self, a: Fraction, b: Fraction, t: float, terms: int) -> bool:
        """Whether E_a[min(1, t/F_b^g)] <= alpha, in balls."""
        n, level = self.other_trials, arb(t)
        at_a, at_b = _Pmf(n, a), _Pmf(n, b)
        total, seen, cdf = arb(0), arb(0), arb(0)
        share = arb(1)
        for _ in range(min(terms, n + 1)):
            mass = at_a.next()
            cdf += at_b.next()
            share = (level / cdf**self._power).min(arb(1))
            total += mass * share
            seen += mass
        total += (1 - seen).max(arb(0)) * share
        return bool(total <= ball(self.alpha))


@lru_cache(maxsize=256)
def _level_for_any(alpha: Fraction, power: int) -> float:
    """A t, nearly the largest, with E[min(1, t/U^g)] <= alpha for a uniform U; proved in balls."""
    if power == 1:
        t = _bisect(lambda t: t * (1 - math.log(t)), float(alpha))
    else:  # s + (s - t)/(g - 1) with s = t^(1/g) is at most s g/(g - 1)
        t = (float(alpha) * (power - 1) / power) ** power
    t *= 1 - 1e-9
    with precision(_BITS):
        x = arb(t)
        mean = x * (1 - x.log()) if power == 1 else x.root(power) * power / (power - 1)
        return t if bool(mean <= ball(alpha)) else 0.0


class _Pmf:
    """The probabilities of 0, 1, 2, ... successes in n trials, one after another."""

    def __init__(self, n: int, p: Fraction) -> None:
        self._n, self._j = n, 0
        self._odds = ball(p / (1 - p))
        self._mass = ball(1 - p) ** n

    def next(self) -> arb:
        mass = self._mass
        self._mass = mass * self._odds * (self._n - self._j) / (self._j + 1)
        self._j += 1
        return mass


def _floats(n: int, a: float, b: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Hints: probabilities at a and the distribution function at b, over the counts that matter."""
    most = min(n, int(n * b + 8 * math.sqrt(n * b) + 14))
    j = np.arange(most + 1)
    choose = np.concatenate([[0.0], np.cumsum(np.log((n - j[:-1]) / j[1:]))])

    def pmf(p: float) -> NDArray[Any]:
        if p <= 0:
            return np.asarray(j == 0, dtype=float)
        return np.asarray(np.exp(choose + j * math.log(p) + (n - j) * math.log1p(-p)))

    return pmf(a), np.minimum(np.cumsum(pmf(b)), 1.0)


def _bisect(rising: Callable[[float], float], target: float) -> float:
    """Where an increasing function of t in (0, 1] reaches the target."""
    low, _ = halved(
        math.log(1e-300), 0.0, lambda log: not rising(math.exp(log)) <= target, times=60
    )
    return math.exp(low)
