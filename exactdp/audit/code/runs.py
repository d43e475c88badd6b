"""One run of a program: it follows a path of choices, and then takes a new choice at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from exactdp.samplers.enumeration import MAX_WIDTH, EnumeratingSource
from exactdp.samplers.enumeration_branches import Branch, Frontier, NotReproducible
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["Choice", "NewChoices", "Path", "Run"]


class Choice(NamedTuple):
    """One choice of a run: the option taken, the number of options, and its probability."""

    option: int
    width: int
    share: Fraction


Path = tuple[Choice, ...]


class NewChoices(Protocol):
    """What decides which option a run takes at a choice that it has not made before, and perhaps
    at some that follow."""

    def __call__(self, run: Run, options: list[Choice]) -> Path: ...


class Run(EnumeratingSource):
    """The source of randomness of one run.

    path: the choices that it repeats. weight: of these, in the unit of whoever explores. new: takes
    the other choices; None if there may be none. uniforms: the number of lazy numbers drawn so far;
    narrowed: those of which more became known, as often as it did.
    """

    def __init__(self, path: Path, weight: Fraction, new: NewChoices | None) -> None:
        super().__init__(Branch(None, 0, 0, Fraction(1)), Frontier())
        self.path: list[Choice] = list(path)
        self.mass = weight
        self.step = self.uniforms = 0
        self.narrowed: list[Any] = []
        self._new = new

    def alive(self) -> None:
        """Raise the signal that has ended the run, or that the run is over."""
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
        if self.step < len(self.path):
            choice = self.path[self.step]
            self.step += 1
            if choice.width != width:
                self.stop(
                    NotReproducible(
                        f"choice {self.step} had {choice.width} options and now has {width}"
                    )
                )
            return choice.option
        if self._new is None:
            self.stop(NotReproducible("a repeated run made more choices than before"))
        if width > MAX_WIDTH:
            self.stop(TooManyBranches(f"a single choice has more than {MAX_WIDTH} options"))
        options = [Choice(i, width, share) for i, share in enumerate(make()) if share]
        chosen = self._new(self, options)
        self.step += 1
        self.path.extend(chosen)
        return chosen[0].option
