"""A confidence region that holds at every moment: look as often as you like, stop when you like.

For independent coins of probability p, of which k of n fell on hits, and any density w on [0, 1]
chosen before them,

    M(p) = integral of u^k (1-u)^{n-k} w(u) du / (p^k (1-p)^{n-k})

is a martingale of mean 1 at the true p. For a beta density, w = Beta(a, b), the integral is
B(a+k, b+n-k)/B(a, b). The product of the martingales of both sides is one too, however the next
side to draw from is chosen, so by Ville's inequality it ever reaches 1/alpha with probability at
most alpha: the pairs (p, q) where it stayed below are a confidence region at all times at once.
Sources: Robbins, Statistical Methods Related to the Law of the Iterated Logarithm (Ann. Math.
Statist. 1970); Howard, Ramdas, McAuliffe, Sekhon (Ann. Statist. 2021), section 3.

The densities are those that training suggests: they cost about ln(1 + n/s)/2 nats a side, where s
is how many outputs they stand for; a density that fits badly costs sharpness, never validity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.audit.bounds.regions import ConfidenceRegion
from exactdp.audit.bounds.tails import probability
from exactdp.balls import ball, precision

_BITS = 96
_NEWTON = 64
_OUTWARD = 16


@dataclass(frozen=True)
class Beta:
    """A beta density. a, b: the numbers of hits and of misses that the density stands for, > 0."""

    a: Fraction
    b: Fraction

    @classmethod
    def seen(cls, rate: float, weight: int) -> Beta:
        """The density after `weight` outputs with this rate of hits, and half a hit and a miss."""
        hits = Fraction(round(2**10 * rate * weight), 2**10)
        return cls(hits + Fraction(1, 2), weight - hits + Fraction(1, 2))

    def evidence(self, hits: int, trials: int) -> arb:
        """ln of the integral: B(a + hits, b + misses)/B(a, b), at the working precision."""
        a, b = ball(self.a), ball(self.b)
        return _log_beta(a + hits, b + (trials - hits)) - _log_beta(a, b)


@dataclass
class AnytimeRegion(ConfidenceRegion):
    """The confidence region of one event at one of many moments.

    hits, trials: counts of the favoured side so far. other_hits, other_trials: counts of the other
    side so far.
    alpha: probability that the region ever misses the true pair, exact, > 0 and < 1.
    prior, other_prior: the densities of both sides, chosen before any of these outputs was drawn.
    """

    alpha: Fraction
    prior: Beta
    other_prior: Beta

    def _beyond(self) -> Fraction:
        """The q at which other_hits are too few for every p."""
        if self.other_hits == self.other_trials:
            return Fraction(1)
        with precision(_BITS):
            spent = _against(self.hits, self.trials, Fraction(self.hits, self.trials))
            level = self._level() - self._constant() - spent
        misses = self.other_trials - self.other_hits
        return 1 - _crossing(misses, self.other_trials, level)

    def _lowest(self, a: Fraction, b: Fraction) -> Fraction:
        rate = Fraction(self.other_hits, self.other_trials)
        with precision(_BITS):
            nearest = min(max(rate, a), b)  # where the other side's martingale is smallest
            spent = _against(self.other_hits, self.other_trials, nearest)
            level = self._level() - self._constant() - spent
            at_best = _against(self.hits, self.trials, Fraction(self.hits, self.trials))
            if bool(at_best >= level):
                return Fraction(1)
        return _crossing(self.hits, self.trials, level)

    def _level(self) -> arb:
        return -ball(self.alpha).log()

    def _constant(self) -> arb:
        """ln of the product of both integrals."""
        here = self.prior.evidence(self.hits, self.trials)
        return here + self.other_prior.evidence(self.other_hits, self.other_trials)


def _against(hits: int, trials: int, p: Fraction) -> arb:
    """-ln(p^hits (1-p)^misses), at the working precision."""
    total = arb(0)
    if hits:
        total -= hits * ball(p).log() if p else arb("-inf")
    if hits < trials:
        total -= (trials - hits) * ball(1 - p).log() if p < 1 else arb("-inf")
    return total


def _crossing(hits: int, trials: int, level: arb) -> Fraction:
    """A p below hits/trials at which -ln(p^hits (1-p)^misses) is proved to reach the level.

    The result is nearly the largest such p, and 0 where none is found. hits: >= 1.
    """
    misses = trials - hits
    x = _solved(hits, misses, float(level))
    spread = 1e-7 * math.sqrt(1 / hits + (1 / misses if misses else 0.0))
    with precision(_BITS):
        for i in range(_OUTWARD):
            p = probability(x - spread * (4**i - 1))
            if bool(_against(hits, trials, p) >= level):
                return p
    return Fraction(0)


def _solved(hits: int, misses: int, level: float) -> float:
    """Log-odds at which -ln(p^hits (1-p)^misses) is about the level, below those of hits/misses.

    Newton's method from the left: the function is convex and falling, so it never overshoots.
    """
    best = math.log(hits / misses) if misses else 700.0
    step = 1.0
    while _value(hits, misses, best - step) < level and step < 1400:
        step *= 2
    x = best - step
    for _ in range(_NEWTON):
        odds = math.exp(-abs(x))
        share = odds / (1 + odds) if x < 0 else 1 / (1 + odds)  # p at these log-odds
        slope = misses * share - hits * (1 - share)
        move = (_value(hits, misses, x) - level) / -slope if slope < 0 else 0.0
        x += max(move, 0.0)
        if move < 1e-12 * max(1.0, abs(x)):
            break
    return x


def _value(hits: int, misses: int, log_odds: float) -> float:
    return hits * _softplus(-log_odds) + misses * _softplus(log_odds)


def _softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _log_beta(a: arb, b: arb) -> arb:
    return a.lgamma() + b.lgamma() - (a + b).lgamma()
