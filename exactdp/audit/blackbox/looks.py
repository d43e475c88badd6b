"""The looks of an audit: train, choose events, confirm them on fresh outputs, judge."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

from exactdp.audit.blackbox.drawing import ALIKE, REPEATED, SIDES, TRAINING, Drawing
from exactdp.audit.blackbox.independence import AllAlike, RepeatedCalls, refuse_one_value
from exactdp.audit.blackbox.plan import Round, rounds, shares
from exactdp.audit.blackbox.recount import recount
from exactdp.audit.blackbox.report import AuditReport
from exactdp.audit.blackbox.state import Chosen, State
from exactdp.audit.blackbox.tally import Done, Tally
from exactdp.audit.bounds.evidence import allocation, evidence
from exactdp.audit.bounds.region import Region
from exactdp.audit.events.candidates import Candidate, reached
from exactdp.audit.events.event import Event
from exactdp.audit.events.outputs import Outputs
from exactdp.enclosure import Enclosure

__all__ = ["Audit", "other"]

#: Of each parameter: at least this.
Bounds = dict[str, Fraction]

_CALLS = 4  # of each side that confirm, at least: what is the same within a call differs between
_FEWEST = 64  # outputs of a call, unless there are fewer in all
_PATIENCE, _PATIENT = 3, 6000  # training goes on, up to so many times or outputs
_BOUNDS = 2  # events whose bounds are computed even where they refute nothing
_CERTAIN = 8.0  # nats in training from which outputs that are all alike call for single calls
_ONCE = "an event that broke the promise did not do so a second time ({})"
_FEW = 8  # hits expected on the other side up to which the region is shaped for few


@dataclass
class Audit(Drawing):
    basis: str = ""

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

    def _prepare(self, look: Round) -> None:
        """Choose the events of a look, and how many outputs of each side confirm them."""
        state = self.state
        size, share = look.training + look.confirming, self.share
        if self.fixed is not None:
            state.chosen, state.largest = self.fixed, TRAINING
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
            found = self.search(sides[0], sides[1], known)
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
            region = self._region(one, self.state.tallies[one.event], level)
            found, confirmed = self.promise.bounds(region), False
            if not hopeless and self.promise.refuted(region):
                confirmed, found = self._seen_again(one, found)
            if confirmed:
                return self._report(True, [(one, found)], started)
            bounds.append((one, found))
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

    def _seen_again(self, one: Chosen, bounds: Bounds) -> tuple[bool, Bounds]:
        """Whether an event breaks the promise a second time, and what both counts bound."""
        state = self.state
        again = recount(self._mechanism, self.sent, self.data, one.event,
                        state.tallies[one.event], state.one_by_one, state.largest)  # fmt: skip
        state.drawn += again.tally.left_trials + again.tally.right_trials
        self._report_progress()
        region = self._region(one, again.tally, self.alpha)
        confirmed = self.promise.refuted(region)
        self.basis = again.basis if confirmed else _ONCE.format(again.basis)
        second = self.promise.bounds(region)
        return confirmed, {key: min(bounds[key], second[key]) for key in bounds}

    def _region(self, one: Chosen, tally: Tally, level: Fraction) -> Region:
        return Region(*tally.of(one.direction), *tally.of(other(one.direction)), level, one.few)

    def _report(
        self, violation: bool, judged: list[tuple[Chosen, Bounds]], started: float
    ) -> AuditReport:
        """What the regions say together, shown by the event with the largest epsilon."""
        name = self.promise.limit[0]
        one, bounds = max(judged, key=lambda each: (each[1]["epsilon"], each[1][name]))
        bounds = {key: max(each[key] for _, each in judged) for key in bounds}
        if violation:  # the regions leave the promise out, so it bounds from below itself
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
            basis=self.basis,
            looked_at=self.state.looked,
        )


def other(side: str) -> str:
    return "right" if side == "left" else "left"


def _short(value: Fraction) -> Fraction:
    """A bound with twelve digits, rounded down."""
    return Fraction(Enclosure.exact(value).decimal_lower(12))
