"""Floats that suggest where a certified search begins: roots and minima. They decide nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from flint import arb

#: A root farther away counts as infinite. The arguments are binary logarithms of parameters.
_LIMIT = 1e6


def exp2(exponent: float) -> Fraction:
    """About 2^exponent, also for exponents with which a float would overflow."""
    whole = math.floor(exponent)
    return Fraction(2.0 ** (exponent - whole)) * Fraction(2) ** whole


def log(value: Fraction) -> float:
    """The natural logarithm of a number > 0, also of one beyond the range of floats."""
    return math.log(value.numerator) - math.log(value.denominator)


def log2(value: arb) -> float:
    """log2 of a ball's middle as a float; -infinity if the middle is not positive."""
    middle = value.mid()
    return float((middle.log() / arb(2).log()).mid()) if middle > 0 else -math.inf


def falling_root(function: Callable[[float], float], start: float) -> float:
    """Where a non-increasing function crosses zero, by Ridders' method; +-infinity if nowhere."""
    here, step = function(start), 0.125
    while here:
        there = start + math.copysign(step, here)
        value = function(there)
        if value * here <= 0:
            break
        if abs(there) > _LIMIT:
            return math.copysign(math.inf, here)
        start, here, step = there, value, 2 * step
    else:
        return start
    return _ridders(function, start, here, there, value)


def _ridders(function: Callable[[float], float], a: float, fa: float, b: float, fb: float) -> float:
    best = a if abs(fa) < abs(fb) else b
    for _ in range(100):
        if abs(b - a) < 1e-13 * max(1.0, abs(a)) or not fb:
            break
        if math.isinf(fa) or math.isinf(fb):
            a, fa, b, fb = _halve(function, a, fa, b, fb)
            continue
        middle = (a + b) / 2
        fm = function(middle)
        scale = math.sqrt(fm * fm - fa * fb)
        if not scale or not math.isfinite(scale):
            return middle
        best = middle + (middle - a) * math.copysign(1.0, fa - fb) * fm / scale
        fx = function(best)
        if abs(fx) < 1e-13:
            return best
        points = sorted([(a, fa), (middle, fm), (best, fx), (b, fb)])
        a, fa, b, fb = _crossing(points)
    return best if min(a, b) <= best <= max(a, b) else b


def _halve(
    function: Callable[[float], float], a: float, fa: float, b: float, fb: float
) -> tuple[float, float, float, float]:
    middle = (a + b) / 2
    return _crossing(sorted([(a, fa), (middle, function(middle)), (b, fb)]))


def _crossing(points: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """The neighbouring points between which a falling function changes sign."""
    for (a, fa), (b, fb) in pairwise(points):
        if fa >= 0 >= fb:
            return a, fa, b, fb
    (a, fa), (b, fb) = points[0], points[-1]
    return a, fa, b, fb


def minimum(function: Callable[[float], float], low: float, high: float, width: float) -> float:
    """Golden-section search for the lowest point of a function with one valley."""
    ratio = (math.sqrt(5) - 1) / 2
    x, y = high - ratio * (high - low), low + ratio * (high - low)
    fx, fy = function(x), function(y)
    while high - low > width:
        if fx < fy:
            high, y, fy = y, x, fx
            x = high - ratio * (high - low)
            fx = function(x)
        else:
            low, x, fx = x, y, fy
            y = low + ratio * (high - low)
            fy = function(y)
    return x if fx < fy else y
