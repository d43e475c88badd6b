"""Epsilon of one order of the neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.checking import Verdict, decide
from exactdp.accounting.certify.hints import falling_root, log, log2
from exactdp.accounting.pld.ask.closed import ClosedCurve, closed_curve
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import Plan, for_epsilon
from exactdp.accounting.pld.ask.search import Bounded, refined, times_too_wide
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, precision
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided

#: No epsilon above this is returned; it is the upper end where a grid shows no smaller one.
_FAR = 1e300


@followed
def epsilon(order: Order, target: Fraction, width: Fraction) -> Enclosure:
    """An enclosure of the smallest epsilon >= 0 with delta(epsilon) <= target, of this width."""
    closed = closed_curve(order)
    if closed is not None:
        return _closed_epsilon(order, closed, target, width)
    plan = for_epsilon(order, log(target), float(width))

    def ask(curve: Bounded) -> Enclosure:
        return _roots(curve, ball(target), plan, float(width) / 2048)

    return refined(
        order,
        plan,
        ask,
        lambda interval: times_too_wide(interval.width, width),
        lambda interval: interval.upper,
    )


def _roots(curve: Bounded, target: arb, plan: Plan, slack: float) -> Enclosure:
    """Two points around the smallest epsilon at which delta is at most the target."""
    unit = 1 / plan.theta

    def root(bound: Callable[[arb], arb], start: float) -> float:
        return falling_root(lambda x: log2(bound(arb(plan.place + unit * x)) / target), start)

    if curve.infinite_low > target:
        raise _out_of_reach(target)
    # near place, delta falls by a factor e for each unit
    place = root(curve.above, plan.log_delta - log2(target) * math.log(2))
    high = min(max(plan.place + unit * place + slack, 0.0), _FAR)
    while high < _FAR and not curve.above(arb(high)) <= target:
        slack *= 2
        high += slack
    low = min(
        plan.place + unit * root(curve.below, place if math.isfinite(place) else 0.0) - slack, _FAR
    )
    while low > 0 and not curve.below(arb(low)) > target:
        slack *= 2
        low -= slack
    return Enclosure(Fraction(max(low, 0.0)), Fraction(high))


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
        roots = _roots(curve, ball(target), plan, float(width) / 2048)
        return roots.lower, roots.upper
    return None


def _verdict(curve: ClosedCurve, epsilon: Fraction, target: Fraction) -> Verdict:
    return decide(lambda: curve.delta(epsilon), target, tight=True).verdict


def _out_of_reach(target: arb | Fraction) -> InvalidParameter:
    return InvalidParameter("delta", float(target), "above the delta that is left at any epsilon")
