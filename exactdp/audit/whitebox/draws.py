"""Where the numbers of a foreign program come from: three ways to answer the same draw.

- LazyDraws: numbers that are revealed as far as they are looked at; for programs that are known to
  do no more with a number than arithmetic, comparison and conversion (see :mod:`plainness`)
- RealDraws: Python's and numpy's own numbers, one branch per value; for all programs
- RecordedDraws: the numbers of an earlier run, to see that it repeats itself
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.quiet import quiet
from exactdp.audit.whitebox.uniform import NotEnumerable, Uniform
from exactdp.samplers.enumeration import MAX_WIDTH, EnumeratingSource
from exactdp.samplers.enumeration_branches import NotReproducible

__all__ = ["Draws", "LazyDraws", "RealDraws", "RecordedDraws"]

_GRID = 1 << 53


class Draws(ABC):
    """Uniform integers, and choices among options of given weights, for one run.

    record: every number as far as it has been revealed, as (size, value) where it is known, and
    (0, option) for a choice. bits: of the residual to which the program is explored.
    """

    def __init__(self, source: EnumeratingSource, bits: int) -> None:
        self.source, self.bits = source, bits
        self.record: list[Uniform | tuple[int, int]] = []

    @abstractmethod
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        """A uniform integer in [0, n), as a number of this kind; origin: for messages."""

    @abstractmethod
    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        """k * 2^-53 for a uniform integer k in [0, 2^53)."""

    @abstractmethod
    def choose(self, weights: Sequence[Fraction]) -> int:
        """One of the options, with exact probabilities."""

    def refuse(self, reason: str) -> NoReturn:
        """The program cannot have an exact law, whatever it does next."""
        self.source.stop(NotEnumerable(reason))


class LazyDraws(Draws):
    """Numbers that are revealed as far as they are looked at."""

    @quiet
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        self._alive()
        return kind(0) if n == 1 else LazyNumber(self._uniform(n), kind, True, origin)

    @quiet
    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        self._alive()
        return LazyNumber(self._uniform(_GRID), lambda k: kind(k * 2.0**-53), True, origin)

    @quiet
    def choose(self, weights: Sequence[Fraction]) -> int:
        chosen = self.source.choose(weights)
        self.record.append((0, chosen))
        return chosen

    def _uniform(self, n: int) -> Uniform:
        uniform = Uniform(self.source, n)
        self.record.append(uniform)
        return uniform

    def _alive(self) -> None:
        self.source.choose([Fraction(1)])


class RealDraws(Draws):
    """Ordinary numbers. reason: why not lazy ones, for messages."""

    def __init__(self, source: EnumeratingSource, bits: int, reason: str) -> None:
        super().__init__(source, bits)
        self.reason = reason

    @quiet
    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        if n > MAX_WIDTH:
            self.refuse(_too_wide(origin, f"more than {MAX_WIDTH} values", self.reason))
        value = self.source.branch(n, lambda: [Fraction(1, n)] * n)
        if n > 1:
            self.record.append((n, value))
        return kind(value)

    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        self.refuse(_too_wide(origin, "2^53 values", self.reason))

    @quiet
    def choose(self, weights: Sequence[Fraction]) -> int:
        chosen = self.source.choose(weights)
        self.record.append((0, chosen))
        return chosen


class RecordedDraws(Draws):
    """The numbers of an earlier run; what is asked for has to be what was asked for then."""

    def __init__(
        self, source: EnumeratingSource, bits: int, record: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(source, bits)
        self._left = list(record[::-1])

    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        return kind(self._next(n) if n > 1 else 0)

    def unit(self, origin: str, kind: Callable[[float], Any] = float) -> Any:
        return kind(self._next(_GRID) * 2.0**-53)

    def choose(self, weights: Sequence[Fraction]) -> int:
        return self._next(0)

    def finish(self) -> None:
        """Everything recorded must have been asked for."""
        if self._left and self.source.signal is None:
            self._differs()

    def _next(self, size: int) -> int:
        if self.source.signal is not None:
            self.source.stop(self.source.signal)
        if not self._left or self._left[-1][0] != size:
            self._differs()
        return self._left.pop()[1]

    def _differs(self) -> NoReturn:
        self.source.stop(
            NotReproducible(
                "repeated with ordinary numbers, a run drew something else than before: the "
                "program depends on more than the values of its generator"
            )
        )


def _too_wide(origin: str, values: str, reason: str) -> str:
    return (
        f"a number from {origin} has {values}, and the program may do more with it than compare "
        f"it and calculate ({reason}); draw from a smaller range by randrange"
    )
