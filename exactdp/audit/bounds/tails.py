"""Binomial tails: P(Binomial(n, p) >= k) as a ball, and its log-odds as a float for searching.

With a = k, b = n-k+1 the tail is the regularised incomplete beta function I_p(a, b), and for
p <= a/(a+b) it is a continued fraction with positive terms (DiDonato and Morris, ACM TOMS 18
(1992), 360-373, section 4), times p^a (1-p)^b / B(a, b). Convergents of such a fraction lie on
alternating sides of its value, so two of them that follow each other enclose it. It takes a few
dozen terms where arb's own incomplete beta function takes milliseconds. On the other side of the
mean the complement is computed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.balls import ball, precision

__all__ = ["at_least", "at_most", "log_odds_at_least"]

_TERMS = 400


def at_least(hits: int, trials: int, p: Fraction) -> arb:
    """P(Binomial(trials, p) >= hits) at the working precision; p >= 0 and <= 1."""
    if hits <= 0:
        return arb(1)
    if hits > trials or p <= 0:
        return arb(0)
    if p >= 1:
        return arb(1)
    a, b = hits, trials - hits + 1
    if a >= (a + b) * p:
        return _beta(a, b, p)
    return 1 - _beta(b, a, 1 - p)


def at_most(hits: int, trials: int, p: Fraction) -> arb:
    """P(Binomial(trials, p) <= hits) at the working precision; p >= 0 and <= 1."""
    return at_least(trials - hits, trials, 1 - p)


def log_odds_at_least(hits: int, trials: int, p: float, rest: float) -> float:
    """ln(t / (1-t)) of the tail t = P(Binomial(trials, p) >= hits), about; rest is 1 - p.

    hits >= 1 and <= trials. Both p and rest are given, because either may be tiny.
    """
    a, b = hits, trials - hits + 1
    direct = a * rest >= (b) * p
    small = _log_beta(a, b, p, rest) if direct else _log_beta(b, a, rest, p)
    small = min(small, -1e-300)
    other = math.log(-math.expm1(small)) if small > -700 else 0.0
    return small - other if direct else other - small


def _beta(a: int, b: int, p: Fraction) -> arb:
    """I_p(a, b) for p <= a/(a+b)."""
    x, y = ball(p), ball(1 - p)
    front = (_log_constant_ball(a, b) + a * x.log() + b * y.log()).exp()
    fraction = _enclosed(a, b, p)
    if fraction is None:
        return x.beta_lower(a, b, regularized=True)
    return front * fraction


def _enclosed(a: int, b: int, p: Fraction) -> arb | None:
    """The continued fraction between two convergents, or None when too many terms are needed."""
    x, rest = ball(p), ball(a - (a + b) * p)
    y = ball(1 - p)
    square = x * x
    top, bottom = arb(1), a * (rest + 1) / (a + 1)
    before = (arb(0), arb(1))
    old = top / bottom
    for n in range(1, _TERMS):
        if n >= b:
            return old
        alpha = arb((a + n - 1) * (a + b + n - 1) * n * (b - n)) * square / (a + 2 * n - 1) ** 2
        beta = n + n * (b - n) * x / (a + 2 * n - 1)
        beta += (a + n) * (rest + 1 + n * (1 + y)) / (a + 2 * n + 1)
        before, top, bottom = (top, bottom), beta * top + alpha * before[0], (
            beta * bottom + alpha * before[1]
        )  # fmt: skip
        value = top / bottom
        if abs(float(value) - float(old)) < 1e-14 * float(value):
            return value.union(old)
        old = value
    return None


def _log_beta(a: int, b: int, x: float, y: float) -> float:
    """ln I_x(a, b) for x <= a/(a+b), about; the constant is exact, so large a and b are fine."""
    constant = _log_constant(a, b)
    with precision(96):
        logs = (arb(-y).log1p(), arb(y).log()) if y < x else (arb(x).log(), arb(-x).log1p())
        front = float(constant + a * logs[0] + b * logs[1])
    rest = a * y - b * x
    top, bottom, before_top, before_bottom = 1.0, a * (rest + 1) / (a + 1), 0.0, 1.0
    old = top / bottom
    for n in range(1, 40 * _TERMS):
        if n >= b:
            break
        alpha = (a + n - 1) * (a + b + n - 1) * n * (b - n) * x * x / (a + 2 * n - 1) ** 2
        beta = n + n * (b - n) * x / (a + 2 * n - 1)
        beta += (a + n) * (rest + 1 + n * (1 + y)) / (a + 2 * n + 1)
        scale = 1 / (beta * bottom + alpha * before_bottom)
        top, before_top = (beta * top + alpha * before_top) * scale, top * scale
        before_bottom, bottom = bottom * scale, 1.0
        if abs(top - old) < 1e-13 * top:
            return front + math.log(top)
        old = top
    return front + math.log(old)


@lru_cache(maxsize=64)
def _log_constant(a: int, b: int) -> arb:
    """-ln B(a, b) at 96 bits."""
    with precision(96):
        return _log_constant_ball(a, b)


def _log_constant_ball(a: int, b: int) -> arb:
    """-ln B(a, b) at the working precision."""
    return arb(a + b).lgamma() - arb(a).lgamma() - arb(b).lgamma()
