"""The law of one call of a program from the present state, with forks as the judge.

1. All branches are explored in one forked child: this process keeps its state.
2. Leaves are repeated in forks of this process, each a share of them, in the opposite order, from
   another leaf on, with ordinary numbers. A memo, a cache that answers, a counter or a default that
   grows shows itself: what one run leaves for the next is not there, or is left by other runs.
   Missed is what any earlier call changes, but only in leaves that never come first in a fork.
3. If a leaf differs, the process is forked at every draw (:mod:`draw_forks`): then no run finds
   what another has left.
4. Leaves are repeated in fresh interpreters, if the program can be sent there (:mod:`fresh`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.audit.code import fresh
from exactdp.audit.code.draw_forks import fraction_text, law_by_forks
from exactdp.audit.code.draws import RecordedDraws
from exactdp.audit.code.explore import (
    INTERFACES,
    Explorer,
    Runner,
    differing,
    digest,
    repeated,
)
from exactdp.audit.code.forks import ProgramRaised, in_fork
from exactdp.audit.code.outcomes import Outcome
from exactdp.audit.code.places import Places
from exactdp.audit.code.runs import Run
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.audit.code.watch import Watch, numpy_generators
from exactdp.law import Law
from exactdp.parameters import Real, choice, rational
from exactdp.samplers.enumeration import MAX_RUNS
from exactdp.samplers.enumeration_branches import NotReproducible
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["Evidence", "Judged", "judged_law"]

#: Leaves that are repeated: all of them up to here, else every second, fourth, ... one.
_MOST_REPEATED = 2_000
#: Forks for the repetition, one of which costs 3 to 9 ms, and leaves for one more.
_FORKS, _LEAVES_OF_A_FORK = 4, 256
#: Runs in spite of an estimate that they will not suffice: about half a minute.
_MOST_UNFORESEEN = 1 << 15
#: Leaves that are repeated after a fork at every draw, each in a fork of its own.
_ALONE = 16


@dataclass(frozen=True)
class Evidence:
    """How a law was found.

    leaves: runs to their end. repeated: how many of them were repeated in forks. forked: whether
    the process was forked at every draw. sent: in how many fresh interpreters they were repeated
    too; reason: why in none.
    """

    leaves: int
    repeated: int
    forked: bool
    sent: int
    reason: str

    def __str__(self) -> str:
        share = "all" if self.repeated >= self.leaves else f"{self.repeated}"
        how = ", a fork at every draw" if self.forked else ""
        sent = f"{self.sent} fresh interpreters agree" if self.sent else f"not sent: {self.reason}"
        return f"{self.leaves} leaves{how}, {share} repeated; {sent}"


@dataclass(frozen=True)
class Judged:
    """A law and how it was found."""

    law: Law[Outcome]
    evidence: Evidence


def judged_law(
    program: Callable[[Any], Any],
    *,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
    sending: fresh.Sending | None = None,
) -> Judged:
    """The law of one call of a program over Outcomes; parameters as for foreign_law.

    sending: how the program is made in another process.
    """
    choice("interface", interface, tuple(INTERFACES))
    choice("exceptions", exceptions, ("raise", "outcome"))
    allowed = rational("residual", residual)
    runner = Runner(program, interface, exceptions == "outcome")
    begun = time.monotonic()
    found = _explored(runner, allowed, max_runs, progress) or _forked(runner, allowed)
    sent, reason = fresh.repeated(sending, runner, found, time.monotonic() - begun)
    weights = [(Outcome(data), _fraction(weight)) for data, weight in found["law"]]
    law = Law(dict(weights), _fraction(found["residual"]))
    evidence = Evidence(found["count"], len(found["leaves"]), found["forked"], sent, reason)
    return Judged(law, evidence)


def _fraction(parts: list[str]) -> Fraction:
    return Fraction(int(parts[0], 16), int(parts[1], 16))


def _explored(runner: Runner, allowed: Fraction, max_runs: int, progress: bool) -> Any:
    """What exploring and repeating find; None if runs depend on each other.

    First with lazy numbers, of which comparisons need few branches, then with ordinary ones.
    """
    reason = "a run with an ordinary number showed something else"
    depends = False
    for lazy in (True, False) if runner.interface != "source" else (False,):
        try:
            found = _with_few_branches(runner, allowed, max_runs, (lazy, reason), progress)
        except ProgramRaised as error:
            if not lazy or _raises(runner, error):
                _raise_here(runner, error.draws)
        except NotReproducible:
            depends = True
        except NotEnumerable:
            if depends:  # ordinary numbers were tried for this reason alone
                return None
            raise
        else:
            if not _repeat(runner, found["leaves"]):
                return found
            depends = True
            if found["unknown"]:
                raise NotEnumerable(
                    "runs differ from call to call, and the program calls "
                    f"{', '.join(found['unknown'])}, which may keep randomness of its own"
                )
    return None


def _with_few_branches(
    runner: Runner, allowed: Fraction, most: int, numbers: tuple[bool, str], progress: bool
) -> Any:
    """What exploring finds: all branches, else function by function, else many branches after all.

    An estimate gives up early where the branches look too many; it errs for finite programs.
    """
    for merging, foresees in ((False, True), (True, True)):
        with suppress(TooManyBranches):
            return in_fork(_explore, (runner, allowed, most, *numbers, merging, foresees), progress)
    few = min(most, _MOST_UNFORESEEN)
    try:
        return in_fork(_explore, (runner, allowed, few, *numbers, False, False), progress)
    except TooManyBranches as error:
        raise TooManyBranches(
            f"{error}; also with its functions explored one by one. Put each noise sampler into a "
            "function of numbers and the generator, and let its loop carry nothing from round to "
            "round; or allow a larger residual=, or pass data with fewer or smaller values"
        ) from None


def _explore(options: tuple[Any, ...], progress: bool) -> Any:
    """In a child: the law, the leaves to be repeated, and what was noticed."""
    from tqdm import tqdm

    explorer = Explorer(*options)
    # disable=None: no bar unless standard error is a terminal
    with tqdm(desc="branches", delay=1, disable=None if progress else True) as bar:
        law, residual = explorer.explore(_MOST_REPEATED, bar.update)
    watch = explorer.watch
    return {
        "law": [[data, fraction_text(weight)] for data, weight in law],
        "residual": fraction_text(residual),
        "count": explorer.leaves,
        "forked": False,
        "leaves": [[leaf.points, digest(leaf.outcome)] for leaf in explorer.kept],
        "unknown": [f"{name}() {place}" for name, place in watch.unknown.items()],
        "named": watch.held(),
    }


def _forked(runner: Runner, allowed: Fraction) -> Any:
    """The law by a fork at every draw, first with lazy numbers."""
    generators = numpy_generators()  # looked for here: a child would copy all that it looks at
    for lazy in (True, False):
        found = in_fork(law_by_forks, runner, allowed, lazy, generators)
        chosen = found["leaves"][:: 1 + len(found["leaves"]) // _ALONE]
        if not any(in_fork(differing, runner, [leaf], 1) for leaf in chosen):
            return found | {"leaves": chosen}
    raise NotReproducible(
        "two runs from one state with the same draws differ: the program has randomness, or a "
        "clock, beside the generator that it is handed; draw from that generator, and pass the "
        "time as data"
    )


def _repeat(runner: Runner, leaves: list[Any]) -> bool:
    """Whether a leaf that is repeated in a fork of this process differs from what it was."""
    forks = min(len(leaves), _FORKS + len(leaves) // _LEAVES_OF_A_FORK)
    return any(
        in_fork(differing, runner, [*share, share[0]]) is not None
        for share in (leaves[i::forks][::-1] for i in range(forks))
    )


def _raises(runner: Runner, error: ProgramRaised) -> bool:
    """Whether the program raises the same exception with ordinary numbers, too."""

    def again() -> bool:
        try:
            repeated(runner, Watch(Places()), error.draws)
        except ProgramRaised as found:
            return found.kind == error.kind
        except (NotReproducible, NotEnumerable):
            pass
        return False

    return bool(in_fork(again))


def _raise_here(runner: Runner, draws: list[Any]) -> None:
    """Run the program once in this process, so that its exception is seen where it is raised."""
    if runner.interface == "source":
        raise NotEnumerable("the program raises an exception; exceptions='outcome' counts it")
    generator = INTERFACES[runner.interface](RecordedDraws(Run((), Fraction(1), None), draws))
    runner.program(generator)
    raise NotReproducible("the program raised an exception in a forked process and not here")
