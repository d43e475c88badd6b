"""The results of an enumeration so far, and an estimate whether it will finish."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

from exactdp.errors import TooManyBranches
from exactdp.law import Law

#: After this number of runs, and whenever it doubles, the total number of runs is estimated.
_FORESEEN = 250


class Tally:
    """Outcomes with their probabilities so far, and the unexplored probability.

    allowed: the unexplored probability that is allowed. most: the largest number of runs.
    foresees: whether the estimated number of runs accounts for the falling weight of leaves. If
    not, later leaves are assumed to weigh as much as recent leaves, which gives a lower estimate.
    until: when to give up, by time.monotonic().
    """

    def __init__(
        self, allowed: Fraction, most: int, *, foresees: bool = True, until: float = math.inf
    ) -> None:
        self._allowed, self._most, self._foresees = allowed, most, foresees
        self._until = until
        self._weights: dict[Any, list[Fraction]] = {}
        self._excess = 1 - allowed
        self._runs = 0
        self._logs: list[float] = []

    def add(self, outcome: Any, weight: Fraction) -> None:
        self._weights.setdefault(outcome, []).append(weight)
        self._excess -= weight

    def enough(self) -> bool:
        """Whether the unexplored probability is within the allowed residual."""
        return self._excess <= 0

    def check(self, more: bool) -> None:
        """Raise TooManyBranches if the allowed runs are used up, or are estimated to be too few.

        The estimate must exceed twice the allowed number. more: whether any branch is unexplored.
        """
        self._runs += 1
        if not more or self.enough():
            return
        left = self._excess
        late = time.monotonic() > self._until
        if late or self._runs >= self._most:
            limit = "in the time that is allowed (seconds=) " if late else ""
            raise TooManyBranches(
                f"{self._runs} branches followed {limit}and probability {float(left):.3g} is left"
            )
        if self._runs == _FORESEEN << len(self._logs):
            self._logs.append(_log(left))
            if self._foreseen() > 2 * self._most:
                raise TooManyBranches(
                    f"after {self._runs} branches, probability {float(left):.3g} is left, and it "
                    "falls too slowly"
                )

    def _foreseen(self) -> float:
        """Estimated total number of runs.

        If there are about log(1/w)^d leaves of weight w, the unexplored probability after n runs
        decreases like exp(-n^(1/d)), so its logarithm grows by a constant factor when n doubles. If
        recent leaves weigh as much as earlier leaves, all remaining leaves are assumed to do so.
        """
        if len(self._logs) < 3 or not self._allowed:
            return 0
        first, second, last = self._logs[-3:]
        before = (math.exp(first) - math.exp(second)) / (self._runs / 4)
        lately = (math.exp(second) - math.exp(last)) / (self._runs / 2)
        if lately > 0.99 * before or not self._foresees:
            return self._runs + math.exp(last) / max(lately, 1e-300)
        step, growth = second - last, (second - last) / max(first - second, 1e-12)
        runs, left = float(self._runs), last - _log(self._allowed)
        while left > 0 and runs <= 2 * self._most:
            step *= min(growth, 2.0)
            left, runs = left - max(step, 0.0), 2 * runs
        return runs

    def law(self) -> Law[Any]:
        totals = {x: sum(parts, Fraction(0)) for x, parts in self._weights.items()}
        return Law(totals, 1 - sum(totals.values(), Fraction(0)))


def _log(value: Fraction) -> float:
    """The natural logarithm of a number > 0, even outside the range of floats."""
    return math.log(value.numerator) - math.log(value.denominator)
