"""Record a pipeline on one data set, replay it on its neighbour, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from exactdp.audit.glue import primitives as known_primitives
from exactdp.audit.glue.compare import Comparison, Declared, differing_seeds
from exactdp.audit.glue.distance import NORMS, Output
from exactdp.audit.glue.generators import Outsiders, stand_ins
from exactdp.audit.glue.noise import released
from exactdp.audit.glue.primitives import Primitive
from exactdp.audit.glue.report import GlueReport, Violation
from exactdp.audit.glue.tape import Diverged, Session, Tape, place_of, replaced
from exactdp.errors import InvalidParameter, Signal, Undecided
from exactdp.extras import optional
from exactdp.parameters import Real, choice, integer, non_negative

_STATE = (
    "two runs on the same data differ, so the pipeline keeps state or draws from a source that is "
    "not recorded: {}"
)
_OUTSIDE = (
    "the pipeline draws from a {} that was made before the audit and is held by an object or a "
    "closure: make it inside the pipeline"
)

Pipeline = Callable[[Any], Any]

_NOTHING = (
    "no noise call with a value was recorded: if the pipeline adds noise by a function that is not "
    "of numpy, random, diffprivlib, OpenDP or Opacus, name it (primitives=[Primitive(...)])"
)


def sensitivity(
    pipeline: Pipeline,
    left: Any,
    right: Any,
    *,
    declared: Real | None = None,
    norm: str = "l1",
    epsilon: Real | None = None,
    rho: Real | None = None,
    primitives: Iterable[Primitive] = (),
    seed: int = 0,
) -> GlueReport:
    """Compare what enters the noise calls of a pipeline on two neighbouring data sets.

    pipeline: called with a copy of one data set; returns what is released. left, right: neighbours.
    declared: the sensitivity, >= 0, of each noise call of numpy, random or OpenDP, in the norm
    "l1", "l2" or "linf" (one call: all values of one array of noise). Primitives with a sensitivity
    of their own are compared with that.
    epsilon: instead, the total of a pipeline whose noise is of Laplace: sum of distances divided by
    scales. rho: the same for Gaussian noise, sum of distance^2 / (2 sigma^2).
    primitives: more functions that add noise. seed: of the noise that is recorded.
    Distances are exact: those of the floats that enter, including what rounding adds.
    Raises Undecided if no noise was recorded, if noise was not followed, or if the output cannot be
    compared; InvalidParameter for bad parameters.
    Source: record and replay of Cebere et al., arXiv 2602.17454.

    >>> import numpy as np
    >>> def total(rows):  # forgets to clip
    ...     return sum(rows) + np.random.default_rng().laplace(scale=10)
    >>> report = sensitivity(total, [1, 2], [1, 30], declared=10)
    >>> report.violation, report.calls[0].distance
    (True, '28')
    """
    return search(
        pipeline, [(left, right)], declared=declared, norm=norm, epsilon=epsilon, rho=rho,
        primitives=primitives, seed=seed,
    )  # fmt: skip


def search(
    pipeline: Pipeline,
    pairs: Any,
    *,
    declared: Real | None = None,
    norm: str = "l1",
    epsilon: Real | None = None,
    rho: Real | None = None,
    primitives: Iterable[Primitive] = (),
    seed: int = 0,
    examples: int = 100,
) -> GlueReport:
    """Look for a pair of neighbours on which the pipeline violates its declared sensitivity.

    pairs: a Hypothesis strategy of pairs (a violating pair is shrunk), or an iterable of pairs.
    examples: number of pairs that are drawn from a strategy, >= 1. Other parameters and errors: as
    for :func:`sensitivity`.
    Returns the report of the violating pair, else of the pair with the largest distance.
    """
    stated = _stated(declared, norm, epsilon, rho)
    audit = _Audit(pipeline, tuple(primitives), stated, integer("seed", seed, least=0))
    number = integer("examples", examples, least=1)
    if hasattr(pairs, "map") and hasattr(pairs, "filter"):
        _draw(pairs, number, audit.violates)
    else:
        any(map(audit.violates, pairs))
    return audit.report()


def _draw(strategy: Any, number: int, violates: Callable[[Any], bool]) -> None:
    """Draw pairs until one violates, then shrink it: the last violating pair is the smallest."""
    hypothesis: Any = optional("hypothesis")
    settings = hypothesis.settings(
        max_examples=number,
        database=None,
        deadline=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    def look(pair: Any) -> None:
        if violates(pair):
            raise _Violating

    with suppress(_Violating):
        settings(hypothesis.given(strategy)(look))()


class _Violating(Signal, Exception):
    """Tells Hypothesis to shrink."""


def _stated(declared: Real | None, norm: str, epsilon: Real | None, rho: Real | None) -> Declared:
    choice("norm", norm, tuple(NORMS))
    limits = {"declared": declared, "epsilon": epsilon, "rho": rho}
    stated = {k: non_negative(k, v) for k, v in limits.items() if v is not None}
    if len(stated) > 1:
        raise InvalidParameter(
            "declared, epsilon, rho", ", ".join(stated), "at most one of the three"
        )
    return Declared(norm=norm, **stated)


class _Audit:
    """One pipeline under audit, and the worst pair so far."""

    def __init__(
        self, pipeline: Pipeline, added: tuple[Primitive, ...], stated: Declared, seed: int
    ) -> None:
        if not callable(pipeline):
            raise InvalidParameter("pipeline", pipeline, "a function of one data set")
        self._pipeline, self._stated, self._seed = pipeline, stated, seed
        self._added = added
        self._session = Session(Tape(seed))
        self._pairs = 0
        self._worst: GlueReport | None = None
        self._unsure: Undecided | None = None

    def violates(self, pair: Any) -> bool:
        """Whether one pair violates what is stated."""
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidParameter("pairs", pair, "pairs (left, right) of data sets")
        self._pairs += 1
        try:
            report = self._report(*pair)
        except Undecided as error:
            self._unsure = self._unsure or error
            return False
        worst = self._worst
        if not report.violation and not report.calls:
            return False  # there is no noise
        if report.violation or not worst or (not worst.violation and report.worst > worst.worst):
            self._worst = report
        return report.violation

    def report(self) -> GlueReport:
        """The report of the violating pair, else of the pair with the largest distance."""
        if self._unsure and not (self._worst and self._worst.violation):
            raise self._unsure
        if self._worst is None:
            raise Undecided(_NOTHING)
        return replace(self._worst, pairs=self._pairs)

    def _start(self, data: Any) -> None:
        """Run once unrecorded, so that what the pipeline imports is there to be replaced."""
        self._run(data)
        self._outsiders = Outsiders()
        self._session.look = self._outsiders.look
        primitives = self._added + known_primitives.known()
        self._replacements = known_primitives.recorded(primitives, self._session)
        self._replacements += stand_ins(self._session)

    def _report(self, left: Any, right: Any) -> GlueReport:
        """Audit one pair. The first left data set is also replayed, which must change nothing."""
        if self._pairs == 1:
            self._start(left)
        tape = self._session.tape = Tape(self._seed)
        self._outsiders.look(allowed=True)
        with replaced(self._replacements):
            output = self._run(left)
            if self._pairs == 1:
                again = self._replayed(tape, output, left)
                if again.violations:
                    raise Undecided(_STATE.format(again.violations[0]))
            comparison = self._replayed(tape, output, right)
            comparison.violations += self._seeds(tape, output, left)
        self._outsiders.look()
        comparison.unsure += [_OUTSIDE.format(name) for name in sorted(self._outsiders.used)]
        if comparison.unsure and not comparison.violations:
            raise Undecided("; ".join(dict.fromkeys(comparison.unsure)))
        violations = tuple(dict.fromkeys(comparison.violations))
        return GlueReport(left, right, tuple(comparison.calls), violations, partly=output.untold)

    def _seeds(self, first: Tape, output: Output, left: Any) -> list[Violation]:
        """Seeds that depend on the data: another run on the left data has those of the first run.

        In another run, a seed that is drawn, or made of the time, has another value.
        """
        violations = differing_seeds(first, self._session.tape)
        if violations:
            self._replayed(first, output, left)
        return [] if violations and differing_seeds(first, self._session.tape) else violations

    def _run(self, data: Any) -> Output:
        return Output.of(released(self._pipeline(deepcopy(data))))

    def _replayed(self, first: Tape, output: Output, data: Any) -> Comparison:
        """Replay the first run on a data set, and compare."""
        comparison = Comparison(self._stated)
        tape = self._session.tape = Tape(self._seed, first)
        other: Output | None = None
        ended: Violation | None = None
        try:
            other = self._run(data)
            tape.finish()
        except Diverged as error:
            ended = Violation(error.kind, error.where, error.text)
        except Exception as error:
            where = place_of(error)
            ended = Violation("leak", where, f"{type(error).__name__} on one side only: {error}")
        comparison.tapes(first, tape)
        if ended is not None:
            comparison.violations.append(ended)
        elif other is not None:
            comparison.outputs(output, other)
        return comparison
