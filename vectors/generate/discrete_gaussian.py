"""Vectors for the discrete Gaussian: P(z) proportional to exp(-z^2/(2 sigma2)) on the integers."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, Recipe, bracket, number, recipes_for
from vectors.generate.discrete import (
    DIRECT,
    above_direct,
    above_midpoint,
    above_separately,
    all_direct,
    all_poisson,
)

#: Decimal digits worked with.
DIGITS = 90


def above(z: int, sigma2: str) -> tuple[mpf, mpf]:
    """P(X > z), z >= -1, by two methods."""
    variance = number(sigma2)
    total = all_poisson(variance)
    if variance <= DIRECT**2:
        direct = above_direct(z, variance) / total
        if variance < 10_000:
            return direct, above_separately(z, variance) / all_direct(variance, 80)
        return direct, above_midpoint(z, variance) / total
    first = above_midpoint(z, variance) / total
    return first, above_midpoint(z, variance, trapezoid=True) / total


def _pmf(sigma2: str, z: str) -> Bounds:
    with mp.workdps(DIGITS):
        variance, point = number(sigma2), number(z)
        weight = mp.exp(-(point**2) / (2 * variance))
        value = weight / all_poisson(variance)
        if variance <= DIRECT**2:
            return bracket(value, (weight / all_direct(variance, 80), "1e-45"))
        integral = mp.sqrt(2 * mp.pi * variance)  # all other terms are below exp(-10^7)
        return bracket(value, (weight / integral, "1e-45"))


def _cdf(sigma2: str, z: str) -> Bounds:
    point = int(z)
    with mp.workdps(DIGITS):
        if point < 0:
            value, other = above(-point - 1, sigma2)
        else:
            value, other = (1 - x for x in above(point, sigma2))
        return bracket(value, (other, "1e-38"), most=1)


def _delta(sigma2: str, epsilon: str, sensitivity: str) -> Bounds:
    """The formula of Canonne, Kamath and Steinke, and the sum of all positive excesses."""
    shift, variance, loss = int(sensitivity), Fraction(sigma2), Fraction(epsilon)
    t = floor(loss * variance / shift - Fraction(shift, 2))
    digits = DIGITS + 2 * max(0, int(mp.log10(mp.mpf(float(variance)))))
    with mp.workdps(digits):

        def tail(z: int) -> tuple[mpf, mpf]:
            return above(z, sigma2) if z >= -1 else tuple(1 - x for x in above(-z - 1, sigma2))

        first, second = tail(t), tail(t + shift)
        factor = mp.exp(number(epsilon))
        value = first[0] - factor * second[0]
        if variance > DIRECT**2:
            other = first[1] - factor * second[1]
        else:
            other = _excesses(shift, number(sigma2), number(epsilon))
        return bracket(value, (other, "1e-36"), most=1)


def _excesses(shift: int, variance: mpf, epsilon: mpf) -> mpf:
    """The sum over x of max(0, P(x) - e^epsilon P(x + shift)), with no tail formula."""
    total, factor = mpf(0), mp.exp(epsilon)
    start = int(mp.floor(variance * epsilon / shift - mpf(shift) / 2)) - 3
    x = max(start, -int(mp.sqrt(variance * 500)) - 3 * shift)
    while True:
        here = mp.exp(-(mpf(x) ** 2) / (2 * variance))
        there = mp.exp(-(mpf(x + shift) ** 2) / (2 * variance))
        total += max(mpf(0), here - factor * there)
        if x > start + 8 and x > 0 and here < total * mpf(10) ** -60:
            return total / all_direct(variance, 80)
        x += 1


PMFS = [
    # sigma2, z, comment, flags
    ("1", "0", "the peak", "Ordinary"),
    ("1", "1", "beside the peak", "Ordinary"),
    ("1", "-3", "negative z", "Ordinary"),
    ("4", "5", "sigma 2", "Ordinary"),
    ("100", "0", "sigma 10: the peak", "Ordinary"),
    ("100", "37", "sigma 10", "Ordinary"),
    ("0.5", "2", "sigma2 below 1: not the density", "TinyScale"),
    ("0.0625", "0", "almost a point mass", "TinyScale"),
    ("0.0625", "1", "almost a point mass", "TinyScale"),
    ("0.0009765625", "0", "P(0) is 1 up to 1e-222", "TinyScale Boundary"),
    ("0.0009765625", "1", "about 1e-222", "TinyScale Tail"),
    ("0.0009765625", "2", "below every double", "TinyScale Tail"),
    ("1", "38", "the edge of the doubles", "Tail"),
    ("1", "39", "below every double", "Tail"),
    ("1", "100", "about 1e-2172", "Tail"),
    ("100", "1000", "about 1e-2173", "Tail"),
    ("1000000", "36000", "36 sigma", "Tail"),
    ("1000000000000000000", "0", "sigma 1e9", "HugeScale"),
    ("1000000000000000000", "3000000001", "sigma 1e9", "HugeScale"),
    ("1e18", "40000000000", "sigma 1e9, 40 sigma", "HugeScale Tail"),
    ("1e30", "0", "sigma 1e15", "HugeScale"),
    ("2.5", "3", "sigma2 is no square", "Ordinary"),
]

CDFS = [
    ("1", "0", "half of the mass and P(0)/2", "Ordinary"),
    ("1", "-1", "just below 0", "Ordinary"),
    ("1", "2", "above", "Ordinary"),
    ("4", "-5", "sigma 2", "Ordinary"),
    ("100", "-20", "sigma 10", "Ordinary"),
    ("100", "20", "sigma 10", "Ordinary"),
    ("0.5", "-1", "sigma2 below 1", "TinyScale"),
    ("0.0625", "-1", "almost a point mass", "TinyScale"),
    ("0.0625", "0", "almost a point mass", "TinyScale"),
    ("1", "-9", "1e-18: 1 - F(8) is 0 in doubles", "Tail"),
    ("1", "-20", "1e-88", "Tail"),
    ("1", "-38", "the edge of the doubles", "Tail"),
    ("1", "-45", "below every double", "Tail"),
    ("100", "-385", "38 sigma", "Tail"),
    ("10000", "-5000", "50 sigma", "Tail"),
    ("1", "9", "1 up to 1e-18", "Tail"),
    ("1000000", "-1000", "sigma 1000", "Ordinary"),
    ("1000000000000000000", "-1", "sigma 1e9, just below 0", "HugeScale"),
    ("1000000000000000000", "-2000000000", "sigma 1e9", "HugeScale"),
    ("1e18", "-20000000000", "sigma 1e9, 20 sigma", "HugeScale Tail"),
]

DELTAS = [
    # sigma2, epsilon, sensitivity, comment, flags
    ("1", "1", "1", "epsilon sigma2 - 1/2 is between integers", "Ordinary"),
    ("4", "0.5", "1", "sigma 2", "Ordinary"),
    ("16", "1", "1", "sigma 4", "Ordinary"),
    ("100", "0.35", "1", "sigma 10", "Ordinary"),
    ("100", "0.25", "1", "sigma 10", "Ordinary"),
    ("2.5", "1", "1", "the loss at 2 equals epsilon", "IntegerGrid"),
    ("1.5", "1", "1", "the loss at 1 equals epsilon", "IntegerGrid"),
    ("16.5", "1", "1", "the loss at 16 equals epsilon", "IntegerGrid"),
    ("100", "0.125", "1", "the loss at 12 equals epsilon", "IntegerGrid"),
    ("100", "0.1875", "2", "the loss at an integer plus 3/8", "BetweenGrid Sensitivity"),
    ("8", "0.75", "2", "the loss at 2 equals epsilon, shift 2", "IntegerGrid Sensitivity"),
    ("0.5", "1", "1", "the loss at 0 equals epsilon", "IntegerGrid TinyScale"),
    ("0.59375", "1", "1", "more noise than 1/2, and more delta", "TinyScale"),
    ("0.25", "1", "1", "little noise", "TinyScale"),
    ("0.0625", "1", "1", "hardly any noise", "TinyScale DeltaNearOne"),
    ("1", "0", "1", "epsilon 0: the total variation is P(0)", "EpsilonZero Boundary"),
    ("100", "0", "3", "epsilon 0, shift 3", "EpsilonZero Sensitivity"),
    ("16", "2", "1", "delta about 1e-16", "SmallDelta"),
    ("16", "4", "1", "delta about 1e-58", "TinyDelta"),
    ("100", "3.75", "1", "among the subnormal doubles", "TinyDelta"),
    ("100", "4", "1", "delta below every double", "TinyDelta"),
    ("100", "8", "1", "delta far below every double", "TinyDelta"),
    ("0.0009765625", "800", "1", "e^epsilon overflows", "LargeEpsilon TinyScale"),
    ("100", "1", "4", "shift 4", "Sensitivity"),
    ("10000", "0.5", "16", "shift 16", "Sensitivity"),
    ("10000", "0.5", "100", "a shift of one sigma", "Sensitivity"),
    ("1000000", "0.0009765625", "1", "sigma 1000", "SmallEpsilon"),
    ("1e18", "0.0000000009765625", "1", "sigma 1e9", "HugeScale SmallEpsilon"),
    ("1e18", "1e-8", "1", "sigma 1e9", "HugeScale SmallEpsilon"),
]


def _recipes() -> list[Recipe]:
    return [
        *recipes_for("pmf", ("sigma2", "z"), _pmf, PMFS),
        *recipes_for("cdf", ("sigma2", "z"), _cdf, CDFS),
        *recipes_for("delta", ("sigma2", "epsilon", "sensitivity"), _delta, DELTAS),
    ]


GROUP = Group(
    name="discrete_gaussian",
    description="Discrete Gaussian noise on one integer query: P(z) proportional to "
    "exp(-z^2/(2 sigma2)). The variance is not exactly sigma2. sensitivity: how far one user moves "
    "the query.",
    questions={
        "pmf": "P(X = z)",
        "cdf": "P(X <= z)",
        "delta": "the least delta at epsilon between the query and its shift by sensitivity",
    },
    source="Canonne, Kamath, Steinke 2020",
    methods=(
        "normaliser: term by term, and by Poisson summation, to 1e-45 (sigma above 3000: Poisson "
        "summation and its leading term)",
        "tails: term by term with recurrences, and from separate exponentials (sigma below 100) or "
        "by Euler-Maclaurin at midpoints, to 1e-38 (sigma above 3000: "
        "Euler-Maclaurin at midpoints and at integers)",
        "delta: P(X > t) - e^epsilon P(X > t + s) with t decided in rationals, and the sum of all "
        "positive excesses (sigma above 3000: the other tails), to 1e-36",
    ),
    recipes=_recipes,
)
