"""Exact laws of Algorithms 6 and 9 for entries up to the threshold.

For y <= t the stored value, given that it is stored, is t plus an exponential variable whatever y
is; so one bit per entry, stored or not, carries all the information. With e^epsilon a rational
square, all probabilities are rational at entries that are multiples of 1/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from exactdp.law import Law

__all__ = ["Vector", "distance", "power", "rounded_law", "stored", "threshold_law"]

Vector = tuple[Fraction, ...]


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent for a rational square and a multiple of 1/2."""
    root = Fraction(isqrt(base.numerator), isqrt(base.denominator))
    assert root * root == base
    assert (2 * exponent).denominator == 1
    return root ** int(2 * exponent)


def distance(x: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """The l1 distance."""
    return sum((abs(a - b) for a, b in zip(x, other, strict=True)), Fraction(0))


def stored(y: Fraction, t: Fraction, base: Fraction) -> Fraction:
    """P(y + Lap(1/epsilon) >= t) for y <= t, base = e^epsilon."""
    return power(base, y - t) / 2


def threshold_law(x: Vector, t: Fraction, base: Fraction) -> Law[tuple[int, ...]]:
    """Algorithm 6: which entries are stored."""
    return _joint([stored(value, t, base) for value in x])


def rounded_law(
    x: Vector, t: Fraction, base: Fraction, rounding: bool = True
) -> Law[tuple[int, ...]]:
    """Algorithm 9: which entries are stored; entries below 1 are rounded at random first."""
    chances = []
    for value in x:
        if not value:
            chances.append(Fraction(0))
        elif value < 1 and rounding:
            chances.append(value * stored(Fraction(1), t, base))
        else:
            chances.append(stored(value, t, base))
    return _joint(chances)


def _joint(chances: Sequence[Fraction]) -> Law[tuple[int, ...]]:
    law: Law[tuple[int, ...]] = Law.point(())
    for chance in chances:
        coin = Law({1: chance, 0: 1 - chance})
        law = law.product(coin).map(lambda pair: (*pair[0], pair[1]))
    return law
