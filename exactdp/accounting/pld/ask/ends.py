"""The largest loss of a composition, and the mass of infinite losses.

From the largest finite loss on, delta(epsilon) is the mass at infinity: no grid is needed.
"""

from __future__ import annotations

from functools import lru_cache

from exactdp.accounting.pld.laws.base import Ends, LossLaw, Order
from exactdp.enclosure import Enclosure

__all__ = ["ends"]


def ends(order: Order) -> Ends:
    """Of all steps together, in one order of the neighbours."""
    largest, bounded, kept = Enclosure.exact(0), True, Enclosure.exact(1)
    for law, times in order:
        one = _ends(law)
        if one.largest is None:
            bounded = False
        else:
            largest += one.largest * times
        kept = Enclosure((1 - one.mass.upper) ** times, (1 - one.mass.lower) ** times) * kept
    return Ends(largest if bounded else None, 1 - kept)


@lru_cache(maxsize=64)
def _ends(law: LossLaw) -> Ends:
    return law.ends()
