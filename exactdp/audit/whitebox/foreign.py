"""Every branch of a foreign program followed: watched, compared, repeated."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.whitebox.draws import Draws, LazyDraws, RealDraws, RecordedDraws
from exactdp.audit.whitebox.garbage import Rings
from exactdp.audit.whitebox.generators import ExactRandom
from exactdp.audit.whitebox.memory import Memory
from exactdp.audit.whitebox.numpy_generators import ExactGenerator
from exactdp.audit.whitebox.outcomes import Outcome, raised, returned
from exactdp.audit.whitebox.surroundings import flags_left
from exactdp.audit.whitebox.texts import told
from exactdp.audit.whitebox.uniform import NotEnumerable, Uniform
from exactdp.audit.whitebox.watch import NotPlain, Watch
from exactdp.errors import ExactDPError
from exactdp.law import Law
from exactdp.parameters import Real, choice, rational
from exactdp.samplers.enumeration import MAX_RUNS, EnumeratingSource, explored_law
from exactdp.samplers.enumeration_branches import NotReproducible
from exactdp.samplers.enumeration_tally import TooManyBranches

__all__ = ["Exhausted", "followed_law"]

_INTERFACES: dict[str, Callable[[Draws], Any]] = {
    "random": ExactRandom,
    "numpy": ExactGenerator,
    "source": lambda draws: draws.source,
}

#: How finely samplers inside a program are followed where the whole is to be explored to its end.
_BITS = 96

#: Of more than twice as many runs, at least so many are repeated in the end.
_REPEATED = 256


class Exhausted(TooManyBranches):
    """drawing: functions that were called with a generator, by globals and name."""

    def __init__(self, reason: str, drawing: list[tuple[dict[str, Any], str]]) -> None:
        super().__init__(reason)
        self.drawing = drawing


def followed_law(
    program: Callable[[Any], Any],
    *,
    interface: str = "random",
    residual: Real = Fraction(1, 2**64),
    max_runs: int = MAX_RUNS,
    exceptions: str = "raise",
    progress: bool = True,
) -> Law[Outcome]:
    """The law of a program over Outcomes; parameters and errors as of :func:`foreign_law`.

    First with lazy numbers, of which comparisons need few branches; where the code may do more with
    a number than calculate and compare, once more with ordinary ones.
    """
    choice("interface", interface, tuple(_INTERFACES))
    choice("exceptions", exceptions, ("raise", "outcome"))
    reason, allowed = "", rational("residual", residual)
    # the least number of bits with 2^-bits <= allowed
    bits = (math.ceil(1 / allowed) - 1).bit_length() if 0 < allowed < 1 else _BITS
    raising = {"raise", "call"} & set(np.geterr().values())
    for plain in (False,) if raising else (True, False):
        runs = _Runs(program, interface, exceptions == "outcome", plain, reason, bits)
        try:
            with told():
                law = explored_law(runs.first, residual, max_runs, progress)
                runs.repeat()
        except NotPlain as why:
            runs.left_behind()
            reason = str(why)
            continue
        except TooManyBranches as error:
            runs.left_behind()
            raise Exhausted(str(error), runs.drawing) from None
        return law
    raise NotEnumerable(reason)


@dataclass(frozen=True)
class _Run:
    source: EnumeratingSource
    draws: Draws
    outcome: Outcome


@dataclass
class _Runs:
    """The runs of one program: watched, compared with what was before, and repeated in the end."""

    program: Callable[[Any], Any]
    interface: str
    catches: bool
    plain: bool
    reason: str
    bits: int
    _kept: list[_Run] = field(default_factory=list)
    _stride: int = 1
    _count: int = 0
    _rings: Rings = field(default_factory=Rings)

    def __post_init__(self) -> None:
        self._memory = Memory(self.program)
        self._watch = Watch(self._memory, self.plain and self.interface != "source")

    @property
    def drawing(self) -> list[tuple[dict[str, Any], str]]:
        """The functions of modules that were called with a generator."""
        return self._watch.drawing

    def left_behind(self) -> None:
        """Where all is to begin anew: what runs that were cut short have kept would be taken for
        what was there before the first one."""
        self._memory.check(last=True)

    def first(self, source: Any) -> Outcome:
        """Follow a branch for the first time."""
        draws: Draws = (
            LazyDraws(source, self.bits)
            if self.plain
            else RealDraws(source, self.bits, self.reason)
        )
        outcome = self._once(source, draws)
        if source.signal is None:
            self._keep(_Run(source, draws, outcome))
        return outcome

    def _keep(self, run: _Run) -> None:
        """All runs are kept to be repeated, or, of many, one in 2, 4, 8..."""
        if self._count % self._stride == 0:
            self._kept.append(run)
        if len(self._kept) == 2 * _REPEATED:
            self._kept, self._stride = self._kept[::2], 2 * self._stride
        self._count += 1

    def repeat(self) -> None:
        """Runs again, in another order, with ordinary numbers and no results kept from before: each
        must do what it did; once more, with garbage that goes at once, if any leave some."""
        for run in reversed(self._kept):
            if not self._rings.any:
                self._repeated(run)
        if self._rings.any:
            with self._rings.apart():
                for run in reversed(self._kept):
                    self._repeated(run)
        self._memory.forget()
        self._memory.check(last=True)

    def _repeated(self, run: _Run) -> None:
        for record in dict.fromkeys(_points(run.draws)):
            self._again(run, record)

    def _again(self, run: _Run, record: tuple[tuple[int, int], ...]) -> None:
        self._memory.forget()
        again = run.source.again()
        draws = RecordedDraws(again, self.bits, record)
        outcome = self._once(again, draws)
        if self.interface != "source":
            draws.finish()
        if (signal := again.take_signal()) is not None:
            raise signal
        if outcome != run.outcome or again.weight != run.source.weight:
            raise NotReproducible(
                f"repeated with ordinary numbers, a run gave {outcome} after {run.outcome}:"
                " the program depends on more than the values of its generator"
            )

    def _once(self, source: EnumeratingSource, draws: Draws) -> Outcome:
        """One run; what it raises beside its outcome is a signal, or the program's own error."""
        generator = _INTERFACES[self.interface](draws)
        # lazy numbers look ahead to where numpy may warn; ordinary ones warn where the program is
        quiet = np.errstate(all="ignore") if isinstance(draws, LazyDraws) else nullcontext()
        explored = not isinstance(draws, RecordedDraws)
        drawn = (lambda: source.drawn) if explored else None
        tidily = self._rings.any and not explored
        rings = self._rings.given_up() if tidily else self._rings.kept(not explored)
        with quiet, rings, flags_left(not explored), self._watch.on(source.stop, drawn, tidily):
            try:
                value, error = self.program(generator), None
            except Exception as caught:
                if not self.catches or isinstance(caught, ExactDPError):
                    raise
                value, error = None, caught
        outcome = returned(value) if error is None else raised(error)
        if source.signal is None:
            self._memory.check()
        return outcome


def _points(draws: Draws) -> list[tuple[tuple[int, int], ...]]:
    """The values that a run's numbers may have had: the lowest, the highest, and ones between."""
    record = draws.record
    return [tuple(_value(part, share) for part in record) for share in (0, 1, Fraction(3, 7))]


def _value(part: Uniform | tuple[int, int], share: Fraction | int) -> tuple[int, int]:
    if isinstance(part, Uniform):
        return part.width, part.value(part.low + int(share * (part.size - 1)))
    return part
