"""Clopper-Pearson bounds on a probability, decided in ball arithmetic and rounded outward."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

from flint import arb

from exactdp.audit.bounds.tails import at_least, at_most, log_odds_at_least
from exactdp.balls import CAP_BITS, ball, precision
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, integer

__all__ = ["interval", "lower", "upper"]

_BITS = 96
_STEPS = 60
_NORMAL = NormalDist()


def lower(hits: Real, trials: Real, alpha: Real) -> Fraction:
    """A bound below the probability of an event seen hits times in so many independent trials.

    hits: 0 to trials. trials: >= 1. alpha: how likely the bound is wrong, > 0 and < 1.
    Returns a rational p with P(Binomial(trials, p) >= hits) <= alpha, proved in ball arithmetic,
    and at most one part in 10^9 below the largest such p.

    >>> float(lower(0, 100, "0.05")), round(float(lower(27, 2000, "0.01")), 6)
    (0.0, 0.008218)
    """
    k, n, level = _checked(hits, trials, alpha)
    return _lower(k, n, level)


def upper(hits: Real, trials: Real, alpha: Real) -> Fraction:
    """A bound above the probability of an event seen hits times in so many independent trials.

    Arguments as for :func:`lower`. Returns a rational p with P(Binomial(trials, p) <= hits) <=
    alpha, proved in ball arithmetic.

    >>> round(float(upper(0, 1000, "0.05")), 6)
    0.002991
    """
    k, n, level = _checked(hits, trials, alpha)
    return _upper(k, n, level)


def interval(hits: Real, trials: Real, alpha: Real) -> tuple[Fraction, Fraction]:
    """Both bounds, each at alpha/2: together they are wrong with probability at most alpha."""
    k, n, level = _checked(hits, trials, alpha)
    return _lower(k, n, level / 2), _upper(k, n, level / 2)


def _lower(hits: int, trials: int, alpha: Fraction, tolerance: float = 1e-10) -> Fraction:
    """The bound without checks; alpha may be any rational > 0 and < 1.

    tolerance: how far outward of the true bound it may lie, about, in standard deviations.
    """
    if hits == 0:
        return Fraction(0)
    x, step = _root_at(hits, trials, alpha, tolerance)
    return _certified(x, -step, lambda p: at_least(hits, trials, p), alpha)


def _upper(hits: int, trials: int, alpha: Fraction, tolerance: float = 1e-10) -> Fraction:
    """The bound without checks; arguments as for _lower."""
    if hits == trials:
        return Fraction(1)
    x, step = _root_at(trials - hits, trials, alpha, tolerance)
    return _certified(-x, step, lambda p: at_most(hits, trials, p), alpha)


def _root_at(hits: int, trials: int, alpha: Fraction, tolerance: float) -> tuple[float, float]:
    """Log-odds of the p with P(Binomial(trials, p) >= hits) = alpha, about; and a step outward."""
    with precision(_BITS):
        target = float((ball(alpha) / ball(1 - alpha)).log().mid())

    def excess(x: float) -> float:
        p, rest = _both(x)
        return log_odds_at_least(hits, trials, p, rest) - target

    start, spread = _guess(hits, trials, target)
    x = _root(excess, start, spread / 16, tolerance)
    return x, max(tolerance * spread, 1e-11 * max(1.0, abs(x)))


def _certified(x: float, step: float, tail: Callable[[Fraction], arb], alpha: Fraction) -> Fraction:
    """The first probability outward of the root whose tail is proved to be <= alpha."""
    bits = _BITS
    while bits <= CAP_BITS:
        with precision(bits):
            for i in range(14):
                p = _probability(x + step * 4**i)
                if bool(tail(p) <= ball(alpha)):
                    return p
        bits *= 4
    raise Undecided(f"no bound settled at {CAP_BITS} bits")


def _guess(hits: int, trials: int, target: float) -> tuple[float, float]:
    """Log-odds about where the bound lies (normal approximation), and their deviation."""
    if abs(target) < 30:
        z = _NORMAL.inv_cdf(1 / (1 + math.exp(-target)))
    else:
        z = math.copysign(math.sqrt(2 * abs(target) - math.log(4 * math.pi * abs(target))), target)
    k, rest = hits - 0.5, trials - hits + 0.5
    spread = math.sqrt(1 / k + 1 / rest)
    skew = (1 / k - 1 / rest) * (z * z - 1) / 6
    return math.log(k / rest) + z * spread - skew, spread


def _root(function: Callable[[float], float], start: float, step: float, tolerance: float) -> float:
    """The root of an increasing function: bracket it, then the Illinois rule."""
    a, fa, b, fb = _bracket(function, start, step)
    side = 0
    for _ in range(_STEPS):
        x = (a * fb - b * fa) / (fb - fa) if fb != fa else (a + b) / 2
        if not a < x < b or fa < -1e6:
            x = (a + b) / 2
        fx = function(x)
        if abs(fx) < tolerance or b - a < 1e-13 * max(1.0, abs(x)):
            return x
        if fx < 0:
            a, fa = x, fx
            fb = fb / 2 if side < 0 else fb
            side = -1
        else:
            b, fb = x, fx
            fa = fa / 2 if side > 0 else fa
            side = 1
    return (a + b) / 2


def _bracket(
    function: Callable[[float], float], start: float, step: float
) -> tuple[float, float, float, float]:
    x, fx = start, function(start)
    while abs(x) < 1e5:
        there = x - math.copysign(step, fx)
        value = function(there)
        if (value >= 0) != (fx >= 0):
            return (x, fx, there, value) if fx < 0 else (there, value, x, fx)
        x, fx, step = there, value, 2 * step
    raise Undecided("no bound within range")


def _both(log_odds: float) -> tuple[float, float]:
    """p and 1-p as floats, neither losing accuracy."""
    odds = math.exp(-abs(log_odds)) if abs(log_odds) < 700 else 1e-304
    small, large = odds / (1 + odds), 1 / (1 + odds)
    return (small, large) if log_odds < 0 else (large, small)


def _probability(log_odds: float) -> Fraction:
    """The probability with these log-odds, about; exact as a rational, and precise near 1."""
    if log_odds > 0:
        return 1 - _probability(-log_odds)
    if log_odds < -700:
        return Fraction(math.exp(max(log_odds + 700, -700))) / Fraction(2) ** 1010
    odds = math.exp(log_odds)
    return Fraction(odds / (1 + odds))


def _checked(hits: Real, trials: Real, alpha: Real) -> tuple[int, int, Fraction]:
    n = integer("trials", trials, least=1)
    k = integer("hits", hits, least=0)
    if k > n:
        raise InvalidParameter("hits", hits, f"at most trials, which is {n}")
    return k, n, delta_target("alpha", alpha)
