"""The largest loss of a composition, and the mass of infinite losses.

From the largest finite loss on, delta(epsilon) is the mass at infinity: no grid is needed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from exactdp.accounting.pld.laws.base import Ends, LossLaw, Order
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure

#: Probabilities with more bits are enclosed instead of written down exactly.
_MOST_BITS = 1 << 14


def ends(order: Order) -> Ends:
    """Of all steps together, in one order of the neighbours."""
    largest, bounded, mass = Enclosure.exact(0), True, Enclosure.exact(0)
    for law, times in order:
        one = _ends(law)
        if one.largest is None:
            bounded = False
        else:
            largest += one.largest * times
        lower = 1 - (1 - mass.lower) * (1 - _any_of(one.mass.lower, times).lower)
        upper = 1 - (1 - mass.upper) * (1 - _any_of(one.mass.upper, times).upper)
        mass = Enclosure(lower, upper)
    return Ends(largest if bounded else None, mass)


def _any_of(mass: Fraction, times: int) -> Enclosure:
    """The probability that an event of probability mass happens at least once."""
    if mass.denominator.bit_length() * times <= _MOST_BITS:
        return Enclosure.exact(1 - (1 - mass) ** times)
    found = refine(lambda: 1 - (1 - ball(mass)) ** times)
    return Enclosure(found.lower, min(found.upper, Fraction(1)))


@lru_cache(maxsize=64)
def _ends(law: LossLaw) -> Ends:
    return law.ends()
