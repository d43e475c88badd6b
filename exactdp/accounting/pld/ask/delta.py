"""Delta of one order of the neighbours."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.accounting.pld.ask.closed import closed_curve
from exactdp.accounting.pld.ask.plans import FLOOR_BITS, for_delta
from exactdp.accounting.pld.ask.search import Bounded, composed, refined
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.laws.base import Order
from exactdp.balls import ball, enclosure, precision, refine
from exactdp.enclosure import Enclosure

__all__ = ["ceiling", "delta", "reversed_delta"]

_FLOOR = Fraction(1, 1 << FLOOR_BITS)


def delta(order: Order, loss: Fraction, relative_width: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0, of this relative width."""
    closed = closed_curve(order)
    if closed is not None:
        curve, width = closed.delta, min(relative_width, closed.width)
        return refine(lambda: curve(loss), relative_width=width).clamped(0, 1)

    def ask(found: Bounded) -> Enclosure:
        low, high = found.below(ball(loss)).max(arb(0)), found.above(ball(loss))
        return Enclosure(enclosure(low).lower, enclosure(high).upper).clamped(0, 1)

    return refined(
        order,
        for_delta(order, float(loss), float(relative_width)),
        ask,
        lambda found: found.upper <= max(found.lower * (1 + relative_width), _FLOOR),
        lambda _: loss,
    )


def reversed_delta(loss: Fraction, other: Enclosure) -> Enclosure:
    """Delta at a loss < 0, from that at -loss of the pairs in reverse.

    With x = e^loss the result is 1 - x + x delta.
    """

    def at(delta: Fraction) -> arb:
        return -ball(loss).expm1() + ball(loss).exp() * ball(delta)

    with precision(BITS):
        low, high = enclosure(at(other.lower)).lower, enclosure(at(other.upper)).upper
        return Enclosure(low, high).clamped(0, 1)


def ceiling(order: Order, loss: Fraction) -> Fraction:
    """An upper bound of delta at loss >= 0, from a coarse grid."""
    found: Bounded = closed_curve(order) or composed(order, for_delta(order, float(loss), 0.1))
    with precision(BITS):
        most = found.above(ball(loss))
        return enclosure(most).upper if most.is_finite() else Fraction(1)
