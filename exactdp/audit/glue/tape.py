"""The tape: noise calls of a run, recorded once and replayed on the neighbouring data set."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from exactdp.errors import Signal

#: Taken before the stand-ins are in place.
_GENERATOR, _PYTHON = np.random.Generator, random.Random
_ROOM = str(Path(__file__).parent)


class Diverged(Signal):
    """The second run left the path of the first: ends the run, whatever the pipeline catches."""

    def __init__(self, kind: str, where: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.where, self.text = kind, where, text


@dataclass(eq=False)
class Meeting:
    """An operation of noise with a value that is not noise.

    kind: "add" (the value is noised), "compare" (noise is compared with the value), or the name of
    another operation. ids: which noise values take part. value: the other operand. result: what the
    operation returned in the first run. added: where values were added to the noise before. known:
    the noise still has the law of its draw, up to factors. divides: the factor is a divisor.
    differs: the values of the two runs differ, as their comparison finds.
    """

    kind: str
    where: str
    ids: np.ndarray[Any, Any]
    value: np.ndarray[Any, Any]
    result: np.ndarray[Any, Any]
    added: frozenset[Meeting]
    known: bool
    divides: bool = False
    differs: bool = False

    @property
    def fresh(self) -> bool:
        """Whether the noise protects no value that differs yet."""
        return is_bare(self.added)


def is_bare(added: frozenset[Meeting]) -> bool:
    """Whether all values that were added to noise are the same in both runs."""
    return not any(each.differs for each in added)


class Exposed(NamedTuple):
    """Where noise reached the output, or met what it had noised. draws: which noise values.

    added: the values that were added to it before. beside: those of what it met, or None.
    """

    where: str
    draws: frozenset[int]
    added: frozenset[Meeting]
    beside: frozenset[Meeting] | None = None

    @property
    def shows(self) -> bool:
        """Whether noise itself is shown there, or taken off from a value that it protects."""
        return is_bare(self.added) and (self.beside is None or not is_bare(self.beside))


@dataclass
class RecordedCall:
    """One noise call of a run.

    exposed: see Exposed. left: where noise became a plain number.
    coin: a draw that is used for sampling or for noise (uniform numbers, for example). values: the
    draws. parameters: those of the law, without its location. meetings: see Meeting. lost: where
    noise became a plain number before it met a value; doubtful: after it met zeros only.
    For a primitive, value is what entered, declared its sensitivity, output what it returned.
    """

    name: str
    where: str
    coin: bool = False
    values: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)
    meetings: list[Meeting] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    left: list[Exposed] = field(default_factory=list)
    exposed: list[Exposed] = field(default_factory=list)
    value: Any = None
    declared: Any = None
    norm: str | None = None
    epsilon: Any = None
    primitive: bool = False
    output: Any = None
    before: RecordedCall | None = None  # the same call of the first run
    resized: bool = False  # coins of another number in the second run


class Tape:
    """The calls of one run. recorded: the tape of the first run, whose results are replayed."""

    def __init__(self, seed: int, recorded: Tape | None = None) -> None:
        self.seed = seed
        self.recorded = recorded
        self.calls: list[RecordedCall] = []
        self.coins: list[RecordedCall] = []
        self.notes: list[str] = []
        self.seeds: list[tuple[str, Any]] = []  # where a generator was seeded, and by what
        self.inside = 0  # a primitive is running: its own draws are not recorded
        self._plain = 0

    def generator(self, kind: int, number: int) -> np.random.Generator:
        """The generator of one draw: equal in both runs, whatever was drawn before."""
        return _GENERATOR(np.random.PCG64([self.seed, kind, number]))

    def plain(self) -> np.random.Generator:
        """The generator of a draw that is not recorded."""
        self._plain += 1
        return self.generator(2 + self.inside, self._plain)

    def python(self) -> random.Random:
        """A generator of the module random for a draw that is not recorded."""
        return _PYTHON(int(self.plain().integers(2**63)))

    def seeded(self, *seed: Any) -> None:
        """Note the seed of a generator; it is not used.

        Objects may hold fresh randomness, and a seed may be drawn after coins, whose number may
        depend on the rows. Both are allowed.
        """
        plain = seed and isinstance(seed[0], (int, float, str, bytes, list, tuple, np.ndarray))
        if plain and not self.inside and not self.coins:
            self.seeds.append((place(), seed[0]))

    def begin(self, call: RecordedCall) -> RecordedCall | None:
        """Add a call; returns the same call of the first run, if this is the second."""
        mine = self.coins if call.coin else self.calls
        mine.append(call)
        if self.recorded is None:
            return None
        theirs = self.recorded.coins if call.coin else self.recorded.calls
        number = len(mine) - 1
        if call.coin:
            return theirs[number] if number < len(theirs) else None
        if number >= len(theirs):
            text = f"noise call {number + 1} is made on the right only: {call.name}"
            raise Diverged("structure", call.where, text)
        before = theirs[number]
        if (before.name, before.where) != (call.name, call.where):
            text = (
                f"noise call {number + 1} is {before.name} at {before.where} on the left, "
                f"{call.name} on the right"
            )
            raise Diverged("structure", call.where, text)
        return before

    def finish(self) -> None:
        """Compare the number of calls at the end of the second run."""
        if self.recorded is None or len(self.calls) == len(self.recorded.calls):
            return
        missing = self.recorded.calls[len(self.calls)]
        raise Diverged(
            "structure",
            missing.where,
            f"noise call {len(self.calls) + 1} is made on the left only: {missing.name}",
        )

    def through(self, call: RecordedCall, run: Callable[[], Any], look: Callable[..., None]) -> Any:
        """Run a primitive, or return a copy of what it returned in the first run."""
        before = self.begin(call)
        if before is None:
            self.inside += 1
            look()
            try:
                call.output = run()
            finally:
                self.inside -= 1
                look(allowed=True)
        else:
            call.output = before.output
        return deepcopy(call.output)


@dataclass
class Session:
    """The tape that is running, and how to look at generators without a stand-in."""

    tape: Tape
    look: Callable[..., None] = lambda **options: None


#: What replaces the attribute of a module or class while a pipeline is recorded.
Replacements = list[tuple[Any, str, Any]]


@contextmanager
def replaced(replacements: Replacements) -> Iterator[None]:
    """Put the replacements in place, and what was there back at the end."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replacements]
    try:
        for owner, name, new in replacements:
            setattr(owner, name, new)
        yield
    finally:
        for owner, name, old in before:
            setattr(owner, name, old)


def place() -> str:
    """File and line of the pipeline: the nearest frame outside this room, numpy and pandas."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_ROOM, "<__array")) and not _library(name):
            break
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    return f"{path.name}:{frame.f_lineno}"


def place_of(error: BaseException) -> str:
    """File and line of the pipeline where an error was raised."""
    where = "pipeline"
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith(_ROOM) and not _library(name):
            where = f"{Path(name).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _library(name: str) -> bool:
    return name == random.__file__ or any(
        f"/site-packages/{library}/" in name for library in ("numpy", "pandas", "scipy")
    )
