"""An audit without a plan: watch the bounds grow, and stop whenever you like.

Outputs come in epochs. Each trains on fresh outputs, adds the best events to those that are
watched, and counts all of them on further ones. An event has a confidence region that holds at
every moment (bounds/mixture.py), at a level of its own; the levels add up to alpha, however many
epochs there are. So every report is valid, whatever made one stop at it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

from exactdp.audit.blackbox.auditor import chosen_promise
from exactdp.audit.blackbox.drawing import ALIKE, REPEATED, SIDES
from exactdp.audit.blackbox.independence import AllAlike, RepeatedCalls
from exactdp.audit.blackbox.looks import Audit, other
from exactdp.audit.blackbox.plan import outputs_in_all, shares
from exactdp.audit.blackbox.report import AuditReport
from exactdp.audit.blackbox.state import Chosen
from exactdp.audit.blackbox.tally import Done, Run
from exactdp.audit.bounds.evidence import allocation
from exactdp.audit.bounds.mixture import AnytimeRegion, Beta
from exactdp.audit.events.candidates import Candidate
from exactdp.audit.events.event import Event
from exactdp.audit.promises import Promise
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, false_alarm

__all__ = ["watch"]

_FIRST = 600  # training outputs of the first epoch
_GROWTH = 4  # of the training from one epoch to the next
_TRAINING_MOST = 120_000
_CONFIRMING = 8  # outputs counted for each one trained on
_STEP = Fraction(1, 6)  # outputs drawn between two reports, as a part of those counted
_TRUST = Fraction(1, 4)  # weight of the density that training suggests, in outputs trained on
_MOST = 12  # events watched at once
_WHOLE = Fraction(1)


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
    executor: Executor | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[AuditReport]:
    """Audit run on two data sets until stopped: yields reports, each of them valid when it comes.

    Arguments as for :func:`exactdp.audit.audit`. samples: outputs that may be drawn in all, at
    least 1000; None for no end. With probability 1 - alpha, none of all the reports is wrong: the
    iteration may be left at any of them, for any reason. It ends by itself after a report of a
    violation. Raises as :func:`exactdp.audit.audit` does.

    A plan is cheaper: audit(...) with the same outputs finds smaller violations. Watch where it is
    not known how many outputs are needed, or can be had.
    """
    tested = chosen_promise(promise, epsilon, delta)
    most = None if samples is None else outputs_in_all(samples, 1000)
    level = false_alarm("alpha", alpha)
    data = {"left": left, "right": right}
    whole = Watch(run, data, tested, most or 0, level, [], executor=executor, progress=progress)
    return whole.reports(most)


@dataclass(frozen=True)
class Watched:
    """An event, the side it favours, its level, and the densities chosen before it was counted."""

    event: Event
    direction: str
    level: Fraction
    prior: Beta
    other_prior: Beta


@dataclass
class Watch(Audit):
    """The state of a watch; drawing and counting are those of every audit."""

    watched: list[Watched] = field(default_factory=list)
    bounds: dict[str, Fraction] = field(default_factory=dict)
    looks: int = 0
    started: float = field(default_factory=time.perf_counter)
    share: float = 0.5
    favoured: str = "left"

    def reports(self, most: int | None) -> Iterator[AuditReport]:
        """Epoch after epoch; at most so many outputs."""
        wanted = _FIRST
        for epoch in count(1):
            training = min(wanted, _TRAINING_MOST)
            if most is not None:
                training = min(training, (most - self.state.drawn) // (1 + _CONFIRMING))
            if training < 2:
                return
            wanted *= _GROWTH
            try:
                for report in self._epoch(training, self.alpha / (epoch * (epoch + 1))):
                    yield report
                    if report.violation:
                        return
            except RepeatedCalls:
                if self.executor is not None:
                    raise
                wanted = self._begin_anew(REPEATED)
            except AllAlike:
                wanted = self._begin_anew(ALIKE)

    def _epoch(self, training: int, level: Fraction) -> Iterator[AuditReport]:
        self._learn(training, level)
        for size in _steps(_CONFIRMING * training):
            self._draw(size)
            yield self._reported()

    def _begin_anew(self, reason: str) -> int:
        """Call run once per output from here on; nothing counted so far is used."""
        self.call_anew(reason)
        self.watched, self.bounds = [], {}
        return _FIRST

    def _learn(self, training: int, level: Fraction) -> None:
        """Train, and watch the best events that are not watched yet."""
        left, right = self.training(training)
        known = [one.event for one in self.watched]
        found = self.search(left, right, known)
        if found:
            self.share = allocation(found[0].p, found[0].q, self._lines)
            self.favoured = found[0].direction
        new = {one.event: one for one in found if one.event not in known}
        if not self.watched and not new:
            plain = Event(("length",), "at least", 1)
            new = {plain: Candidate(plain, "left", 0.0, 0.5, 0.5)}
        for one, part in zip(new.values(), shares(len(new)), strict=True):
            weight = max(int(training // 2 * _TRUST), 1)
            priors = Beta.seen(one.p, weight), Beta.seen(one.q, weight)
            self.watched.append(Watched(one.event, one.direction, level * part, *priors))
        self.watched.sort(key=self._counted_evidence, reverse=True)
        for dropped in self.watched[_MOST:]:  # were it chosen again, it would begin anew
            self.state.tallies.pop(dropped.event, None)
        del self.watched[_MOST:]

    def _draw(self, size: int) -> None:
        """Count all watched events on so many fresh outputs."""
        many = min(max(round(size * self.share), 1), size - 1)
        self.state.sizes = dict.fromkeys(SIDES, size - many)
        self.state.sizes[self.favoured] = many
        self.state.chosen = [Chosen(one.event, one.direction, _WHOLE) for one in self.watched]
        self.state.done = Done()
        self._confirm()

    def _counted_evidence(self, one: Watched) -> float:
        if one.event not in self.state.tallies:
            return math.inf
        return self._evidence(Chosen(one.event, one.direction, _WHOLE))

    def _reported(self) -> AuditReport:
        """The bounds so far: a region excludes for good what it excludes at any time."""
        judged = sorted(self.watched, key=self._counted_evidence, reverse=True)
        violation, shown = False, judged[0]
        found = [dict.fromkeys(self.promise.currencies(), Fraction(0)), self.bounds]
        telling = self._telling([one.event for one in judged])
        for one in judged:
            hopeless = self._counted_evidence(one) < -0.99 * math.log(one.level)
            if hopeless and one.event not in telling:
                continue
            self._require_variety(one.event)
            region = self._anytime(one)
            bounds = self.promise.bounds(region)
            if not hopeless and self.promise.refuted(region):
                violation, bounds = self._seen_again(
                    Chosen(one.event, one.direction, _WHOLE), bounds
                )
            found.append(bounds)
            if violation:
                shown = one
                found.append(self.promise.promised())
                break
        self.bounds = {key: max(each.get(key, Fraction(0)) for each in found) for key in found[0]}
        self.looks += 1
        tally = self.state.tallies[shown.event]
        short = {k: Fraction(Enclosure.exact(v).decimal_lower(12)) for k, v in self.bounds.items()}
        return AuditReport(
            violation=violation,
            promise=self.promise,
            bounds=short,
            event=shown.event,
            direction=shown.direction,
            counts={side: tally.of(side) for side in SIDES},
            samples=self.state.drawn,
            alpha=self.alpha,
            looks=self.looks,
            seconds=time.perf_counter() - self.started,
            warning=self.state.warning,
            basis=self.basis,
            looked_at=self.state.looked,
        )

    def _anytime(self, one: Watched) -> AnytimeRegion:
        tally = self.state.tallies[one.event]
        counts = (*tally.of(one.direction), *tally.of(other(one.direction)))
        return AnytimeRegion(*counts, one.level, one.prior, one.other_prior)


def _steps(total: int) -> Iterator[int]:
    """Sizes that add up to a total, each a part of what came before, the first ones alike."""
    done = 0
    while done < total:
        size = min(max(int(done * _STEP), total // 16, 2), total - done)
        yield size
        done += size
