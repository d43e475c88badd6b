"""Delta of one order of the neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.hints import log, log2
from exactdp.accounting.pld.ask.closed import closed_curve, ends
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import FLOOR_BITS, for_delta, log_delta_guess
from exactdp.accounting.pld.ask.question import (
    Bounded,
    GridQuestion,
    Question,
    Reading,
    times_too_wide,
)
from exactdp.accounting.pld.ask.renyi import moment_bound
from exactdp.accounting.pld.ask.search import composed, refined
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, enclosure, precision, refine
from exactdp.enclosure import Enclosure

#: A delta below 2^-_SPARE_BITS times a limit is negligible beside the limit.
_SPARE_BITS = 20

#: One step of refinement asks for an enclosure that is narrower by at most this factor.
_MOST_EXCESS = 64

#: Where delta is compared with a target: the width of the first enclosure, and of the last one.
_FIRST_WIDTH, _LAST_WIDTH = Fraction(1, 100), Fraction(1, 10**8)

_FLOOR = Fraction(1, 1 << FLOOR_BITS)


@dataclass(frozen=True)
class Delta(Question, GridQuestion):
    """Delta at a loss >= 0, enclosed to a relative width."""

    loss: Fraction
    relative_width: Fraction

    @followed
    def guess(self, order: Order) -> float:
        """About the logarithm of delta."""
        closed = closed_curve(order)
        if closed is None:
            return log_delta_guess(order, float(self.loss))
        with precision(BITS):
            return log2(closed.delta(Fraction(float(self.loss)))) * math.log(2)

    @followed
    def answer(self, order: Order) -> Enclosure:
        """An enclosure of delta, of this relative width."""
        closed = closed_curve(order)
        if closed is not None:
            curve, width = closed.delta, min(self.relative_width, closed.width)
            return refine(lambda: curve(self.loss), relative_width=width).clamped(0, 1)
        if _is_beyond(order, self.loss):
            return Enclosure.exact(0)
        wide = Enclosure(_least(order, self.loss), Fraction(1))
        if self.excess(wide) <= 1:
            return wide
        plan = for_delta(order, float(self.loss), float(self.relative_width))
        return refined(self, order, plan).answer

    def may_exceed(self, order: Order, answer: Enclosure) -> bool:
        """Whether delta of this order may be larger, by a coarse grid."""
        return answer.upper < 1 and ceiling(order, self.loss, answer.lower) > answer.lower

    def read(self, curve: Bounded) -> Reading:
        """Delta between its bounds."""
        loss = ball(self.loss)
        low, high = curve.below(loss).max(arb(0)), curve.above(loss)
        answer = Enclosure(enclosure(low).lower, enclosure(high).upper).clamped(0, 1)
        return Reading(curve, answer, self.loss)

    def excess(self, answer: Enclosure) -> float:
        """How many times wider than the relative width; deltas below the floor are narrow."""
        if answer.upper <= _FLOOR:
            return 0.0
        return times_too_wide(answer.width, answer.lower * self.relative_width)


@dataclass(frozen=True)
class DeltaAgainst(Delta):
    """Delta at a loss >= 0, in an enclosure without the target, if the grids allow it."""

    target: Fraction
    relative_width: Fraction = field(default=_FIRST_WIDTH, init=False)

    def excess(self, answer: Enclosure) -> float:
        """How many times too wide to leave out the target.

        The ends of an enclosure err by shares of about 2/3 and 1/3 of its width, since losses that
        are merged below a grid move twice as far as losses that are shared above it.
        """
        if not answer.lower <= self.target < answer.upper:
            return 0.0
        if answer.width < _LAST_WIDTH * self.target:
            return 0.0
        away = (answer.lower + 2 * answer.upper) / 3 - self.target
        needed = max(away, -2 * away, answer.width / _MOST_EXCESS)
        return times_too_wide(answer.width, needed)


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
    """An upper bound of delta at loss >= 0, from a moment if that is below limit, or a coarse grid.

    limit: a delta below 2^-_SPARE_BITS limit is only shown to be small.
    """
    if _is_beyond(order, loss):
        return Fraction(0)
    curve: Bounded | None = closed_curve(order)
    if curve is None:
        if limit and (bound := moment_bound(order, loss, limit)) is not None:
            return bound
        negligible = log(limit) - _SPARE_BITS * math.log(2) if limit else -math.inf
        curve = composed(order, for_delta(order, float(loss), 0.1, negligible=negligible))
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
