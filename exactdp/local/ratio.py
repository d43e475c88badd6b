"""e^epsilon rounded down to a rational number, which makes all probabilities rational."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp.balls import ball, refine
from exactdp.bisection import least
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, decimal_text, positive

_LEAST, _MOST = Fraction(1, 10**9), Fraction(100)

#: Digits of e^epsilon - 1. Rounding down loses a relative 1e-11 of it, at most 1e-11 epsilon.
_DIGITS = 12


def local_epsilon(name: str, epsilon: Real) -> Fraction:
    """An exact epsilon of a report, from 1e-9 to 100; raises InvalidParameter."""
    value = positive(name, epsilon)
    if not _LEAST <= value <= _MOST:
        raise InvalidParameter(name, epsilon, "between 1e-9 and 100")
    return value


def ratio_within(epsilon: Fraction) -> Fraction:
    """A certified lower bound r > 1 of e^epsilon: e^epsilon - 1 rounded down to twelve digits.

    >>> ratio_within(Fraction(1, 2))
    Fraction(16487212707, 10000000000)
    """
    bound = refine(lambda: ball(epsilon).expm1(), relative_width=Fraction(1, 10**30)).lower
    unit = _unit(bound)
    return 1 + bound // unit * unit


def largest(limit: Fraction, keeps: Callable[[Fraction], bool]) -> Fraction:
    """The largest r in (1, limit] for which keeps(r) holds, in units of the twelfth digit of
    limit - 1.

    keeps: holds for all r up to some point and for none beyond, and for the smallest r.
    Raises InvalidParameter if it holds for none.
    """
    unit = _unit(limit - 1)
    if not keeps(1 + unit):
        raise InvalidParameter("epsilon", decimal_text(limit), "large enough for these columns")
    end = int((limit - 1) / unit) + 1
    return 1 + (least(2, end, lambda n: not keeps(1 + n * unit)) - 1) * unit


def _unit(value: Fraction) -> Fraction:
    """The unit of the twelfth significant decimal digit of a value."""
    unit = Fraction(1)
    while value >= 10**_DIGITS * unit:
        unit *= 10
    while value < 10 ** (_DIGITS - 1) * unit:
        unit /= 10
    return unit
