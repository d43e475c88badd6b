"""Extremes over the whole privacy curve: the trade-off function and Gaussian DP.

Both are maxima over epsilon of a function that rises with one end of an interval and falls with
the other. So an interval has an upper bound from its two ends, and a point a lower bound. The
interval with the largest bound is halved until both bounds agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush

from flint import arb

from exactdp.accounting.certify.hints import log
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import for_epsilon
from exactdp.accounting.pld.ask.question import Bounded
from exactdp.accounting.pld.ask.search import curve_near
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.grid.scaled import above
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.normal import cdf, hockey_stick

_INTERVALS = 4000

#: The first stage encloses mu to the width _COARSE; each next stage is narrower by _FINER.
_COARSE, _FINER = Fraction(1, 200), 20

_Interval = tuple[float, float]

#: Number of parts of the range of epsilon; each part has a composition with a tilt of its own.
_PLACES = 12


class _Curve:
    """Bounds of delta(epsilon) over all orders, from one composition for each part of the span."""

    def __init__(
        self,
        orders: list[Order],
        start: float,
        last: float,
        relative_width: float,
        log_least: float,
        mu_width: float = 0.0,
    ) -> None:
        """start: the smallest epsilon. log_least: ln of a delta; smaller ones may be less accurate.

        mu_width: an error of delta is small enough if it changes the Gaussian mu by at most this.
        """
        self.start, self.part, self.relative_width = start, last / _PLACES, relative_width
        self.mu_width = mu_width
        self._curves: dict[tuple[Order, float], Bounded] = {}
        self.reaches = {
            order: for_epsilon(order, log_least, relative_width).place for order in orders
        }

    def below(self, epsilon: float) -> arb:
        return _most([curve.below(arb(epsilon)) for curve in self._near(epsilon)])

    def above(self, epsilon: float) -> arb:
        return _most([curve.above(arb(epsilon)) for curve in self._near(epsilon)])

    def _near(self, epsilon: float) -> list[Bounded]:
        # at most epsilon: the relative error of a tilted sum falls above its place, and grows below
        place = self.start + math.floor((epsilon - self.start) / self.part) * self.part
        return [self._at(order, min(place, reach)) for order, reach in self.reaches.items()]

    def _at(self, order: Order, place: float) -> Bounded:
        if (order, place) not in self._curves:
            # at the same delta, d epsilon/d mu = epsilon/mu + mu/2 >= sqrt(2 epsilon)
            width = self.mu_width * math.sqrt(2 * place)
            self._curves[order, place] = curve_near(order, place, self.relative_width, width)
        return self._curves[order, place]


@followed
def gaussian_mu(orders: list[Order], target: Fraction, last: float, width: Fraction) -> Enclosure:
    """The smallest mu whose Gaussian epsilon is at least the orders', at all deltas >= target.

    last: at this epsilon > 0, delta is at most the target.

    Curves are continuous. So the Gaussian curve has to be above the curves of all orders at the
    epsilons from 0 to the one where their delta is the target.
    """
    whole: Sequence[_Interval] = [(0.0, last)]
    stage = _COARSE
    # a finer curve is needed only where the maximum may be; the last stage is finer by 2 or more
    while stage >= 2 * width:
        _, whole = _maximum(*_mu_bounds(orders, whole, target, last, stage), whole, arb(0), stage)
        stage /= _FINER
    mu, _ = _maximum(*_mu_bounds(orders, whole, target, last, width), whole, arb(0), width)
    return mu


def _mu_bounds(
    orders: list[Order],
    intervals: Sequence[_Interval],
    target: Fraction,
    last: float,
    width: Fraction,
) -> tuple[Callable[[float], arb], Callable[[float, float], arb]]:
    """Two functions: a lower bound of mu at one epsilon, an upper bound of mu on an interval.

    The first is 0 where delta may be at most the target, the second where delta is.
    """
    start = min((low for low, _ in intervals), default=0.0)
    slack = float(width) / 10
    curve = _Curve(orders, start, last, min(1e-3, slack), log(target), slack)
    least_delta = ball(target)

    def inside(epsilon: float) -> arb:
        delta = curve.below(epsilon)
        return _mu(epsilon, delta).lower() if delta >= least_delta else arb(0)

    def over(low: float, high: float) -> arb:
        at_low, at_high = curve.above(low), curve.above(high)
        if at_low <= least_delta:
            return arb(0)
        # delta falls, and the Gaussian curve at the larger epsilon is at least delta at the smaller
        enough = _mu(high, at_low).upper()
        least = _mu(low, at_low).lower().max(_mu(high, at_high).lower())
        while enough - least > ball(width) / 8:
            middle = ((enough + least) / 2).mid()
            if _is_over_chord(middle, low, high, at_low, at_high):
                enough = middle
            else:
                least = middle
        return enough

    return inside, over


def _is_over_chord(mu: arb, low: float, high: float, at_low: arb, at_high: arb) -> bool:
    """Whether a Gaussian curve is above the chord between two points.

    In x = e^epsilon both curves are convex: delta is below its chord, and the Gaussian curve is
    above its tangent at the middle. Both lines are compared at their ends.
    """
    ends = arb(low).exp(), arb(high).exp()
    x = (ends[0] + ends[1]) / 2
    loss = x.log()
    value, slope = hockey_stick(loss, mu), -cdf(-mu / 2 - loss / mu)
    at_ends = (value + slope * (end - x) for end in ends)
    return all(line > delta for line, delta in zip(at_ends, (at_low, at_high), strict=True))


@followed
def type_two_error(orders: list[Order], alpha: Fraction, last: float, width: Fraction) -> Enclosure:
    """The least type II error of a test of level alpha between neighbours."""
    # delta enters the type II error with a factor of at most 1, and so does its error
    slack = min(1e-3, float(width) / 2)
    curve, level = _Curve(orders, 0.0, last, slack, math.log(slack / 4)), ball(alpha)

    def error(loss: arb, delta: arb) -> arb:
        rest = 1 - delta
        return (rest - loss.exp() * level).max((-loss).exp() * (rest - level)).max(arb(0))

    def inside(epsilon: float) -> arb:
        return error(arb(epsilon), curve.above(epsilon)).lower()

    def over(low: float, high: float) -> arb:
        return error(arb(low), curve.below(high)).upper()

    beyond = ((1 - arb(last).exp() * level).max(arb(0))).max((-arb(last)).exp())
    least_error, _ = _maximum(inside, over, [(0.0, last)], beyond, width)
    return least_error


def _maximum(
    inside: Callable[[float], arb],
    over: Callable[[float, float], arb],
    intervals: Sequence[_Interval],
    beyond: arb,
    width: Fraction,
) -> tuple[Enclosure, list[_Interval]]:
    """The maximum over intervals and `beyond`, and the intervals that may contain it."""
    with precision(BITS):
        least = arb(0)
        for end in {end for interval in intervals for end in interval}:
            least = least.max(inside(end))
        queue = [(-above(over(*interval)), *interval) for interval in intervals]
        heapify(queue)
        for _ in range(_INTERVALS):
            bound, low, high = queue[0]
            most = arb(-bound).max(beyond.upper())
            if most - least <= ball(width):
                kept = [(low, high) for bound, low, high in queue if not arb(-bound) < least]
                return Enclosure(enclosure(least).lower, enclosure(most).upper), kept
            heappop(queue)
            middle = (low + high) / 2
            least = least.max(inside(middle))
            for a, b in ((low, middle), (middle, high)):
                heappush(queue, (-above(over(a, b)), a, b))
    raise Undecided(f"not settled with {_INTERVALS} intervals")


def _mu(epsilon: float, delta: arb) -> arb:
    """A ball around the mu at which the Gaussian curve passes through a point."""
    low, high = arb(0), arb(1)
    if not delta.is_finite():
        return delta
    if not delta > 0:
        return arb(0)
    loss = arb(epsilon)
    while hockey_stick(loss, high) < delta:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        value = hockey_stick(loss, middle)
        if value < delta.lower():
            low = middle
        elif value > delta.upper():
            high = middle
        else:
            break
    return low.union(high)


def _most(values: list[arb]) -> arb:
    """The largest value; not finite where one value is not."""
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest
