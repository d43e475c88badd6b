"""Where the numbers of a program come from: two ways to answer a draw.

- lazily, with numbers that are drawn as far as the program looks at them; for programs that compare
  numbers, calculate with them and convert them
- with Python's and numpy's own numbers, a branch for each value; for all programs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lines import at
from exactdp.audit.code.monotone import Chain, With
from exactdp.audit.code.runs import Run
from exactdp.audit.code.uniform import Uniform
from exactdp.errors import NotEnumerable, TooManyBranches
from exactdp.samplers.enumeration import MAX_WIDTH
from exactdp.samplers.enumeration_branches import Choice, Path

_GRID = 1 << 53
#: Most numbers that one run may draw: in an endless loop, a run draws more and more numbers and
#: never makes a choice.
_MOST_NUMBERS = 1 << 16


class Draws:
    """Uniform integers, and choices among options of given weights, for one run after the other.

    lazy: whether numbers are drawn as far as the program looks at them.
    """

    def __init__(self, run: Run, lazy: bool) -> None:
        self.run, self.lazy, self._record = run, lazy, list[Uniform | Choice]()

    def begin(self, run: Run, record: Sequence[Uniform | Choice] = ()) -> Any:
        """Draw for this run, with its record, from now on; returns the run and record before."""
        before = self.run, self._record
        run.present = lambda: self.run
        self.run, self._record = run, list(record)
        return before

    def below(self, n: int, origin: str, kind: Callable[[int], Any] = int) -> Any:
        """A uniform integer in [0, n), as a number of this kind; origin: for messages."""
        return kind(0) if n == 1 else self._number(n, kind, origin)

    def unit(self, kind: Callable[[float], Any] = float) -> Any:
        """k * 2^-53 for a uniform integer k in [0, 2^53), as a number of this kind."""
        return self._number(_GRID, With(_scaled, kind), "random()")

    def choose(self, weights: Sequence[Fraction]) -> int:
        """The index of one option, drawn with exact probabilities."""
        self.run.draw()
        chosen = self.run.choose(weights)
        self._record.append(self.run.path[self.run.step - 1])
        return chosen

    def points(self) -> list[Path]:
        """Values that the numbers of this run may have had, as paths of ordinary numbers: the
        lowest ones, the highest ones, and some between."""
        if not self.lazy:
            return [tuple(self.run.path)]
        shares = (0, 1, Fraction(3, 7))
        return list(
            dict.fromkeys(tuple(_at(each, share) for each in self._record) for share in shares)
        )

    def refuse(self, reason: str) -> NoReturn:
        """End the run: the program cannot have an exact law, whatever it does next."""
        self.run.stop(NotEnumerable(reason))

    def _number(self, n: int, kind: Callable[[int], Any], origin: str) -> Any:
        if not self.lazy and n > MAX_WIDTH and not self.run.repeating:
            self.refuse(
                f"a number from {origin} {at()} has more than {MAX_WIDTH} values, and the program "
                "does more with it than compare it and calculate; draw from a smaller range by "
                "randrange"
            )
        self.run.draw()
        if not self.lazy:
            return kind(self.run.branch(n, lambda: [_share(n)] * n))
        if len(self._record) == _MOST_NUMBERS:
            reason = f"a run drew {_MOST_NUMBERS} numbers and has not ended"
            self.run.stop(TooManyBranches(reason))
        uniform = Uniform(self.run, n)
        self._record.append(uniform)
        return LazyNumber(uniform, Chain(kind), origin)


def _scaled(k: int, kind: Callable[[float], Any]) -> Any:
    return kind(k * 2.0**-53)


def _at(entry: Uniform | Choice, share: Fraction | int) -> Choice:
    if isinstance(entry, Choice):
        return entry
    value = entry.value(entry.low + int(share * (entry.size - 1)))
    return Choice(value, entry.width, _share(entry.width))


@lru_cache(maxsize=1 << 8)
def _share(n: int) -> Fraction:
    return Fraction(1, n)
