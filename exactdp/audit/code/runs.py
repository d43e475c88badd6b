"""One run of a program: it repeats given choices, then makes new ones and notes the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration import MAX_WIDTH, EnumeratingSource
from exactdp.samplers.enumeration_branches import (
    Branch,
    Frontier,
    NotReproducible,
    RunOver,
    Suspended,
)
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = [
    "START",
    "Choice",
    "Inseparable",
    "NotEnumerable",
    "Path",
    "Run",
    "Way",
    "as_data",
    "from_data",
    "repeating",
]

#: A branch waits if another one is this many times more probable.
_PATIENCE = 1 << 12


class NotEnumerable(ExactDPError, TypeError):
    """The program uses randomness in a way that has no exact law here."""


class Inseparable(RunOver):
    """The call that is explored by itself is not independent of its caller."""


class Choice(NamedTuple):
    """One choice of a run: the option taken, the number of options, and its probability.

    instead: (n, path) if the n choices from here on lead to the same result as this path does.
    """

    option: int
    width: int
    share: Fraction
    instead: Any = None


Path = tuple[Choice, ...]


class Way(NamedTuple):
    """Choices that lead somewhere, the probability of getting there, and the number of changes on
    the way, as far as they are counted."""

    path: Path
    weight: Fraction
    changes: int = 0


#: Where a run begins.
START = Way((), Fraction(1))


class Run(EnumeratingSource):
    """The source of randomness of one run.

    way: the choices to repeat. heaviest: the probability of the likeliest branch that waits. ahead:
    the ways through the call that begins with a new choice, if its law is known. repeats_only:
    whether new choices are an error.

    others: the branches not taken. lost: the probability of those that nobody will follow. changes:
    the number of changes until now. hook: a profile hook, which is off while choices are repeated,
    unless these are all. inner: the run of a call that is explored by itself at this moment.
    """

    def __init__(
        self,
        way: Way = START,
        heaviest: Fraction = Fraction(0),
        ahead: Callable[[Run], list[Way] | None] | None = None,
        repeats_only: bool = False,
    ) -> None:
        super().__init__(Branch(None, 0, 0, Fraction(1)), Frontier())
        self._way, self._heaviest = way, heaviest
        self._ahead, self._repeats_only = ahead, repeats_only
        self.path, self.mass, self.step, self.changes = list(way.path), way.weight, 0, 0
        self.others: list[Way] = []
        self.lost = Fraction(0)
        self.hook: Any = None
        self.inner: Run | None = None

    @property
    def repeating(self) -> bool:
        """Whether the next choice is a repeated one."""
        return self._repeats_only or self.step < len(self.path)

    def alive(self) -> None:
        """Raise the signal that has ended the run, or that the run is over."""
        if self.inner is not None:  # a call that is explored looks at a number of its caller
            inner = self.inner
            while inner.inner is not None:
                inner = inner.inner
            inner.stop(Inseparable())
        if self.signal is not None:
            self.stop(self.signal)
        if self._closed:
            self.stop(NotReproducible("a generator was used after the end of its run"))

    def close(self) -> None:
        """End the run; it is an error to have made fewer choices than before."""
        self._closed = True
        if self.step < len(self.path) and self.signal is None:
            self._frontier.signal = NotReproducible(
                f"a run made {self.step} choices where it had made at least {len(self.path)}"
            )

    def choose(self, weights: Sequence[Fraction]) -> int:
        """Branch over options with exact probabilities that sum to 1."""
        chosen = self.branch(len(weights), lambda: weights)
        if self.path[self.step - 1].share != weights[chosen]:
            self.stop(NotReproducible(f"choice {self.step} had other probabilities than before"))
        return chosen

    def branch(self, width: int, make: Callable[[], Sequence[Fraction]]) -> int:
        """Branch over `width` options; make() computes their probabilities when needed."""
        self.alive()
        if self.hook is not None:
            sys.setprofile(None)  # what follows is no work of the program's
        if self.step == len(self.path):
            self._choose_anew(width, make)
        choice = self.path[self.step]
        self.step += 1
        if choice.width != width:
            self.stop(
                NotReproducible(f"choice {self.step} had {choice.width} options and now {width}")
            )
        if self.step == len(self._way.path):
            self.changes = self._way.changes
        if self.hook is not None and (self._repeats_only or self.step == len(self.path)):
            sys.setprofile(self.hook)
        return choice.option

    def _choose_anew(self, width: int, make: Callable[[], Sequence[Fraction]]) -> None:
        """Take the most probable way from here, and note the others."""
        if self._repeats_only:
            self.stop(NotReproducible("a repeated run made more choices than before"))
        if width > MAX_WIDTH:
            self.stop(TooManyBranches(f"a single choice has more than {MAX_WIDTH} options"))
        ways = self._ahead(self) if self._ahead is not None else None
        if ways is None:
            ways = [Way((Choice(i, width, p),), p) for i, p in enumerate(make()) if p]
        else:
            self.lost += self.mass * (1 - sum((way.weight for way in ways), Fraction(0)))
        before = tuple(self.path)
        found = [Way((*before, *w.path), self.mass * w.weight, self.changes) for w in ways]
        first = max(found, key=lambda way: way.weight)
        self.others += [way for way in found if way is not first]
        self.mass = first.weight
        self._heaviest = max([self._heaviest, *(way.weight for way in self.others)])
        if self._heaviest > self.mass * _PATIENCE:
            self.others.append(first)
            self.stop(Suspended())
        self.path[:] = first.path


def as_data(path: Sequence[Choice]) -> list[list[Any]]:
    """A path as JSON data."""
    return [[c.option, c.width, str(c.share)] for c in path]


def from_data(data: Sequence[Sequence[Any]]) -> Path:
    """The path that :func:`as_data` wrote."""
    return tuple(Choice(option, width, Fraction(share)) for option, width, share in data)


def repeating(data: Sequence[Sequence[Any]]) -> Run:
    """A run that repeats a path, given as data, and makes no other choice."""
    return Run(Way(from_data(data), Fraction(1)), repeats_only=True)
