"""Where the numbers of a program come from: three ways to answer the same draw.

- LazyDraws: numbers that are revealed as far as they are looked at; for programs that do no more
  with a number than arithmetic, comparison and conversion
- RealDraws: Python's and numpy's own numbers, one branch per value; for all programs
- RecordedDraws: the numbers of an earlier run, to see that it repeats itself
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.runs import Run
from exactdp.audit.code.uniform import NotEnumerable, Uniform
from exactdp.audit.code.unwatched import unwatched
from exactdp.audit.code.where import at
from exactdp.samplers.enumeration import MAX_WIDTH
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Draws", "LazyDraws", "RealDraws", "RecordedDraws"]

_GRID = 1 << 53


class Draws(ABC):
    """Uniform integers, and choices among options of given weights, for one run.

    record: every draw as (what was asked for, value); a number that has not been revealed stands
    there as its Uniform.
    """

    def __init__(self, source: Run) -> None:
        self.source = source
        self.record: list[Any] = []

    @abstractmethod
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        """A uniform integer in [0, n), as a number of this kind; origin: for messages."""

    @abstractmethod
    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        """k * 2^-53 for a uniform integer k in [0, 2^53)."""

    @unwatched
    def choose(self, weights: Sequence[Fraction]) -> int:
        """One of the options, with exact probabilities."""
        chosen = self.source.choose(weights)
        self.record.append((_asked(weights), chosen))
        return chosen

    def points(self) -> list[list[tuple[Any, int]]]:
        """The values that the numbers of this run may have had: lowest, highest, and between."""
        found = [[_at(entry, share) for entry in self.record] for share in (0, 1, Fraction(3, 7))]
        return [point for i, point in enumerate(found) if point not in found[:i]]

    def refuse(self, reason: str) -> NoReturn:
        """The program cannot have an exact law, whatever it does next."""
        self.source.stop(NotEnumerable(reason))


def _asked(weights: Sequence[Fraction]) -> str:
    return " ".join(map(str, weights))


def _at(entry: Any, share: Fraction | int) -> tuple[Any, int]:
    if isinstance(entry, Uniform):
        return entry.width, entry.value(entry.low + int(share * (entry.size - 1)))
    asked, value = entry
    return asked, value


class LazyDraws(Draws):
    """Numbers that are revealed as far as they are looked at."""

    @unwatched
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        self.source.alive()
        return kind(0) if n == 1 else LazyNumber(self._uniform(n), kind, True, origin)

    @unwatched
    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        self.source.alive()
        return LazyNumber(self._uniform(_GRID), lambda k: kind(k * 2.0**-53), True, origin)

    def _uniform(self, n: int) -> Uniform:
        uniform = Uniform(self.source, n)
        self.record.append(uniform)
        return uniform


class RealDraws(Draws):
    """Ordinary numbers. reason: why not lazy ones, for messages."""

    def __init__(self, source: Run, reason: str) -> None:
        super().__init__(source)
        self.reason = reason

    @unwatched
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        if n > MAX_WIDTH:
            self.refuse(_too_wide(origin, f"more than {MAX_WIDTH} values", self.reason))
        self.source.alive()
        if n == 1:
            return kind(0)
        value = self.source.branch(n, lambda: [Fraction(1, n)] * n)
        self.record.append((n, value))
        return kind(value)

    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        self.refuse(_too_wide(origin, "2^53 values", self.reason))


class RecordedDraws(Draws):
    """The numbers of an earlier run; what is asked for has to be what was asked for then."""

    def __init__(self, source: Run, record: Sequence[Sequence[Any]]) -> None:
        super().__init__(source)
        self._left = list(record[::-1])

    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        return kind(self._next(n) if n > 1 else 0)

    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        return kind(self._next(_GRID) * 2.0**-53)

    @unwatched
    def choose(self, weights: Sequence[Fraction]) -> int:
        return self._next(_asked(weights))

    @property
    def used_up(self) -> bool:
        """Whether everything recorded has been asked for."""
        return not self._left

    @unwatched
    def _next(self, asked: Any) -> int:
        self.source.alive()
        if not self._left or self._left[-1][0] != asked:
            self._differs()
        value: int = self._left.pop()[1]
        return value

    def _differs(self) -> NoReturn:
        self.source.stop(NotReproducible("a repeated run drew something else than before"))


def _too_wide(origin: str, values: str, reason: str) -> str:
    return (
        f"a number from {origin} {at()} has {values}, and the program may do more with it than "
        f"compare it and calculate ({reason}); draw from a smaller range by randrange"
    )
