"""e^epsilon as a rational that never exceeds it, so that probabilities made of it are rational."""

from __future__ import annotations

from fractions import Fraction

from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, positive

__all__ = ["local_epsilon", "ratio_within"]

_LEAST, _MOST = Fraction(1, 10**9), Fraction(100)

#: Digits of e^epsilon - 1: what is given away is below 1e-11 of epsilon.
_DIGITS = 12


def local_epsilon(epsilon: Real) -> Fraction:
    """epsilon of one report, exactly; between 1e-9 and 100."""
    value = positive("epsilon", epsilon)
    if not _LEAST <= value <= _MOST:
        raise InvalidParameter("epsilon", epsilon, "between 1e-9 and 100")
    return value


def ratio_within(epsilon: Fraction) -> Fraction:
    """r > 1 with r <= e^epsilon for certain: e^epsilon - 1 to twelve digits, rounded down.

    >>> ratio_within(Fraction(1, 2))
    Fraction(16487212707, 10000000000)
    """
    bound = refine(lambda: ball(epsilon).expm1(), relative_width=Fraction(1, 10**30)).lower
    unit = Fraction(1)
    while bound >= 10**_DIGITS * unit:
        unit *= 10
    while bound < 10 ** (_DIGITS - 1) * unit:
        unit /= 10
    return 1 + bound // unit * unit
