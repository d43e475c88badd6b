"""The largest loss of a composition, and the mass of the outcomes whose loss is infinite.

From the largest finite loss on, delta(epsilon) is the mass at infinity. No grid is needed there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.atoms import AtomicLoss, LawLoss, ResponseLoss
from exactdp.accounting.pld.guesses import OneLoss, Order
from exactdp.accounting.pld.laplace import OFF, EndedLoss
from exactdp.accounting.pld.moments import wide_noise
from exactdp.balls import enclosure, precision
from exactdp.enclosure import Enclosure

__all__ = ["Ends", "ends"]

_BITS = 128

_NONE = Enclosure.exact(0)


@dataclass(frozen=True)
class Ends:
    """largest: the largest finite loss, None where losses are unbounded. mass: that at infinity."""

    largest: Enclosure | None
    mass: Enclosure


def ends(order: Order) -> Ends:
    """Of all steps of one order of the neighbours together."""
    largest, bounded, kept = _NONE, True, Enclosure.exact(1)
    for law, times in order:
        one = _ends(law)
        if one.largest is None:
            bounded = False
        else:
            largest += one.largest * times
        kept = Enclosure((1 - one.mass.upper) ** times, (1 - one.mass.lower) ** times) * kept
    return Ends(largest if bounded else None, 1 - kept)


def _ends(law: OneLoss) -> Ends:
    if isinstance(law, ResponseLoss):
        return Ends(Enclosure.exact(law.epsilon), Enclosure.exact(law.delta))
    if isinstance(law, EndedLoss):
        at = law.anchor + law.marks()[-1][0] * law.unit
        return Ends(Enclosure(at, at if law.exact else at + OFF), _NONE)
    if isinstance(law, AtomicLoss) and wide_noise(law) is None:
        return _of_atoms(law)
    return Ends(None, _NONE)  # Gaussian noise: unbounded in at least one order


@lru_cache(maxsize=64)
def _of_atoms(law: AtomicLoss) -> Ends:
    with precision(_BITS):
        largest, infinite = _NONE, arb(0)
        for loss, p, _ in law.outcomes(_BITS):
            if loss == math.inf:
                infinite += p
            elif not isinstance(loss, float):
                place = _place(loss)
                largest = Enclosure(
                    max(largest.lower, place.lower), max(largest.upper, place.upper)
                )
        if isinstance(law, LawLoss):
            lost = (law.p[outcome] for outcome in law.p.support - law.q.support)
            return Ends(largest, Enclosure.exact(sum(lost, Fraction(0))))
        return Ends(largest, enclosure(infinite))


def _place(loss: Fraction | arb) -> Enclosure:
    return Enclosure.exact(loss) if isinstance(loss, Fraction) else enclosure(loss)
