"""The law of a small program by running it on real numbers for every choice of its generator."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

#: outcome, as :func:`written` -> probability.
Table = dict[Hashable, Fraction]


class TooMany(BaseException):
    """More choices than brute force is given time for; guarded programs do not catch it."""


class Tape:
    """Choices made before, then zeros; the widths of all that were asked for."""

    def __init__(self, start: list[int], wide: int | None) -> None:
        self.start = start
        self.wide = wide  # the value of the one draw that is too wide to enumerate
        self.widths: list[int] = []
        self.wide_size = 0

    def below(self, n: int, limit: int) -> int:
        if n > limit:
            self.wide_size = self.wide_size or n
            if self.wide is None or self.wide_size != n:
                raise TooMany
            return self.wide
        place = len(self.widths)
        self.widths.append(n)
        return self.start[place] if place < len(self.start) else 0

    def next(self) -> list[int] | None:
        """The choices of the run that follows this one in lexicographic order."""
        values = self.start + [0] * (len(self.widths) - len(self.start))
        while values:
            values[-1] += 1
            if values[-1] < self.widths[len(values) - 1]:
                return values
            values.pop()
        return None


class PlainRandom(random.Random):
    """A random.Random that reads its integers from a tape."""

    def __init__(self, tape: Tape, limit: int) -> None:
        super().__init__(0)
        self.tape, self.limit = tape, limit

    def _randbelow(self, n: int) -> int:
        return self.tape.below(n, self.limit)

    def getrandbits(self, k: int) -> int:
        return self.tape.below(1 << k, self.limit) if k else 0

    def random(self) -> float:
        return self.tape.below(1 << 53, self.limit) * 2.0**-53


class PlainGenerator(np.random.Generator):
    """A numpy Generator that does, for single numbers."""

    def __init__(self, tape: Tape, limit: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.tape, self.limit = tape, limit

    def integers(self, low: int, high: int | None = None, *, endpoint: bool = False) -> Any:
        start, stop = (0, low) if high is None else (low, high)
        return np.int64(int(start) + self.tape.below(int(stop) + endpoint - int(start), self.limit))

    def random(self) -> float:
        return self.tape.below(1 << 53, self.limit) * 2.0**-53

    def choice(self, a: list[Any]) -> Any:
        return np.array(a)[self.tape.below(len(a), self.limit)]


PLAIN: dict[str, Callable[[Tape, int], Any]] = {"random": PlainRandom, "numpy": PlainGenerator}


def written(outcome: Any) -> Hashable:
    """An outcome with its type: 1, 1.0 and True differ; numpy's numbers count as Python's."""
    if isinstance(outcome, np.generic) or (isinstance(outcome, np.ndarray) and not outcome.ndim):
        outcome = outcome.item()
    if isinstance(outcome, bytearray):
        outcome = bytes(outcome)
    if isinstance(outcome, (list, tuple, np.ndarray)):
        return ("sequence", *map(written, outcome))
    if isinstance(outcome, (dict, set, frozenset)):
        pairs = outcome.items() if isinstance(outcome, dict) else outcome
        return ("set", frozenset(map(written, pairs)))
    if isinstance(outcome, (Decimal, Fraction)):
        return (type(outcome).__name__, str(outcome))
    return (type(outcome).__name__, repr(outcome))


def table(
    program: Callable[[Any], Any], interface: str, *, limit: int, most: int, wide: int | None = None
) -> Table:
    """The exact law, choices wider than limit fixed to wide; TooMany beyond so many runs."""
    masses: Table = {}
    start: list[int] | None = []
    for _ in range(most):
        tape = Tape(start or [], wide)
        outcome = written(program(PLAIN[interface](tape, limit)))
        share = Fraction(1)
        for width in tape.widths:
            share /= width
        masses[outcome] = masses.get(outcome, Fraction(0)) + share
        start = tape.next()
        if start is None:
            return masses
    raise TooMany


def pieces(
    program: Callable[[Any], Any],
    interface: str,
    size: int,
    probes: list[int],
    fresh: list[int],
    *,
    most: int,
) -> Table:
    """The law of a program with one draw from a huge range, constant between few breakpoints.

    Between two probes with unequal results the breakpoint is found by bisection; what lies between
    two probes with equal results is taken to be the same. Fresh values have to agree, or else (a
    residue, perhaps, that changes from value to value) nobody knows: TooMany.
    """

    def at(k: int) -> Table:
        return table(program, interface, limit=1 << 14, most=most, wide=k)

    points = sorted({k for k in [0, size - 1, *probes] if 0 <= k < size})
    seen = {k: at(k) for k in points}
    ends: list[tuple[int, Table]] = []
    for left, right in pairwise(points):
        low = left
        while seen[low] != seen[right]:
            a, b = low, right
            while b - a > 1:
                middle = (a + b) // 2
                seen[middle] = at(middle)
                a, b = (middle, b) if seen[middle] == seen[low] else (a, middle)
            ends.append((b, seen[low]))
            low = b
            if len(ends) > 400:
                raise TooMany
    ends.append((size, seen[points[-1]]))
    bounds = [end for end, _ in ends]
    if any(at(k) != ends[bisect_right(bounds, k)][1] for k in fresh):
        raise TooMany
    masses: Table = {}
    begin = 0
    for end, law in ends:
        for outcome, share in law.items():
            masses[outcome] = masses.get(outcome, Fraction(0)) + share * Fraction(end - begin, size)
        begin = end
    return masses
