"""Curves of compositions, on grids made as fine as an answer needs."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction
from typing import Generic, TypeVar

from flint import arb

from exactdp.accounting.pld.ask.closed import closed_curve
from exactdp.accounting.pld.ask.grids import (
    FLOOR_BITS,
    Plan,
    for_delta,
)
from exactdp.accounting.pld.ask.question import HOPELESS, Bounded, GridQuestion
from exactdp.accounting.pld.compose.balls import MOST_BALLS, Balls
from exactdp.accounting.pld.compose.doubles import Doubles
from exactdp.accounting.pld.compose.engine import BITS, Composition, Copies, compose
from exactdp.accounting.pld.compose.transform import MOST_POINTS
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import TooCoarse, TooLong, Undecided

_ATTEMPTS = 12

#: If rounding makes an answer too wide, the tilt is divided by this number, once.
_GENTLER = 16.0

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Results by key, least recently used first.

    limit: in bytes. size: the bytes of one result. A result above the limit is not kept.
    """

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._limit, self._size = limit, size
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """The bytes of all results that are kept."""
        return self._bytes

    def get(self, key: Hashable) -> T | None:
        """The result of this key, if the cache holds it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, result: T) -> T:
        """Keep the result of this key, and return it."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = result
                self._bytes += self._size(result)
            while self._bytes > self._limit:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= self._size(oldest)
        return result


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


def refined(question: GridQuestion, order: Order, plan: Plan) -> Enclosure:
    """An answer that is narrow enough, from the grid of a plan or a finer one."""
    before = Fraction(2) ** 1100  # wider than any answer
    gentler, stalled = False, 0
    for _ in range(_ATTEMPTS):
        try:
            composition = composed(order, plan)
        except TooLong:
            break
        with precision(BITS):
            answer = question.read(composition)
            if (wide := question.excess(answer)) <= 1:
                return answer
            if composition.is_rounded(ball(question.place(answer))):
                if gentler:
                    break
                plan, gentler = replace(plan, theta=plan.theta / _GENTLER), True
                continue
        # point masses may lie nearer to the nodes of a coarser grid than to those of a finer one
        plan = plan.finer(_finer(wide) if 10 * answer.width < 7 * before else 4)
        stalled = stalled + 1 if 10 * answer.width > 9 * before else 0
        if stalled == 2:
            break
        before = answer.width
    return _in_balls(question, order, plan)


def _finer(wide: float) -> float:
    """By how much to divide the step of a grid whose answer is `wide` times too wide.

    The width falls with the square of the step.
    """
    return min(max(1.05 * math.sqrt(wide), 1.25), 8) if wide < HOPELESS else 2


def _in_balls(question: GridQuestion, order: Order, plan: Plan) -> Enclosure:
    """An answer in balls, without a tilt, on grids that are coarser at first: balls take longer."""
    plan = replace(plan, step=8 * plan.step)
    for _ in range(_ATTEMPTS):
        _check_points(plan.points[1], MOST_BALLS)
        try:
            copies = measures(order, plan.step, plan.tail_bits)
        except TooCoarse:
            plan = plan.finer(4)
            continue
        with precision(BITS):
            answer = question.read(compose(copies, 0.0, Balls(plan.tail_bits)))
        if question.excess(answer) <= 1:
            return answer
        if answer.lower == 0 and plan.tail_bits < FLOOR_BITS:
            # where no tilt is good the guess may be far above delta
            plan = replace(plan, tail_bits=FLOOR_BITS + 64)
        else:
            plan = plan.finer(2)
    raise Undecided(f"not settled on a grid of step {float(plan.step)}")


def curve_near(
    order: Order, place: float, relative_width: float, epsilon_width: float = 0.0
) -> Bounded:
    """A curve that is accurate for epsilon near place, for many questions.

    relative_width: of delta. epsilon_width: where delta falls so steeply that its bounds are at
    most so far apart in epsilon, they are near enough.
    """
    closed = closed_curve(order)
    if closed is not None:
        return closed
    plan, width = for_delta(order, place, relative_width, epsilon_width), math.inf
    relative_width = max(relative_width, epsilon_width * plan.theta)
    curve: Bounded | None = None
    for _ in range(_ATTEMPTS):
        try:
            finer = composed(order, plan)
        except Undecided:  # no finer grid fits
            if curve is None:
                raise
            return curve
        with precision(BITS):
            low, high = finer.below(arb(place)), finer.above(arb(place))
            before, width = width, float((high - low) / low) if low > 0 else math.inf
        if curve is not None and width > 0.9 * before:
            return curve  # rounding, not the grid, decides
        curve = finer
        if width <= relative_width or high < arb(2) ** -FLOOR_BITS:
            break
        plan = plan.finer(2)
    assert curve is not None
    return curve
