"""A pair of exact finite laws that dominates a curve, for compositions that anybody can check.

delta(epsilon), for epsilon >= 0, is the largest of all neighbours in both orders. As a function of
x = e^epsilon it is convex, and for x < 1 it is at most 1 - x + x delta(-epsilon) (see
exactdp.accounting.pld.losses.curves). Chords through points on or above this curve are above it,
and they are the curve of a pair: an outcome of ratio x has the mass q, the change of the slope at
x, under Q, and x q under P. Masses are rounded down to few digits. What is lost becomes two
outcomes that only P, or only Q, has; no delta falls, since (p, q) is replaced by (p - a, q - b),
(a, 0) and (0, b).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.contest import BoundedRange
from exactdp.accounting.pld.mechanisms import laws
from exactdp.balls import ball, enclosure, precision
from exactdp.errors import Undecided
from exactdp.law import Law
from exactdp.parameters import Real, positive

#: Masses under Q are multiples of this number.
_MASS = Fraction(1, 10**25)

#: Digits of ratios, and the largest loss of which a ratio and its inverse have enough.
_DIGITS, _LARGEST = 8, 40

#: Least number of points of the curve of a choice, and points for each unit of its range.
_FEWEST, _DENSITY = 12, 6

#: Of the largest losses of a curve, those with a delta below this part of the target are infinite.
_RARE = Fraction(1, 1000)

_BITS = 128


def dominated(
    delta: Callable[[Fraction], Fraction],
    *,
    end: Fraction,
    points: int,
    neighbours: str,
) -> Pld:
    """The loss of a finite pair whose delta is nowhere below a curve.

    delta: upper bounds of the curve at epsilon >= 0. end: the last epsilon that is asked for, > 0.
    points: number of steps from 0 to end, >= 1. neighbours: of the curve. Raises Undecided for
    losses above 40.
    """
    if end > _LARGEST:
        raise Undecided(f"losses of {float(end):.6g}, above {_LARGEST}: try a smaller epsilon")
    curve = [(Fraction(0), Fraction(1)), *_points(delta, end, points)]
    kept: list[tuple[Fraction, Fraction]] = []
    for point in curve:
        while len(kept) > 1 and _slope(kept[-2], kept[-1]) >= _slope(kept[-1], point):
            kept.pop()
        kept.append(point)
    slopes = [*(_slope(a, b) for a, b in pairwise(kept)), Fraction(0)]
    p, q = {}, {}
    for (x, _), (before, after) in zip(kept[1:], pairwise(slopes), strict=True):
        q[x] = (after - before) // _MASS * _MASS
        p[x] = x * q[x]
    rest = Fraction(-1)  # a ratio that no outcome has
    return laws(
        Law({**p, rest: 1 - sum(p.values())}),
        Law({**q, rest - 1: 1 - sum(q.values())}),
        neighbours=neighbours,
    )


def dominated_choice(*, epsilon: Real, neighbours: str) -> Pld:
    """The loss of a finite pair that dominates every mechanism of bounded range `epsilon`, > 0."""
    curve = BoundedRange(positive("epsilon", epsilon))
    return dominated(
        lambda x: curve.delta(x).upper,
        end=curve.width,
        points=max(_FEWEST, math.ceil(_DENSITY * curve.width)),
        neighbours=neighbours,
    )


def last_epsilon(
    delta: Callable[[Fraction], Fraction], start: Fraction, target: Fraction
) -> Fraction:
    """An epsilon from which on a curve is flat, or below a small part of a target delta.

    start: > 0, where the search begins.
    """
    end = start
    while delta(end) > target * _RARE and delta(end) > delta(2 * end) * (1 + _RARE):
        end *= 2
    return end


def _points(
    delta: Callable[[Fraction], Fraction], end: Fraction, number: int
) -> list[tuple[Fraction, Fraction]]:
    """Ratios, which rise, and bounds of delta there: the least so far, as no curve rises."""
    more = max(0, math.ceil(math.log10(number / end)) - _DIGITS // 2)  # narrow steps
    unit = Fraction(1, 10 ** (_DIGITS + more + math.ceil(end / 2)))  # e^-2 > 1/10
    bound = delta(Fraction(0))
    right = [(Fraction(1), bound)]
    left = []
    for i in range(1, number + 1):
        epsilon = i * end / number
        bound = min(bound, delta(epsilon))
        with precision(_BITS):
            above, below = enclosure(ball(epsilon).exp()), enclosure(ball(-epsilon).exp())
        x = math.ceil(above.upper / unit) * unit
        y = math.floor(below.lower / unit) * unit
        right.append((x, bound))
        left.append((y, 1 - y + y * bound))
    return left[::-1] + right


def _slope(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])
