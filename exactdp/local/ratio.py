"""e^epsilon as a rational that never exceeds it, so that probabilities made of it are rational."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, decimal_text, positive

_LEAST, _MOST = Fraction(1, 10**9), Fraction(100)

#: Digits of e^epsilon - 1: what is given away is below 1e-11 of epsilon.
_DIGITS = 12


def local_epsilon(name: str, epsilon: Real) -> Fraction:
    """The epsilon of a report, exactly; between 1e-9 and 100."""
    value = positive(name, epsilon)
    if not _LEAST <= value <= _MOST:
        raise InvalidParameter(name, epsilon, "between 1e-9 and 100")
    return value


def ratio_within(epsilon: Fraction) -> Fraction:
    """r > 1 with r <= e^epsilon for certain: e^epsilon - 1 to twelve digits, rounded down.

    >>> ratio_within(Fraction(1, 2))
    Fraction(16487212707, 10000000000)
    """
    bound = refine(lambda: ball(epsilon).expm1(), relative_width=Fraction(1, 10**30)).lower
    unit = _unit(bound)
    return 1 + bound // unit * unit


def largest(limit: Fraction, keeps: Callable[[Fraction], bool]) -> Fraction:
    """The largest r in (1, limit], limit - 1 in units of its twelfth digit, that keeps a promise.

    keeps: holds for all r up to some point and for none behind it, and for the first unit.
    """
    unit = _unit(limit - 1)
    low, high = 1, int((limit - 1) / unit) + 1
    if not keeps(1 + low * unit):
        raise InvalidParameter("epsilon", decimal_text(limit), "large enough for these columns")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(1 + middle * unit) else (low, middle)
    return 1 + low * unit


def _unit(value: Fraction) -> Fraction:
    """The value of its twelfth decimal digit."""
    unit = Fraction(1)
    while value >= 10**_DIGITS * unit:
        unit *= 10
    while value < 10 ** (_DIGITS - 1) * unit:
        unit /= 10
    return unit
