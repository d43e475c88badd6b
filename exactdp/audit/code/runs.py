"""One run of a program: a source that knows when the run has ended."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp.errors import NotReproducible
from exactdp.samplers.enumeration import EnumeratingSource
from exactdp.samplers.enumeration_branches import START, Path, RunOver, Way


class NeverEnds(RunOver):
    """The run is one that never ends, which its outcome says.

    later: whether an earlier call of the same run has shown an outcome.
    """

    later = False


class Run(EnumeratingSource):
    """One run of a program.

    present: returns the run that is under way. Parameters: as for EnumeratingSource.
    """

    def __init__(
        self, way: Way = START, heaviest: Fraction = Fraction(0), *, repeats: bool = False
    ) -> None:
        super().__init__(way, heaviest, repeats=repeats)
        self.present: Callable[[], Run] = lambda: self

    def require_open(self) -> None:
        """Stop the present run if a number of this one is used after its end."""
        if self._closed:
            self.present().stop(NotReproducible("a number that another run has drawn was used"))

    @property
    def repeating(self) -> bool:
        """Whether the next choice is a repeated one."""
        return self._repeats or self.step < len(self.path)

    def draw(self) -> None:
        """Called before a number is drawn."""
        self.alive()


def repeating(path: Path) -> Run:
    """A run that repeats a path, and makes no other choice."""
    return Run(Way(path, Fraction(1)), repeats=True)
