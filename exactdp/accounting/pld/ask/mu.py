"""Gaussian differential privacy: the smallest mu whose Gaussian mechanism leaks as much or more.

mu holds down to a least delta, which the curve reaches at the epsilon `last`: the Gaussian curve
has to be above delta at every epsilon from 0 to `last`. A point below delta is a lower bound of mu.
That a mu is enough is shown interval by interval: in x = e^epsilon both curves are convex, so delta
is below its chord, and the Gaussian curve is above its tangent at the middle. An interval where
this is not shown is halved, or its curve is computed on a finer grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from exactdp.accounting.pld.ask.closed import GaussianCurve, closed_curve, ends
from exactdp.accounting.pld.ask.delta import Delta
from exactdp.accounting.pld.ask.epsilon import Epsilon
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import for_delta
from exactdp.accounting.pld.ask.question import Bounded, Question
from exactdp.accounting.pld.ask.search import refined
from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.losses.base import Order
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.normal import cdf, hockey_stick, pdf

_INTERVALS = 4000

#: Number of times that the search for one mu halves a factor of 2.
_HALVINGS = 50

#: The upper bound is at least this part of the wanted width above the lower one.
_SHARES = 2

#: Number of intervals at the start, and of places of a grid of their own.
_PARTS, _PLACES = 16, 8

#: The relative widths of delta: of the first grid, and of finer grids as parts of the error of
#: delta that changes mu by the wanted width.
_COARSE, _FINE = Fraction(1, 100), (Fraction(1, 4), Fraction(1, 16), Fraction(1, 64))


@dataclass(frozen=True)
class GaussianMu(Question):
    """The smallest mu whose Gaussian epsilon is at least the orders' at all deltas >= least_delta.

    last: encloses the epsilon > 0 at which delta is least_delta. last_width: that `last` was
    enclosed to. relative_width: of mu.
    """

    least_delta: Fraction
    last: Enclosure
    last_width: Fraction
    relative_width: Fraction

    @followed
    def largest(self, orders: Sequence[Order]) -> Enclosure:
        """The mu that is enough for all orders."""
        curves = [closed_curve(order) for order in orders]
        if all(isinstance(curve, GaussianCurve) for curve in curves):
            squares = [curve.square for curve in curves if isinstance(curve, GaussianCurve)]
            with precision(BITS):
                return enclosure(ball(max(squares)).sqrt())
        with precision(BITS):
            cover = _Cover(self)
            for order in sorted(orders, key=self.guess, reverse=True):
                cover.add(order)
            return Enclosure(enclosure(cover.least).lower, enclosure(cover.most).upper)

    @followed
    def guess(self, order: Order) -> float:
        """About the logarithm of delta at half of the last epsilon."""
        return Delta(self.last.upper / 2, Fraction(1)).guess(order)

    def answer(self, order: Order) -> Enclosure:
        """The mu that is enough for one order."""
        return self.largest([order])

    def may_exceed(self, order: Order, answer: Enclosure) -> bool:
        """No quick look tells whether an order needs a larger mu."""
        return True


def last_width(last: Enclosure, least_delta: Fraction, relative_width: Fraction) -> Fraction:
    """The width of the last epsilon that leaves mu an eighth of its relative width, about.

    At one delta, d epsilon/d mu = epsilon/mu + mu/2 or more.
    """
    with precision(BITS):
        mu = mu_of((ball(last.upper), ball(least_delta)))
        return Fraction(float(mu * mu / 2 + ball(last.upper))) * relative_width / 8


#: A point (epsilon, delta).
Point = tuple[arb, arb]


class _Cover:
    """Bounds of mu, for the orders that have been added."""

    def __init__(self, question: GaussianMu) -> None:
        self._question, self._end = question, question.last.float_upper()
        self._target, slack = ball(question.least_delta), question.relative_width / _SHARES
        self._raised, self._spare = ball(1 + slack), ball(1 - slack / 4)
        self.least = arb(0)
        if question.last.lower:
            self.least = mu_of((ball(question.last.lower), self._target)).lower()
        last = mu_of((ball(question.last.upper), self._target))
        self.most = (last * self._raised).upper()

    def add(self, order: Order) -> None:
        """Raise both bounds as this order needs. Raises Undecided."""
        curves = _Curves(order, self._question)
        places = [self._end * i / _PARTS for i in range(_PARTS)] + [self._end]
        queue = [(*pair, 0) for pair in pairwise(places)]
        for _ in range(_INTERVALS):
            if not queue:
                return
            low, high, level = queue.pop()
            curve = curves.near((low + high) / 2, level, self.least)
            left, right = self._above(curve, low), self._above(curve, high)
            if left[1] <= self._target or _is_over_chord(self.most, left, right):
                continue
            self._learn(curve, low)
            self._learn(curve, high)
            if _is_over_chord(self.most * self._spare, left, left) and _is_over_chord(
                self.most * self._spare, right, right
            ):
                middle = (low + high) / 2
                queue += [(low, middle, level), (middle, high, level)]
            elif level < len(_FINE):
                queue.append((low, high, level + 1))
            else:
                break
        raise Undecided("no grid encloses mu to this width")

    def _above(self, curve: _Points, epsilon: float) -> Point:
        """A point that is not below the curve; beyond the last epsilon delta may be the target."""
        delta = curve.above(epsilon)
        return arb(epsilon), delta.min(self._target) if epsilon == self._end else delta

    def _learn(self, curve: _Points, epsilon: float) -> None:
        """Raise the bounds, if a point of the curve needs a larger mu."""
        delta = curve.below(epsilon)
        if delta >= self._target and not hockey_stick(arb(epsilon), self.least) >= delta:
            self.least = self.least.max(mu_of((arb(epsilon), delta)).lower())
            self.most = self.most.max((self.least * self._raised).upper())


class _Points:
    """Points of a curve, each computed once."""

    def __init__(self, curve: Bounded) -> None:
        self._curve = curve
        self._above: dict[float, arb] = {}
        self._below: dict[float, arb] = {}

    def above(self, epsilon: float) -> arb:
        """An upper bound of delta(epsilon)."""
        if epsilon not in self._above:
            self._above[epsilon] = self._curve.above(arb(epsilon))
        return self._above[epsilon]

    def below(self, epsilon: float) -> arb:
        """A lower bound of delta(epsilon)."""
        if epsilon not in self._below:
            self._below[epsilon] = self._curve.below(arb(epsilon))
        return self._below[epsilon]


class _Curves:
    """The curve of one order, on a coarse grid and on finer grids near some places."""

    def __init__(self, order: Order, question: GaussianMu) -> None:
        self._order, self._question = order, question
        closed = closed_curve(order)
        self._closed = _Points(closed) if closed else None
        limits = ends(order)
        reach = question.last.float_upper()
        if limits.largest is not None and not limits.mass.upper:
            reach = min(reach, limits.largest.float_lower())
        self._reach = max(reach, 0.0)
        self._kept: dict[tuple[int, int], _Points] = {}

    def near(self, epsilon: float, level: int, mu: arb) -> _Points:
        """A curve near epsilon; mu: a lower bound of the answer."""
        if self._closed is not None:
            return self._closed
        part = math.floor(_PLACES * min(epsilon / self._reach, 0.99)) if level else _PLACES // 2
        if (part, level) not in self._kept:
            self._kept[part, level] = _Points(self._grid(part, level, mu))
        return self._kept[part, level]

    def _grid(self, part: int, level: int, mu: arb) -> Bounded:
        question = self._question
        if level == 1 and part == _PLACES - 1:  # the curve that has enclosed the last epsilon
            end = Epsilon(question.least_delta, question.last_width)
            return end.reading(self._order).curve
        place, width = Fraction(self._reach * part / _PLACES), _COARSE
        if level:
            loss = ball(place)
            slope = mu * pdf(mu / 2 - loss / mu) / hockey_stick(loss, mu)
            wanted = Fraction(float(slope)) * question.relative_width * _FINE[level - 1]
            width = min(width, wanted)
        plan = for_delta(self._order, float(place), float(width))
        return refined(Delta(place, width), self._order, plan).curve


def _is_over_chord(mu: arb, left: Point, right: Point) -> bool:
    """Whether a Gaussian curve is above the chord between two points.

    In x = e^epsilon both curves are convex: delta is below its chord, and the Gaussian curve is
    above its tangent at the middle. Both lines are compared at their ends.
    """
    ends = left[0].exp(), right[0].exp()
    x = (ends[0] + ends[1]) / 2
    loss = x.log()
    value, slope = hockey_stick(loss, mu), -cdf(-mu / 2 - loss / mu)
    deltas = left[1], right[1]
    return all(value + slope * (x_end - x) >= y for x_end, y in zip(ends, deltas, strict=True))


def mu_of(point: Point) -> arb:
    """A ball around the mu whose Gaussian curve passes through a point; 0 for delta = 0."""
    epsilon, delta = point
    if not delta > 0:
        return arb(0) if delta.is_finite() else delta
    low, high = arb(1), arb(2)
    while hockey_stick(epsilon, high) < delta:
        low, high = high, 2 * high
    while hockey_stick(epsilon, low) > delta:
        low, high = low / 2, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = hockey_stick(epsilon, middle)
        if value < delta.lower():
            low = middle
        elif value > delta.upper():
            high = middle
        else:
            break
    return low.union(high)
