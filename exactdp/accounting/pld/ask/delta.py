"""Delta of one order of the neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.hints import log
from exactdp.accounting.pld.ask.closed import closed_curve, ends
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import FLOOR_BITS, for_delta
from exactdp.accounting.pld.ask.search import Bounded, composed, refined, times_too_wide
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, enclosure, precision, refine
from exactdp.enclosure import Enclosure

#: A mass of up to 2^-_SPARE_BITS times a limit may be cut off.
_SPARE_BITS = 20

#: One step of refinement asks for an enclosure that is narrower by at most this factor.
_MOST_EXCESS = 64

#: Where delta is compared with a target: the width of the first enclosure, and of the last one.
_FIRST_WIDTH, _LAST_WIDTH = Fraction(1, 100), Fraction(1, 10**8)

_FLOOR = Fraction(1, 1 << FLOOR_BITS)


@followed
def delta(order: Order, loss: Fraction, relative_width: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0, of this relative width."""

    def excess(interval: Enclosure) -> float:
        if interval.upper <= _FLOOR:
            return 0.0
        return times_too_wide(interval.width, interval.lower * relative_width)

    return _delta(order, loss, relative_width, excess)


@followed
def against(order: Order, loss: Fraction, target: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0 that does not contain the target, if the grids allow it.

    The ends of an enclosure err by shares of about 2/3 and 1/3 of its width, since losses that are
    merged below a grid move twice as far as losses that are shared above it.
    """

    def excess(interval: Enclosure) -> float:
        if not interval.lower <= target < interval.upper or interval.width < _LAST_WIDTH * target:
            return 0.0
        away = (interval.lower + 2 * interval.upper) / 3 - target
        needed = max(away, -2 * away, interval.width / _MOST_EXCESS)
        return times_too_wide(interval.width, needed)

    return _delta(order, loss, _FIRST_WIDTH, excess)


def _delta(
    order: Order, loss: Fraction, relative_width: Fraction, excess: Callable[[Enclosure], float]
) -> Enclosure:
    closed = closed_curve(order)
    if closed is not None:
        curve, width = closed.delta, min(relative_width, closed.width)
        return refine(lambda: curve(loss), relative_width=width).clamped(0, 1)

    if _is_beyond(order, loss):
        return Enclosure.exact(0)
    least = _least(order, loss)
    if excess(wide := Enclosure(least, Fraction(1))) <= 1:
        return wide

    def ask(bounds: Bounded) -> Enclosure:
        low, high = bounds.below(ball(loss)).max(arb(0)), bounds.above(ball(loss))
        return Enclosure(enclosure(low).lower, enclosure(high).upper).clamped(0, 1)

    plan = for_delta(order, float(loss), float(relative_width))
    return refined(order, plan, ask, excess, lambda _: loss)


def reversed_delta(loss: Fraction, other: Enclosure) -> Enclosure:
    """Delta at a loss < 0. other: delta at -loss, for the pairs in the other order.

    With x = e^loss the result is 1 - x + x delta.
    """

    def at(delta: Fraction) -> arb:
        return -ball(loss).expm1() + ball(loss).exp() * ball(delta)

    with precision(BITS):
        low, high = enclosure(at(other.lower)).lower, enclosure(at(other.upper)).upper
        return Enclosure(low, high).clamped(0, 1)


@followed
def ceiling(order: Order, loss: Fraction, limit: Fraction) -> Fraction:
    """An upper bound of delta at loss >= 0, from a coarse grid.

    limit: cutting off tails may raise the bound by 2^-_SPARE_BITS limit.
    """
    if _is_beyond(order, loss):
        return Fraction(0)
    curve: Bounded | None = closed_curve(order)
    if curve is None:
        plan = for_delta(order, float(loss), 0.1)
        if limit:
            enough = max(math.ceil(-log(limit) / math.log(2)), 0) + _SPARE_BITS
            plan = replace(plan, tail_bits=min(plan.tail_bits, enough))
        curve = composed(order, plan)
    with precision(BITS):
        most = curve.above(ball(loss))
        return enclosure(most).upper if most < 1 else Fraction(1)


def _is_beyond(order: Order, loss: Fraction) -> bool:
    """Whether the sum of all losses is never above this loss."""
    limits = ends(order)
    return limits.largest is not None and not limits.mass.upper and limits.largest.upper <= loss


def _least(order: Order, loss: Fraction) -> Fraction:
    """A lower bound of delta: 1 - E_P min(1, e^(loss - L)) >= 1 - e^(loss/2) E_P e^(-L/2)."""
    with precision(BITS):
        affinity = arb(1)
        for law, times in order:
            affinity *= law.affinity() ** times
        least = (1 - (ball(loss) / 2).exp() * affinity).lower()
        return enclosure(least).lower if least > 0 else Fraction(0)
