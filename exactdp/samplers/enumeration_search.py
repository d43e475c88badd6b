"""Exploration of all branches of a program: one run for each, the most probable branches first."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from exactdp.samplers.enumeration_branches import START, Path, Way
from exactdp.samplers.enumeration_tally import Tally


class Found(NamedTuple):
    """The result of one run.

    path: the choices of the run. mass: their probability. others: branches to explore later.
    outcome: a hashable object; None if the run has not ended. points: returns what the explorer
    keeps of the run; valid until the next run.
    """

    path: Path
    mass: Fraction
    others: list[Way]
    outcome: Any
    points: Callable[[], Any]


#: Runs the program along a way and beyond its end. The second argument is the probability of the
#: most probable way that waits.
Follow = Callable[[Way, Fraction], Found]


class Explorer:
    """Follows branches until the unexplored probability is at most the residual.

    residual, max_runs, foresees, until: allowed, most, foresees, until of Tally. most_kept: the
    largest number of leaves whose points and outcomes are kept; if there are more leaves, those of
    every second, fourth, ... leaf.
    """

    def __init__(
        self,
        follow: Follow,
        residual: Fraction,
        max_runs: int,
        *,
        foresees: bool = True,
        most_kept: int = 0,
        until: float = math.inf,
    ) -> None:
        self._follow, self._most_kept = follow, most_kept
        self.tally = Tally(residual, max_runs, foresees=foresees, until=until)
        self._heap: list[tuple[float, int, Way]] = []
        self._ticket = count()
        self.leaves, self._stride = 0, 1
        self.kept: list[tuple[Any, Any]] = []

    def explore(self) -> None:
        """Follow all branches; raises TooManyBranches, and the exceptions of runs."""
        self._push(START)
        while self._heap and not self.tally.enough():
            _, _, way = heappop(self._heap)
            run = self._follow(way, self._heap[0][2].weight if self._heap else Fraction(0))
            for way in run.others:
                self._push(way)
            if run.outcome is not None:
                self._add(run)
            self.tally.check(bool(self._heap))

    def _push(self, way: Way) -> None:
        heappush(self._heap, (-float(way.weight), next(self._ticket), way))

    def _add(self, run: Found) -> None:
        self.tally.add(run.outcome, run.mass)
        self.leaves += 1
        if self.leaves % self._stride == 0 and self._most_kept:
            self.kept.append((run.points(), run.outcome))
            if len(self.kept) > self._most_kept:
                self.kept, self._stride = self.kept[::2], 2 * self._stride
