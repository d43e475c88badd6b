"""Delta and epsilon of one order of the neighbours, on a grid made as fine as the answer needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from flint import arb

from exactdp.accounting.certify.checking import Verdict, decide
from exactdp.accounting.certify.hints import falling_root, log, log2
from exactdp.accounting.pld.atoms import AtomicLoss
from exactdp.accounting.pld.chain import TooCoarse
from exactdp.accounting.pld.closed import ClosedCurve, closed_curve
from exactdp.accounting.pld.composed import BITS, Composed, Copies, compose
from exactdp.accounting.pld.ended import ended_bounds
from exactdp.accounting.pld.gathered import atomic_bounds
from exactdp.accounting.pld.guesses import OneLoss, Order
from exactdp.accounting.pld.heavy import compose_in_balls
from exactdp.accounting.pld.laplace import EndedLoss
from exactdp.accounting.pld.measure import Measure, bounds
from exactdp.accounting.pld.plans import FLOOR_BITS, Plan, for_delta, for_epsilon, log_delta_guess
from exactdp.accounting.pld.transform import TooLong
from exactdp.balls import ball, enclosure, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided

__all__ = [
    "Curve",
    "ceiling",
    "curve_near",
    "delta",
    "epsilon",
    "gridded",
    "guess",
    "is_followed",
    "measures",
    "reversed_delta",
]

_ATTEMPTS = 12

#: Where a tilt leaves too few digits, it is divided by this, once for each.
_GENTLER = (16.0,)

_FLOOR = Fraction(1, 1 << FLOOR_BITS)

#: No epsilon is larger; the upper end where a grid gives none.
_FAR = 1e300


class Curve(Protocol):
    """Bounds on delta at any epsilon."""

    @property
    def infinite_low(self) -> arb:
        """A lower bound on the mass at infinity."""

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""


def delta(order: Order, loss: Fraction, relative_width: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0, of this relative width."""
    closed = closed_curve(order)
    if closed is not None:
        curve, width = closed.delta, min(relative_width, closed.width)
        return refine(lambda: curve(loss), relative_width=width).clamped(0, 1)

    def ask(found: Curve) -> Enclosure:
        low, high = found.below(ball(loss)).max(arb(0)), found.above(ball(loss))
        return Enclosure(enclosure(low).lower, enclosure(high).upper).clamped(0, 1)

    return _refined(
        order,
        for_delta(order, float(loss), float(relative_width)),
        ask,
        lambda found: found.upper <= max(found.lower * (1 + relative_width), _FLOOR),
        lambda _: loss,
    )


def reversed_delta(loss: Fraction, other: Enclosure) -> Enclosure:
    """Delta at a loss < 0, from that at -loss of the pairs in reverse.

    With x = e^loss it is 1 - x + x delta.
    """

    def at(delta: Fraction) -> arb:
        return -ball(loss).expm1() + ball(loss).exp() * ball(delta)

    with precision(BITS):
        low, high = enclosure(at(other.lower)).lower, enclosure(at(other.upper)).upper
        return Enclosure(low, high).clamped(0, 1)


def epsilon(order: Order, target: Fraction, width: Fraction) -> Enclosure:
    """An enclosure of the smallest epsilon >= 0 with delta(epsilon) <= target, of this width."""
    closed = closed_curve(order)
    if closed is not None:
        return _closed_epsilon(order, closed, target, width)
    plan = for_epsilon(order, log(target), float(width))

    def ask(found: Curve) -> Enclosure:
        return _roots(found, ball(target), plan, float(width) / 2048)

    return _refined(order, plan, ask, lambda found: found.width <= width, lambda found: found.upper)


def guess(order: Order, loss: float) -> float:
    """About the logarithm of delta at loss >= 0; nothing is certified."""
    closed = closed_curve(order)
    if closed is None:
        return log_delta_guess(order, loss)
    with precision(BITS):
        return log2(closed.delta(Fraction(loss))) * math.log(2)


def is_followed(order: Order, loss: float) -> bool:
    """Whether there is a guess."""
    try:
        guess(order, loss)
    except Undecided:
        return False
    return True


def ceiling(order: Order, loss: Fraction) -> Fraction:
    """A number that delta at loss >= 0 does not exceed, from a coarse grid."""
    found: Curve | None = closed_curve(order)
    if found is None:
        found = gridded(order, for_delta(order, float(loss), 0.1))
    with precision(BITS):
        most = found.above(ball(loss))
        # where the coarse grid does not tell, there is no ceiling but 1
        return enclosure(most).upper if most.is_finite() else Fraction(1)


@lru_cache(maxsize=40)
def curve_near(order: Order, place: float, relative_width: float) -> Curve:
    """A curve that is accurate for epsilon near place, to be asked often."""
    closed: ClosedCurve | None = closed_curve(order)
    if closed is not None:
        return closed
    plan = for_delta(order, place, relative_width)
    for _ in range(_ATTEMPTS):
        found = gridded(order, plan)
        with precision(BITS):
            low, high = found.below(arb(place)), found.above(arb(place))
            if high <= low * (1 + arb(relative_width)) or high < arb(2) ** -FLOOR_BITS:
                return found
        plan = plan.finer(2)
    return found


def gridded(order: Order, plan: Plan) -> Composed:
    """The composition on a grid, where it is not too coarse for the laws."""
    for _ in range(_ATTEMPTS):
        try:
            made = measures(order, plan.step, plan.tail_bits, plan.rate)
            return compose(made, plan.theta * float(plan.step))
        except TooCoarse:
            plan = plan.finer(4)
    raise Undecided("no grid fits the losses")


def _refined(
    order: Order,
    plan: Plan,
    ask: Callable[[Curve], Enclosure],
    fits: Callable[[Enclosure], bool],
    place: Callable[[Enclosure], Fraction],
) -> Enclosure:
    """An answer that fits; place: the loss at which the bounds of an answer are asked for."""
    before = Fraction(2) ** 1100  # finer grids are to be narrower
    gentler, stalled = list(_GENTLER), 0
    for _ in range(_ATTEMPTS):
        try:
            found = gridded(order, plan)
        except TooLong:
            break
        with precision(BITS):
            answer = ask(found)
            if fits(answer):
                return answer
            if found.vague(ball(place(answer))):
                if not gentler:
                    break
                plan = replace(plan, theta=plan.theta / gentler.pop())
                continue
        # losses without a density come near the nodes at some steps more than at others
        plan = plan.finer(2 if 10 * answer.width < 7 * before else 4)
        stalled = stalled + 1 if 10 * answer.width > 9 * before else 0
        if stalled == 2:
            break
        before = answer.width
    return _in_balls(order, plan, ask, fits)


def _in_balls(
    order: Order,
    plan: Plan,
    ask: Callable[[Curve], Enclosure],
    fits: Callable[[Enclosure], bool],
) -> Enclosure:
    """The same without a tilt, beginning with a coarser grid: its transforms take longer."""
    plan = replace(plan, step=8 * plan.step)
    for _ in range(_ATTEMPTS):
        try:
            made = measures(order, plan.step, plan.tail_bits)
        except TooCoarse:
            plan = plan.finer(4)
            continue
        with precision(BITS):
            answer = ask(compose_in_balls(made, plan.tail_bits))
        if fits(answer):
            return answer
        if answer.lower == 0 and plan.tail_bits < FLOOR_BITS:
            # where no tilt is good the guess may be far above delta
            plan = replace(plan, tail_bits=FLOOR_BITS + 64)
        else:
            plan = plan.finer(2)
    raise Undecided(f"not settled on a grid of step {float(plan.step)}")


def _out_of_reach(target: Fraction | arb) -> InvalidParameter:
    return InvalidParameter("delta", float(target), "above the delta that is left at any epsilon")


def _roots(found: Curve, target: arb, plan: Plan, slack: float) -> Enclosure:
    """Two points around the smallest epsilon at which delta is at most the target."""
    unit = 1 / plan.theta

    def root(bound: Callable[[arb], arb]) -> float:
        return falling_root(lambda x: log2(bound(arb(plan.place + unit * x)) / target), 0.0)

    if found.infinite_low > target:
        raise _out_of_reach(target)
    high = min(max(plan.place + unit * root(found.above) + slack, 0.0), _FAR)
    while high < _FAR and not found.above(arb(high)) <= target:
        slack *= 2
        high += slack
    low = min(plan.place + unit * root(found.below) - slack, _FAR)
    while low > 0 and not found.below(arb(low)) > target:
        slack *= 2
        low -= slack
    return Enclosure(Fraction(max(low, 0.0)), Fraction(high))


def _closed_epsilon(
    order: Order, curve: ClosedCurve, target: Fraction, width: Fraction
) -> Enclosure:
    """Around a root that floats guess or doubling finds, then by halving, if need be."""
    if curve.infinite_low > ball(target):
        raise _out_of_reach(target)

    def enough(epsilon: Fraction) -> bool:
        verdict = _verdict(curve, epsilon, target)
        if verdict == "undecided":
            raise Undecided("whether delta meets the target so near is not settled")
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
    while high - low > width:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Enclosure(low, high)


def _near(
    order: Order, curve: ClosedCurve, target: Fraction, width: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Two points around the root; None where no float tells about where it is."""
    with suppress(Undecided), precision(2 * BITS):
        plan = for_epsilon(order, log(target), float(width))
        found = _roots(curve, ball(target), plan, float(width) / 2048)
        return found.lower, found.upper
    return None


def _verdict(curve: ClosedCurve, epsilon: Fraction, target: Fraction) -> Verdict:
    return decide(lambda: curve.delta(epsilon), target, tight=True).verdict


def measures(
    order: Order, step: Fraction, tail_bits: int, rate: Fraction = Fraction(0)
) -> list[Copies]:
    """Of every law the two measures on a grid of this step, and how often it is run.

    tail_bits, rate: as for `measure.bounds`.
    """
    return [(*_bounds(law, step, tail_bits, rate), times) for law, times in order]


@lru_cache(maxsize=16)
def _bounds(
    law: OneLoss, step: Fraction, tail_bits: int, rate: Fraction
) -> tuple[Measure, Measure]:
    if isinstance(law, EndedLoss):
        return ended_bounds(law, step)
    if isinstance(law, AtomicLoss):
        with precision(BITS):
            return atomic_bounds(law, step, tail_bits)
    return bounds(law, step, tail_bits, rate)
