"""Sums of exp(-k^2/(2 sigma^2)) beyond a point, against summation by mpmath."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp

from exactdp.balls import precision
from exactdp.normal_sums import sum_above


def by_mpmath(z: int, sigma2: Fraction) -> mp.mpf:
    """The sum up to the first term below 1e-50 of the first one; the terms fall."""
    first = mp.exp(-(mp.mpf(z + 1) ** 2) / (2 * mp.mpf(sigma2.numerator) / sigma2.denominator))
    total, term, k = mp.mpf(0), first, z + 1
    while term > first * mp.mpf(10) ** -50:
        total += term
        k += 1
        term = mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sigma2.numerator) / sigma2.denominator))
    return total


@pytest.mark.parametrize(
    ("z", "sigma2"),
    [
        (0, Fraction(1, 3)),
        (5, Fraction(1, 100)),
        (3, Fraction(40)),
        (2_000, Fraction(100)),
        (20_000, Fraction(10_001, 3)),
        (1_000_000, Fraction(3 * 10**7)),
        (700, Fraction(2704)),
        (6_266, Fraction(9_765_625, 64)),
    ],
)
def test_relatively_accurate_far_out_in_the_tail(z: int, sigma2: Fraction) -> None:
    with precision(128), mp.workdps(60):
        total, expected = sum_above(z, sigma2), by_mpmath(z, sigma2)
        assert total.rel_accuracy_bits() > 90
        middle = mp.mpf(total.mid().str(55, radius=False))
        assert abs(middle - expected) <= expected * mp.mpf(2) ** -90
