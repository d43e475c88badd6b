"""The exact error of an estimate: the average place of the maxima of a random walk, not simulated.

Of the m bits of an entry of level y, the first y show 1 with probability 1 - p, the others with
probability q = p + c (1 - 2 p), where c is the probability that another entry has set the bit.
Algorithm 3 averages the places where the walk of +-1 bits is highest. Followed are only the times
t at which the walk is at its record so far, with the number n of places that share it and the sum
of their distances from y; from there it goes up to a new record, dives and comes back after some
steps (one more place), or dives for good (the walk is over).

Floats, with bounds: everything added and multiplied is positive, so a probability that is followed
is right up to a factor of 1 +- slack, which is known beforehand (4 (T + 1) (T + 64) 2^-53 for walks
of T steps: below 2^-30 for T = 1000), and what was left out is 1 minus what is there (about 1e-8).
Errors themselves are right up to 2^-44 of the largest. Every answer is an Enclosure of the exact
number with all three in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import integer, rational

Floats = NDArray[np.float64]

#: Places of the record that are told apart; more are left out (probability below 2^-40 or so).
_MOST_TIES = 20

#: Walks are followed until what may happen beyond is less likely than this, and states that are
#: less likely than a crumb are left out.
_FAR = 1e-8
_CRUMB = 1e-13

#: Time grows with the cube of a walk's length, memory with the square: these take a minute, 2 GB.
_MOST_STEPS = 1200

_HALF_ULP = 2.0**-53

#: The relative error of an error, of the largest: a few operations on numbers below that.
_ERRORS = 2.0**-44


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """Errors and their probabilities, right up to a factor of 1 +- slack but for what is left.

    errors: each right up to 2^-44 span. left: no event is more or less likely than these say by
    more than that. span: the largest size of an error. What is asked of it are Enclosures that
    hold all of this; ``resolution`` is that of the errors.
    """

    errors: Floats
    weights: Floats
    slack: float
    left: float
    span: float

    @property
    def resolution(self) -> float:
        """No error is further from the exact one: events are of errors that are so far apart."""
        return self.span * _ERRORS

    def probability(self, event: Callable[[Floats], NDArray[np.bool_]]) -> Enclosure:
        """Of an event, given by a predicate of arrays of errors."""
        total = float(self.weights[event(self.errors)].sum())
        return self._enclosure(total, 1.0)

    def beyond(self, size: float) -> Enclosure:
        """P(|error| > size)."""
        return self.probability(lambda errors: np.abs(errors) > size)

    def mean(self) -> Enclosure:
        """The mean error."""
        over, under = (
            self._enclosure(float((self.weights * part).sum()), self.span, 1.0)
            for part in (np.maximum(self.errors, 0), np.maximum(-self.errors, 0))
        )
        return Enclosure(over.lower - under.upper, over.upper - under.lower)

    def mean_absolute(self) -> Enclosure:
        """The mean of |error|."""
        return self._enclosure(float((self.weights * np.abs(self.errors)).sum()), self.span, 1.0)

    def mean_square(self) -> Enclosure:
        """The mean of error^2."""
        return self._enclosure(
            float((self.weights * self.errors**2).sum()), self.span**2, 3 * self.span
        )

    def bound(self, beta: Fraction) -> float:
        """An error that is exceeded in size with probability beta at most."""
        order = np.argsort(-np.abs(self.errors), kind="stable")
        beyond = np.cumsum(self.weights[order]) * (1 + self.slack) * (1 + 1e-9) + self.left
        inside = int(np.searchsorted(beyond, float(beta) * (1 - 1e-12), side="right"))
        if self.left >= float(beta):
            raise Undecided(f"an error exceeded with probability {float(beta)}")
        if inside == len(order):
            return self.resolution
        return float(abs(self.errors[order[inside]])) + self.resolution

    def scaled(self, factor: float) -> ErrorLaw:
        """In other units."""
        return self.mapped(lambda errors: errors * factor, self.span * factor)

    def mapped(self, function: Callable[[Floats], Floats], span: float) -> ErrorLaw:
        """The law of a function of the error, of this size at most."""
        return replace(self, errors=function(self.errors), span=span)

    def _enclosure(self, total: float, largest: float, steepness: float = 0.0) -> Enclosure:
        """A sum of weights times values of at most a size; n terms err by less than n 2^-53.

        steepness: how much a value changes at most with the error it is of.
        """
        slack = Fraction(self.slack + (len(self.weights) + 8) * _HALF_ULP)
        middle = Fraction(total)
        rest = Fraction(self.left) * Fraction(largest)
        rest += Fraction(self.resolution) * Fraction(steepness) * (1 + slack)
        return Enclosure(max(middle * (1 - slack) - rest, Fraction(0)), middle * (1 + slack) + rest)


def wrong_one(flip: Fraction, collision: Fraction) -> Fraction:
    """The probability that a 0 is reported as a 1."""
    return flip + collision * (1 - 2 * flip)


def estimate_law(
    place: Fraction, m: int, flip: Fraction, collision: Fraction, before: int = 0
) -> ErrorLaw:
    """The error, in levels, of the estimate of a value at a place between 0 and m levels.

    The value is rounded at random to a level next to it. The rest as for level_law.
    Raises InvalidParameter, and Undecided where the bits say so little that walks are too long.
    """
    at = rational("place", place)
    if not 0 <= at <= integer("m", m, least=1):
        raise InvalidParameter("place", at, f"from 0 to m = {m}")
    below, part = int(at // 1), at % 1
    levels = {y: weight for y, weight in ((below, 1 - part), (below + 1, part)) if weight}
    law = level_law(levels, m, flip, collision, before)
    return law.mapped(lambda found: found - float(at), law.span)


def level_law(
    levels: Mapping[int, Fraction], m: int, flip: Fraction, collision: Fraction, before: int = 0
) -> ErrorLaw:
    """The law of Algorithm 3's estimate, in levels, for an entry whose level has a law.

    levels: from 0 to m, with their probabilities. flip: p, < 1/2. collision: c, >= 0, the same at
    every level and independent, with p + c (1 - 2 p) < 1/2. before: levels below 0, of values that
    may be negative.
    """
    chance, most = rational("collision", collision), integer("m", m, least=1)
    wrong = wrong_one(flip, chance)
    if not (flip > 0 and chance >= 0 and wrong < Fraction(1, 2)):
        raise InvalidParameter("collision", chance, ">= 0, with a wrong 1 below 1/2")
    found, weights, slack, left = [], [], 0.0, 0.0
    for y, weight in levels.items():
        offsets = _offsets(before, y, most, float(flip), float(wrong))
        found.append(offsets[0] + y)
        weights.append(offsets[1] * float(weight))
        slack, left = max(slack, offsets[2]), max(left, offsets[3])
    return ErrorLaw(
        np.concatenate(found),
        np.concatenate(weights),
        slack + 4 * _HALF_ULP,
        left,
        float(before + most),
    )


@lru_cache(256)
def _offsets(
    before: int, y: int, m: int, p: float, q: float
) -> tuple[Floats, Floats, float, float]:
    """Estimate - y: values, probabilities, their relative error, and the probability left out."""
    left, right = min(before + y, _reach(q if before else p)), min(m - y, _reach(q))
    if left + right > _MOST_STEPS:
        raise Undecided(f"walks of more than {_MOST_STEPS} steps are too long to be followed")
    ups = [*([1 - q] * before + [1 - p] * y)[before + y - left :], *[q] * right]
    law = _records(ups, left)
    ties, sums = np.nonzero(law)
    weights = law[ties, sums]
    values = (sums - left * _MOST_TIES) / (ties + 1.0)
    slack = 4 * (len(ups) + 1) * (len(ups) + 64) * _HALF_ULP
    outside = _beyond(q if before else p, left) if left < before + y else 0.0
    outside += _beyond(q, right) if right < m - y else 0.0
    missing = max(1.0 - float(weights.sum()) * (1 - slack), 0.0)
    return values, weights, slack, missing + outside + 1e-290


def _reach(p: float) -> int:
    """So far a walk that goes up with probability p is followed: beyond, less happens than _FAR."""
    reach = 1
    while _beyond(p, reach) > _FAR and reach <= _MOST_STEPS:  # for p next to 1/2 there is no end
        reach += max(reach // 8, 1)
    return reach


def _beyond(p: float, steps: int) -> float:
    """Above the probability that a walk is at 0 or more after this many steps or later.

    P(S_n >= 0) <= (4 p (1 - p))^(n/2), by Markov's inequality for (1/p - 1)^(S_n/2); summed.
    """
    x = float(np.sqrt(4 * p * (1 - p)))
    return 1.0000001 * x**steps / (1 - x) if x < 1 else float("inf")


def _records(ups: list[float], zero: int) -> Floats:
    """P(n places share the top, their distances from place `zero` add up to d).

    ups: the probability of +1 at each step. Rows: n - 1. Columns: d + zero * _MOST_TIES.
    """
    steps, origin = len(ups), _MOST_TIES * zero
    final = np.zeros((_MOST_TIES, _MOST_TIES * steps + 1))
    now: list[Floats | None] = [None] * (steps + 1)
    _at(now, 0, final.shape)[0, origin - zero] = 1.0
    back, gone = _dives(ups)
    for t in range(steps + 1):
        here, now[t] = now[t], None
        box = None if here is None else _box(here)
        if here is None or box is None:
            continue
        rows, low, high = box
        part = here[:rows, low:high]
        final[:rows, low:high] += part * gone[t]
        if t < steps:
            record = _at(now, t + 1, final.shape)
            record[0, origin + t + 1 - zero] += ups[t] * float(part.sum())
        box = _box(here[:-1])  # with one place more, the last row is left out
        if box is None:
            continue
        rows, low, high = box
        for length, chance in back[t]:
            move = t + length - zero
            later = _at(now, t + length, final.shape)
            later[1 : rows + 1, low + move : high + move] += here[:rows, low:high] * chance
    return final


def _box(here: Floats) -> tuple[int, int, int] | None:
    """Rows and columns with anything in them but crumbs, which are left out."""
    there = here > _CRUMB
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    if not rows.size:
        return None
    return int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _at(now: list[Floats | None], t: int, shape: tuple[int, ...]) -> Floats:
    found = now[t]
    if found is None:
        found = now[t] = np.zeros(shape)
    return found


def _dives(ups: list[float]) -> tuple[list[list[tuple[int, float]]], list[float]]:
    """From each time: how long a dive below the record lasts, and the chance of no way back."""
    steps = len(ups)
    back: list[list[tuple[int, float]]] = []
    gone: list[float] = []
    for t in range(steps + 1):
        lengths: list[tuple[int, float]] = []
        if t == steps:
            back.append(lengths)
            gone.append(1.0)
            continue
        depth = np.zeros(steps - t + 2)
        depth[1] = 1 - ups[t]
        for s in range(t + 1, steps):
            up = ups[s]
            if depth[1] * up > _CRUMB:
                lengths.append((s + 1 - t, float(depth[1] * up)))
            fallen = depth * (1 - up)
            depth[:-1] = depth[1:] * up
            depth[-1] = 0.0
            depth[0] = 0.0
            depth[1:] += fallen[:-1]
        back.append(lengths)
        gone.append(float(depth.sum()))
    return back, gone
