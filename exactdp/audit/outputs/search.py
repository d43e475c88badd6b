"""The search for events: families, learned combinations, conjunctions; the best few are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from exactdp.audit.bounds.evidence import Lines
from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.candidates import (
    Candidate,
    Group,
    best,
    counted,
    counts,
    farthest,
)
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.families import LEARNED, half, proposals
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.learned import combinations_of, likelihood_ratios

__all__ = ["search"]

#: features of which likelihood ratios are fitted
_NOISY = frozenset({"coordinate", "get", "number inside"})

_PAIRED = 14  # of the best events are joined, two by two
_CERTAIN = 12.0  # nats: what chance finds in many thousand events stays below
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
    told: Callable[[Feature], object] = lambda feature: None,
) -> list[Candidate]:
    """The events that speak most against the promise on training outputs, the best first.

    left, right: training outputs of both sides. data: the data sets, for the answers they suggest.
    known: events to consider besides those the families propose. told: of every feature looked at.
    Where none is certain, the second event is the one that comes nearest to the promise: it carries
    the bounds that an audit without a violation reports. Where nothing speaks against the promise,
    it is the only one.
    """
    suggested = _suggested(left, right, data, epsilon, told)
    found = _search(promise, suggested, left, right, known, keep)
    if found and found[0].score >= _CERTAIN:
        return found
    groups = [group for _, own in suggested for group in own]
    bound = [x for x in farthest(groups, promise) if x.event not in {y.event for y in found}]
    return [*found[:1], *bound, *found[1:]][:keep]


#: of each feature: its handicap, and the counts of its events
Suggested = list[tuple[float, list[Group]]]


def _suggested(
    left: Outputs,
    right: Outputs,
    data: tuple[Any, Any],
    epsilon: float,
    told: Callable[[Feature], object],
) -> Suggested:
    """The counts of all features, whatever promise they will be compared with."""
    suggested, noisy = [], list[Feature]()
    with np.errstate(all="ignore"):
        for rank, feature in enumerate(proposals(left, right, data, epsilon)):
            told(feature)
            judges = _second_halves(left, right) if feature[0] in LEARNED else (left, right)
            own = counts(feature, *(column(side, feature) for side in judges))
            suggested.append((min(_HANDICAP * rank, _MOST), own))
            if feature[0] in _NOISY:
                noisy.append(feature)
        for feature in combinations_of(left, right):
            told(feature)
            own = counts(feature, column(left, feature), column(right, feature))
            suggested.append((_MOST, own))
        judges = _second_halves(left, right)
        for feature in likelihood_ratios(left, right, noisy):
            told(feature)
            suggested.append((_MOST, counts(feature, *(column(side, feature) for side in judges))))
    return [(handicap, own) for handicap, own in suggested if own]


def _second_halves(*sides: Outputs) -> list[Outputs]:
    return [side.take(half(side), len(side)) for side in sides]


def _search(
    promise: Lines,
    suggested: Suggested,
    left: Outputs,
    right: Outputs,
    known: Sequence[Event],
    keep: int,
) -> list[Candidate]:
    found: list[Candidate] = []
    for event in known:
        found += counted(event, event.hits(left), event.hits(right), promise)
    with np.errstate(all="ignore"):
        for handicap, groups in suggested:
            found += [_handicapped(x, handicap) for x in best(groups, promise)]
    found = sorted(found, key=lambda one: -one.score)
    found += _paired(found[:_PAIRED], left, right, promise)
    kept = _distinct(sorted(found, key=lambda one: -one.score), left, right, keep)
    return [*kept[:1], *_deeper(kept, left, right), *kept[1:]][:keep]


def _handicapped(one: Candidate, handicap: float) -> Candidate:
    """Simple features come first; a later one must do a little better."""
    return replace(one, score=one.score - min(handicap, one.score / 2))


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


def _deeper(kept: list[Candidate], left: Outputs, right: Outputs) -> list[Candidate]:
    """The best threshold moved outward until half of its hits are left.

    Where the other side was hardly seen beyond a threshold, training cannot tell how far out it
    has to be: the nearest one that looks clean is usually a little too near.
    """
    if not kept or kept[0].event.relation not in ("at least", "at most"):
        return []
    one = kept[0]
    here, there = (left, right) if one.direction == "left" else (right, left)
    if one.q * len(there) > _SEEN:
        return []
    values = column(here, one.event.feature)
    beyond = np.sort(values[one.event.of(values)])
    cut = beyond[[len(beyond) // 2]].tolist()[0]
    if cut == one.event.value:
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
