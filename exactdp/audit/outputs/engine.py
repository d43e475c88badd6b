"""The engine of all audits: train, choose events, count them on fresh outputs, judge.

An audit has a plan: each look chooses its events anew, counts them once, and judges them by the
region of that count (bounds/region.py). A watch has no end: it keeps its best events, adds the new
ones of every look, and judges them again and again by regions that hold at all times
(bounds/mixture.py). In both, an event is chosen before the outputs that count it are drawn, and the
alphas of all events add up to that of the audit.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.audit.bounds.cells import Cells
from exactdp.audit.bounds.evidence import Lines, allocation, evidence
from exactdp.audit.bounds.mixture import AnytimeRegion, Beta
from exactdp.audit.bounds.region import Region
from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.candidates import Candidate, reached
from exactdp.audit.outputs.copies import AllAlike, Calls
from exactdp.audit.outputs.counting import (
    SIDES,
    OneByOne,
    Run,
    Tally,
    batches,
    count,
    draw,
    in_parallel,
    task_origin,
)
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.fresh import sent
from exactdp.audit.outputs.plan import Look, shares, steps
from exactdp.audit.outputs.recount import recount
from exactdp.audit.outputs.report import AuditReport
from exactdp.audit.outputs.search import search
from exactdp.audit.promises import Promise
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

__all__ = ["Audit", "Chosen", "callable_or_none"]

#: Of each parameter: at least this.
Bounds = dict[str, Fraction]

_TRAINING_CALL = 8192  # outputs of a call in training, at most
_BYTES = 1 << 24  # of the numbers that one call returns
_LARGEST, _SMALLEST = 1 << 18, 1 << 10  # outputs of a call
_SECONDS = 0.25  # one call should take about so long
_CALLS = 4  # for each side and count, at least: what is equal within a call differs between calls
_FEWEST = 64  # outputs of a call, unless there are fewer in all
_NEAREST = 2  # events whose bounds are computed even where they refute nothing
_FEW = 8  # hits expected on the other side up to which the region is shaped for few
_TRUST = Fraction(1, 4)  # weight of the density that training suggests, in outputs trained on
_KEPT = 12  # events watched at once
_CERTAIN = 8.0  # nats in training from which outputs that are all alike call for single calls
#: Evidence, as a part of -ln(level), below which no region refutes: chosen on benchmarks.broken, it
#: saves the computation of the region.
_HOPELESS = {False: 0.7, True: 0.99}

_ALIKE = (
    "run was called once for every output, because its calls returned outputs that are all alike"
)
_ONCE = "an event that broke the promise did not do so a second time ({})"


def callable_or_none(name: str, value: object) -> None:
    """Raise InvalidParameter for anything else."""
    if value is not None and not callable(value):
        raise InvalidParameter(name, value, "None or a function of the number of outputs so far")


@dataclass(frozen=True)
class Chosen:
    """An event to count, the side it favours, and its level: how likely its region is wrong.

    few: whether few hits are expected on the other side. priors: the densities of both sides for
    a region that holds at all times; None for the region of a single count.
    """

    event: Event
    direction: str
    level: Fraction
    few: bool = False
    priors: tuple[Beta, Beta] | None = None

    def region(self, tally: Tally, level: Fraction | None = None) -> Cells:
        """The confidence region of the event's two probabilities; of a single count at a level."""
        counts = tally.favouring(self.direction)
        if self.priors is None or level is not None:
            return Region(*counts, self.level if level is None else level, self.few)
        return AnytimeRegion(*counts, self.level, *self.priors)


@dataclass
class Audit:
    """An audit under way.

    data: side -> data set. fixed: events to count, instead of searching. anytime: whether reports
    come again and again, and each of them has to hold. share: of the outputs, for the favoured
    side. sent: run as fresh processes are sent it; made before its first call.
    """

    run: Run
    data: dict[str, Any]
    promise: Promise
    alpha: Fraction
    fixed: list[Chosen] | None = None
    anytime: bool = False
    share: float = 0.5
    executor: Executor | None = None
    progress: Callable[[int], object] | None = None
    sent: bytes | None = None
    drawn: int = 0
    looks: int = 0
    chosen: list[Chosen] = field(default_factory=list)
    tallies: dict[Event, Tally] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=dict)
    favoured: str = "left"
    looked_at: dict[str, int] = field(default_factory=dict)
    largest: int = _TRAINING_CALL
    one_by_one: bool = False
    warning: str = ""
    basis: str = ""
    violation: bool = False
    calls: Calls = field(default_factory=Calls)
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        callable_or_none("progress", self.progress)
        self.sent = sent(self.run) if self.sent is None else self.sent

    @cached_property
    def _lines(self) -> Lines:
        return self.promise.lines()

    def reports(self, looks: Iterable[Look]) -> Iterator[AuditReport]:
        """What is found, look after look: ends after a violation, or with the looks.

        An audit with a plan reports once; a watch after every step.
        """
        for look in looks:
            try:
                yield from self._look(look)
            except AllAlike:
                self._call_one_by_one()
                if not self.anytime:  # otherwise the level of this look is spent
                    yield from self._look(look)
            if self.violation:
                return

    def _look(self, look: Look) -> Iterator[AuditReport]:
        """Choose events, count them and judge."""
        size = self._choose(look)
        for step in steps(size) if self.anytime else [size]:
            self._count(step)
            self.looks += 1
            report = self._judge(self.anytime or look.last)
            if report is not None:
                self.violation = report.violation
                yield report
            if self.violation:
                return

    def _call_one_by_one(self) -> None:
        """Call run once for every output from now on; nothing counted so far is used.

        Only here, where run is the caller's own object: a copy of it in a worker process says
        nothing about it.
        """
        self.one_by_one, self.executor, self.warning = True, None, _ALIKE
        self.chosen, self.tallies, self.bounds = [], {}, {}

    @property
    def _mechanism(self) -> Run:
        return OneByOne(self.run) if self.one_by_one else self.run

    def _choose(self, look: Look) -> int:
        """Train, and choose the events of a look. Returns how many outputs are left to count."""
        if self.fixed is not None:
            share = look.alpha / self.alpha
            self.chosen = [replace(one, level=one.level * share) for one in self.fixed]
            self.favoured = self.fixed[0].direction
            return look.counting
        known = [one.event for one in self.chosen]
        sides, spent, found = [Outputs([]), Outputs([])], 0, list[Candidate]()
        while not spent or (not (found and found[0].score) and spent < look.patience):
            more = self.training(look.training)
            sides = [
                Outputs.joined([a, b]) if len(a) else b for a, b in zip(sides, more, strict=True)
            ]
            spent += 2 * len(more[0])
            found = self.search(sides[0], sides[1], known)
        size = look.training + look.counting - spent
        if found:
            self.share = allocation(found[0].p, found[0].q, self._lines)
            self.favoured = found[0].direction
            if found[0].score >= _CERTAIN and {found[0].p, found[0].q} == {0.0, 1.0}:
                self._call_one_by_one()
        self._add(found, known, look, size)
        return size

    def _add(self, found: list[Candidate], known: list[Event], look: Look, size: int) -> None:
        """Count these candidates; a plan counts nothing else, a watch keeps its best events."""
        if not self.anytime:
            self.chosen, self.tallies, known = [], {}, []
        new = [one for one in found if one.event not in known]
        if not new and not self.chosen:
            new = [Candidate(Event(("length",), "at least", 1), "left", 0.0, 0.5, 0.5)]
        for one, share in zip(new, shares(len(new)), strict=True):
            others = size * (1 - self.share if one.direction == self.favoured else self.share)
            priors = None
            if self.anytime:
                weight = max(int(look.training // 2 * _TRUST), 1)
                priors = Beta.seen(one.p, weight), Beta.seen(one.q, weight)
            few = not self.anytime and one.q * others < _FEW
            self.chosen.append(Chosen(one.event, one.direction, look.alpha * share, few, priors))
        self.chosen.sort(key=self._counted_evidence, reverse=True)
        for dropped in self.chosen[_KEPT:]:  # if it were chosen again, it would begin anew
            self.tallies.pop(dropped.event, None)
        del self.chosen[_KEPT:]

    def search(self, left: Outputs, right: Outputs, known: list[Event]) -> list[Candidate]:
        """The events that speak most against the promise; what was looked at is noted."""
        looked, data = Counter[str](), (self.data["left"], self.data["right"])
        found = search(
            left, right, data, self._lines, self.promise.loss, known,
            told=lambda feature: looked.update([feature[0]]),
        )  # fmt: skip
        self.looked_at = dict(looked.most_common())
        return found

    def training(self, size: int) -> tuple[Outputs, Outputs]:
        """Outputs of both sides, half of so many each; they are to learn from, never counted."""
        sizes = dict.fromkeys(SIDES, size // 2)
        plan = [*enumerate(batches(sizes, min(_TRAINING_CALL, max(-(-size // 4), 1))))]
        started = time.perf_counter()
        tasks = [
            (number, draw, (self._mechanism, self.data[side], many, task_origin()))
            for number, (side, many) in plan
        ]
        drawn: dict[int, Outputs] = {}
        for number, (outputs, mark) in in_parallel(self.executor, tasks):
            drawn[number] = outputs
            self.calls.add(mark)
        seconds = (time.perf_counter() - started) / max(size, 1)
        left, right = (
            Outputs.joined([drawn[number] for number, (where, _) in plan if where == side])
            for side in SIDES
        )
        self.largest = _largest(left, seconds)
        self._drew(2 * (size // 2))
        return left, right

    def _count(self, size: int) -> None:
        """Count the chosen events on so many fresh outputs; only the counts are kept."""
        many = min(max(round(size * self.share), 1), size - 1)
        sizes = dict.fromkeys(SIDES, size - many) | {self.favoured: many}
        largest = min(self.largest, max(-(-min(sizes.values()) // _CALLS), _FEWEST))
        events = [*dict.fromkeys(one.event for one in self.chosen)]
        tasks = (
            (
                (side, number),
                count,
                (self._mechanism, self.data[side], number, task_origin(), events),
            )
            for side, number in batches(sizes, largest)
        )
        for (side, number), (hits, mark) in in_parallel(self.executor, tasks):
            self.calls.add(mark)
            for event, seen in zip(events, hits, strict=True):
                new = Tally.counted(side, seen, number)
                self.tallies[event] = self.tallies.get(event, Tally()) + new
            self._drew(number)

    def _drew(self, size: int) -> None:
        self.drawn += size
        if self.progress is not None:
            self.progress(self.drawn)

    def _judge(self, final: bool) -> AuditReport | None:
        """A report where a violation is certain or a report is due."""
        ordered = sorted(self.chosen, key=self._evidence, reverse=True)
        nearest = self._nearest([one.event for one in ordered]) if final else []
        judged = [
            (one, hopeless)
            for one in ordered
            for hopeless in [self._evidence(one) < _HOPELESS[self.anytime] * -math.log(one.level)]
            if not hopeless or one.event in nearest
        ]
        self._require_variety([one.event for one, _ in judged])
        found: list[tuple[Chosen, Bounds]] = []
        for one, hopeless in judged:
            region = one.region(self.tallies[one.event])
            bounds = self.promise.bounds(region)
            if not hopeless and self.promise.refuted(region):
                confirmed, bounds = self._confirmed(one, bounds)
                if confirmed:
                    return self._report(True, one, [bounds, self.promise.promised()])
            found.append((one, bounds))
        if not final:
            return None
        limit = self.promise.limit[0]
        shown, _ = max(found, key=lambda pair: (pair[1]["epsilon"], pair[1][limit]))
        return self._report(False, shown, [bounds for _, bounds in found])

    def _require_variety(self, events: list[Event]) -> None:
        """Nothing is concluded from an event that favours a side and varies within no call."""
        for tally in map(self.tallies.__getitem__, () if self.one_by_one else events):
            equal = tally.left * tally.right_trials == tally.right * tally.left_trials
            if not tally.mixed and not equal:
                raise AllAlike

    def _evidence(self, one: Chosen) -> float:
        counts = self.tallies[one.event].favouring(one.direction)
        return float(evidence(*counts, self._lines))

    def _counted_evidence(self, one: Chosen) -> float:
        return self._evidence(one) if one.event in self.tallies else math.inf

    def _nearest(self, events: list[Event]) -> list[Event]:
        """The events that come nearest to the promise, by whose bounds an audit says how far."""
        found = {event: self.tallies[event] for event in events}
        reach = {e: reached(t.of("left"), t.of("right"), self._lines) for e, t in found.items()}
        return sorted(reach, key=lambda event: -reach[event])[:_NEAREST]

    def _confirmed(self, one: Chosen, bounds: Bounds) -> tuple[bool, Bounds]:
        """Whether an event breaks the promise a second time, and what both counts bound."""
        again = recount(
            self._mechanism, self.sent, self.data, one.event, self.tallies[one.event],
            self.one_by_one, self.largest,
        )  # fmt: skip
        self._drew(again.tally.left_trials + again.tally.right_trials)
        region = one.region(again.tally, self.alpha)
        confirmed = self.promise.refuted(region)
        self.basis = again.basis if confirmed else _ONCE.format(again.basis)
        second = self.promise.bounds(region)
        return confirmed, {key: min(bounds[key], second[key]) for key in bounds}

    def _report(self, violation: bool, shown: Chosen, found: list[Bounds]) -> AuditReport:
        """What the regions bound together; a watch keeps the bounds of its earlier reports.

        The regions of a violation leave the promise out, so what it promised is a bound, too.
        """
        every = [dict.fromkeys(self.promise.currencies(), Fraction(0)), self.bounds, *found]
        self.bounds = {key: max(each.get(key, Fraction(0)) for each in every) for key in every[0]}
        tally = self.tallies[shown.event]
        return AuditReport(
            violation=violation,
            promise=self.promise,
            bounds={key: _short(value) for key, value in self.bounds.items()},
            event=shown.event,
            direction=shown.direction,
            counts={side: tally.of(side) for side in SIDES},
            samples=self.drawn,
            alpha=self.alpha,
            looks=self.looks,
            few=shown.few,
            seconds=time.perf_counter() - self.started,
            warning=self.warning,
            basis=self.basis,
            looked_at=self.looked_at,
        )


def _largest(outputs: Outputs, seconds: float) -> int:
    """Outputs of a call that takes a moment and little memory."""
    size = int(_SECONDS / max(seconds, 1e-9))
    if outputs.matrix is not None:
        size = min(size, _BYTES // max(outputs.matrix[:1].nbytes, 1))
    return 1 << max(min(size, _LARGEST), _SMALLEST).bit_length() - 1


def _short(value: Fraction) -> Fraction:
    """A bound with twelve digits, rounded down."""
    return Fraction(Enclosure.exact(value).decimal_lower(12))
