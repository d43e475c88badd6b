"""Vectors for the discrete Laplace: P(z) proportional to exp(-|z|/scale) on the integers."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, Recipe, bracket, number, recipes_for, settled

#: Sums of at most so many scales are also added term by term.
DIRECT = 2000


def upper_tail(z: int, scale: str) -> mpf:
    """P(X > z)."""
    rate = 1 / number(scale)
    share = 1 + mp.exp(-rate)
    if z >= 0:
        return mp.exp(-rate * (z + 1)) / share
    return 1 - mp.exp(rate * z) / share


def upper_tail_direct(z: int, scale: str, digits: int = 70) -> mpf:
    """P(X > z), z >= -1, by adding probabilities normalised by a sum."""
    q = mp.exp(-1 / number(scale))
    return _geometric(mp.exp(-(z + 1) / number(scale)), q, digits) / (
        1 + 2 * _geometric(q, q, digits)
    )


def _geometric(first: mpf, q: mpf, digits: int) -> mpf:
    total, term = mpf(0), first
    while term > total * mpf(10) ** -digits * (1 - q):
        total += term
        term *= q
        if not term:
            break
    return total


def _pmf(scale: str, z: str) -> Bounds:
    def value() -> mpf:
        return mp.tanh(1 / (2 * number(scale))) * mp.exp(-abs(number(z)) / number(scale))

    mass = settled(value)
    if Fraction(scale) > DIRECT:
        return bracket(mass)
    with mp.workdps(90):
        q = mp.exp(-1 / number(scale))
        other = mp.exp(-abs(number(z)) / number(scale)) / (1 + 2 * _geometric(q, q, 80))
    return bracket(mass, (other, "1e-40"), most=1)


def _cdf(scale: str, z: str) -> Bounds:
    point = int(z)
    probability = settled(lambda: upper_tail(-point - 1, scale))
    if Fraction(scale) > DIRECT:
        return bracket(probability)
    with mp.workdps(90):
        other = upper_tail_direct(abs(point) - (point < 0), scale, 80)
        other = other if point < 0 else 1 - other
    return bracket(probability, (other, "1e-40"), most=1)


def _delta(scale: str, epsilon: str, sensitivity: str) -> Bounds:
    """P(X > t) - e^epsilon P(X > t + s), and the sum of all positive excesses."""
    shift, size, loss = int(sensitivity), Fraction(scale), Fraction(epsilon)
    if loss * size >= shift:
        return "0", "0"
    # the loss of x >= -s is (|x + s| - |x|)/scale: above epsilon where 2 x + s > epsilon scale
    t = floor((loss * size - shift) / 2)
    value = settled(
        lambda: upper_tail(t, scale) - mp.exp(number(epsilon)) * upper_tail(t + shift, scale)
    )
    if size > DIRECT:
        return bracket(value, most=1)
    with mp.workdps(90):
        factor, q = mp.exp(number(epsilon)), mp.exp(-1 / number(scale))
        norm, total = 1 + 2 * _geometric(q, q, 80), mpf(0)
        for x in range(-2 * shift, 200 * (int(size) + 1) + shift):
            here, there = q ** abs(x), q ** abs(x + shift)
            total += max(mpf(0), here - factor * there)
        other = total / norm
    return bracket(value, (other, "1e-36"), most=1)


PMFS = [
    # scale, z, comment, flags
    ("1", "0", "the peak", "Ordinary"),
    ("1", "1", "beside the peak", "Ordinary"),
    ("2", "-3", "negative z", "Ordinary"),
    ("10", "25", "scale 10", "Ordinary"),
    ("0.5", "1", "small scale: not the density", "TinyScale"),
    ("0.0625", "0", "almost a point mass", "TinyScale"),
    ("0.0625", "1", "almost a point mass", "TinyScale"),
    ("0.001953125", "0", "P(0) is 1 up to 1e-222", "TinyScale Boundary"),
    ("0.001953125", "1", "about 1e-222", "TinyScale Tail"),
    ("1", "740", "among the subnormal doubles", "Tail"),
    ("1", "1000", "below every double", "Tail"),
    ("1000", "0", "scale 1000", "Ordinary"),
    ("1000000000", "0", "scale 1e9", "HugeScale"),
    ("1000000000", "-2000000001", "scale 1e9", "HugeScale"),
    ("1e18", "1000000000000000000", "scale 1e18", "HugeScale"),
    ("1.5", "4", "scale 3/2", "Ordinary"),
]

CDFS = [
    ("1", "0", "1/(1 + q) of the mass", "Ordinary"),
    ("1", "-1", "just below 0", "Ordinary"),
    ("2", "3", "above", "Ordinary"),
    ("10", "-20", "scale 10", "Ordinary"),
    ("0.0625", "-1", "almost a point mass", "TinyScale"),
    ("0.0625", "0", "almost a point mass", "TinyScale"),
    ("1", "-40", "1e-18", "Tail"),
    ("1", "-200", "1e-88", "Tail"),
    ("1", "-744", "the edge of the doubles", "Tail"),
    ("1", "-1000", "below every double", "Tail"),
    ("1", "40", "1 up to 1e-18", "Tail"),
    ("0.25", "-8", "1e-14", "Tail"),
    ("1000", "-1000", "scale 1000", "Ordinary"),
    ("1000000000", "-1", "scale 1e9, just below 0", "HugeScale"),
    ("1000000000", "-50000000000", "scale 1e9, 50 scales", "HugeScale Tail"),
]

DELTAS = [
    # scale, epsilon, sensitivity, comment, flags
    ("1", "0.5", "1", "half of the pure epsilon", "Ordinary"),
    ("2", "0.25", "1", "half of the pure epsilon", "Ordinary"),
    ("1", "1", "1", "the pure epsilon: delta is 0", "Boundary IntegerGrid"),
    ("4", "0.25", "1", "the pure epsilon: delta is 0", "Boundary IntegerGrid"),
    ("4", "0.2490234375", "1", "just below the pure epsilon", "Boundary"),
    ("4", "1", "4", "the pure epsilon, shift 4: delta is 0", "Boundary Sensitivity IntegerGrid"),
    ("4", "0.5", "4", "the loss of an integer equals epsilon", "IntegerGrid Sensitivity"),
    ("8", "0.25", "4", "the loss of an integer equals epsilon", "IntegerGrid Sensitivity"),
    ("8", "0.25", "3", "epsilon between two losses", "BetweenGrid Sensitivity"),
    ("1", "0", "1", "epsilon 0: the total variation", "EpsilonZero Boundary"),
    ("16", "0", "5", "epsilon 0, shift 5", "EpsilonZero Sensitivity"),
    ("0.0625", "1", "1", "hardly any noise", "TinyScale DeltaNearOne"),
    ("0.0009765625", "800", "1", "e^epsilon overflows", "LargeEpsilon TinyScale"),
    ("0.0009765625", "1023.5", "1", "e^epsilon overflows", "LargeEpsilon TinyScale"),
    ("100", "0.125", "25", "shift 25", "Sensitivity"),
    ("1000000000", "0.00000000048828125", "1", "scale 1e9", "HugeScale SmallEpsilon"),
    ("1000000000", "0.5", "1000000000", "scale and shift 1e9", "HugeScale Sensitivity"),
]


def _recipes() -> list[Recipe]:
    return [
        *recipes_for("pmf", ("scale", "z"), _pmf, PMFS),
        *recipes_for("cdf", ("scale", "z"), _cdf, CDFS),
        *recipes_for("delta", ("scale", "epsilon", "sensitivity"), _delta, DELTAS),
    ]


GROUP = Group(
    name="discrete_laplace",
    description="Discrete Laplace noise (two-sided geometric) on one integer query: P(z) "
    "proportional to exp(-|z|/scale). sensitivity: how far one user moves the query.",
    questions={
        "pmf": "P(X = z)",
        "cdf": "P(X <= z)",
        "delta": "the least delta at epsilon between the query and its shift by sensitivity",
    },
    source="Ghosh, Roughgarden, Sundararajan 2012",
    methods=(
        "closed forms at two precisions agreeing to 1e-45",
        "up to scale 2000: sums term by term, normalised by a sum; for delta the sum of all "
        "positive excesses; agreeing to 1e-36",
    ),
    recipes=_recipes,
)
