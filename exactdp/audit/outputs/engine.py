"""The engine of all audits: train, choose events, count them on fresh outputs, judge.

An audit of a fixed number of outputs chooses events anew in each look, from all outputs of earlier
looks, counts them once, and judges them by the region of that count (bounds/region.py). A watch has
no end: it keeps its best events, adds the new ones of every look, and judges them again and again
by regions that hold at all times (bounds/mixture.py).

Why reports hold with probability 1 - alpha: the events of a look, their levels and the sides they
favour depend only on outputs that were drawn before those that count them. Given the former, each
region misses the true pair of probabilities with a probability of at most its level. The levels add
up to at most alpha, whatever was drawn, so with probability 1 - alpha no region of any look misses.
Then all bounds hold at once, and so does the largest of them: no report says less than a report
after an earlier look would have said. Looks that are not needed, because a violation ended the
audit, leave their alpha to the second count of that violation, whose outputs are fresh again.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from exactdp.audit.bounds.evidence import Lines, allocation, evidence
from exactdp.audit.bounds.mixture import AnytimeRegion, Beta
from exactdp.audit.bounds.region import Region
from exactdp.audit.bounds.regions import ConfidenceRegion
from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.candidates import Aim, Candidate, reached
from exactdp.audit.outputs.copies import AllAlike
from exactdp.audit.outputs.counting import SIDES, Tally
from exactdp.audit.outputs.drawing import Draws
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.looks import EQUAL, LEARNED_FROM, WEIGHTS, Look, shares, steps
from exactdp.audit.outputs.report import AuditReport
from exactdp.audit.outputs.search import search
from exactdp.audit.promises import Promise
from exactdp.enclosure import Enclosure

#: Parameter -> a lower bound on it.
Bounds = dict[str, Fraction]

_NEAREST = 4  # events whose bounds are computed even where they refute nothing
_REQUIRED = 2  # of them, in the last look, must vary within calls
_FEW = 8  # hits expected on the other side up to which the region is shaped for few
_TRUST = Fraction(1, 4)  # weight of the density that training suggests, in outputs trained on
_KEPT = 12  # events watched at once
_CERTAIN = 8  # outputs of each side from which those that are all alike call for single calls
#: Evidence, as a part of -ln(level), below which no region refutes, so that the
#: region need not be computed; chosen on lab.benchmarks.broken.
_HOPELESS = {False: 0.7, True: 0.99}

#: If run is called once for every output, a look trains on and counts at most this number of
#: outputs, or as many as this time allows where that is more: a call may start a program. 18
#: outputs of each side refute epsilon = 1 where an event happens for all outputs of one side and
#: for none of the other.
_SINGLE_CALLS, _SINGLE_SECONDS = 40, 10.0

_ALIKE = (
    "run was called once for every output, because an event happened for all outputs of a call or "
    "for none; each look at the counts draws at most {} outputs"
)
_ONCE = "an event that broke the promise did not do so a second time ({})"
#: The event that is counted where the search finds nothing at all.
_ANY = Candidate(Event(("has",), "equals", 1), "left", 0.0, 0.5, 0.5)


@dataclass(frozen=True)
class Chosen:
    """An event to count, the side it favours, and its level: the error probability of its region.

    few: whether few hits are expected on the other side. priors: the densities of both sides for
    a region that holds at all times; None for the region of a single count.
    """

    event: Event
    direction: str
    level: Fraction
    few: bool = False
    priors: tuple[Beta, Beta] | None = None

    def region(self, tally: Tally, level: Fraction | None = None) -> ConfidenceRegion:
        """The confidence region of the event's two probabilities; of a single count at a level."""
        counts = tally.favouring(self.direction)
        if self.priors is None or level is not None:
            return Region(*counts, self.level if level is None else level, self.few)
        return AnytimeRegion(*counts, self.level, *self.priors)


@dataclass
class Audit:
    """An audit under way.

    fixed: events to count, instead of searching. anytime: whether reports come again and again, and
    each of them has to hold. share: of the outputs, for the favoured side.
    """

    draws: Draws
    promise: Promise
    alpha: Fraction
    fixed: list[Chosen] | None = None
    anytime: bool = False
    share: float = 0.5
    looks: int = 0
    spent: Fraction = Fraction(0)  # alpha of the looks so far
    chosen: list[Chosen] = field(default_factory=list)
    tallies: dict[Event, Tally] = field(default_factory=dict)
    known: dict[str, Outputs] = field(default_factory=dict)  # outputs that later events learn from
    bounds: Bounds = field(default_factory=dict)
    favoured: str = "left"
    looked_at: dict[str, int] = field(default_factory=dict)
    most: int = sys.maxsize  # largest number of outputs that a look trains on, or counts
    warning: str = ""
    basis: str = ""
    violation: bool = False
    started: float = field(default_factory=time.perf_counter)

    @cached_property
    def _lines(self) -> Lines:
        return self.promise.lines()

    def reports(self, looks: Iterable[Look]) -> Iterator[AuditReport]:
        """The reports, look after look, until there is a violation or no further look.

        An audit with a fixed number of outputs reports once; a watch after every step.
        """
        for look in looks:
            try:
                yield from self._look(look)
            except AllAlike:
                self._call_one_by_one()
                if not self.anytime:  # otherwise the level of this look is spent
                    yield from self._look(look, min(look.size, self.most))
            if self.violation:
                return

    def _look(self, look: Look, size: int | None = None) -> Iterator[AuditReport]:
        """Choose events and count them on fresh outputs, then judge.

        size: outputs to count; None: train, and choose events first.
        """
        if size is None:
            size, self.spent = self._choose(look), self.spent + look.alpha
        for step in steps(size) if self.anytime else [size]:
            events = [one.event for one in self.chosen]
            keep = LEARNED_FROM // 2 if self.fixed is None else 0
            outputs, tallies = self.draws.count(events, step, self.favoured, self.share, keep)
            for event, tally in tallies.items():
                self.tallies[event] = self.tallies.get(event, Tally()) + tally
            self._learn_from(outputs)
            self.looks += 1
            report = self._judge(self.anytime or look.last)
            if report is not None:
                self.violation = report.violation
                yield report
            if self.violation:
                return

    def _call_one_by_one(self) -> None:
        """Call run once for every output from now on; nothing counted so far is used."""
        self.tallies, self.bounds, self.known = {}, {}, {}
        if self.anytime:  # an audit has chosen its events before the outputs that will count them
            self.chosen = []
        self.most = max(_SINGLE_CALLS, int(_SINGLE_SECONDS / self.draws.call_one_by_one()))
        self.warning = _ALIKE.format(self.most)

    def _choose(self, look: Look) -> int:
        """Train, and choose the events of a look. Returns how many outputs are left to count."""
        if self.fixed is not None:
            share = look.alpha / self.alpha
            self.chosen = [replace(one, level=one.level * share) for one in self.fixed]
            self.favoured = self.fixed[0].direction
            return min(look.size, self.most)
        before = self.draws.total
        candidates = self._train(look)
        left = look.size - (self.draws.total - before)
        if candidates:
            first = candidates[0]
            self.share = allocation(first.p, first.q, self._lines)
            self.favoured = first.direction
            few = min(map(len, self.known.values()))
            if {first.p, first.q} == {0.0, 1.0} and few >= _CERTAIN:
                self._call_one_by_one()
        size = min(left, self.most)
        self._add(candidates, look, size)
        return size

    def _train(self, look: Look) -> list[Candidate]:
        """The best events on the outputs known so far; more are drawn until these are enough."""
        wanted, patience = (min(n, self.most) for n in (look.training, look.patience))
        if self._known_outputs < wanted:
            self._learn_from(self.draws.training(wanted - self._known_outputs))
        candidates = self._search(look)
        while self._known_outputs < patience:
            if any(evidence(one.p, 1, one.q, 1, self._lines) for one in candidates):
                break
            self._learn_from(self.draws.training(wanted))
            candidates = self._search(look)
        return candidates

    @property
    def _known_outputs(self) -> int:
        return sum(map(len, self.known.values()))

    def _learn_from(self, outputs: dict[str, Outputs]) -> None:
        """Remember outputs, for the choice of events that none of them will count."""
        for side, one in outputs.items():
            before = self.known.get(side, one.take(0, 0))
            if len(before) < LEARNED_FROM // 2:
                more = one.take(0, LEARNED_FROM // 2 - len(before))
                self.known[side] = Outputs.joined([before, more])

    def _add(self, candidates: list[Candidate], look: Look, size: int) -> None:
        """Count these candidates; an audit counts nothing else, a watch keeps its best events."""
        if not self.anytime:
            self.chosen, self.tallies = [], {}
        known = [one.event for one in self.chosen]
        new = [one for one in candidates if one.event not in known]
        if not new and not self.chosen:
            new = [_ANY]
        weights = WEIGHTS if new and new[0].score else EQUAL
        for one, share in zip(new, shares(len(new), weights), strict=True):
            others = size * (1 - self.share if one.direction == self.favoured else self.share)
            priors = None
            if self.anytime:
                weight = max(int(look.training // 2 * _TRUST), 1)
                priors = Beta.seen(one.p, weight), Beta.seen(one.q, weight)
            few = not self.anytime and one.q * others < _FEW
            self.chosen.append(Chosen(one.event, one.direction, look.alpha * share, few, priors))
        self.chosen.sort(key=self._evidence, reverse=True)
        for dropped in self.chosen[_KEPT:]:  # if it were chosen again, it would begin anew
            self.tallies.pop(dropped.event, None)
        del self.chosen[_KEPT:]

    def _search(self, look: Look) -> list[Candidate]:
        """The events that speak most against the promise; what was looked at is noted."""
        looked, data = Counter[str](), (self.draws.data["left"], self.draws.data["right"])
        aim = Aim(self._lines, min(look.size, self.most) // 2, self.alpha)
        candidates = search(
            self.known["left"], self.known["right"], data, aim, self.promise.divisor,
            known=[one.event for one in self.chosen],
            progress=lambda feature: looked.update([feature[0]]),
        )  # fmt: skip
        self.looked_at = dict(looked.most_common())
        return candidates

    def _judge(self, final: bool) -> AuditReport | None:
        """A report where a violation is certain or a report is due."""
        ordered = sorted(self.chosen, key=self._evidence, reverse=True)
        ranked = self._nearest()
        nearest = [e for e in ranked if self._varies(e) or (final and e in ranked[:_REQUIRED])]
        level = _HOPELESS[self.anytime]
        hopeful = {one for one in ordered if self._evidence(one) >= level * -math.log(one.level)}
        judged = [one for one in ordered if one in hopeful or one.event in nearest]
        self._require_variety([one.event for one in judged])
        judgements: list[tuple[Chosen, Bounds]] = []
        for one in judged:
            region = one.region(self.tallies[one.event])
            bounds = self.promise.bounds(region)
            if one in hopeful and self.promise.refuted(region):
                confirmed, bounds = self._confirmed(one, bounds)
                if confirmed:
                    return self._report(True, one, [bounds, self.promise.promised()])
            judgements.append((one, bounds))
        if not final:  # the bounds of a look hold at its level, so no later report says less
            keys = self.promise.currencies()
            every = [self.bounds, *(bounds for _, bounds in judgements)]
            zero = Fraction(0)
            self.bounds = {k: max(each.get(k, zero) for each in every) for k in keys}
            return None
        limit = self.promise.limit[0]
        strongest, _ = max(judgements, key=lambda pair: (pair[1]["epsilon"], pair[1][limit]))
        return self._report(False, strongest, [bounds for _, bounds in judgements])

    def _require_variety(self, events: list[Event]) -> None:
        """Nothing is concluded from an event that favours a side and varies within no call."""
        if not all(map(self._varies, events)):
            raise AllAlike

    def _varies(self, event: Event) -> bool:
        """Whether an event varies within some call, or favours no side."""
        tally = self.tallies[event]
        equal = tally.left * tally.right_trials == tally.right * tally.left_trials
        return bool(self.draws.single or tally.mixed or equal)

    def _evidence(self, one: Chosen) -> float:
        """Nats against the promise; infinite for an event that was not counted yet."""
        if one.event not in self.tallies:
            return math.inf
        return float(evidence(*self.tallies[one.event].favouring(one.direction), self._lines))

    def _nearest(self) -> list[Event]:
        """The events that come nearest to the promise: an audit reports their bounds."""
        counts = {one.event: self.tallies[one.event] for one in self.chosen}
        reach = {e: reached(t.of("left"), t.of("right"), self._lines) for e, t in counts.items()}
        return sorted(reach, key=lambda event: -reach[event])[:_NEAREST]

    def _confirmed(self, one: Chosen, bounds: Bounds) -> tuple[bool, Bounds]:
        """Whether an event breaks the promise a second time, and what both counts bound.

        An audit that ends here does not need the alpha of further looks: the second count has it.
        """
        again, basis = self.draws.recount(one.event, self.tallies[one.event])
        region = one.region(again, self.alpha)
        confirmed = self.promise.refuted(region)
        self.basis = basis if confirmed else _ONCE.format(basis)
        second, left = self.promise.bounds(region), self.alpha - self.spent
        alone = self.promise.bounds(one.region(again, left)) if confirmed and left else {}
        zero = Fraction(0)
        return confirmed, {
            key: max(min(bounds[key], second[key]), alone.get(key, zero)) for key in bounds
        }

    def _report(self, violation: bool, chosen: Chosen, bounds: list[Bounds]) -> AuditReport:
        """What the regions bound together; a watch keeps the bounds of its earlier reports.

        The regions of a violation exclude the promise, so the promised parameters are lower bounds,
        too.
        """
        every = [dict.fromkeys(self.promise.currencies(), Fraction(0)), self.bounds, *bounds]
        self.bounds = {key: max(each.get(key, Fraction(0)) for each in every) for key in every[0]}
        tally = self.tallies[chosen.event]
        return AuditReport(
            violation=violation,
            promise=self.promise,
            bounds={  # with twelve digits, rounded down
                key: Fraction(Enclosure.exact(value).decimal_lower(12))
                for key, value in self.bounds.items()
            },
            event=chosen.event,
            direction=chosen.direction,
            counts={side: tally.of(side) for side in SIDES},
            samples=self.draws.total,
            alpha=self.alpha,
            looks=self.looks,
            few=chosen.few,
            seconds=time.perf_counter() - self.started,
            warning=self.warning,
            basis=self.basis,
            looked_at=self.looked_at,
        )
