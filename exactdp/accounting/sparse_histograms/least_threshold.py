"""Guesses at noise and threshold for discrete noise: where a calibration starts."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from exactdp.accounting import zcdp
from exactdp.balls import ball, refine

#: Shares of the target that are tried for the noise; the rest is left to the threshold.
SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(97, 100))
#: Number of significant digits of a chosen sigma.
_SIGMA_DIGITS = 6


def likely_threshold(sigma: Fraction, k: int, target: Fraction) -> Fraction:
    """A guess at the threshold that one of k normal variables passes with probability `target`."""
    log = math.log(k) + math.log(target.denominator) - math.log(target.numerator)
    # P(X > t) is about exp(-t^2/2)/(t sqrt(2 pi))
    square = 2 * log - math.log(4 * math.pi * log) if log > 1 else log
    return sigma * Fraction(math.sqrt(max(square, 0)))


def sigmas_by_zcdp(weight: Fraction, *, epsilon: Fraction, target: Fraction) -> list[Fraction]:
    """Short decimals sigma for which noise of (weight/sigma^2)-zCDP uses a share of the target.

    There is one sigma for each of several shares; the caller takes the best of them.
    """
    return [_sigma_by_zcdp(weight, epsilon, share * target) for share in SHARES]


def _sigma_by_zcdp(weight: Fraction, epsilon: Fraction, target: Fraction) -> Fraction:
    budget = zcdp.rho(epsilon=epsilon, delta=target).lower
    least = refine(lambda: (ball(weight) / ball(budget)).sqrt()).upper
    up = Context(prec=_SIGMA_DIGITS, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(least.numerator), Decimal(least.denominator)))
