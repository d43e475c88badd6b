"""Delta and epsilon of one order of the neighbours, on a grid made as fine as the answer needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from flint import arb

from exactdp.accounting.certify.hints import falling_root, log2
from exactdp.accounting.pld.atoms import AtomicLoss, atomic_bounds
from exactdp.accounting.pld.composed import BITS, Composed, Copies, compose
from exactdp.accounting.pld.ended import ended_bounds
from exactdp.accounting.pld.guesses import Saddle
from exactdp.accounting.pld.laplace import EndedLoss
from exactdp.accounting.pld.laws import LossLaw
from exactdp.accounting.pld.measure import Measure, TooCoarse, bounds
from exactdp.balls import FLOOR_BITS, ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided

__all__ = ["Order", "ceiling", "composed_near", "delta", "epsilon", "log_delta_guess", "measures"]

#: The laws of the losses of all steps, each with how often it is run.
Order: TypeAlias = tuple[tuple[LossLaw | AtomicLoss | EndedLoss, int], ...]

_ATTEMPTS = 12
_TAIL_BITS = 96

#: Smaller deltas are only asked to be small.
_FLOOR = Fraction(1, 1 << FLOOR_BITS)


def delta(order: Order, loss: Fraction, relative_width: Fraction) -> Enclosure:
    """An enclosure of delta at loss >= 0, of this relative width."""
    _, saddle = _sketch(order)
    theta = saddle.tilt(float(loss))

    def ask(step: Fraction, tail_bits: int) -> Enclosure:
        found = compose(measures(order, step, tail_bits), theta * float(step))
        with precision(BITS):
            low, high = found.below(ball(loss)).max(arb(0)), found.above(ball(loss))
            return Enclosure(enclosure(low).lower, _upper(high)).clamped(0, 1)

    return _refined(
        order,
        ask,
        lambda found: found.upper <= max(found.lower * (1 + relative_width), _FLOOR),
        _first_step(order, float(relative_width), theta),
        _tail_bits(order, saddle.log_delta(float(loss))),
    )


def epsilon(order: Order, target: Fraction, width: Fraction) -> Enclosure:
    """An enclosure of the smallest epsilon >= 0 with delta(epsilon) <= target, of this width."""
    log_target = math.log(target.numerator) - math.log(target.denominator)
    _, saddle = _sketch(order)
    guess = max(saddle.epsilon(log_target), 0.0)
    theta = saddle.tilt(guess)
    if any(isinstance(law, EndedLoss) for law, _ in order):
        theta = min(theta, 64 / float(_scale(order)))  # beyond, one place alone is accurate

    def ask(step: Fraction, tail_bits: int) -> Enclosure:
        found = compose(measures(order, step, tail_bits), theta * float(step))
        with precision(BITS):
            return _roots(found, ball(target), guess, 1 / theta, float(width) / 1000)

    return _refined(
        order,
        ask,
        lambda found: found.width <= width,
        _first_step(order, float(width) * theta, theta),
        _tail_bits(order, log_target),
    )


def log_delta_guess(order: Order, loss: float) -> float:
    """About the natural logarithm of delta at loss >= 0; nothing is certified."""
    return _sketch(order)[1].log_delta(loss)


def ceiling(order: Order, loss: Fraction) -> Fraction:
    """A number that delta at loss >= 0 does not exceed, from a coarse grid."""
    made, saddle = _sketch(order)
    with precision(BITS):
        found = compose(made, saddle.tilt(float(loss)) * float(made[0][0].grid.step))
        most = found.above(ball(loss))
        # where the coarse grid does not tell, there is no ceiling but 1
        return _upper(most) if most.is_finite() else Fraction(1)


@lru_cache(maxsize=40)
def composed_near(order: Order, place: float) -> Composed:
    """A composition that is accurate for epsilon near place, to be asked often."""
    _, saddle = _sketch(order)
    theta = saddle.tilt(place)
    step = _first_step(order, 1e-3, theta)
    if any(isinstance(law, EndedLoss) for law, _ in order):
        # at the largest loss theta is for that place alone, and the gap not the smooth one
        theta = min(theta, 64 / float(_scale(order)))
        step = _common(order, min(step, _scale(order) / 256))
    tail_bits = _tail_bits(order, saddle.log_delta(place) - 20)
    for _ in range(_ATTEMPTS):
        try:
            return compose(measures(order, step, tail_bits), theta * float(step))
        except TooCoarse:
            step /= 4
    raise Undecided("no grid fits the losses")


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


def _upper(value: arb) -> Fraction:
    """A bound as a fraction; what is not finite is Undecided, never 0."""
    return Fraction(0) if value == 0 else enclosure(value).upper


def _roots(found: Composed, target: arb, guess: float, unit: float, slack: float) -> Enclosure:
    """Two points around the smallest epsilon at which delta is at most the target."""

    def root(bound: Callable[[arb], arb]) -> float:
        return falling_root(lambda x: log2(bound(arb(guess + unit * x)) / target), 0.0)

    if found.infinite_low > target:
        raise InvalidParameter(
            "delta", float(target), "above the delta that is left at any epsilon"
        )
    high = max(guess + unit * root(found.above) + slack, 0.0)
    while not found.above(arb(high)) <= target:
        slack *= 2
        high += slack
        if not math.isfinite(high):
            raise Undecided("no epsilon was found for this delta")
    low = guess + unit * root(found.below) - slack
    while low > 0 and not found.below(arb(low)) > target:
        slack *= 2
        low -= slack
    return Enclosure(Fraction(max(low, 0.0)), Fraction(high))


@lru_cache(maxsize=16)
def _sketch(order: Order) -> tuple[list[Copies], Saddle]:
    """Measures on a coarse grid, and what is to be expected from them."""
    step = _common(order, _scale(order) / 8)
    for _ in range(_ATTEMPTS):
        try:
            made = measures(order, step, _TAIL_BITS)
            return made, Saddle.of([(high, times) for _, high, times in made])
        except TooCoarse:
            step /= 4
    raise Undecided("no grid fits the losses")


def measures(order: Order, step: Fraction, tail_bits: int) -> list[Copies]:
    """Of every law the two measures on a grid of this step, and how often it is run."""
    return [(*_bounds(law, step, tail_bits), times) for law, times in order]


@lru_cache(maxsize=64)
def _bounds(
    law: LossLaw | AtomicLoss | EndedLoss, step: Fraction, tail_bits: int
) -> tuple[Measure, Measure]:
    if isinstance(law, EndedLoss):
        return ended_bounds(law, step)
    if isinstance(law, AtomicLoss):
        with precision(BITS):
            return atomic_bounds(law, step, tail_bits)
    return bounds(law, step, tail_bits)


def _first_step(order: Order, relative: float, theta: float) -> Fraction:
    """The step at which the relative width is about this: it is n h^2 theta (theta + 1)/4."""
    count = sum(times for _, times in order)
    wished = math.sqrt(3 * relative / (count * theta * (theta + 1)))
    step, scale = _power_of_two(wished), _scale(order)
    if any(isinstance(law, EndedLoss) for law, _ in order):
        # near the largest loss theta grows without end, but no such step is needed there
        step = max(step, scale / 256)
    return _common(order, min(step, scale / 4))


def _common(order: Order, wished: Fraction) -> Fraction:
    """A step that suits all losses on lattices, if there is one, and is fine enough for others."""
    units = [law.lattice for law, _ in order if isinstance(law, AtomicLoss)]
    coarse = len([unit for unit in units if unit is not None]) == len(order)
    units += [law.unit for law, _ in order if isinstance(law, EndedLoss)]
    known = [unit for unit in units if unit is not None]
    if not known:
        return wished
    denominator = math.lcm(*(unit.denominator for unit in known))
    unit = Fraction(math.gcd(*(int(unit * denominator) for unit in known)), denominator)
    if coarse:  # no gap, however long the step
        return unit if unit > wished / 4096 else wished
    while unit > wished:
        unit /= 2
    return unit if unit > wished / 64 else wished


def _scale(order: Order) -> Fraction:
    with precision(BITS):
        return _power_of_two(min(_width(law) for law, _ in order))


def _width(law: LossLaw | AtomicLoss | EndedLoss) -> float:
    """About how wide a law is, or its largest loss where it has atoms."""
    if not isinstance(law, AtomicLoss):
        return float(law.scale().mid())
    losses = [x for x, _, _ in law.outcomes(_TAIL_BITS) if not isinstance(x, float)]
    return max((float(x if isinstance(x, Fraction) else x.mid()) for x in losses), default=1.0)


def _power_of_two(value: float) -> Fraction:
    if not 0 < value < math.inf:
        raise Undecided("the losses are too small or too large for a grid")
    return Fraction(2) ** math.floor(math.log2(value))


def _tail_bits(order: Order, log_delta: float) -> int:
    """Where to cut: what lies beyond all steps' ends is far below delta."""
    count = sum(times for _, times in order)
    wanted = math.log2(count) - log_delta / math.log(2) + 30
    bits = _TAIL_BITS
    while bits < wanted:
        bits *= 2
    return bits
