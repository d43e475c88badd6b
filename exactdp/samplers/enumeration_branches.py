"""The branches that an enumeration still has to follow, and signals that end a run early."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import NoReturn

from exactdp.errors import ExactDPError

#: A branch waits if another branch is this many times more probable.
_PATIENCE = 1 << 12

#: Draws after the end of a run that raise an Exception; further draws raise a BaseException.
_PATIENT_DRAWS = 100


class NotReproducible(ExactDPError):
    """A program made other choices, or gave another result, on the same randomness."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One option of one choice, at the end of the choices that lead there."""

    parent: Branch | None
    option: int
    width: int
    weight: Fraction

    def path(self) -> list[tuple[int, int, Fraction]]:
        """The choices that lead here: (option, number of options, probability) of each."""
        steps: list[tuple[int, int, Fraction]] = []
        branch = self
        while branch.parent is not None:
            steps.append((branch.option, branch.width, branch.weight))
            branch = branch.parent
        return steps[::-1]


class RunOver(BaseException):
    """The run has ended. Not an Exception, so that few programs catch it."""


class Suspended(RunOver):
    """The run is suspended; its branch waits at the frontier."""


class Again(RunOver):
    """The program is back in its initial state, so the rest has the law of the whole program."""


class Frontier:
    """The branches still to follow, most probable first, and the signal that ended the current run.

    signal: the first signal that was raised. It decides, even if the program caught it, replaced
    it, or lost it in a thread.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Fraction, int, Branch]] = []
        self._ticket = count()
        self.signal: BaseException | None = None
        self._ignored = 0

    def stop(self, signal: BaseException) -> NoReturn:
        """End the current run; every further draw raises the signal again."""
        if self.signal is None:
            self.signal = signal
        self._ignored += 1
        if self._ignored > _PATIENT_DRAWS:  # a loop that goes on until a draw succeeds
            raise RunOver(str(self.signal)) from self.signal
        raise self.signal

    def take_signal(self) -> BaseException | None:
        """Return and clear the signal that ended the run, or None."""
        signal, self.signal, self._ignored = self.signal, None, 0
        return signal

    def push(self, branch: Branch) -> None:
        heappush(self._heap, (-branch.weight, next(self._ticket), branch))

    def pop(self) -> Branch:
        return heappop(self._heap)[2]

    def outweighs(self, branch: Branch) -> bool:
        """Whether another branch is so much more probable that this branch should wait."""
        return bool(self._heap) and -self._heap[0][0] > branch.weight * _PATIENCE

    def __bool__(self) -> bool:
        return bool(self._heap)
