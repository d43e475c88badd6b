"""The power of the best test at a false-alarm rate: the trade-off curve, from both sides.

The power at a rate alpha is the minimum over epsilon of delta(epsilon) + e^epsilon alpha, where
delta is the largest of both orders of the neighbours (Dong, Roth, Su 2022, Proposition 2.12; 1
minus the power is the least type II error). `cutting` finds the minimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from exactdp.accounting.certify.hints import log
from exactdp.accounting.pld.ask.closed import closed_curve
from exactdp.accounting.pld.ask.cutting import CuttingPlanes
from exactdp.accounting.pld.ask.delta import Delta, ceiling
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import Plan, for_delta, for_power
from exactdp.accounting.pld.ask.question import (
    Bounded,
    GridQuestion,
    Question,
    Reading,
    times_too_wide,
)
from exactdp.accounting.pld.ask.search import refined
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

#: Levels whose natural logarithms lie between two multiples of _SHARED use the same grid.
_SHARED = 4.0

#: Where both orders of the neighbours matter, the curves of both are enclosed near the last place
#: of the search, to these parts of the wanted width.
_PARTS = (Fraction(1), Fraction(1), Fraction(1), Fraction(1, 4), Fraction(1, 16))


@dataclass(frozen=True)
class Power(Question):
    """The power at a false-alarm rate alpha, enclosed to a relative width."""

    alpha: Fraction
    relative_width: Fraction

    def largest(self, orders: Sequence[Order]) -> Enclosure:
        """The power by the largest curve of all orders, which may be larger than that of each."""
        return self.reading(orders).answer

    @followed
    def reading(self, orders: Sequence[Order]) -> Reading:
        """The power, and the epsilon >= 0 on which it depends."""
        worst, *others = sorted(orders, key=self.guess, reverse=True)
        reading = self._reading(worst)
        place = reading.place
        for part in _PARTS:
            matter = [order for order in others if _matters(order, reading)]
            if not matter and self._is_narrow(reading.answer):
                return reading
            narrower = replace(self, relative_width=part * self.relative_width)
            curves = [narrower._curve_near(order, place, reading) for order in (worst, *matter)]
            search = CuttingPlanes(self.alpha, curves)
            reading = narrower._from(float(place)).follow(search, curves)
            place = abs(Fraction(search.meeting))
            left_out = [order for order in others if order not in matter]
            if self._is_narrow(reading.answer) and not any(_matters(x, reading) for x in left_out):
                return reading
        raise Undecided("the curves of both orders of the neighbours leave the power too wide")

    @followed
    def guess(self, order: Order) -> float:
        """About the threshold of the best test."""
        return 0.0 if closed_curve(order) else self._plan(order).place

    def answer(self, order: Order) -> Enclosure:
        """The power by the curve of one order, which stands for both."""
        return self.largest([order])

    def may_exceed(self, order: Order, answer: Enclosure) -> bool:
        """No quick look tells whether an order has a larger power."""
        return answer.upper < 1

    def _reading(self, order: Order) -> Reading:
        closed = closed_curve(order)
        if closed is None:
            plan = self._plan(order)
            return refined(self._from(plan.place), order, plan)
        with precision(BITS):
            return self._from(0.0).read(closed)

    def _curve_near(self, order: Order, place: Fraction, reading: Reading) -> Bounded:
        """A curve that is accurate near a place, in parts of the power of a reading."""
        closed = closed_curve(order)
        if closed is not None:
            return closed
        width = float(self.relative_width)
        plan = for_delta(order, float(place), width, width)
        question = _PartOf(place, self.relative_width, reading.answer.lower)
        return refined(question, order, plan).curve

    def _is_narrow(self, answer: Enclosure) -> bool:
        return answer.width <= self.relative_width * answer.lower

    def _from(self, place: float) -> _Search:
        return _Search(self.alpha, self.relative_width, place)

    def _plan(self, order: Order) -> Plan:
        level = _SHARED * math.floor(log(self.alpha) / _SHARED)
        return for_power(order, level, float(self.relative_width))


@dataclass(frozen=True)
class _PartOf(Delta):
    """Delta at a loss, to a width relative to a larger number, the power."""

    power: Fraction

    def excess(self, answer: Enclosure) -> float:
        """How many times wider than this part of the power."""
        return times_too_wide(answer.width, self.power * self.relative_width)


@dataclass(frozen=True)
class _Search(GridQuestion):
    """A search for the power from one epsilon on."""

    alpha: Fraction
    relative_width: Fraction
    start: float

    def read(self, curve: Bounded) -> Reading:
        return self.read_all([curve])

    def read_all(self, curves: Sequence[Bounded]) -> Reading:
        """The power by the largest of several curves; the reading has the first curve."""
        return self.follow(CuttingPlanes(self.alpha, curves), curves)

    def follow(self, search: CuttingPlanes, curves: Sequence[Bounded]) -> Reading:
        """What a search over several curves shows; the reading has the first curve."""
        with precision(BITS):
            search.search(self.start, float(self.relative_width))
            # one order alone has a kink at 0 that need not be convex: `most` is no upper bound yet
            least = search.least.min(search.most)
            answer = Enclosure(enclosure(least).lower, enclosure(search.most).upper)
            return Reading(curves[0], answer.clamped(self.alpha, 1), abs(Fraction(search.best)))

    def excess(self, answer: Enclosure) -> float:
        return times_too_wide(answer.width, answer.lower * self.relative_width)


def _matters(order: Order, reading: Reading) -> bool:
    """Whether delta of an order may be larger at the place of a reading, by a coarse grid."""
    if reading.answer.upper == 1:
        return False
    with precision(BITS):
        least = max(enclosure(reading.curve.below(ball(reading.place))).lower, Fraction(0))
    return ceiling(order, reading.place, least) > least
