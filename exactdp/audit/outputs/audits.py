"""Audits of outputs: find an event that breaks a promise, and certify it on fresh outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from typing import Any

from exactdp.audit.bounds.evidence import allocation
from exactdp.audit.outputs.counting import SIDES, FeaturesOf, Run, other
from exactdp.audit.outputs.drawing import Draws
from exactdp.audit.outputs.engine import Audit, Chosen
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.looks import endless, looks, outputs_in_all
from exactdp.audit.outputs.report import AuditReport
from exactdp.audit.promises import ApproximateDP, Promise
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, false_alarm


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
    features: Callable[[Any], Any] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> AuditReport:
    """Look for an event that shows that run breaks a promise of privacy on two data sets.

    run: run(dataset, n) returns n independent outputs: an array of n rows, or a list of n values
        (numbers, texts, bytes, dates, tuples, lists, sets, dictionaries, data classes, exceptions,
        arrays, data frames). It must draw its own randomness; worker processes must be able to
        import it.
    left, right: the two neighbouring data sets.
    epsilon: >= 0 (default 1). delta: >= 0 and < 1 (default 0). The promise to be tested; either
        side may break it.
    promise: another promise instead: Zcdp, Renyi, GaussianDP, or a Profile of many pairs
        (epsilon, delta).
    samples: largest number of outputs that are drawn to find a violation, >= 100. Before a
        violation is stated, its event is counted again on equally many outputs. If all outputs of
        each call agree on an event, they are drawn again, one output per call.
    alpha: probability of a false alarm of the whole audit, >= 1e-100 and < 1.
    events: count exactly these, instead of searching.
    features: a function of one output; its values are audited in place of the outputs. A value
        that breaks a promise proves that the outputs break it. Use it for outputs of other types,
        or to look at a part of the outputs.
    executor: any concurrent.futures.Executor; None runs here.
    progress: called with the number of outputs counted so far.

    Stops as soon as a violation is certain. Events are chosen on outputs that are not used to
    confirm them. A violation is stated only if fresh processes show it, too: they share nothing
    that one process remembers, and get run as it was before its first call. If run cannot be sent
    to them, or draws the same outputs in every process, its event is counted again here, and the
    report's basis says so. A report without a violation assumes independent outputs.

    Raises InvalidParameter for parameters outside their domain, a run that does not return n
    outputs, or outputs of an unknown type. Raises CopiedRandomness if outputs are copies: two calls
    return the same outputs, or the counts in fresh processes vary more or less than the counts of
    independent outputs do (independent outputs raise this with a probability below 10^-3).
    """
    tested = chosen_promise(promise, epsilon, delta)
    total, level = outputs_in_all(samples, 100), false_alarm("alpha", alpha)
    fixed = None if events is None else _both_ways(events, level)
    data = {"left": left, "right": right}
    draws = Draws(FeaturesOf.applied(run, features), data, executor, progress)
    return _last(Audit(draws, tested, level, fixed), total)


def watch(
    run: Run,
    left: Any,
    right: Any,
    *,
    epsilon: Real | None = None,
    delta: Real | None = None,
    promise: Promise | None = None,
    samples: Real | None = None,
    alpha: Real = "0.01",
    features: Callable[[Any], Any] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[AuditReport]:
    """Audit run on two data sets until stopped: yields reports, each of them valid when it comes.

    Arguments as for :func:`exactdp.audit.audit`. samples: largest number of outputs in all, at
    least 1000; None for no limit. With probability 1 - alpha, no report is wrong: you may stop the
    iteration at any report, for any reason. It ends after a report of a violation. Raises as
    :func:`exactdp.audit.audit` does.

    With a fixed number of outputs, audit(...) finds smaller violations. Use watch if you do not
    know how many outputs are needed, or can be drawn.
    """
    tested = chosen_promise(promise, epsilon, delta)
    most = None if samples is None else outputs_in_all(samples, 1000)
    level = false_alarm("alpha", alpha)
    data = {"left": left, "right": right}
    draws = Draws(FeaturesOf.applied(run, features), data, executor, progress)
    return Audit(draws, tested, level, anytime=True).reports(
        endless(most, level, lambda: draws.total)
    )


def replay(
    report: AuditReport,
    run: Run,
    left: Any,
    right: Any,
    *,
    samples: Real = 100_000,
    alpha: Real = "0.01",
    features: Callable[[Any], Any] | None = None,
) -> AuditReport:
    """Count the one event of a report on fresh outputs, and judge the same promise by it.

    run, left, right, features: as for :func:`audit`. samples: outputs that may be drawn, >= 100.
    alpha: probability of a false alarm, >= 1e-100 and < 1. Raises as :func:`audit` does.
    """
    total, level = outputs_in_all(samples, 100), false_alarm("alpha", alpha)
    fixed = [Chosen(report.event, report.direction, level, report.few)]
    (k, n), (y, m) = report.counts[report.direction], report.counts[other(report.direction)]
    share = allocation(k / max(n, 1), y / max(m, 1), report.promise.lines())
    mechanism = FeaturesOf.applied(run, features)
    _require_askable(report.event, mechanism(left, 2))
    draws = Draws(mechanism, {"left": left, "right": right})
    return _last(Audit(draws, report.promise, level, fixed, share=share), total)


def _last(whole: Audit, samples: int) -> AuditReport:
    *_, report = whole.reports(looks(samples, whole.alpha, whole.fixed is None))
    return report


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


def _both_ways(events: Sequence[Event], alpha: Fraction) -> list[Chosen]:
    """Given events, each in both directions, with equal shares of alpha."""
    if not events or not all(isinstance(event, Event) for event in events):
        raise InvalidParameter("events", events, "a sequence of Events, at least one")
    share = alpha / (2 * len(events))
    return [Chosen(event, side, share) for event in events for side in SIDES]
