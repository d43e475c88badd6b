"""Curves of compositions, on grids made as fine as an answer needs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from exactdp.accounting.pld.ask.grids import (
    FLOOR_BITS,
    Plan,
)
from exactdp.accounting.pld.ask.question import HOPELESS, GridQuestion, Reading
from exactdp.accounting.pld.compose.doubles import Doubles
from exactdp.accounting.pld.compose.engine import BITS, Composition, Copies, compose
from exactdp.accounting.pld.compose.transform import MOST_POINTS
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.balls import ball, precision
from exactdp.caches import BoundedCache
from exactdp.errors import TooCoarse, TooLong, Undecided

_ATTEMPTS = 12

#: If rounding makes an answer too wide, the tilt is divided by this number, once.
_GENTLER = 16.0

_BYTES = 1 << 26
_MEASURES = BoundedCache[Bounds](_BYTES, lambda pair: pair[0].nbytes + pair[1].nbytes)
_COMPOSITIONS = BoundedCache[Composition](_BYTES, lambda composition: composition.nbytes)


def cached_bytes() -> int:
    """The bytes of all measures and compositions that are kept for further questions."""
    return _MEASURES.nbytes + _COMPOSITIONS.nbytes


def measures(
    order: Order, step: Fraction, tail_bits: int, rate: Fraction = Fraction(0)
) -> list[Copies]:
    """Both measures of every law on a grid, and the number of runs; see `LossLaw.bounds`."""

    return [(*_bounds(law, step, tail_bits, rate), times) for law, times in order]


def _bounds(law: LossLaw, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
    key = law, step, tail_bits, rate
    return _MEASURES.get(key) or _MEASURES.keep(key, law.bounds(step, tail_bits, rate))


def composed(order: Order, plan: Plan) -> Composition:
    """The composition in doubles, on a finer grid than planned where the laws need that."""
    for _ in range(_ATTEMPTS):
        try:
            key = order, plan.step, plan.tail_bits, plan.theta
            return _COMPOSITIONS.get(key) or _COMPOSITIONS.keep(key, _composed(order, plan))
        except TooCoarse:
            plan = plan.finer(4)
    raise Undecided("no grid fits the losses")


def _composed(order: Order, plan: Plan) -> Composition:
    _check_points(plan.points[0], MOST_POINTS)
    copies = measures(order, plan.step, plan.tail_bits, plan.rate)
    return compose(copies, plan.theta * float(plan.step), Doubles())


def _check_points(estimate: float, most: int) -> None:
    """Raise TooLong, before any work, if an estimate (within a factor of 4) exceeds the most."""
    if estimate > 4 * most:
        raise TooLong(most)


def refined(question: GridQuestion, order: Order, plan: Plan) -> Reading:
    """An answer that is narrow enough, from the grid of a plan or a finer one."""
    before = Fraction(2) ** 1100  # wider than any answer
    gentler, stalled = False, 0
    for _ in range(_ATTEMPTS):
        try:
            composition = composed(order, plan)
        except TooLong:
            break
        with precision(BITS):
            reading = question.read(composition)
            if (wide := question.excess(reading.answer)) <= 1:
                return reading
            if composition.is_rounded(ball(reading.place)):
                if gentler:
                    break
                plan, gentler = replace(plan, theta=plan.theta / _GENTLER), True
                continue
        # point masses may lie nearer to the nodes of a coarser grid than to those of a finer one
        width = reading.answer.width
        plan = plan.finer(_finer(wide) if 10 * width < 7 * before else 4)
        stalled = stalled + 1 if 10 * width > 9 * before else 0
        if stalled == 2:
            break
        before = width
    return _in_balls(question, order, plan)


def _finer(wide: float) -> float:
    """By how much to divide the step of a grid whose answer is `wide` times too wide.

    The width falls with the square of the step.
    """
    return min(max(1.05 * math.sqrt(wide), 1.25), 8) if wide < HOPELESS else 2


def _in_balls(question: GridQuestion, order: Order, plan: Plan) -> Reading:
    """An answer in balls, without a tilt, on grids that are coarser at first: balls take longer."""
    from exactdp.accounting.pld.compose.balls import MOST_BALLS

    plan = replace(plan, step=8 * plan.step)
    for _ in range(_ATTEMPTS):
        _check_points(plan.points[1], MOST_BALLS)
        try:
            composition = _composed_in_balls(order, plan)
        except TooCoarse:
            plan = plan.finer(4)
            continue
        with precision(BITS):
            reading = question.read(composition)
        if question.excess(reading.answer) <= 1:
            return reading
        if reading.answer.lower == 0 and plan.tail_bits < FLOOR_BITS:
            # where no tilt is good the guess may be far above delta
            plan = replace(plan, tail_bits=FLOOR_BITS + 64)
        else:
            plan = plan.finer(2)
    raise Undecided(f"not settled on a grid of step {float(plan.step)}")


def _composed_in_balls(order: Order, plan: Plan) -> Composition:
    from exactdp.accounting.pld.compose.balls import Balls

    key = order, plan.step, plan.tail_bits
    if (composition := _COMPOSITIONS.get(key)) is None:
        copies = measures(order, plan.step, plan.tail_bits)
        with precision(BITS):
            composition = compose(copies, 0.0, Balls(plan.tail_bits))
        _COMPOSITIONS.keep(key, composition)
    return composition
