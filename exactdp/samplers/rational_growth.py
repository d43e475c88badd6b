"""Rational numbers just below e^(epsilon/2): the ratios of noise with rational probabilities."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from exactdp.balls import ball, enclosure, precision
from exactdp.errors import Described, InvalidParameter

#: Largest relative loss of r - 1 for a ratio r with target y: r - 1 >= (1 - SHARE)(y - 1).
SHARE = Fraction(1, 1 << 41)

#: Larger epsilons are replaced by this value, at which noise is 0 except with probability 2^-183.
_LARGEST = Fraction(256)

_PRECISION = 1024


@lru_cache(256)
def rational_growth(epsilon: Fraction, factor: Fraction = Fraction(1)) -> Fraction:
    """The simplest fraction r <= y = e^(epsilon/2)/factor with r - 1 >= (1 - 2^-41)(y - 1).

    epsilon: > 0. factor: >= 1, what rounding costs. Then ln r >= (1 - 2^-41) ln y, as ln(1 + x) is
    concave. Raises InvalidParameter unless y is certainly above 1.

    >>> rational_growth(Fraction(1))**2 < 2.718281828459 < rational_growth(Fraction(1))**2 + 2**-40
    True
    """
    with precision(_PRECISION):
        half = ball(min(epsilon, _LARGEST) / 2)
        rise = (half.expm1() - ball(factor - 1)) / ball(factor)
        if not rise > 0:
            few_bits = Described("so few that rounding costs more than epsilon")
            raise InvalidParameter("bits", few_bits, "more random bits per draw")
        ends = enclosure(rise)
    return 1 + simplest(ends.upper * (1 - SHARE), ends.lower)


def power_of_two_growth(epsilon: Fraction) -> Fraction:
    """1 + 2^-b with b = ceil(log2(2/epsilon)), at least 0.

    Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Theorem 4.5.
    """
    ratio = 2 / epsilon
    bits = max(ratio.numerator.bit_length() - ratio.denominator.bit_length(), 0)
    return 1 + Fraction(1, 1 << bits + (ratio > 1 << bits))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator in [low, high], 0 <= low <= high.

    >>> simplest(Fraction(31, 100), Fraction(34, 100))
    Fraction(1, 3)
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    return whole - 1 + 1 / simplest(1 / (high - whole + 1), 1 / (low - whole + 1))
