"""The grid, the cut of the tails and the tilt that a question needs.

Plans are guesses: a grid that is too coarse gives a wide answer, never a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from exactdp.accounting.pld.ask.saddle import Saddle, saddle
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.grid.lattice import power_of_two, quarters
from exactdp.accounting.pld.losses.base import LossLaw, Order
from exactdp.arrays import np
from exactdp.balls import precision
from exactdp.bisection import halved

#: On a grid, a delta below 2^-FLOOR_BITS (the least double is 2^-1074) only needs a small bound.
FLOOR_BITS = 1100

_LOG_2 = math.log(2)
_TAIL_BITS = 96

#: Targets whose natural logarithms lie between two multiples of _SHARED use the same plan.
_SHARED = 4.0

#: The tilt is at most _STEEPEST/width: across the width that a question wants, delta may fall by a
#: factor of e^_STEEPEST, and a steeper fall is treated like that one.
_STEEPEST = 8

#: Units below step/_FINE_UNITS are left out where some law has no unit.
_FINE_UNITS = 64

#: Largest number of candidates for the step where no step divides all units.
_TRIED = 4096

#: Cutting off the tails may change delta by a factor of 1 +- 2^-_SPARE_BITS, about.
_SPARE_BITS = 30

#: At the best tilt rounding is about 6e-13 of delta for each run, and e^x times that with a tilt
#: whose Chernoff bound is e^x times larger. This number keeps it near a 1000th of the width.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Plan:
    """How to compose for a question near one epsilon.

    place: that epsilon. log_delta: about the logarithm of delta there. theta: the tilt there, per
    unit of loss. step: of the grid. tail_bits: large losses are cut off beyond a mass of
    2^-tail_bits. deviations: about the standard deviations of the sum of all losses, with the tilt
    and without.
    """

    order: Order
    place: float
    log_delta: float
    theta: float
    step: Fraction
    tail_bits: int
    deviations: tuple[float, float]

    @property
    def rate(self) -> Fraction:
        """A power of two of at most theta, so that nearby questions share their measures."""
        return power_of_two(self.theta)

    @property
    def points(self) -> tuple[float, float]:
        """About the least number of nodes of the window, with the tilt and without."""
        tilted, untilted = self.deviations
        step = float(self.step)
        # masses below 2^-36 of the tilted sum may lie outside, below 2^-tail_bits without a tilt
        return 2 * _tail(36) * tilted / step, 2 * _tail(self.tail_bits) * untilted / step

    def finer(self, factor: float) -> Plan:
        """The same plan on a grid whose step is about `factor` times smaller."""
        known = _units(self.order, self.step)
        if not known:
            return replace(self, step=quarters(float(self.step) / factor))
        step = self.step / (2 if factor <= 2 else 4)
        if any((unit / self.step).denominator > 1 for unit, _ in known):
            # no step suits all laws: a finer one must suit them better
            step = _nearly(self.order, step)
        return replace(self, step=step)


def log_delta_guess(order: Order, loss: float) -> float:
    """About the natural logarithm of delta at a loss; nothing is certified."""
    return _saddle_near(order, loss).log_delta(loss)


def moment_guess(order: Order, loss: float) -> tuple[float, float]:
    """About log(alpha - 1) of the Renyi order alpha that bounds delta at a loss best, and the
    logarithm of that bound."""
    return _saddle_near(order, loss).moment_bound(loss)


def for_delta(
    order: Order,
    loss: float,
    relative_width: float,
    width: float = 0.0,
    negligible: float = -math.inf,
) -> Plan:
    """A plan to enclose delta at a loss to a relative width, or the loss of a delta to a width.

    negligible: a logarithm of delta below which delta only has to be shown to be small.
    """
    saddle_points = _saddle_near(order, loss)
    theta, log_delta = saddle_points.tilt(loss), saddle_points.log_delta(loss)
    if width:
        theta = min(theta, _STEEPEST / width)
        relative_width = max(relative_width, width * theta)
    # finite losses that are negligible beside the infinite ones
    beside = _log_infinite(order) + math.log(relative_width) - 5
    floor = max(-_LOG_2 * FLOOR_BITS - 20, beside, negligible)
    if log_delta < floor:  # delta only has to be shown to be small
        theta = _least_tilt(lambda x: saddle_points.exponent(x, loss) < floor, theta)
        log_delta, relative_width = floor, 1.0
    return _plan(order, loss, theta, log_delta, relative_width, saddle_points)


def for_epsilon(order: Order, log_target: float, width: float) -> Plan:
    """A plan to enclose, to this width, the epsilon at which ln delta is log_target.

    Nearby targets share the plan of the smallest of them, which has the finest grid.
    """
    return _for_epsilon(order, _SHARED * math.floor(log_target / _SHARED), width)


@lru_cache(maxsize=256)
def _for_epsilon(order: Order, log_target: float, width: float) -> Plan:
    saddle_points = saddle(
        order, lambda _, bits: log_target > -_LOG_2 * (bits - 32) + _log_count(order)
    )
    guess = max(saddle_points.epsilon(log_target), 0.0)
    # near a largest loss, where delta ends, theta would grow without bound
    theta = min(saddle_points.tilt(guess), _STEEPEST / width)
    return _plan(order, guess, theta, log_target, width * theta, saddle_points)


@lru_cache(maxsize=256)
def for_power(order: Order, log_alpha: float, relative_width: float) -> Plan:
    """A plan to enclose the power of a test to a relative width, for this and nearby levels."""
    saddle_points = saddle(
        order, lambda s, bits: s.log_delta(s.threshold(log_alpha)) > -_LOG_2 * (bits - 32)
    )
    place = saddle_points.threshold(log_alpha)
    # near a largest loss, where delta ends, theta would grow without bound
    theta = min(saddle_points.tilt(place), _STEEPEST / relative_width)
    log_delta = saddle_points.log_delta(place)
    # delta is about 1/(1 + theta) of the power
    return _plan(order, place, theta, log_delta, relative_width * (1 + theta), saddle_points)


def _log_infinite(order: Order) -> float:
    """About the logarithm of the mass at infinity."""
    mass = sum(times * float(_infinite(law)) for law, times in order)
    return math.log(min(mass, 1.0)) if mass else -math.inf


@lru_cache(maxsize=64)
def _infinite(law: LossLaw) -> float:
    with precision(BITS):
        return float(law.mass_at_infinity().mid())


def _saddle_near(order: Order, loss: float) -> Saddle:
    """Saddle points of losses that are followed further into the tail than delta at this loss."""
    return saddle(order, lambda s, bits: s.log_delta(loss) > -_LOG_2 * (bits - 32))


def _least_tilt(enough: Callable[[float], bool], most: float) -> float:
    top = math.log(most)
    return math.exp(halved(top - 40, top, lambda log: enough(math.exp(log)), times=20)[1])


def _plan(
    order: Order,
    place: float,
    theta: float,
    log_delta: float,
    relative: float,
    saddle_points: Saddle,
) -> Plan:
    """A plan whose answer has about the relative width `relative`.

    With n runs on a grid of step h, the relative width is about n h^2 theta (theta + 1)/4.
    """
    wished = math.sqrt(3 * relative) / math.sqrt(_count(order) * theta * (theta + 1))
    step = quarters(min(wished, 0.25))
    theta = min(theta, _gentle(saddle_points, place, theta, relative), key=saddle_points.deviation)
    if any(law.bounded_density for law, _ in order):
        # near the largest loss theta grows without bound, but no smaller step is needed
        step, theta = max(step, _scale(order) / 256), min(theta, 64 / float(_scale(order)))
    wanted = (_log_count(order) - log_delta) / _LOG_2 + _SPARE_BITS
    tail_bits = max(_TAIL_BITS, 32 * math.ceil(wanted / 32))
    step = _common(order, step)
    # the nodes of a lattice may be far apart: a larger tilt would see only one of them
    theta = min(theta, 64 / float(step))
    deviations = saddle_points.deviation(theta), saddle_points.deviation(0.0)
    return Plan(order, place, log_delta, theta, step, tail_bits, deviations)


def _gentle(saddle_points: Saddle, place: float, theta: float, relative: float) -> float:
    """The least tilt with which rounding stays negligible: a large tilt may need a long window."""
    runs = sum(times for _, _, times in saddle_points.parts)
    spare = math.log(relative) - math.log(runs * _ROUNDING)
    most = saddle_points.exponent(theta, place) + max(spare, 0.0)
    return _least_tilt(lambda x: saddle_points.exponent(x, place) <= most, theta)


def _tail(bits: int) -> float:
    """The standard deviations beyond which a normal law has a mass of about 2^-bits."""
    return math.sqrt(2 * _LOG_2 * bits)


def _common(order: Order, wished: Fraction) -> Fraction:
    """A step that divides the units of all laws, and is fine enough for laws without a unit."""
    known = [unit for unit, _ in _units(order, wished)]
    if not known:
        return wished
    denominator = math.lcm(*(unit.denominator for unit in known))
    unit = Fraction(math.gcd(*(int(unit * denominator) for unit in known)), denominator)
    dense = any(law.bounded_density for law, _ in order)
    if len(known) == len(order) and not dense:  # bounds meet, however long the step
        return unit if unit > wished / 4096 else _nearly(order, wished)
    if unit > wished:
        unit /= 2 ** max(0, math.ceil(math.log2(unit / wished)))
    return unit if unit > wished / 64 else _nearly(order, wished)


def _units(order: Order, step: Fraction) -> list[tuple[Fraction, int]]:
    """The units of laws, each with the number of runs of its law.

    Where a law has no unit, units that are much smaller than the step are left out.

    A loss u < h above a node adds u h to the variance, h being the step; plans expect h^2/4.
    """
    known = [(law.unit, n) for law, n in order if law.unit]
    if len(known) == len(order):
        return known
    return [(unit, n) for unit, n in known if _FINE_UNITS * unit > step]


def _nearly(order: Order, wished: Fraction) -> Fraction:
    """A step, at most the wished one, such that all units are slightly above multiples of it."""
    units = _units(order, wished)
    first, _ = max(units, key=lambda unit: unit[1])
    least = math.ceil(first / wished)
    counts = np.arange(least, least + min(7 * least, _TRIED) + 1)
    steps = float(first) / counts
    lost = sum(n * np.remainder(float(unit), steps * (1 - 1e-12)) for unit, n in units)
    return first / int(counts[int(np.argmin(lost))])


def _scale(order: Order) -> Fraction:
    widths = [_width(law) for law, _ in order]
    return power_of_two(min(width for width in widths if width))  # a flat law has no width


@lru_cache(maxsize=64)
def _width(law: LossLaw) -> float:
    with precision(BITS):
        return law.width()


def _count(order: Order) -> int:
    return sum(times for _, times in order)


def _log_count(order: Order) -> float:
    return math.log(_count(order))
