"""The branches of a program that an enumeration has still to follow, and how a run ends early."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import NoReturn

from exactdp.errors import ExactDPError

#: A branch waits when another one is so many times heavier.
_PATIENCE = 1 << 12

#: Draws after the end of a run that are answered by an Exception, before something stronger is.
_PATIENT_DRAWS = 100


class NotReproducible(ExactDPError):
    """A program made different choices when it was run again on the same randomness."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One option of one choice, at the end of the choices that lead there."""

    parent: Branch | None
    option: int
    width: int
    weight: Fraction

    def path(self) -> list[tuple[int, int, Fraction]]:
        """The options that lead here, of how many, and how heavy they were."""
        steps: list[tuple[int, int, Fraction]] = []
        branch = self
        while branch.parent is not None:
            steps.append((branch.option, branch.width, branch.weight))
            branch = branch.parent
        return steps[::-1]


class RunOver(BaseException):
    """A run has ended, whatever the program does next: no Exception, so that few catch it."""


class Suspended(RunOver):
    """The run is given up for now; its branch waits at the frontier."""


class Lost(RunOver):
    """What this run would have shown stays unexplored."""


class Again(RunOver):
    """The run is where it was before its first draw: what follows has the law of the whole."""


class Frontier:
    """The branches still to follow, heaviest first, and what ended the run that is under way.

    signal: the first that was raised. A program may swallow it, translate it or lose it in a
    thread; it is looked at when the program is through, and it wins.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Fraction, int, Branch]] = []
        self._ticket = count()
        self.signal: BaseException | None = None
        self._ignored = 0

    def stop(self, signal: BaseException) -> NoReturn:
        """End the run under way; every further draw raises the same again."""
        if self.signal is None:
            self.signal = signal
        self._ignored += 1
        if self._ignored > _PATIENT_DRAWS:  # a loop that goes on until a draw succeeds
            raise RunOver(str(self.signal)) from self.signal
        raise self.signal

    def take_signal(self) -> BaseException | None:
        """What ended the run, which is over now."""
        signal, self.signal, self._ignored = self.signal, None, 0
        return signal

    def push(self, branch: Branch) -> None:
        heappush(self._heap, (-branch.weight, next(self._ticket), branch))

    def pop(self) -> Branch:
        return heappop(self._heap)[2]

    def outweighs(self, branch: Branch) -> bool:
        """Whether some branch left is so much heavier that this one should wait for it."""
        return bool(self._heap) and -self._heap[0][0] > branch.weight * _PATIENCE

    def __bool__(self) -> bool:
        return bool(self._heap)
