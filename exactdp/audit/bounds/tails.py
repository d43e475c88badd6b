"""Binomial tails: P(Binomial(n, p) >= k) as a ball, with its derivative by the log-odds of p.

With a = k, b = n-k+1 the tail is the regularised incomplete beta function I_p(a, b). Its derivative
by ln(p/(1-p)) is p^a (1-p)^b / B(a, b), and for p <= a/(a+b) the tail is this derivative times a
continued fraction with positive terms (DiDonato and Morris, ACM TOMS 18 (1992), 360-373, section
4). Convergents of such a fraction lie on alternating sides of its value, so two of them that follow
each other enclose it. It takes a few dozen terms where arb's own incomplete beta function takes
milliseconds. On the other side of the mean the complement is computed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from exactdp.balls import ball

_TERMS = 400


def at_least(hits: int, trials: int, p: Fraction) -> arb:
    """P(Binomial(trials, p) >= hits) at the working precision; p >= 0 and <= 1."""
    if hits <= 0 or (p >= 1 and hits <= trials):
        return arb(1)
    if hits > trials or p <= 0:
        return arb(0)
    return tail_and_slope(hits, trials, p)[0]


def at_most(hits: int, trials: int, p: Fraction) -> arb:
    """P(Binomial(trials, p) <= hits) at the working precision; p >= 0 and <= 1."""
    return at_least(trials - hits, trials, 1 - p)


def tail_and_slope(hits: int, trials: int, p: Fraction) -> tuple[arb, arb]:
    """The tail, and its derivative by ln(p/(1-p)); 1 <= hits <= trials, 0 < p < 1."""
    a, b = hits, trials - hits + 1
    if a >= (a + b) * p:
        return _beta(a, b, p)
    rest, slope = _beta(b, a, 1 - p)
    return 1 - rest, slope


def probability(log_odds: float) -> Fraction:
    """About the probability with these log-odds, as an exact rational; precise near 1."""
    if log_odds > 0:
        return 1 - probability(-log_odds)
    if log_odds < -700:
        return Fraction(math.exp(max(log_odds + 700, -700))) / Fraction(2) ** 1010
    odds = math.exp(log_odds)
    return Fraction(odds / (1 + odds))


def _beta(a: int, b: int, p: Fraction) -> tuple[arb, arb]:
    """I_p(a, b) for p <= a/(a+b), and its derivative by the log-odds of p."""
    x, y = ball(p), ball(1 - p)
    slope = (_log_constant(a, b, ctx.prec) + a * x.log() + b * y.log()).exp()
    fraction = _enclosed(a, b, p)
    if fraction is None:
        return x.beta_lower(a, b, regularized=True), slope
    return slope * fraction, slope


def _enclosed(a: int, b: int, p: Fraction) -> arb | None:
    """The continued fraction between two convergents, or None when too many terms are needed."""
    x, y, rest = ball(p), ball(1 - p), ball(a - (a + b) * p)
    square = x * x
    top, bottom, before = arb(1), a * (rest + 1) / (a + 1), (arb(0), arb(1))
    old = top / bottom
    for n in range(1, min(_TERMS, b)):
        alpha = arb((a + n - 1) * (a + b + n - 1) * n * (b - n)) * square / (a + 2 * n - 1) ** 2
        beta = n + n * (b - n) * x / (a + 2 * n - 1)
        beta += (a + n) * (rest + 1 + n * (1 + y)) / (a + 2 * n + 1)
        last = (top, bottom)
        top, bottom = beta * top + alpha * before[0], beta * bottom + alpha * before[1]
        before, value = last, top / bottom
        if abs(float(value) - float(old)) < 1e-14 * float(value):
            return value.union(old)
        old = value
    return old if b <= _TERMS else None


@lru_cache(maxsize=64)
def _log_constant(a: int, b: int, bits: int) -> arb:
    """-ln B(a, b) at the working precision, which is this number of bits."""
    return arb(a + b).lgamma() - arb(a).lgamma() - arb(b).lgamma()
