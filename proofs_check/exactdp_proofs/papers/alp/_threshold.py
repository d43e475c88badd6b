"""Exact laws of Algorithms 6 and 9 for entries up to the threshold.

For y <= t the stored value, given that it is stored, is t plus an exponential variable whatever y
is; so one bit per entry, stored or not, carries all the information. With e^epsilon a rational
square, all probabilities are rational at entries that are multiples of 1/2.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

from exactdp.law import Law
from exactdp_proofs.rationals import Fraction

Vector = tuple[Fraction, ...]


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent for a rational square and a multiple of 1/2."""
    root = Fraction(isqrt(base.numerator), isqrt(base.denominator))
    assert root * root == base
    assert (2 * exponent).denominator == 1
    return root ** int(2 * exponent)


def stored(y: Fraction, t: Fraction, base: Fraction) -> Fraction:
    """P(y + Lap(1/epsilon) >= t) for y <= t, base = e^epsilon."""
    return power(base, y - t) / 2


def rounded_chance(value: Fraction, t: Fraction, base: Fraction) -> Fraction:
    """Algorithm 9: P(the entry is stored); below 1 it is rounded at random first."""
    if 0 <= value < 1:
        return value * stored(Fraction(1), t, base)
    return stored(value, t, base)


def rounded_law(x: Vector, t: Fraction, base: Fraction) -> Law[tuple[int, ...]]:
    """Algorithm 9: which entries are stored."""
    return joint(rounded_chance(value, t, base) for value in x)


def joint(chances: Iterable[Fraction]) -> Law[tuple[int, ...]]:
    """Independent bits that are one with these chances."""
    law: Law[tuple[int, ...]] = Law.point(())
    for chance in chances:
        coin = Law({1: chance, 0: 1 - chance})
        law = law.product(coin).map(lambda pair: (*pair[0], pair[1]))
    return law
