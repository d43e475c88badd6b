"""Clopper-Pearson bounds on a probability, decided in ball arithmetic and rounded outward."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

from flint import arb

from exactdp.audit.bounds.tails import at_least, at_most, probability, tail_and_slope
from exactdp.balls import CAP_BITS, ball, precision
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, delta_target, integer

_BITS = 96
_STEPS = 60
_FARTHEST = 1400.0  # log-odds beyond which `probability` does not fall
_NORMAL = NormalDist()


def lower(hits: Real, trials: Real, alpha: Real) -> Fraction:
    """A lower bound of the probability of an event seen `hits` times in independent trials.

    hits: 0 to trials. trials: >= 1. alpha: probability that the bound is wrong, > 0 and < 1.
    Returns a rational p with P(Binomial(trials, p) >= hits) <= alpha, proved in ball arithmetic,
    and at most one part in 10^9 below the largest such p.

    >>> float(lower(0, 100, "0.05")), round(float(lower(27, 2000, "0.01")), 6)
    (0.0, 0.008218)
    """
    k, n, level = _checked(hits, trials, alpha)
    return _lower(k, n, level)


def upper(hits: Real, trials: Real, alpha: Real) -> Fraction:
    """An upper bound of the probability of an event seen `hits` times in independent trials.

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

    tolerance: about how far outward of the true bound the result may lie, in standard deviations.
    """
    if hits == 0:
        return Fraction(0)
    x, step = _root(hits, trials, alpha, tolerance)
    return _certified(x, -step, lambda p: at_least(hits, trials, p), alpha)


def _upper(hits: int, trials: int, alpha: Fraction, tolerance: float = 1e-10) -> Fraction:
    """The bound without checks; arguments as for _lower."""
    if hits == trials:
        return Fraction(1)
    x, step = _root(trials - hits, trials, alpha, tolerance)
    return _certified(-x, step, lambda p: at_most(hits, trials, p), alpha)


def _root(hits: int, trials: int, alpha: Fraction, tolerance: float) -> tuple[float, float]:
    """The log-odds at which P(Binomial(trials, p) >= hits) is about alpha, and a step outward.

    Newton's method on ln of the tail, which is concave in the log-odds (the density of a beta
    variable's log-odds is log-concave): from the second step on it rises to the root from below.
    """
    z = _NORMAL.inv_cdf(min(max(float(alpha), 1e-300), 1 - 1e-16))
    k, rest = hits - 0.5, trials - hits + 0.5
    spread = math.sqrt(1 / k + 1 / rest)
    x = math.log(k / rest) + z * spread  # where the bound of normal outputs lies
    smallest = max(tolerance * spread, 1e-11 * max(1.0, abs(x)))
    with precision(_BITS):
        target = ball(alpha).log()
        for _ in range(_STEPS):
            tail, slope = tail_and_slope(hits, trials, probability(x))
            step = float((target - tail.log()) * tail / slope)
            x = max(x + step, -_FARTHEST)  # the first step may be too long
            if 16 * step * step < smallest * spread:  # the next step would be about its square
                break
    return x, smallest


def _certified(x: float, step: float, tail: Callable[[Fraction], arb], alpha: Fraction) -> Fraction:
    """The first probability outward of the root whose tail is proved to be <= alpha."""
    bits = _BITS
    while bits <= CAP_BITS:
        with precision(bits):
            for i in range(14):
                p = probability(x + step * 4**i)
                if bool(tail(p) <= ball(alpha)):
                    return p
        bits *= 4
    raise Undecided(f"no bound settled at {CAP_BITS} bits")


def _checked(hits: Real, trials: Real, alpha: Real) -> tuple[int, int, Fraction]:
    n = integer("trials", trials, least=1)
    k = integer("hits", hits, least=0)
    if k > n:
        raise InvalidParameter("hits", hits, f"at most trials, which is {n}")
    return k, n, delta_target("alpha", alpha)
