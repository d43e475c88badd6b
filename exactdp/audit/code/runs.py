"""One run of a program: a source that tells when a number is about to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration import EnumeratingSource
from exactdp.samplers.enumeration_branches import START, NotReproducible, Path, Way


class NotEnumerable(ExactDPError, TypeError):
    """The program uses randomness in a way that has no exact law here."""


class Run(EnumeratingSource):
    """One run of a program, which may find the law of a call instead of following it.

    before_draw: told before every number is drawn. lost: probability of the branches of calls that
    their laws leave out. present: gives the run under way. Other parameters: as for
    EnumeratingSource.
    """

    def __init__(
        self,
        way: Way = START,
        heaviest: Fraction = Fraction(0),
        before_draw: Callable[[Run], None] | None = None,
        *,
        repeats: bool = False,
    ) -> None:
        super().__init__(way, heaviest, repeats=repeats)
        self.lost = Fraction(0)
        self.present: Callable[[], Run] = lambda: self
        self._before_draw = before_draw

    def require_open(self) -> None:
        """Stop the present run if a number of this one is used after its end."""
        if self._closed:
            self.present().stop(NotReproducible("a number that another run has drawn was used"))

    @property
    def repeating(self) -> bool:
        """Whether the next choice is a repeated one."""
        return self._repeats or self.step < len(self.path)

    def draw(self) -> None:
        """A number is about to be drawn."""
        self.alive()
        if self._before_draw is not None:
            self._before_draw(self)

    def take_law(self, ways: Sequence[Way]) -> None:
        """Take one of the ways through a call."""
        self.lost += self.mass * (1 - sum((way.weight for way in ways), Fraction(0)))
        self.take(ways)


def repeating(path: Path) -> Run:
    """A run that repeats a path, and makes no other choice."""
    return Run(Way(path, Fraction(1)), repeats=True)
