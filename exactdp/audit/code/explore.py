"""Every branch of a program followed by running it anew, the most probable branches first.

Runs follow each other in one process, so that a later one may find what an earlier one has left;
:mod:`judge` sees to that. Where a program has too many branches, its functions are explored one by
one: what a call returns becomes a choice of its caller (:mod:`places`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from exactdp.audit.code.draws import Draws, LazyDraws, RealDraws, RecordedDraws
from exactdp.audit.code.forks import ProgramRaised
from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.outcomes import of_error, written
from exactdp.audit.code.places import Activation, Places
from exactdp.audit.code.runs import Choice, Path, Run
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.audit.code.watch import Watch
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration_branches import Again, NotReproducible, RunOver, Suspended
from exactdp.samplers.enumeration_tally import Tally

__all__ = ["INTERFACES", "Explorer", "Leaf", "Runner", "differing", "digest", "repeated"]

INTERFACES: dict[str, Callable[[Draws], Any]] = {
    "random": ExactRandom,
    "numpy": ExactGenerator,
    "source": lambda draws: draws.source,
}

#: A branch waits if another is this many times more probable.
_PATIENCE = 1 << 12
#: Bits of a probability that a function's law is rounded down to; products would grow without end.
_BITS = 128
#: How much less may be left of a function's law than of the law of the program.
_FINER = Fraction(1, 1 << 8)
#: Detours through another round, or another way to a result, that are tried in the end.
_DETOURS = 64


class Returned(RunOver):
    """The run has left the function that is being explored."""


@dataclass(frozen=True)
class Leaf:
    """A run to its end: its choices, the values that its draws may have had, and what it showed."""

    path: Path
    points: list[list[Any]]
    outcome: Any


@dataclass(frozen=True)
class Runner:
    """Runs a program once. catches: whether an exception is an outcome."""

    program: Callable[[Any], Any]
    interface: str
    catches: bool

    def once(self, draws: Draws, watch: Watch) -> Any:
        """What a run shows, as JSON data; errors of the program are ProgramRaised."""
        run = draws.source
        generator = INTERFACES[self.interface](draws)
        # lazy numbers look ahead to where numpy may warn; ordinary ones warn where the program is
        quiet = np.errstate(all="ignore") if isinstance(draws, LazyDraws) else nullcontext()
        value, raised = None, None
        try:
            with quiet:
                watch.begin(run)
                try:
                    value = self.program(generator)
                finally:
                    watch.end()
        except KeyboardInterrupt:
            raise  # the user interrupted the run
        except BaseException as error:
            raised = error
        try:
            if run.signal is None:
                if raised is None:
                    return ["returned", written(value)]
                foreign = isinstance(raised, Exception) and not isinstance(raised, ExactDPError)
                if self.catches and foreign:
                    return ["raised", of_error(raised)]
                raise ProgramRaised(type(raised).__name__, draws.points()[0])
        except RunOver:
            pass
        except ExactDPError as error:
            if run.signal is None:
                raise error
        finally:
            run.close()
        raise run.take_signal() or NotReproducible("a run ended without a reason")


@dataclass
class _Scope:
    """What is being explored: the program (call 0), or one call of a function.

    depth: the number of choices before it. mass: the probability of these within what encloses it.
    paths: to each result, the most probable way; others: one more way.
    """

    depth: int
    call: int
    mass: Fraction
    tally: Tally
    key: Hashable = None
    heap: list[tuple[Fraction, int, Path]] = field(default_factory=list)
    paths: dict[Hashable, Path] = field(default_factory=dict)
    others: dict[Hashable, Path] = field(default_factory=dict)


class Explorer:
    """Follows the branches of one program.

    lazy: with lazy numbers, else ordinary ones, because of a reason. merging: function by function.
    foresees: whether to give up early where the branches look too many.
    """

    def __init__(
        self,
        runner: Runner,
        residual: Fraction,
        max_runs: int,
        lazy: bool,
        reason: str,
        merging: bool,
        foresees: bool = True,
    ) -> None:
        self._runner, self._allowed, self._most = runner, residual, max_runs
        self._lazy, self._reason = lazy and runner.interface != "source", reason
        self.places = Places()
        if merging:
            self.places.returned = self._returned
        self.watch = Watch(self.places)
        self._ticket = count()
        self._scopes = [_Scope(0, 0, Fraction(1), Tally(residual, max_runs, foresees=foresees))]
        self._result: tuple[str | None] | None = None
        self._laws: dict[Hashable, tuple[Fraction, list[tuple[Path, Fraction]]]] = {}
        self._detours: list[tuple[Path, Path]] = []
        self.runs = self.leaves = 0
        self.kept: list[Leaf] = []
        self.stride = 1
        self.outcomes: dict[str, Any] = {}

    def explore(self, most_kept: int, bar: Callable[[], object]) -> Any:
        """The law: data of outcomes with their weights, and the residual."""
        root = self._scopes[0]
        self._push(root, (), Fraction(1))
        while True:
            scope = self._scopes[-1]
            if not scope.heap or scope.tally.enough():
                if scope is root:
                    break
                self._close(self._scopes.pop())
                continue
            weight, _, path = heappop(scope.heap)
            run = Run(path, -weight, self._new)
            self.places.depth = scope.depth
            draws = self._draws(run)
            outcome, ended = None, None
            try:
                outcome = self._runner.once(draws, self.watch)
            except (RunOver, NotReproducible) as signal:
                ended = signal
            self._note(run, draws, outcome, ended)
            self._scopes[-1].tally.check(bool(self._scopes[-1].heap))
            self.runs += 1
            bar()
            if self.runs % self.stride == 0 and len(self.kept) > most_kept:
                self.kept, self.stride = self.kept[::2], 2 * self.stride
        self._try_detours()
        law = root.tally.law()
        return [[self.outcomes[key], weight] for key, weight in law.items()], law.residual

    def _draws(self, run: Run) -> Draws:
        return LazyDraws(run) if self._lazy else RealDraws(run, self._reason)

    def _note(self, run: Run, draws: Draws, outcome: Any, ended: Any) -> None:
        """Count what a run has come to."""
        scope = self._scopes[-1]
        if ended is None:
            if len(self._scopes) > 1:
                raise NotReproducible("a function ended in one run and not in another")
            key = json.dumps(outcome)
            self.leaves += 1
            self.outcomes[key] = outcome
            scope.tally.add(key, run.mass)
            scope.paths.setdefault(key, tuple(run.path))
            if self.runs % self.stride == 0:
                self.kept.append(Leaf(tuple(run.path), self._points(run, draws), outcome))
        elif isinstance(ended, Again):
            scope.tally.renew(run.mass)
            self._detour(tuple(run.path[: scope.depth]), tuple(run.path))
        elif isinstance(ended, Returned):
            (result,) = self._result or (None,)
            key = result if result is not None else f"own {next(self._ticket)}"
            scope.tally.add(key, run.mass)
            known = scope.paths.setdefault(key, tuple(run.path))
            if known is not (path := tuple(run.path)) and known != path:
                scope.others[key] = path
        elif not isinstance(ended, Suspended):
            raise ended

    def _points(self, run: Run, draws: Draws) -> list[list[Any]]:
        if self._runner.interface != "source":
            return draws.points()
        return [[[c.width, c.option, str(c.share)] for c in run.path]]

    def _push(self, scope: _Scope, path: Path, weight: Fraction) -> None:
        heappush(scope.heap, (-weight, next(self._ticket), path))

    def _new(self, run: Run, options: list[Choice]) -> Path:
        """A run comes to a choice that no run has made: it takes the most probable way."""
        ways: list[tuple[Path, Fraction]] = [((choice,), choice.share) for choice in options]
        for call in self.places.stack[1:]:
            if call.mergeable and call.step == run.step and call.number > self._scopes[-1].call:
                known = self._open(run, call)
                if known is not None:
                    ways, left = known, 1 - sum((w for _, w in known), Fraction(0))
                    self._scopes[-1].tally.lose(run.mass * left)
                    break
        scope, path = self._scopes[-1], tuple(run.path)
        first = max(ways, key=lambda way: way[1])
        for way in ways:
            if way is not first:
                self._push(scope, (*path, *way[0]), run.mass * way[1])
        run.mass *= first[1]
        if scope.heap and -scope.heap[0][0] > run.mass * _PATIENCE:
            self._push(scope, (*path, *first[0]), run.mass)
            run.stop(Suspended())
        return first[0]

    # -- function by function --------------------------------------------------------------------

    def _open(self, run: Run, call: Activation) -> list[tuple[Path, Fraction]] | None:
        """A call is about to draw: its law, if an equal call has one; else it is explored now."""
        here = run.mass
        for scope in self._scopes:
            here *= scope.mass
        allowed = self._allowed * _FINER / here if self._allowed else Fraction(1, 1 << 96)
        allowed = min(allowed, Fraction(1, 4))
        key = self.places.law_key(call, run)
        if key is not None and key in self._laws and self._laws[key][0] <= allowed:
            return self._laws[key][1]
        tally = Tally(_rounded(allowed), self._most)
        self._scopes.append(_Scope(len(run.path), call.number, run.mass, tally, key))
        run.mass = Fraction(1)
        return None

    def _returned(self, call: Activation, key: str | None) -> None:
        """A call has ended: if it is being explored, so has the run."""
        scope, run = self._scopes[-1], self.places.run
        if run is not None and call.number == scope.call and call.step == scope.depth < run.step:
            self._result = (key,)
            run.stop(Returned())

    def _close(self, scope: _Scope) -> None:
        """A call has been explored: its results are options of its caller."""
        law = scope.tally.law()
        found = [(scope.paths[key][scope.depth :], _rounded(w)) for key, w in law.items()]
        if scope.key is not None and all(not str(key).startswith("own") for key in law):
            self._laws[scope.key] = law.residual, found
        start = next(iter(scope.paths.values()))[: scope.depth]
        outer, left = self._scopes[-1], Fraction(1)
        for path, weight in found:
            self._push(outer, (*start, *path), scope.mass * weight)
            left -= weight
        outer.tally.lose(scope.mass * left)
        for key, other in scope.others.items():
            self._detour(scope.paths[key], other)

    # -- the other ways --------------------------------------------------------------------------

    def _detour(self, way: Path, other: Path) -> None:
        if len(self._detours) < 16 * _DETOURS:
            self._detours.append((way, other))

    def _detoured(self) -> Iterator[tuple[Path, Any]]:
        """Paths of whole runs through other ways, and what they should show."""
        for i, (way, other) in enumerate(self._detours[:: max(1, len(self._detours) // _DETOURS)]):
            leaves = [leaf for leaf in self.kept if leaf.path[: len(way)] == way]
            if leaves:
                leaf = leaves[i % len(leaves)]
                yield (*other, *leaf.path[len(way) :]), leaf.outcome

    def _try_detours(self) -> None:
        self.places.returned, self.places.depth = None, -1
        for path, outcome in self._detoured():
            run = Run(path, Fraction(1), None)
            if self._runner.once(self._draws(run), self.watch) != outcome:
                raise NotReproducible("what follows a loop depends on how often it was run")


def _rounded(weight: Fraction) -> Fraction:
    unit = 1 << _BITS
    return weight if weight.denominator <= unit else Fraction(math.floor(weight * unit), unit)


def digest(outcome: Any) -> str:
    """A short text, equal for equal outcomes."""
    return hashlib.sha256(json.dumps(outcome).encode()).hexdigest()[:32]


def repeated(runner: Runner, watch: Watch, point: list[Any]) -> Any:
    """What a run shows with ordinary numbers that were drawn before."""
    if runner.interface == "source":
        run = Run(tuple(Choice(o, w, Fraction(s)) for w, o, s in point), Fraction(1), None)
        return runner.once(RealDraws(run, ""), watch)
    draws = RecordedDraws(Run((), Fraction(1), None), point)
    shown = runner.once(draws, watch)
    if not draws.used_up:
        raise NotReproducible("a repeated run drew less than before")
    return shown


def differing(runner: Runner, leaves: list[Any], most: int | None = None) -> str | None:
    """How one of the leaves differs from what it was, or None; most: runs for each of them."""
    watch = Watch(Places())
    for points, outcome in leaves:
        for point in points[:most]:
            try:
                shown = digest(repeated(runner, watch, point))
            except ProgramRaised:
                return "a repeated run raised an exception"
            except (NotReproducible, NotEnumerable) as error:
                return str(error)
            if shown != outcome:
                return "a repeated run showed something else"
    return None
