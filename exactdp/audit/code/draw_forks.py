"""The law of a program whose runs would disturb each other: the process is forked at every draw.

No run finds what another has left, so the law is that of one call from the present state, whatever
the program keeps. A fork costs milliseconds, which limits this to small programs.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from exactdp.audit.code.draws import LazyDraws, RealDraws
from exactdp.audit.code.explore import Runner, digest
from exactdp.audit.code.forks import (
    ProgramRaised,
    end_with_parent,
    raise_signal,
    signal_data,
    start,
)
from exactdp.audit.code.places import Places
from exactdp.audit.code.runs import Choice, Path, Run
from exactdp.audit.code.watch import Watch
from exactdp.errors import ExactDPError
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["fraction_text", "law_by_forks"]

_MOST = 2_000
_REASON = "lazy numbers and ordinary ones lead to different results"


def law_by_forks(runner: Runner, residual: Fraction, lazy: bool, generators: list[Any]) -> Any:
    """The law and its leaves, as data.

    residual: branches that are less probable than a sixteenth of it are not followed. generators:
        numpy's that exist, from which the program must not draw.
    """
    counter = mmap.mmap(-1, 8)  # shared by all processes
    answer, pid = start(
        lambda write: _follow(runner, residual / 16, lazy, generators, counter, write)
    )
    lines = []
    with os.fdopen(answer, "rb") as pipe:
        for line in pipe:
            lines.append(json.loads(line))
            if lines[-1][0] == "error":
                break
    os.waitpid(pid, 0)
    for kind, *rest in lines:
        if kind == "error":
            raise_signal(*rest)
    leaves: list[Any] = [rest for _, *rest in lines]
    law: dict[str, list[Any]] = {}
    for weight, _, shown in leaves:
        law.setdefault(json.dumps(shown), [shown, Fraction(0)])[1] += Fraction(weight)
    total = sum((weight for _, weight in law.values()), Fraction(0))
    return {
        "law": [[shown, fraction_text(weight)] for shown, weight in law.values()],
        "residual": fraction_text(1 - total),
        "count": len(leaves),
        "forked": True,
        "leaves": [[rest[1], digest(rest[2])] for rest in leaves],
        "named": {},
    }


def _follow(
    runner: Runner,
    least: Fraction,
    lazy: bool,
    generators: list[Any],
    leaves: mmap.mmap,
    write: Callable[[Any], None],
) -> None:
    """One run, which becomes many at its draws; each ends with a line."""

    def new(run: Run, options: list[Choice]) -> Path:
        *others, last = sorted(options, key=lambda each: each.share)
        for other in others:
            if run.mass * other.share < least:
                continue
            pid = os.fork()
            if pid == 0:
                end_with_parent()
                run.mass *= other.share
                return (other,)
            os.waitpid(pid, 0)
        run.mass *= last.share
        if run.mass < least:
            os._exit(0)  # without a leaf: the branch remains part of the residual
        return (last,)

    run = Run((), Fraction(1), new)
    draws = LazyDraws(run) if lazy and runner.interface != "source" else RealDraws(run, _REASON)
    watch = Watch(Places(), generators)
    try:
        shown = runner.once(draws, watch)
        watch.finish()
        _count(leaves)
    except (ProgramRaised, ExactDPError) as error:
        write(["error", *signal_data(error)])
    else:
        points: Any = draws.points()
        if runner.interface == "source":
            points = [[[c.width, c.option, str(c.share)] for c in run.path]]
        write(["leaf", str(run.mass), points, shown])


def _count(leaves: mmap.mmap) -> None:
    found = int.from_bytes(leaves[:8], "little") + 1
    leaves[:8] = found.to_bytes(8, "little")
    if found > _MOST:
        raise TooManyBranches(
            f"calls of the program depend on each other, and it has more than {_MOST} branches, "
            "each of which would need a process of its own; keep nothing that a call has drawn "
            "from one call to the next, or build the object inside the run (make=)"
        )


def fraction_text(value: Fraction) -> list[str]:
    """A fraction as JSON data."""
    return [hex(value.numerator), hex(value.denominator)]
