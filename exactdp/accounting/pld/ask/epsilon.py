"""Epsilon of one order of the neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.checking import Verdict, decide
from exactdp.accounting.certify.hints import falling_root, log, log2
from exactdp.accounting.pld.ask.closed import ClosedCurve, closed_curve
from exactdp.accounting.pld.ask.delta import Delta, ceiling
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import Plan, for_epsilon
from exactdp.accounting.pld.ask.question import (
    Bounded,
    GridQuestion,
    Question,
    Reading,
    times_too_wide,
)
from exactdp.accounting.pld.ask.search import refined
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.grid.lattice import power_of_two
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, precision
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided

#: No epsilon above this is returned; it is the upper end where a grid shows no smaller one.
_FAR = 1e300


@dataclass(frozen=True)
class Epsilon(Question):
    """The smallest epsilon >= 0 with delta(epsilon) <= target, enclosed to a width."""

    target: Fraction
    width: Fraction

    @followed
    def guess(self, order: Order) -> float:
        """A number that rises with epsilon."""
        if closed_curve(order) is not None:
            return Delta(Fraction(1), Fraction(1)).guess(order)
        return about_epsilon(order, self.target)

    @followed
    def answer(self, order: Order) -> Enclosure:
        """An enclosure of epsilon, of this width."""
        closed = closed_curve(order)
        if closed is not None:
            return _closed_epsilon(order, closed, self.target, self.width)
        return self.reading(order).answer

    def reading(self, order: Order) -> Reading:
        """The answer for one order, by a grid."""
        plan = for_epsilon(order, log(self.target), float(self.width))
        return refined(_Roots(self.target, self.width, plan), order, plan)

    def may_exceed(self, order: Order, answer: Enclosure) -> bool:
        """Whether delta of this order may be above the target there, by a coarse grid."""
        return ceiling(order, answer.lower, self.target) > self.target


@followed
def about_epsilon(order: Order, target: Fraction) -> float:
    """About the epsilon at which delta is the target, for a grid; 0 where no grid is needed."""
    return 0.0 if closed_curve(order) else for_epsilon(order, log(target), 1.0).place


@dataclass(frozen=True)
class _Roots(GridQuestion):
    """Two points around the smallest epsilon at which delta is at most the target.

    plan: says near which epsilon to search.
    """

    target: Fraction
    width: Fraction
    plan: Plan

    def read(self, curve: Bounded) -> Reading:
        target, slack = ball(self.target), float(self.width) / 2048
        # both ends lie on a lattice: the last bits of doubles, which differ between computers, then
        # hardly ever show in an answer
        lattice = float(power_of_two(slack))
        if curve.infinite_low > target:
            raise _out_of_reach(target)
        # near the plan's place, delta falls by a factor e for each unit
        start = self.plan.log_delta - log2(target) * math.log(2)
        unit = 1 / self.plan.theta
        turns = _turns(curve.above, self.plan, target, start)
        high = max(_rounded(self.plan.place + unit * turns + slack, lattice, math.ceil), 0.0)
        while high < _FAR and not curve.above(arb(high)) <= target:
            slack *= 2
            high = _rounded(high + slack, lattice, math.ceil)
        turns = _turns(curve.below, self.plan, target, turns if math.isfinite(turns) else 0.0)
        low = _rounded(self.plan.place + unit * turns - slack, lattice, math.floor)
        while low > 0 and not curve.below(arb(low)) > target:
            slack *= 2
            low = _rounded(low - slack, lattice, math.floor)
        answer = Enclosure(Fraction(max(low, 0.0)), Fraction(high))
        return Reading(curve, answer, answer.upper)

    def excess(self, answer: Enclosure) -> float:
        return times_too_wide(answer.width, self.width)


def _rounded(end: float, lattice: float, rounding: Callable[[float], int]) -> float:
    """A multiple of a power of two, or a number that is too far away for any."""
    return rounding(end / lattice) * lattice if abs(end) < _FAR * lattice else min(end, _FAR)


def _turns(bound: Callable[[arb], arb], plan: Plan, target: arb, start: float) -> float:
    """About the distance from the plan's place to the root of a bound, in units of 1/theta."""
    unit = 1 / plan.theta
    return falling_root(lambda x: log2(bound(arb(plan.place + unit * x)) / target), start)


def _closed_epsilon(
    order: Order, curve: ClosedCurve, target: Fraction, width: Fraction
) -> Enclosure:
    """Epsilon from a closed curve: the root is bracketed by a guess or by doubling, then halved."""
    if curve.infinite_low > ball(target):
        raise _out_of_reach(target)

    def enough(epsilon: Fraction) -> bool:
        verdict = _verdict(curve, epsilon, target)
        if verdict == "undecided":
            raise Undecided("epsilon is so close that delta cannot be told from the target")
        return verdict == "proved"

    if _verdict(curve, Fraction(0), target) == "proved":
        return Enclosure.exact(0)
    low, high = _near(order, curve, target, width) or (Fraction(0), Fraction(_FAR))
    if high == _FAR:
        low, high = Fraction(0), Fraction(1)
        while not enough(high):
            low, high = high, 2 * high
            if high > _FAR:
                raise Undecided("the epsilon asked for is too large to be followed")
    return Enclosure(*halved(low, high, enough, width=width))


def _near(
    order: Order, curve: ClosedCurve, target: Fraction, width: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Two points around the root; None where there is no guess of the root."""
    with suppress(Undecided), precision(2 * BITS):
        plan = for_epsilon(order, log(target), float(width))
        roots = _Roots(target, width, plan).read(curve).answer
        return roots.lower, roots.upper
    return None


def _verdict(curve: ClosedCurve, epsilon: Fraction, target: Fraction) -> Verdict:
    return decide(lambda: curve.delta(epsilon), target, tight=True).verdict


def _out_of_reach(target: arb | Fraction) -> InvalidParameter:
    return InvalidParameter("delta", float(target), "above the delta that is left at any epsilon")
