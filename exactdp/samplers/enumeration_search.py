"""Every branch of a program followed by running it again, likely branches first."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from exactdp.samplers.enumeration_branches import START, Path, Way
from exactdp.samplers.enumeration_tally import Tally

#: Bits of a probability that a law is rounded down to; products would grow without end.
_BITS = 256


class Found(NamedTuple):
    """What one run has come to.

    others: branches to explore later. lost: probability of the branches that are left out.
    again: whether it returned to the first state. outcome: a hashable one; None if the run has not
    ended. points: gives what is kept of the run, until the next run.
    """

    path: Path
    mass: Fraction
    others: list[Way]
    lost: Fraction
    again: bool
    outcome: Any
    points: Callable[[], Any]


#: Follows a way from the start, and goes on; with the probability of the likeliest that waits.
Follow = Callable[[Way, Fraction], Found]


class Explorer:
    """Follows branches until little enough is left.

    residual, max_runs, foresees: as for Tally. most_kept: number of leaves of which points and
    outcomes are kept: of every second or fourth, ... leaf, if there are more.
    """

    def __init__(
        self,
        follow: Follow,
        residual: Fraction,
        max_runs: int,
        *,
        foresees: bool = True,
        most_kept: int = 0,
    ) -> None:
        self._follow, self._most_kept = follow, most_kept
        self.tally = Tally(residual, max_runs, foresees=foresees)
        self._heap: list[tuple[float, int, Way]] = []
        self._ticket = count()
        self._paths: dict[Any, Path] = {}
        self.leaves, self._stride = 0, 1
        self.kept: list[tuple[Any, Any]] = []

    def explore(self) -> None:
        """Follow all branches; raises TooManyBranches, and what runs raise."""
        self._push(START)
        while self._heap and not self.tally.enough():
            _, _, way = heappop(self._heap)
            found = self._follow(way, self._heap[0][2].weight if self._heap else Fraction(0))
            for way in found.others:
                self._push(way)
            if found.lost:
                self.tally.lose(found.lost)
            if found.again:
                self.tally.renew(found.mass)
            elif found.outcome is not None:
                self._add(found)
            self.tally.check(bool(self._heap))

    def _push(self, way: Way) -> None:
        heappush(self._heap, (-float(way.weight), next(self._ticket), way))

    def _add(self, found: Found) -> None:
        self.tally.add(found.outcome, found.mass)
        self._paths.setdefault(found.outcome, found.path)
        self.leaves += 1
        if self.leaves % self._stride == 0 and self._most_kept:
            self.kept.append((found.points(), found.outcome))
            if len(self.kept) > self._most_kept:
                self.kept, self._stride = self.kept[::2], 2 * self._stride

    def ways(self) -> list[Way]:
        """To each outcome the likeliest way, with the probability of the outcome, rounded down."""
        law = self.tally.law()
        return [Way(self._paths[outcome], _rounded(weight)) for outcome, weight in law.items()]


def _rounded(weight: Fraction) -> Fraction:
    """A probability rounded down to so few digits that products stay short."""
    unit = 1 << _BITS
    return weight if weight.denominator <= unit else Fraction(math.floor(weight * unit), unit)
