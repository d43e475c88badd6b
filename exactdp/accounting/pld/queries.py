"""Delta and epsilon of one order of the neighbours, on a grid made as fine as the answer needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from flint import arb

from exactdp.accounting.certify.hints import log2, secant
from exactdp.accounting.pld.composed import BITS, Composed, Copies, compose
from exactdp.accounting.pld.guesses import Saddle
from exactdp.accounting.pld.laws import LossLaw
from exactdp.accounting.pld.measure import Measure, TooCoarse, bounds
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

__all__ = ["Order", "delta", "epsilon"]

#: The laws of the losses of all steps, each with how often it is run.
Order: TypeAlias = tuple[tuple[LossLaw, int], ...]

_ATTEMPTS = 12
_TAIL_BITS = 96


def delta(order: Order, loss: Fraction, relative_width: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0, of this relative width."""
    saddle = _sketch(order)
    theta = saddle.tilt(float(loss))

    def ask(step: Fraction, tail_bits: int) -> Enclosure:
        found = compose(_measures(order, step, tail_bits), theta * float(step))
        with precision(BITS):
            low, high = found.below(ball(loss)), found.above(ball(loss))
            return Enclosure(enclosure(low.max(arb(0))).lower, enclosure(high).upper).clamped(0, 1)

    return _refined(
        order,
        ask,
        lambda found: found.upper <= found.lower * (1 + relative_width),
        _first_step(order, float(relative_width), theta),
        _tail_bits(order, saddle.log_delta(float(loss))),
    )


def epsilon(order: Order, target: Fraction, width: Fraction) -> Enclosure:
    """An enclosure of the smallest epsilon >= 0 with delta(epsilon) <= target, of this width."""
    log_target = math.log(target.numerator) - math.log(target.denominator)
    saddle = _sketch(order)
    guess = max(saddle.epsilon(log_target), 0.0)
    theta = saddle.tilt(guess)

    def ask(step: Fraction, tail_bits: int) -> Enclosure:
        found = compose(_measures(order, step, tail_bits), theta * float(step))
        with precision(BITS):
            return _roots(found, ball(target), guess, float(width) / 1000)

    return _refined(
        order,
        ask,
        lambda found: found.width <= width,
        _first_step(order, float(width) * theta, theta),
        _tail_bits(order, log_target),
    )


def _refined(
    order: Order,
    ask: Callable[[Fraction, int], Enclosure],
    fits: Callable[[Enclosure], bool],
    step: Fraction,
    tail_bits: int,
) -> Enclosure:
    for _ in range(_ATTEMPTS):
        try:
            found = ask(step, tail_bits)
        except TooCoarse:
            step /= 4
            continue
        if fits(found):
            return found
        step /= 2
    raise Undecided(f"not settled on a grid of step {float(step)}")


def _roots(found: Composed, target: arb, guess: float, slack: float) -> Enclosure:
    """Two points around the smallest epsilon at which delta is at most the target."""

    def root(bound: Callable[[arb], arb]) -> float:
        def over(x: float) -> float:
            return log2(bound(arb(x)) / target)

        return secant(over, guess, guess + slack)

    high = max(root(found.above) + slack, 0.0)
    while not found.above(arb(high)) <= target:
        slack *= 2
        high += slack
        if not math.isfinite(high) or slack > 1e9:
            raise Undecided("no epsilon was found for this delta")
    low = root(found.below) - slack
    while low > 0 and not found.below(arb(low)) > target:
        slack *= 2
        low -= slack
    return Enclosure(Fraction(max(low, 0.0)), Fraction(high))


@lru_cache(maxsize=16)
def _sketch(order: Order) -> Saddle:
    """The saddle point, from a coarse grid."""
    step = _scale(order) / 8
    for _ in range(_ATTEMPTS):
        try:
            made = _measures(order, step, _TAIL_BITS)
            return Saddle.of([(high, times) for _, high, times in made])
        except TooCoarse:
            step /= 4
    raise Undecided("no grid fits the losses")


def _measures(order: Order, step: Fraction, tail_bits: int) -> list[Copies]:
    return [(*_bounds(law, step, tail_bits), times) for law, times in order]


@lru_cache(maxsize=32)
def _bounds(law: LossLaw, step: Fraction, tail_bits: int) -> tuple[Measure, Measure]:
    return bounds(law, step, tail_bits)


def _first_step(order: Order, relative: float, theta: float) -> Fraction:
    """The step at which the relative width is about this: it is n h^2 theta (theta + 1)/4."""
    count = sum(times for _, times in order)
    wished = math.sqrt(3 * relative / (count * theta * (theta + 1)))
    return min(_power_of_two(wished), _scale(order) / 4)


def _scale(order: Order) -> Fraction:
    with precision(BITS):
        return _power_of_two(min(float(law.scale().mid()) for law, _ in order))


def _power_of_two(value: float) -> Fraction:
    return Fraction(2) ** math.floor(math.log2(value))


def _tail_bits(order: Order, log_delta: float) -> int:
    """Where to cut: what lies beyond all steps' ends is far below delta."""
    count = sum(times for _, times in order)
    wanted = math.log2(count) - log_delta / math.log(2) + 30
    bits = _TAIL_BITS
    while bits < wanted:
        bits *= 2
    return bits
