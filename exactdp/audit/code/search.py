"""Where the runs of an exploration take place: all in this process, or each in a fork of its own.

In one process a run may find what an earlier one has left. In forks it cannot: each of them begins
in the present state, at the price of milliseconds for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from fractions import Fraction
from hashlib import sha256
from typing import Any, NamedTuple

from exactdp.audit.code.draws import Draws
from exactdp.audit.code.forks import ProgramRaised, in_fork
from exactdp.audit.code.functions import replace_math
from exactdp.audit.code.outcomes import Outcome
from exactdp.audit.code.program import Program
from exactdp.audit.code.runs import Run, repeating
from exactdp.audit.code.watch import Watch
from exactdp.errors import NotReproducible, TooManyBranches
from exactdp.samplers.enumeration_branches import Path, Suspended, Way
from exactdp.samplers.enumeration_search import Found

#: Paths of ordinary numbers to one leaf, and the digest of its outcome.
Leaf = tuple[list[Path], str]


class Repeated(NamedTuple):
    """How a leaf differs when it is repeated, or None; with what :class:`Watch` saw."""

    differs: str | None
    unknown: dict[str, str]
    named: set[tuple[str, str]]


def _run_once(program: Program, draws: Draws, watched: Any) -> Found:
    """One run, up to its end or until it waits."""
    outcome = None
    with suppress(Suspended):
        outcome = program.observe(draws, watched)
    run = draws.run
    return Found(tuple(run.path), run.mass, run.others, outcome, draws.points)


class InProcess:
    """Runs a program again and again in this process, a forked child.

    lazy: whether numbers are lazy. around: the block in which a run takes place. told: called
    before each run.
    """

    def __init__(
        self,
        program: Program,
        lazy: bool,
        around: Callable[[Run], AbstractContextManager[None]],
    ) -> None:
        self._program, self._around, self._draws = program, around, Draws(Run(), lazy)
        self.tick: Callable[[], object] = int

    def follow(self, way: Way, heaviest: Fraction) -> Found:
        """Run the program along a way, and on."""
        self.tick()
        self._draws.begin(Run(way, heaviest))
        return _run_once(self._program, self._draws, self._around(self._draws.run))


class InForks:
    """Runs a program in forks of this process, each run in a fork of its own.

    lazy: whether numbers are lazy. existing: the generators from which it may not draw. unknown: C
    functions that runs have called and that may keep randomness of their own.
    """

    def __init__(self, program: Program, lazy: bool, existing: Sequence[Any]) -> None:
        self._program, self._lazy, self._existing = program, lazy, existing
        self.unknown: dict[str, str] = {}

    def follow(self, way: Way, heaviest: Fraction) -> Found:
        """Run the program along a way, and on."""
        fields, points, unknown = in_fork(self._run, way, heaviest)
        self.unknown |= unknown
        return Found._make([*fields, lambda: points])

    def _run(self, way: Way, heaviest: Fraction) -> Any:
        """In a child: one run, with the points themselves, and what it has called."""
        watch = Watch(self._existing)
        if self._lazy:
            replace_math()
        result = InProcess(self._program, self._lazy, watch.around).follow(way, heaviest)
        points = result.points() if result.outcome is not None else []
        return result[:-1], points, watch.unknown()


def repeated_alike(program: Program, leaves: Sequence[Leaf], existing: Sequence[Any]) -> Repeated:
    """Repeat some leaves with ordinary numbers."""
    watch = Watch(existing)
    differs = None
    for path, outcome in [(path, expected) for paths, expected in leaves for path in paths]:
        run = repeating(path)
        try:
            if digest(program.observe(Draws(run, lazy=False), watch.around(run))) != outcome:
                differs = "a repeated run showed something else"
        except ProgramRaised:
            differs = "a repeated run raised an exception"
        except (NotReproducible, TooManyBranches) as error:
            differs = str(error)
        if differs is not None:
            break
    return Repeated(differs, watch.unknown(), watch.named)


def digest(outcome: Outcome) -> str:
    """A short text, equal for equal outcomes."""
    return sha256(outcome.key.encode()).hexdigest()[:32]
