"""What an enumeration has found so far, and whether it will come to an end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from exactdp.errors import ExactDPError
from exactdp.law import Law

#: After so many runs, and whenever they have doubled, the number that is needed is foreseen.
_FORESEEN = 250


class TooManyBranches(ExactDPError):
    """A program branches too widely to be enumerated."""


class Tally:
    """Outcomes and their weights so far, and how much is still unexplored."""

    def __init__(self, allowed: Fraction, most: int) -> None:
        self._allowed, self._most = allowed, most
        self._weights: dict[Any, list[Fraction]] = {}
        self._again, self._excess = Fraction(0), 1 - allowed
        self._runs = 0
        self._logs: list[float] = []

    def add(self, outcome: Any, weight: Fraction) -> None:
        self._weights.setdefault(outcome, []).append(weight)
        self._excess -= weight

    def lose(self, weight: Fraction) -> None:
        """What a run would have shown stays unexplored."""
        self._excess -= weight

    def renew(self, weight: Fraction) -> None:
        """A branch is where the program started: it has the law of the whole."""
        self._again += weight
        self._excess -= weight * (1 - self._allowed)

    def enough(self) -> bool:
        """Whether nothing is left to follow beyond what may remain unexplored."""
        return self._excess <= 0

    @property
    def _residual(self) -> Fraction:
        """What may remain unexplored, so that the share of it given no renewal is as allowed."""
        return self._allowed * (1 - self._again)

    def check(self, more: bool) -> None:
        """Give up when the runs are used up, or are foreseen not to suffice by far.

        more: whether branches are left to follow.
        """
        self._runs += 1
        if not more or self.enough():
            return
        left = self._excess
        if self._runs >= self._most:
            raise TooManyBranches(
                f"{self._runs} branches followed and probability {float(left):.3g} is left"
            )
        if self._runs == _FORESEEN << len(self._logs):
            self._logs.append(_log(left))
            if self._foreseen() > 2 * self._most:
                raise TooManyBranches(
                    f"after {self._runs} branches, probability {float(left):.3g} is left, and it "
                    "falls too slowly"
                )

    def _foreseen(self) -> float:
        """How many runs it may take. Where leaves of weight w number about log(1/w)^d, what is left
        after n runs falls like exp(-n^(1/d)): its logarithm in geometric steps when n doubles.
        While leaves are as heavy as they were, they may stay so until nothing is left."""
        if len(self._logs) < 3 or not self._residual:
            return 0
        first, second, last = self._logs[-3:]
        before = (math.exp(first) - math.exp(second)) / (self._runs / 4)
        lately = (math.exp(second) - math.exp(last)) / (self._runs / 2)
        if lately > 0.99 * before:
            return self._runs + math.exp(last) / lately
        step, growth = second - last, (second - last) / max(first - second, 1e-12)
        runs, left = float(self._runs), last - _log(self._residual)
        while left > 0 and runs <= 2 * self._most:
            step *= min(growth, 2.0)
            left, runs = left - max(step, 0.0), 2 * runs
        return runs

    def law(self) -> Law[Any]:
        share = 1 - self._again  # at least that of the branches that end: weights are lower bounds
        if not share:
            raise TooManyBranches("every branch comes back to where it was: the program never ends")
        totals = {x: sum(parts, Fraction(0)) / share for x, parts in self._weights.items()}
        return Law(totals, 1 - sum(totals.values(), Fraction(0)))


def _log(value: Fraction) -> float:
    """The natural logarithm of a number > 0, also of one that no float can hold."""
    return math.log(value.numerator) - math.log(value.denominator)
