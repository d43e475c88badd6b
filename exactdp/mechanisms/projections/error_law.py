"""The exact law of an estimate's error, computed instead of simulated.

Algorithm 3 of Aumüller, Lebeda and Pagh (ALP) estimates the level y of an entry from m bits: the
first y bits are 1 with probability 1 - p, the others with probability q = p + c (1 - 2 p), where c
is the probability that another entry has set the bit. The estimate is the average of the times at
which the random walk of +-1 bits is at its maximum. The computation follows only the times t at
which the walk is at its maximum so far, with the number n of times at that maximum and the sum of
their distances from y. From there the walk reaches a new maximum, or falls and returns after some
steps (one more time at the maximum), or never returns (the walk is finished).

All sums and products are of positive floats, so each probability has a relative error of at most
slack, an a-priori bound (4 (T + 1) (T + 64) 2^-53 for walks of T steps: below 2^-30 for T = 1000).
The probability left out is 1 minus the computed total (about 1e-8). The errors are correct up to
2^-44 of the largest error. Every result is an Enclosure of the exact number that covers all three.
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

#: Largest number of times at the maximum that is followed (more: probability of about 2^-40).
_MOST_TIES = 20

#: Walks are followed until all later events are less likely than _FAR; states that are less likely
#: than _CRUMB are left out.
_FAR = 1e-8
_CRUMB = 1e-13

#: Longest walk, in steps: it takes a minute and 2 GB (time ~ length^3, memory ~ length^2).
_MOST_STEPS = 1200

_HALF_ULP = 2.0**-53

#: Rounding error of an error, relative to the largest error: a few operations in doubles.
_ERRORS = 2.0**-44


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """Errors of an estimate and their probabilities, with bounds for all rounding.

    errors: each correct up to 2^-44 * span. weights: their probabilities, correct up to a factor of
    1 +- slack. left: bound of the probability that is left out. span: the largest |error|.
    Probabilities and means are Enclosures that cover these inaccuracies.
    """

    errors: Floats
    weights: Floats
    slack: float
    left: float
    span: float

    @property
    def resolution(self) -> float:
        """Upper bound of the rounding error of each error."""
        return self.span * _ERRORS

    def probability(self, event: Callable[[Floats], NDArray[np.bool_]]) -> Enclosure:
        """The probability of an event, given as a predicate on arrays of errors."""
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

    def variance(self) -> Enclosure:
        """The variance of the error, which is that of the estimate."""
        square, mean = self.mean_square(), self.mean()
        ends = (mean.lower**2, mean.upper**2)
        least = Fraction(0) if mean.lower <= 0 <= mean.upper else min(ends)
        low = max(square.lower - max(ends), Fraction(0))
        return Enclosure(low, max(square.upper - least, low))

    def bound(self, beta: Fraction) -> float:
        """A bound that |error| exceeds with probability at most beta; raises Undecided."""
        order = np.argsort(-np.abs(self.errors), kind="stable")
        beyond = np.cumsum(self.weights[order]) * (1 + self.slack) * (1 + 1e-9) + self.left
        inside = int(np.searchsorted(beyond, float(beta) * (1 - 1e-12), side="right"))
        if self.left >= float(beta):
            raise Undecided(f"the law leaves out too much probability for beta = {float(beta)}")
        if inside == len(order):
            return self.resolution
        return float(abs(self.errors[order[inside]])) + self.resolution

    def scaled(self, factor: float) -> ErrorLaw:
        """The law of factor * error."""
        return self.mapped(lambda errors: errors * factor, self.span * factor)

    def mapped(self, function: Callable[[Floats], Floats], span: float) -> ErrorLaw:
        """The law of a function of the error. span: bound of |function|."""
        return replace(self, errors=function(self.errors), span=span)

    def _enclosure(self, total: float, largest: float, steepness: float = 0.0) -> Enclosure:
        """The Enclosure of a mean from its float sum; n terms add a rounding error below n 2^-53.

        largest: bound of the values. steepness: Lipschitz constant of the value in the error.
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
    """The law of the error, in levels, of the estimate of a value.

    place: the value in levels, from 0 to m; it is rounded at random to an adjacent level. Other
    arguments: as for level_law. Raises InvalidParameter, and Undecided if walks are too long.
    """
    at = rational("place", place)
    if not 0 <= at <= integer("m", m, least=1):
        raise InvalidParameter("place", at, f"from 0 to m = {m}")
    below, part = int(at // 1), at % 1
    levels = {y: weight for y, weight in ((below, 1 - part), (below + 1, part)) if weight}
    law = level_law(levels, m, flip, collision, before)
    return law.mapped(lambda estimates: estimates - float(at), law.span)


def level_law(
    levels: Mapping[int, Fraction], m: int, flip: Fraction, collision: Fraction, before: int = 0
) -> ErrorLaw:
    """The law of Algorithm 3's estimate, in levels, for an entry with a random level.

    levels: level from 0 to m -> probability. flip: p < 1/2. collision: c >= 0, the probability of a
    collision at each level, independently, with p + c (1 - 2 p) < 1/2. before: number of levels
    below 0, for signed vectors. Raises InvalidParameter, and Undecided if walks are too long.
    """
    chance, most = rational("collision", collision), integer("m", m, least=1)
    wrong = wrong_one(flip, chance)
    if not (flip > 0 and chance >= 0 and wrong < Fraction(1, 2)):
        raise InvalidParameter(
            "collision",
            chance,
            ">= 0 and so small that a 0 is reported as 1 with probability < 1/2",
        )
    estimates, weights, slack, left = [], [], 0.0, 0.0
    for y, weight in levels.items():
        offsets = _offsets(before, y, most, float(flip), float(wrong))
        estimates.append(offsets[0] + y)
        weights.append(offsets[1] * float(weight))
        slack, left = max(slack, offsets[2]), max(left, offsets[3])
    return ErrorLaw(
        np.concatenate(estimates),
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
        raise Undecided(f"walks of more than {_MOST_STEPS} steps need too much memory")
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
    """The number of steps after which a walk with P(+1) = p returns with probability <= _FAR."""
    reach = 1
    while _beyond(p, reach) > _FAR and reach <= _MOST_STEPS:  # endless for p near 1/2
        reach += max(reach // 8, 1)
    return reach


def _beyond(p: float, steps: int) -> float:
    """Upper bound of the probability that a walk is >= 0 at any time from this step on.

    P(S_n >= 0) <= (4 p (1 - p))^(n/2), by Markov's inequality for (1/p - 1)^(S_n/2); summed over n.
    """
    x = float(np.sqrt(4 * p * (1 - p)))
    return 1.0000001 * x**steps / (1 - x) if x < 1 else float("inf")


def _records(ups: list[float], zero: int) -> Floats:
    """P(the maximum is reached n times, whose distances from time `zero` sum to d).

    ups: the probability of +1 at each step. Returns an array: row n - 1, column
    d + zero * _MOST_TIES.
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
        box = _box(here[:-1])  # one more time at the maximum leaves the last row out
        if box is None:
            continue
        rows, low, high = box
        for length, chance in back[t]:
            move = t + length - zero
            later = _at(now, t + length, final.shape)
            later[1 : rows + 1, low + move : high + move] += here[:rows, low:high] * chance
    return final


def _box(here: Floats) -> tuple[int, int, int] | None:
    """The range of rows and columns with probabilities above _CRUMB."""
    there = here > _CRUMB
    rows, columns = np.flatnonzero(there.any(axis=1)), np.flatnonzero(there.any(axis=0))
    if not rows.size:
        return None
    return int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def _at(now: list[Floats | None], t: int, shape: tuple[int, ...]) -> Floats:
    weights = now[t]
    if weights is None:
        weights = now[t] = np.zeros(shape)
    return weights


def _dives(ups: list[float]) -> tuple[list[list[tuple[int, float]]], list[float]]:
    """For each time: the law of the duration of an excursion below the maximum, and the
    probability of no return."""
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
