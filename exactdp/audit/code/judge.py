"""The law of one call of a program from the present state, with forks as the judge.

1. All branches are explored in one forked child: the state of this process stays as it is.
2. Runs are repeated in forks of this process, a share in each fork, in the opposite order, with
   ordinary numbers. If one run leaves something that changes a later one (a memo, a counter, a
   default that grows), a repeated run differs. What changes only runs that never come first in a
   fork is missed.
3. If a run differs, each run gets a fork of its own, where it finds nothing of another run.
4. Runs are repeated in fresh interpreters, if the program can be sent there (:mod:`fresh`).
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from exactdp.audit.code.draws import Draws
from exactdp.audit.code.forks import ProgramRaised, in_fork
from exactdp.audit.code.fresh import in_fresh_interpreters
from exactdp.audit.code.functions import replace_math
from exactdp.audit.code.guard import Guard
from exactdp.audit.code.outcomes import Outcome
from exactdp.audit.code.program import INTERFACES, Program
from exactdp.audit.code.runs import repeating
from exactdp.audit.code.search import InForks, InProcess, Leaf, digest, repeated_alike
from exactdp.audit.randomness import generators
from exactdp.errors import NotEnumerable, NotReproducible, TooManyBranches
from exactdp.law import Law
from exactdp.parameters import Real, choice, positive, rational
from exactdp.samplers.enumeration_branches import Path
from exactdp.samplers.enumeration_search import Explorer

#: Time after which the search for a law, or for a verdict, is given up.
SECONDS = 600
#: Seconds that a run may take beyond that time until its process is ended.
_GRACE = 5.0
#: Most leaves that are repeated; of more leaves, every second, fourth, ... one is repeated.
_MOST_REPEATED = 2_000
#: Number of forks that repeat runs, each of which takes 3 to 9 ms; leaves per additional fork.
_FORKS, _LEAVES_OF_A_FORK = 4, 256
#: Up to this number of leaves, each leaf has a fork in which it comes first.
_FEW = 8
#: Least number of runs in one of these forks: noise of one bit agrees in all of them with
#: probability 2^-16.
_LEAST_RUNS = 16
#: Runs that are tried although an estimate says they will not suffice; they take about 30 s.
_MOST_UNFORESEEN = 1 << 15
#: Most runs that have a fork each; how many of these runs are repeated.
_MOST_FORKS, _ALONE = 2_000, 16


@dataclass(frozen=True)
class Evidence:
    """How a law was found.

    draws: whether a run drew a number. runs: number of runs to their end. repeated: number of them
    that were repeated. forked: whether each run had a fork of its own. sent: number of fresh
    interpreters in which runs were repeated, too; reason: why it is 0. states: number of states of
    the program's text that were followed, if it was read; the runs are then examples.
    """

    draws: bool
    runs: int
    repeated: int
    forked: bool
    sent: int = 0
    reason: str = ""
    states: int = 0

    def __str__(self) -> str:
        share = "all" if self.repeated >= self.runs else f"{self.repeated}"
        how = ", each in a fork of its own" if self.forked else ""
        sent = f"{self.sent} fresh interpreters agree" if self.sent else f"not sent: {self.reason}"
        if self.states:
            return f"{self.states} states of the program's text, {share} runs repeated; {sent}"
        return f"{self.runs} runs{how}, {share} repeated; {sent}"


class Judged(NamedTuple):
    """A law and how it was found.

    leaves: the runs to be repeated. why_no_law: None, or the error if a run drew from a generator
    that was there before it; the law then leaves out what that generator may return.
    """

    law: Law[Outcome]
    evidence: Evidence
    leaves: list[Leaf]
    why_no_law: str | None = None

    @classmethod
    def by(cls, explorer: Explorer, forked: bool, reason: str | None = None) -> Judged:
        """The law that an explorer has found, with its evidence and its leaves."""
        leaves = [(points, digest(outcome)) for points, outcome in explorer.kept]
        draws = any(path for paths, _ in leaves for path in paths)
        evidence = Evidence(draws, explorer.leaves, len(leaves), forked)
        return cls(explorer.tally.law(), evidence, leaves, reason)


class Judge:
    """Finds the law of one program after the other; parameters as for foreign_law."""

    def __init__(
        self,
        interface: str,
        residual: Real,
        max_runs: int,
        exceptions: str,
        progress: bool,
        seconds: Real,
    ) -> None:
        self.interface = choice("interface", interface, tuple(INTERFACES))
        self._catches = choice("exceptions", exceptions, ("raise", "outcome")) == "outcome"
        self.residual, self._seconds = rational("residual", residual), positive("seconds", seconds)
        self.unread = ""
        self._most, self._progress, self._existing = max_runs, progress, generators()

    def law(self, function: Callable[[Any], Any], residual: Fraction | None = None) -> Judged:
        """The law of one call of a program; raises as foreign_law does.

        residual: if not the judge's own.
        """
        self._left_open = self.residual if residual is None else residual
        self.program = Program(function, self.interface, self._catches)
        self._unknown: dict[str, str] = {}
        begun = time.monotonic()
        self._until = self.deadline()
        judged = self._find_law()
        seconds = time.monotonic() - begun
        forked = judged.evidence.forked
        sent, reason = in_fresh_interpreters(self.program, judged.leaves, forked, seconds)
        return judged._replace(evidence=replace(judged.evidence, sent=sent, reason=reason))

    def deadline(self) -> float:
        """When a law that is sought from now on is given up, by time.monotonic()."""
        return time.monotonic() + float(self._seconds)

    def bar(self, what: str) -> Any:
        """A block with a progress bar, or with None."""
        if not (self._progress and sys.stderr.isatty()):
            return nullcontext()
        import tqdm  # not by every child

        return tqdm.tqdm(desc=what, delay=1)

    def confirm(
        self, function: Callable[[Any], Any], runs: list[tuple[Path, Any]], states: int
    ) -> Evidence | None:
        """The evidence for a law that was read: runs with given draws must return what was read.

        None if a run of the program returns something else.
        """
        self.program, self._unknown = Program(function, self.interface, self._catches), {}
        leaves = [([path], digest(Outcome.returned(value))) for path, value in runs]
        evidence = Evidence(any(path for path, _ in runs), len(runs), len(runs), False)
        begun = time.monotonic()
        if not leaves or self._differ(Judged(Law({}, 1), evidence, leaves)):
            return None
        seconds = time.monotonic() - begun
        sent, reason = in_fresh_interpreters(self.program, leaves, False, seconds)
        return replace(evidence, sent=sent, reason=reason, states=states)

    def _find_law(self) -> Judged:
        """The law by the first of four ways whose runs can be repeated.

        All runs in one process; then, in case they depend on each other, each in a fork of its own.
        First with lazy numbers, of which comparisons need few branches, then with ordinary ones.
        """
        kinds = (False,) if self.program.interface == "source" else (True, False)
        depends = False
        for alone, lazy in product((False, True), kinds):
            if alone:
                self._refuse_unknown()
            try:
                judged = (self._in_forks if alone else self._with_few_branches)(lazy)
            except NotReproducible:
                depends = True
                continue
            except (NotEnumerable, TooManyBranches):
                if lazy == kinds[0] or not depends:
                    raise  # else ordinary numbers were tried only because runs differ
                continue
            except ProgramRaised as error:
                if (raised := in_fork(_raised, self.program, error)) is not None:
                    raise _rebuild(*raised) from None
                continue
            if alone:
                self._refuse_unknown()
            if not self._differ(judged):
                if judged.why_no_law:
                    raise NotEnumerable(judged.why_no_law)
                return judged
            depends = True
        raise NotReproducible(
            "two runs from one state with the same draws differ: the program has randomness, or a "
            "clock, beside the generator that it is handed; draw from that generator, and pass the "
            "time as data"
        )

    def _with_few_branches(self, lazy: bool) -> Judged:
        """The law by exploring the program in one process.

        An estimate gives up early where it expects too many branches; it errs for finite programs.
        """
        try:
            return self._in_a_child(lazy, True, self._most)
        except TooManyBranches:
            if time.monotonic() > self._until:
                raise
        try:
            return self._in_a_child(lazy, False, min(self._most, _MOST_UNFORESEEN))
        except TooManyBranches as error:
            raise TooManyBranches(
                f"{error}; allow a larger residual=, or pass data with fewer or smaller values, or "
                f"noise with fewer choices{self.unread}"
            ) from None

    def _in_a_child(self, lazy: bool, foresees: bool, most: int) -> Judged:
        judged: Judged = in_fork(
            self._explore, lazy, foresees, most, seconds=float(self._seconds) + _GRACE
        )
        return judged

    def _explore(self, lazy: bool, foresees: bool, most: int) -> Judged:
        """In a child: the law, and the leaves to be repeated."""
        guard = Guard(self._existing)
        if lazy:
            replace_math()
        process = InProcess(self.program, lazy, guard.around)
        explorer = Explorer(
            process.follow,
            self._left_open,
            most,
            foresees=foresees,
            most_kept=_MOST_REPEATED,
            until=self._until,
        )
        with self.bar("branches") as progress_bar:
            process.tick = int if progress_bar is None else progress_bar.update
            explorer.explore()
        return Judged.by(explorer, False, guard.why_no_law())

    def _in_forks(self, lazy: bool) -> Judged:
        """The law by exploring with a fork for each run."""
        forks = InForks(self.program, lazy, self._existing)
        kept = _MOST_REPEATED if lazy else _ALONE  # a lazy number may differ in a single leaf
        explorer = Explorer(
            forks.follow, self._left_open, _MOST_FORKS, most_kept=kept, until=self._until
        )
        try:
            explorer.explore()
        except TooManyBranches as error:
            raise TooManyBranches(
                "calls of the program depend on each other, so each of its branches needs a "
                f"process of its own, and {error}; keep nothing that a call has drawn from one "
                "call to the next, or build the object inside the run (make=)"
            ) from None
        finally:
            self._unknown |= forks.unknown
        return Judged.by(explorer, True)

    def _differ(self, judged: Judged) -> bool:
        """Whether a run shows something else when its share is repeated in a fork."""
        for share in _shares(judged):
            again = in_fork(
                repeated_alike,
                self.program,
                share,
                self._existing,
                seconds=float(self._seconds) + _GRACE,
            )
            self._unknown |= again.unknown
            if again.differs is not None:
                return True
        return False

    def _refuse_unknown(self) -> None:
        if self._unknown:
            called = ", ".join(f"{name} {place}" for name, place in self._unknown.items())
            raise NotEnumerable(
                f"runs differ from call to call, and the program calls {called}, which may keep "
                "randomness of its own; draw from the generator that is handed over"
            )


def _shares(judged: Judged) -> list[list[Leaf]]:
    """The leaves that each fork repeats, in reversed order, with its first leaf again at the end.

    A fork with few leaves repeats them several times, because a clock may agree once or twice. The
    first fork begins with the lowest numbers, the second one with the highest. Where runs depend on
    each other, every run has a fork of its own.
    """
    leaves = judged.leaves
    if judged.evidence.forked:
        return [[(paths[:1], expected)] for paths, expected in leaves] * -(-_ALONE // len(leaves))
    forks = len(leaves) if len(leaves) <= _FEW else _FORKS + len(leaves) // _LEAVES_OF_A_FORK
    shares = [
        [(paths[i % len(paths) :] + paths[: i % len(paths)], expected) for paths, expected in part]
        for i, part in enumerate(_rotated(leaves[i::forks], i / forks) for i in range(forks))
    ]
    return [share * (1 + _LEAST_RUNS // len(share)) + share[:1] for share in shares]


def _rotated(leaves: list[Leaf], share: float) -> list[Leaf]:
    """Reversed leaves, rotated so that each fork begins elsewhere.

    The first and the last leaf often agree by chance.
    """
    start = int(share * len(leaves))
    return leaves[::-1][start:] + leaves[::-1][:start]


def _raised(program: Program, lazily: ProgramRaised) -> Any:
    """In a child: class, arguments and attributes of what the program raises with ordinary numbers,
    if that is of the same class."""
    try:
        program.observe(Draws(repeating(lazily.path), lazy=False), nullcontext())
    except ProgramRaised as raised:
        error = raised.__cause__
        if error is None or raised.kind != lazily.kind:
            return None
        lines = traceback.format_tb(error.__traceback__)[1:]  # without the line that calls it here
        error.add_note("In a run of the program:\n" + "".join(lines).rstrip())
        parts = type(error), error.args, vars(error)
        try:
            ForkingPickler.dumps(parts)
        except Exception:  # of a class that pickle cannot find, or with something that it refuses
            parts = RuntimeError, (f"{raised.kind}: {error}",), {"__notes__": error.__notes__}
        return parts
    except (NotReproducible, NotEnumerable):
        return None


def _rebuild(kind: type[BaseException], arguments: Any, attributes: Any) -> BaseException:
    """An exception of another process, without calling its class."""
    error = kind.__new__(kind)
    error.args = arguments
    vars(error).update(attributes)
    return error
