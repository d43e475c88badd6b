"""The black-box audit: find an event that breaks a promise, and certify it on fresh outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from pathlib import Path
from typing import Any

from exactdp.audit.blackbox.drawing import SIDES
from exactdp.audit.blackbox.looks import Audit, other
from exactdp.audit.blackbox.plan import outputs_in_all
from exactdp.audit.blackbox.report import AuditReport
from exactdp.audit.blackbox.state import Chosen
from exactdp.audit.blackbox.tally import (
    Checkpoint,
    Run,
)
from exactdp.audit.bounds.evidence import allocation
from exactdp.audit.events.event import Event
from exactdp.audit.promises import ApproximateDP, Promise
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, false_alarm

__all__ = ["audit", "replay"]


def audit(
    run: Run,
    left: Any,
    right: Any,
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    promise: Promise | None = None,
    samples: Real = 1_000_000,
    alpha: Real = "0.01",
    events: Sequence[Event] | None = None,
    executor: Executor | None = None,
    checkpoint: str | Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> AuditReport:
    """Look for an event that shows that run breaks a promise of privacy on two data sets.

    run: run(dataset, n) returns n independent outputs: an array of n rows, or a list of n objects
        of any kind with a state of its own (numbers, texts, dates, tuples, dictionaries, data
        frames, exceptions, objects with attributes). It must draw its own randomness; worker
        processes must be able to import it.
    left, right: the two neighbouring data sets.
    epsilon: >= 0 (default 1). delta: >= 0 and < 1 (default 0). The promise to be tested; either
        side may break it.
    promise: another one, instead: Zcdp, Renyi, GaussianDP, or a Profile of many (epsilon, delta).
    samples: outputs that may be drawn to find a violation, >= 100. Before one is stated its event
        is counted once more, on as many outputs as before. A look whose outputs are all alike
        within each call is drawn again, one output a call.
    alpha: probability of a false alarm over everything this audit does, >= 1e-100 and < 1.
    events: count exactly these, instead of searching.
    executor: any concurrent.futures.Executor; None runs here.
    checkpoint: a file to resume from after a kill; no batch is lost or counted twice.
    progress: called with the number of outputs counted so far.

    Stops as soon as a violation is certain. Events are chosen on outputs that are not used to
    confirm them. A violation is stated when it shows in fresh processes too, to which nothing that
    one process remembers is common: run is sent there as it is handed over, as worker processes
    are sent their tasks. What cannot be sent (a lambda, a closure, a function of the program that
    is running) or draws the same in every process is counted again here; the report's basis says
    so, and what that takes for granted. Raises InvalidParameter for parameters outside their
    domain, a checkpoint of another audit, a run that does not return n outputs, or outputs known by
    an address alone; CopiedRandomness where outputs are seen to depend on each other, which
    independent outputs are with a probability below 10^-10, and below 10^-3 when a violation is
    about to be stated.
    """
    tested = chosen_promise(promise, epsilon, delta)
    total, level = outputs_in_all(samples, 100), false_alarm("alpha", alpha)
    fixed = None if events is None else _both_ways(events)
    data = {"left": left, "right": right}
    whole = Audit(run, data, tested, total, level, fixed, 0.5, executor, progress=progress)
    if checkpoint is not None:
        whole.checkpoint = Checkpoint(Path(checkpoint), whole.fingerprint())
    return whole.result()


def replay(
    report: AuditReport,
    run: Run,
    left: Any,
    right: Any,
    *,
    samples: Real = 100_000,
    alpha: Real = "0.01",
) -> AuditReport:
    """Count the one event of a report on fresh outputs, and judge the same promise by it.

    run, left, right: as for :func:`audit`. samples: outputs that may be drawn, >= 100.
    alpha: probability of a false alarm, >= 1e-100 and < 1. Raises as :func:`audit` does.
    """
    total, level = outputs_in_all(samples, 100), false_alarm("alpha", alpha)
    fixed = [Chosen(report.event, report.direction, Fraction(1), report.few)]
    (k, n), (y, m) = report.counts[report.direction], report.counts[other(report.direction)]
    share = allocation(k / max(n, 1), y / max(m, 1), report.promise.lines())
    _require_askable(report.event, run(left, 2))
    data = {"left": left, "right": right}
    return Audit(run, data, report.promise, total, level, fixed, share).result()


def _require_askable(event: Event, outputs: Any) -> None:
    """Reports are read from files: what they ask for may make no sense of outputs like these."""
    try:
        event.hits(outputs)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        allowed = f"one that can be asked of such outputs ({error})"
        raise InvalidParameter("event", event.as_dict(), allowed) from None


def chosen_promise(promise: Promise | None, epsilon: Real | None, delta: Real | None) -> Promise:
    """The promise given, or the one that epsilon and delta stand for."""
    if promise is None:
        return ApproximateDP("1" if epsilon is None else epsilon, "0" if delta is None else delta)
    if not isinstance(promise, Promise):
        raise InvalidParameter("promise", promise, "a Promise, such as Zcdp('0.5')")
    if epsilon is not None or delta is not None:
        raise InvalidParameter("promise", promise.text, "given without epsilon and delta")
    return promise


def _both_ways(events: Sequence[Event]) -> list[Chosen]:
    """Given events, each in both directions, with equal shares of the error budget."""
    if not events or not all(isinstance(event, Event) for event in events):
        raise InvalidParameter("events", events, "a sequence of Events, at least one")
    for event in events:
        if Event.from_dict(event.as_dict()) != event:
            raise InvalidParameter("events", event, "made of tuples, frozensets and plain values")
    share = Fraction(1, 2 * len(events))
    return [Chosen(event, side, share) for event in events for side in SIDES]
