"""Where the runs of an exploration take place: all in this process, or each in a fork of its own.

In one process a run may find what an earlier one has left. In forks it cannot: each of them begins
in the present state, at the price of milliseconds for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from json import dumps
from typing import Any

from exactdp.audit.code.draws import Draws, LazyDraws, RealDraws
from exactdp.audit.code.forks import ProgramRaised, in_fork
from exactdp.audit.code.functions import Functions
from exactdp.audit.code.guard import Guard, Guarded
from exactdp.audit.code.program import Program
from exactdp.audit.code.runs import NotEnumerable, Run, as_data, from_data, repeating
from exactdp.audit.code.watch import Watch
from exactdp.samplers.enumeration_branches import Again, NotReproducible, Suspended, Way
from exactdp.samplers.enumeration_search import Found
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["InForks", "InProcess", "Seen", "digest", "repeated"]

#: What was seen in runs: unknown C functions, and variables of modules that the program names.
Seen = list[Any]


def _found(program: Program, draws: Draws, watched: Any) -> Found:
    """One run, up to its end or until it waits."""
    outcome, again = None, False
    try:
        outcome = dumps(program.shown(draws, watched))
    except (Again, Suspended) as signal:
        again = isinstance(signal, Again)
    run = draws.run
    return Found(tuple(run.path), run.mass, run.others, run.lost, again, outcome, draws.points)


class InProcess:
    """Runs a program again and again in this process, a forked child.

    lazy: whether numbers are lazy. separately: the residual and the largest number of runs, if
    calls are explored by themselves. told: of each run.
    """

    def __init__(
        self,
        program: Program,
        lazy: bool,
        existing: Sequence[Any],
        separately: tuple[Fraction, int] | None,
    ) -> None:
        self._program = program
        self.guard = Guard(existing)
        self._draws: Draws = LazyDraws(Run()) if lazy else RealDraws(Run())
        self.functions = Functions(self._follow_call, *separately) if separately else None
        self.told: Callable[[], object] = int

    def follow(self, way: Way, heaviest: Fraction) -> Found:
        """Run the program along a way, and on."""
        self._begin(way, heaviest)
        return _found(self._program, self._draws, Guarded(self.guard, self._draws.run, None))

    def _follow_call(self, call: Any, way: Way, heaviest: Fraction) -> Found:
        """Run a call of the program, which draws from the generator that it has."""
        outer = self._begin(way, heaviest)
        try:
            program = Program(call, self._program.interface, catches=False)
            watched = Guarded(self.guard, self._draws.run, None)
            return _found(program, self._draws, watched)
        finally:
            self._draws.begin(*outer)

    def _begin(self, way: Way, heaviest: Fraction) -> Any:
        """A run begins: what draws was before."""
        self.told()
        if self.functions is None:
            return self._draws.begin(Run(way, heaviest))
        self.functions.begin()
        return self._draws.begin(Run(way, heaviest, self.functions.before_draw))


class _Watched:
    """Runs in this process, a forked child or a fresh interpreter, that are watched.

    existing: the generators from which it may not draw.
    """

    def __init__(self, existing: Sequence[Any]) -> None:
        self._guard = Guard(existing)
        self._watch = Watch(self._guard)

    def around(self, run: Run) -> Guarded:
        """A block in which a run is watched."""
        return Guarded(self._guard, run, self._watch.see)

    def seen(self) -> Seen:
        """What was seen; raises NotEnumerable if a generator was drawn from."""
        if reason := self._guard.drawn():
            raise NotEnumerable(reason)
        return [self._watch.unknown, {k: sorted(v) for k, v in self._watch.named.items()}]


class InForks:
    """Runs a program in forks of this process, each run in a fork of its own.

    lazy: whether numbers are lazy. existing: as for Watched. seen: what was seen in all runs.
    """

    def __init__(self, program: Program, lazy: bool, existing: Sequence[Any]) -> None:
        self._program, self._lazy, self._existing = program, lazy, existing
        self.seen: list[Seen] = []

    def follow(self, way: Way, heaviest: Fraction) -> Found:
        """Run the program along a way, and on."""
        answer = in_fork(self._run, way, heaviest)
        self.seen.append(answer["seen"])
        others = [Way(from_data(path), Fraction(weight)) for path, weight in answer["others"]]
        path, mass = from_data(answer["path"]), Fraction(answer["mass"])
        return Found(
            path, mass, others, Fraction(0), False, answer["outcome"], lambda: answer["points"]
        )

    def _run(self, way: Way, heaviest: Fraction) -> Any:
        """In a child: one run as JSON data."""
        run, watched = Run(way, heaviest), _Watched(self._existing)
        draws = LazyDraws(run) if self._lazy else RealDraws(run)
        found = _found(self._program, draws, watched.around(run))
        return {
            "path": as_data(found.path),
            "mass": str(found.mass),
            "others": [[as_data(way.path), str(way.weight)] for way in found.others],
            "outcome": found.outcome,
            "points": found.points() if found.outcome is not None else [],
            "seen": watched.seen(),
        }


def repeated(
    program: Program, leaves: Sequence[Any], existing: Sequence[Any]
) -> tuple[str | None, Seen]:
    """How one of some leaves differs when it is repeated with ordinary numbers, or None.

    leaves: paths to each, and the digest of what it showed.
    """
    watched = _Watched(existing)
    for paths, outcome in leaves:
        for path in paths:
            run = repeating(path)
            try:
                shown = digest(dumps(program.shown(RealDraws(run), watched.around(run))))
            except ProgramRaised:
                return "a repeated run raised an exception", watched.seen()
            except (NotReproducible, TooManyBranches) as error:
                return str(error), watched.seen()
            if shown != outcome:
                return "a repeated run showed something else", watched.seen()
    return None, watched.seen()


def digest(text: str) -> str:
    """A short text, equal for equal texts."""
    return sha256(text.encode()).hexdigest()[:32]
