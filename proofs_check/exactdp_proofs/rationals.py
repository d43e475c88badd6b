"""Rational numbers of the checks: `fractions.Fraction` by its interface, gmpy2's by its speed.

The ledger spends most of its time in additions and products of rational numbers, which the GMP
library carries out ten times faster than Python's class.
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from exactdp.balls import ball, enclosure, precision

if TYPE_CHECKING:
    from fractions import Fraction
else:
    import gmpy2

    Fraction = gmpy2.mpq

__all__ = ["Fraction", "raised"]

_SCALE = 1 << 40


def raised(base: Fraction, power: Fraction) -> Fraction:
    """base^power, rounded down to a multiple of 2^-40; base itself for the power 1."""
    if power == 1:
        return base
    with precision(128):
        grown = enclosure(ball(base) ** ball(power) * _SCALE)
    return Fraction(floor(grown.lower), _SCALE)
