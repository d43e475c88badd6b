"""The search for events: families, learned combinations, conjunctions; the best few are kept."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from exactdp.audit.bounds.evidence import Lines, weakened
from exactdp.audit.events.candidates import Candidate, candidates, counted
from exactdp.audit.events.event import Event, encoded
from exactdp.audit.events.families import proposals
from exactdp.audit.events.features import column
from exactdp.audit.events.learned import combination
from exactdp.audit.events.outputs import Outputs
from exactdp.errors import InvalidParameter

__all__ = ["search"]

_PAIRED = 14
_CONVINCING = 4.0  # nats
_WEAKER = 0.8  # times epsilon and delta
_SEEN = 3  # hits on the other side in training below which a threshold is also moved outward
_HANDICAP, _MOST = 0.02, 0.5  # nats


def search(
    left: Outputs,
    right: Outputs,
    data: tuple[Any, Any],
    promise: Lines,
    epsilon: float,
    known: Sequence[Event] = (),
    keep: int = 4,
) -> list[Candidate]:
    """The events that speak most against the promise on training outputs, the best first.

    left, right: training outputs of both sides. data: the data sets, for the answers they suggest.
    known: events to consider besides those the families propose.
    Where none is convincing, the second one is the best against a slightly weaker promise: it is
    the one that carries the bound that an audit without a violation reports. Where nothing speaks
    against the promise at all, those are returned, with a score of 0.
    """
    sides = (left, right, data, epsilon, known, keep)
    best = _search(promise, *sides)
    if best and best[0].score >= _CONVINCING:
        return best
    weaker = weakened(promise, _WEAKER)
    for_the_bound = [one for one in _search(weaker, *sides) if one not in best]
    if not best:
        return [replace(one, score=0.0) for one in for_the_bound]
    return [*best[:1], *for_the_bound[:1], *best[1:]][:keep]


def _search(
    promise: Lines,
    left: Outputs,
    right: Outputs,
    data: tuple[Any, Any],
    epsilon: float,
    known: Sequence[Event],
    keep: int,
) -> list[Candidate]:
    found: list[Candidate] = []
    for event in known:
        found += counted(event, event.hits(left), event.hits(right), promise)
    with np.errstate(all="ignore"):
        for rank, feature in enumerate(proposals(left, right, data, epsilon)):
            a, b = column(left, feature), column(right, feature)
            handicap = min(_HANDICAP * rank, _MOST)
            found += [_handicapped(x, handicap) for x in candidates(feature, a, b, promise)]
        learned = combination(left, right, promise)
        if learned is not None:
            found += candidates(learned, column(left, learned), column(right, learned), promise)
    found = _writable(sorted(found, key=lambda one: -one.score))
    found += _paired(found[:_PAIRED], left, right, promise)
    best = _distinct(sorted(found, key=lambda one: -one.score), left, right, keep)
    return [*best[:1], *_deeper(best, left, right), *best[1:]][:keep]


def _handicapped(one: Candidate, handicap: float) -> Candidate:
    """Simple features come first; a later one must do a little better."""
    return replace(one, score=one.score - min(handicap, one.score / 2))


def _writable(found: list[Candidate]) -> list[Candidate]:
    kept = []
    for one in found[:60]:
        with contextlib.suppress(InvalidParameter):
            encoded(one.event)
            kept.append(one)
    return kept


def _paired(
    found: list[Candidate], left: Outputs, right: Outputs, promise: Lines
) -> list[Candidate]:
    """Conjunctions and unions of the best events of one direction."""
    hits = [(one.event.hits(left), one.event.hits(right)) for one in found]
    paired: list[Candidate] = []
    for (one, (a, b)), (two, (c, d)) in combinations(zip(found, hits, strict=True), 2):
        if one.direction != two.direction:
            continue
        least = max(one.score, two.score)
        for join, at_left, at_right in (
            (Event.all_of, a & c, b & d),
            (Event.any_of, a | c, b | d),
        ):
            new = counted(join(one.event, two.event), at_left, at_right, promise, 3.0)
            paired += [x for x in new if x.score > least and x.direction == one.direction]
    return sorted(paired, key=lambda one: -one.score)[:4]


def _deeper(best: list[Candidate], left: Outputs, right: Outputs) -> list[Candidate]:
    """The best threshold moved outward until half of its hits are left.

    Where the other side was hardly seen beyond a threshold, training cannot tell how far out it
    has to be: the nearest one that looks clean is usually a little too near.
    """
    if not best or best[0].event.relation not in ("at least", "at most"):
        return []
    one = best[0]
    here, there = (left, right) if one.direction == "left" else (right, left)
    if one.q * len(there) > _SEEN:
        return []
    values = column(here, one.event.feature)
    cut = np.median(values[one.event.of(values)]).item()
    if cut == one.event.value or not isinstance(cut, type(one.event.value)):
        return []
    event = replace(one.event, value=cut)
    p, q = float(event.hits(here).mean()), float(event.hits(there).mean())
    return [replace(one, event=event, p=p, q=q)] if p > 0 else []


def _distinct(found: list[Candidate], left: Outputs, right: Outputs, keep: int) -> list[Candidate]:
    """The best few whose hits differ on the training outputs."""
    kept: list[Candidate] = []
    seen: set[tuple[str, bytes]] = set()
    for one in found[: 8 * keep]:
        hits = np.concatenate([one.event.hits(left), one.event.hits(right)])
        mark = (one.direction, np.packbits(hits).tobytes())
        if mark not in seen:
            seen.add(mark)
            kept.append(one)
        if len(kept) == keep:
            break
    return kept
