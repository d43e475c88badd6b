"""One run of a program: it repeats given choices, then makes new ones and notes the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration import MAX_WIDTH, EnumeratingSource
from exactdp.samplers.enumeration_branches import (
    Branch,
    Frontier,
    NotReproducible,
    Suspended,
)
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = [
    "START",
    "Choice",
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


class Choice(NamedTuple):
    """One choice of a run: the option taken, the number of options, and its probability."""

    option: int
    width: int
    share: Fraction


Path = tuple[Choice, ...]


class Way(NamedTuple):
    """Choices that lead somewhere, and the probability of getting there."""

    path: Path
    weight: Fraction


#: Where a run begins.
START = Way((), Fraction(1))


class Run(EnumeratingSource):
    """The source of randomness of one run.

    way: the choices to repeat. heaviest: the probability of the likeliest branch that waits.
    before_draw: told of draws. repeats_only: whether new choices are an error.

    others: branches to explore later. lost: probability of the branches that are left out.
    """

    def __init__(
        self,
        way: Way = START,
        heaviest: Fraction = Fraction(0),
        before_draw: Callable[[Run], None] | None = None,
        repeats_only: bool = False,
    ) -> None:
        super().__init__(Branch(None, 0, 0, Fraction(1)), Frontier())
        self.path, self.mass, self.step = list(way.path), way.weight, 0
        self.others: list[Way] = []
        self.lost = Fraction(0)
        self._heaviest, self._before_draw, self._repeats_only = heaviest, before_draw, repeats_only

    @property
    def repeating(self) -> bool:
        """Whether the next choice is a repeated one."""
        return self._repeats_only or self.step < len(self.path)

    def alive(self) -> None:
        """Raise the signal that has ended the run, or that the run is over."""
        if self.signal is not None:
            self.stop(self.signal)
        if self._closed:
            self.stop(NotReproducible("a generator was used after the end of its run"))

    def draw(self) -> None:
        """A number is about to be drawn."""
        self.alive()
        if self._before_draw is not None:
            self._before_draw(self)

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
        if self.step == len(self.path):
            if self._repeats_only:
                self.stop(NotReproducible("a repeated run made more choices than before"))
            if width > MAX_WIDTH:
                self.stop(TooManyBranches(f"a single choice has more than {MAX_WIDTH} options"))
            self.take([Way((Choice(i, width, p),), p) for i, p in enumerate(make()) if p])
        choice = self.path[self.step]
        self.step += 1
        if choice.width != width:
            self.stop(
                NotReproducible(f"choice {self.step} had {choice.width} options and now {width}")
            )
        return choice.option

    def take(self, ways: Sequence[Way]) -> None:
        """Take the most probable of the ways from here, and note the others."""
        before = tuple(self.path)
        found = [Way((*before, *way.path), self.mass * way.weight) for way in ways]
        first = max(found, key=lambda way: way.weight)
        self.others += [way for way in found if way is not first]
        self.lost += self.mass - sum((way.weight for way in found), Fraction(0))
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
