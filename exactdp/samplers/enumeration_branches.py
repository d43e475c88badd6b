"""Choices of a run, the ways that an enumeration follows, and signals that end a run early."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from exactdp.errors import Signal


class Choice(NamedTuple):
    """One choice of a run: the option taken, the number of options, and its probability."""

    option: int
    width: int
    share: Fraction


Path = tuple[Choice, ...]


class Way(NamedTuple):
    """The first choices of a run, and the probability that a run makes these choices."""

    path: Path
    weight: Fraction


#: The start of every run: no choices.
START = Way((), Fraction(1))


class RunOver(Signal):
    """The run has ended. Not an Exception, so that few programs catch it."""


class Suspended(RunOver):
    """The run is suspended; its branch waits among the others."""
