"""Confidence regions of two probabilities (p, q), and what all pairs of a region have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise

from exactdp.audit.bounds.measures import Measure, delta_at, epsilon_at

_REFINE = 16  # intervals of q that may be split to sharpen one answer
#: Ends of the first intervals, in standard deviations from other_hits.
_EDGES = (-4, -2, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


@dataclass
class ConfidenceRegion(ABC):
    """The pairs (p, q) that counts do not exclude: for q in an interval [a, b], p >= lowest.

    hits, trials: of the favoured side. other_hits, other_trials: of the other side.
    The intervals cover every q that is not excluded for all p.
    """

    hits: int
    trials: int
    other_hits: int
    other_trials: int
    _lows: dict[tuple[Fraction, Fraction], Fraction] = field(
        default_factory=dict, init=False, repr=False
    )

    @abstractmethod
    def _lowest(self, a: Fraction, b: Fraction) -> Fraction:
        """A lower bound on p for all q in [a, b]; 1 where every p is excluded."""

    @abstractmethod
    def _beyond(self) -> Fraction:
        """A q from which on every pair is excluded, or 1."""

    def delta_lower(self, epsilon: Fraction) -> Fraction:
        """A lower bound on delta at this epsilon >= 0; 0 where nothing can be said."""
        return self.least(delta_at(epsilon))

    def epsilon_lower(self, delta: Fraction) -> Fraction:
        """A lower bound on epsilon at this delta >= 0; 0 where nothing can be said."""
        return self.least(epsilon_at(delta))

    def least(self, measure: Measure) -> Fraction:
        """A lower bound on a privacy parameter of every pair; 0 where nothing can be said."""
        return max(self._least(measure), Fraction(0))

    def exceeds(self, measure: Measure, value: Fraction) -> bool:
        """Whether a privacy parameter is above a value for every pair."""
        return self._least(measure, beyond=value) > value

    def _least(self, measure: Measure, beyond: Fraction | None = None) -> Fraction:
        """A lower bound on the measure; with `beyond`, refined until it exceeds that number."""
        if not self.hits:
            return Fraction(-1)
        if not self._lows:
            self._start()
        corners = [(measure(p, b), a, b) for (a, b), p in self._lows.items()]
        heapify(corners)
        small = Fraction(math.isqrt(self.hits) + 1, 100 * self.trials)
        idle = 0
        for _ in range(_REFINE if beyond is None else 2 * _REFINE):
            before, a, b = corners[0]
            if beyond is not None and before > beyond:
                break
            halves = self._split(a, b)
            if not halves:
                break
            heappop(corners)
            for half in halves:
                heappush(corners, (measure(self._lows[half], half[1]), *half))
            gain = corners[0][0] - before
            idle = idle + 1 if gain < small + abs(before) / 500 else 0
            if idle == 2 and beyond is None:
                break
        return corners[0][0]

    def _split(self, a: Fraction, b: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Replace an interval by its halves; returns them, or [] if the interval is too narrow."""
        middle = short((a + b) / 2 if a * 8 > b else b / 2)
        if not a < middle < b:
            return []
        del self._lows[a, b]
        self._add(a, middle)
        self._add(middle, b)
        return [(a, middle), (middle, b)]

    def _start(self) -> None:
        """Intervals up to the q beyond which other_hits alone rejects every p."""
        last = short(self._beyond())
        centre, spread = self.other_hits, math.sqrt(self.other_hits + 1)
        inner = [short(Fraction(max(centre + z * spread, 0.0)) / self.other_trials) for z in _EDGES]
        edges = sorted({Fraction(0), *(q for q in inner if q < last), last})
        for a, b in pairwise(edges):
            self._add(a, b)

    def _add(self, a: Fraction, b: Fraction) -> None:
        self._lows[a, b] = self._lowest(a, b)


def short(value: Fraction) -> Fraction:
    """A nearby rational of 53 bits that is not below the value."""
    if not value:
        return value
    return min(Fraction(math.nextafter(float(value), 2)), Fraction(1))
