"""The looks of an audit: train, choose events, confirm them on fresh outputs, judge."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.audit.blackbox.copies import Seen
from exactdp.audit.blackbox.identity import identity
from exactdp.audit.blackbox.independence import (
    AllAlike,
    Calls,
    OneByOne,
    RepeatedCalls,
    between,
    refuse,
    refuse_one_value,
    repeats,
    together,
)
from exactdp.audit.blackbox.plan import Round, rounds, shares
from exactdp.audit.blackbox.report import AuditReport
from exactdp.audit.blackbox.state import Chosen, State
from exactdp.audit.blackbox.tally import (
    Checkpoint,
    Done,
    Run,
    Tally,
    batches,
    count,
    draw,
    here,
    in_parallel,
)
from exactdp.audit.bounds.evidence import Lines, allocation, evidence
from exactdp.audit.bounds.region import Region
from exactdp.audit.events.candidates import Candidate, reached
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import Outputs
from exactdp.audit.events.search import search
from exactdp.audit.promises import Promise
from exactdp.enclosure import Enclosure

__all__ = ["ALIKE", "REPEATED", "SIDES", "Audit", "other"]

SIDES = ("left", "right")
_SINGLY = "run was called once for every output, because its calls returned {}"
REPEATED, ALIKE = "the same outputs again", "outputs that are all alike"
_CALLS = 4  # of each side that confirm, at least: what is the same within a call differs between
_FEWEST = 64  # outputs of a call, unless there are fewer in all
_BYTES = 1 << 24  # of one batch of numbers
_LARGEST = 1 << 18
_SMALLEST = 1 << 10
_SECONDS = 0.25  # one batch should take about so long; checkpoints are that far apart
_TRAINING = 8192
_PATIENCE, _PATIENT = 3, 6000  # training goes on, up to so many times or outputs
_BOUNDS = 2  # events whose bounds are computed even where they refute nothing
_CERTAIN = 8.0  # nats in training from which outputs that are all alike call for single calls
_FEW = 8  # hits expected on the other side up to which the region is shaped for few


@dataclass
class Audit:
    run: Run
    data: dict[str, Any]
    promise: Promise
    samples: int
    alpha: Fraction
    fixed: list[Chosen] | None
    share: float = 0.5
    executor: Executor | None = None
    checkpoint: Checkpoint | None = None
    progress: Callable[[int], object] | None = None
    state: State = field(default_factory=State)
    marks: Seen = field(default_factory=Seen)
    windows: Seen = field(default_factory=Seen)
    saved: float = 0.0

    def result(self) -> AuditReport:
        """Run the looks that are still to be run."""
        started = time.perf_counter()
        if self.checkpoint is not None and (found := self.checkpoint.load()) is not None:
            self.state = State.from_dict(found)
            self.executor = None if self.state.one_by_one else self.executor
        looks = rounds(self.samples, self.alpha, self.fixed is None)
        state = self.state
        while True:
            look = looks[state.look]
            try:
                if not state.ready:
                    self._prepare(look)
                self._confirm()
                verdict = self._judge(look, state.look == len(looks) - 1, started)
            except RepeatedCalls:
                if self.executor is not None:
                    raise
                self.call_anew(REPEATED)
                continue
            except AllAlike:
                self.call_anew(ALIKE)
                continue
            if verdict is not None:
                return verdict
            state.look += 1
            state.ready, state.done = False, Done()

    def call_anew(self, reason: str) -> None:
        """Start this look again, calling run once per output; nothing counted so far is used.

        Only here, where run is the caller's own object: a copy of it in a worker process says
        nothing about it.
        """
        state = self.state
        state.ready, state.done = False, Done()
        state.tallies, state.chosen, state.values = {}, [], {}
        self._call_singly(reason)

    def _call_singly(self, reason: str) -> None:
        self.state.one_by_one, self.executor = True, None
        self.state.warning = _SINGLY.format(reason)

    @cached_property
    def _lines(self) -> Lines:
        return self.promise.lines()

    @property
    def _mechanism(self) -> Run:
        return OneByOne(self.run) if self.state.one_by_one else self.run

    def _note(self, marks: list[str]) -> None:
        if not self.state.one_by_one and self.marks.again(marks):
            raise RepeatedCalls

    def fingerprint(self) -> str:
        """What an audit is, in a hash: a checkpoint of another one is refused."""
        parts = [
            identity(self.run),
            identity(self.data["left"]),
            identity(self.data["right"]),
            self.promise.as_dict(),
            *map(str, (self.samples, self.alpha)),
            None if self.fixed is None else [one.as_dict() for one in self.fixed],
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _prepare(self, look: Round) -> None:
        """Choose the events of a look, and how many outputs of each side confirm them."""
        state = self.state
        size, share = look.training + look.confirming, self.share
        if self.fixed is not None:
            state.chosen, state.largest = self.fixed, _TRAINING
        else:
            size, share = self._search(look)
        many = min(max(round(size * share), 1), size - 1)
        state.sizes = dict.fromkeys(SIDES, size - many)
        state.sizes[state.chosen[0].direction] = many
        calls = -(-min(state.sizes.values()) // _CALLS)
        state.largest = min(state.largest, max(calls, _FEWEST))
        state.ready = True
        self._save(force=True)

    def _search(self, look: Round) -> tuple[int, float]:
        """Train: draw outputs, choose events. Returns what is left, and the favoured side's share.

        Where nothing speaks against the promise yet, a few more outputs are drawn.
        """
        state = self.state
        promise = self._lines
        known = [one.event for one in state.chosen]
        sides = [Outputs([]), Outputs([])]
        data = (self.data["left"], self.data["right"])
        spent = 0
        found: list[Candidate] = []
        while not (found and found[0].score) and spent < max(
            min(_PATIENCE * look.training, _PATIENT), 1
        ):
            more = self.training(look.training)
            sides = [
                Outputs.joined([a, b]) if len(a) else b for a, b in zip(sides, more, strict=True)
            ]
            spent += 2 * len(more[0])
            found = search(sides[0], sides[1], data, promise, self.promise.loss, known)
        left_over = look.training + look.confirming - spent
        if not found:
            plain = Event(("length",), "at least", 1)
            state.chosen = state.chosen or [Chosen(plain, "left", Fraction(1))]
            return left_over, 0.5
        best = found[0]
        if best.score >= _CERTAIN and {best.p, best.q} == {0.0, 1.0}:
            self._call_singly(ALIKE)
        share = allocation(best.p, best.q, promise)
        state.chosen = []
        for one, part in zip(found, shares(len(found)), strict=True):
            others = left_over * (1 - share if one.direction == best.direction else share)
            few = one.q * others < _FEW
            state.chosen.append(Chosen(one.event, one.direction, part, few))
        return left_over, share

    def training(self, size: int) -> tuple[Outputs, Outputs]:
        """Outputs of both sides, half of so many each; they are to learn from, never counted."""
        sizes = dict.fromkeys(SIDES, size // 2)
        plan = list(batches(sizes, min(_TRAINING, max(-(-size // 4), 1))))  # two calls a side
        origin = here()
        tasks = [(b, draw, (self._mechanism, self.data[b.side], b, origin)) for b in plan]
        started = time.perf_counter()
        parts: dict[int, Outputs] = {}
        for batch, (outputs, seen, sign) in in_parallel(self.executor, tasks):
            parts[batch.number] = outputs
            self._note(seen)
            refuse(sign and f"{batch.side}: {sign}")
        self.state.drawn += 2 * (size // 2)
        calls = [[parts[b.number] for b in plan if b.side == side] for side in SIDES]
        joined = [Outputs.joined(side) for side in calls]
        for sign in (*map(between, calls), *map(repeats, joined), together(*joined)):
            refuse(sign)
        self.state.largest = _largest(joined[0], (time.perf_counter() - started) / max(size, 1))
        self._report_progress()
        return joined[0], joined[1]

    def _confirm(self) -> None:
        """Count the chosen events on fresh outputs; only the counts are kept."""
        state = self.state
        events = [one.event for one in state.chosen]
        origin = here()
        tasks = (
            (batch, count, (self._mechanism, self.data[batch.side], batch, origin, events))
            for batch in batches(state.sizes, state.largest)
            if batch.number not in state.done
        )
        calls = Calls()
        for batch, found in in_parallel(self.executor, tasks):
            self._note(found.marks)
            refuse(found.sign and f"{batch.side}: {found.sign}")
            if self.windows.again(found.windows):
                refuse(f"{batch.side}: a long stretch of outputs came before")
            state.note_value(batch.side, found.only)
            for event, number in dict(zip(events, found.hits, strict=True)).items():
                calls.add(event, batch.side, number, batch.size)
                new = Tally.counted(batch.side, number, batch.size)
                state.tallies[event] = state.tallies.get(event, Tally()) + new
            state.done.add(batch.number)
            state.drawn += batch.size
            self._save()
            self._report_progress()
        self._save(force=True)

    def _judge(self, look: Round, last: bool, started: float) -> AuditReport | None:
        """A report where a violation is certain, or nothing more may be drawn."""
        bounds = []
        chosen = sorted(self.state.chosen, key=self._evidence, reverse=True)
        telling = self._telling([one.event for one in chosen]) if last else []
        for one in chosen:
            level = look.alpha * one.share
            hopeless = self._evidence(one) < -0.7 * math.log(level)
            if hopeless and one.event not in telling:
                continue
            self._require_variety(one.event)
            region = self._region(one, level)
            if not hopeless and self.promise.refuted(region):
                return self._report(True, [(one, region)], started)
            bounds.append((one, region))
        return self._report(False, bounds, started) if last else None

    def _require_variety(self, event: Event) -> None:
        """Nothing is concluded from an event that never varied within a call, or within a side."""
        tally = self.state.tallies[event]
        if tally.mixed or tally.left * tally.right_trials == tally.right * tally.left_trials:
            return
        if not self.state.one_by_one:
            raise AllAlike
        if all(self.state.values.get(side) for side in SIDES):
            refuse_one_value()

    def _evidence(self, one: Chosen) -> float:
        tally = self.state.tallies[one.event]
        counts = (*tally.of(one.direction), *tally.of(other(one.direction)))
        return float(evidence(*counts, self._lines))

    def _telling(self, events: list[Event]) -> list[Event]:
        """The events that come nearest to the promise, by whose bounds an audit says how far."""
        found = {event: self.state.tallies[event] for event in events}
        reach = {e: reached(t.of("left"), t.of("right"), self._lines) for e, t in found.items()}
        return sorted(reach, key=lambda event: -reach[event])[:_BOUNDS]

    def _region(self, one: Chosen, level: Fraction) -> Region:
        tally = self.state.tallies[one.event]
        return Region(*tally.of(one.direction), *tally.of(other(one.direction)), level, one.few)

    def _report(
        self, violation: bool, judged: list[tuple[Chosen, Region]], started: float
    ) -> AuditReport:
        """What the regions say together, shown by the event with the largest epsilon."""
        found = [(self.promise.bounds(region), one) for one, region in judged]
        name = self.promise.limit[0]
        bounds, one = max(found, key=lambda each: (each[0]["epsilon"], each[0][name]))
        bounds = {key: max(each[key] for each, _ in found) for key in bounds}
        if violation:  # the region leaves the promise out, so it is a lower bound itself
            promised = self.promise.promised()
            bounds |= {key: max(bounds[key], value) for key, value in promised.items()}
        tally = self.state.tallies[one.event]
        return AuditReport(
            violation=violation,
            promise=self.promise,
            bounds={key: _short(value) for key, value in bounds.items()},
            event=one.event,
            direction=one.direction,
            counts={side: tally.of(side) for side in SIDES},
            samples=self.state.drawn,
            alpha=self.alpha,
            looks=self.state.look + 1,
            few=one.few,
            seconds=time.perf_counter() - started,
            warning=self.state.warning,
        )

    def _save(self, force: bool = False) -> None:
        now = time.monotonic()
        if self.checkpoint is not None and (force or now - self.saved > _SECONDS):
            self.checkpoint.save(self.state.as_dict())
            self.saved = now

    def _report_progress(self) -> None:
        if self.progress is not None:
            self.progress(self.state.drawn)


def other(side: str) -> str:
    return "right" if side == "left" else "left"


def _short(value: Fraction) -> Fraction:
    """A bound with twelve digits, rounded down."""
    return Fraction(Enclosure.exact(value).decimal_lower(12))


def _largest(outputs: Outputs, seconds: float) -> int:
    """A batch size that takes a moment and little memory."""
    size = int(_SECONDS / max(seconds, 1e-9))
    if outputs.matrix is not None:
        size = min(size, _BYTES // max(outputs.matrix[:1].nbytes, 1))
    return 1 << max(min(size, _LARGEST), _SMALLEST).bit_length() - 1
