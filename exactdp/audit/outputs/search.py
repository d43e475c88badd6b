"""The search for events: families, learned combinations, conjunctions; the best few are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Outputs
from exactdp.audit.outputs.candidates import Aim, Candidate, Counted, best, counted, nearest
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.families import LEARNED, half, proposals
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.learned import combinations_of, likelihood_ratios

_PAIRED = 14  # number of the best events that are joined, two by two
_JOINED = 3.0  # deviations by which the frequency of a joint event may be off
_SEEN = 3  # hits on the other side in training below which a threshold is also moved outward
#: Deviations by which a frequency seen in training may be off: at least; and, for the best of many
#: events, as a part of the largest deviation among equally many independent normal variables.
_DOUBT, _GROWTH = 2.0, 0.6


def search(
    left: Outputs,
    right: Outputs,
    data: tuple[Any, Any],
    aim: Aim,
    epsilon: float,
    known: Sequence[Event] = (),
    keep: int = 4,
    progress: Callable[[Feature], object] = lambda feature: None,
) -> list[Candidate]:
    """The events that speak most against the promise on training outputs, the best first.

    left, right: training outputs of both sides. data: the data sets, for the answers they suggest.
    epsilon: noise of sensitivity 1 probably has the scale 1/epsilon. known: more events to try.
    progress: called with every feature that is looked at.
    The events after the first are those that come nearest to the promise:
    they carry the bounds that an audit without a violation reports. Where nothing speaks against
    the promise, these events are the only ones.
    """
    with np.errstate(all="ignore"):
        every = [*_counted(known, left, right, data, epsilon, progress)]
        candidates = [one for group in every for one in best([group], aim)]
        candidates.sort(key=lambda one: -one.score)
        candidates += _joined(candidates[:_PAIRED], left, right, aim)
        candidates = _distinct(sorted(candidates, key=lambda one: -one.score), left, right, keep)
        candidates = [*candidates[:1], *_deeper(candidates, left, right), *candidates[1:]][:keep]
        others = {y.event for y in candidates}
        near = {x.event: x for x in nearest(every, aim, keep) if x.event not in others}
    return [*candidates[:1], *near.values(), *candidates[1:]][:keep]


def _counted(
    known: Sequence[Event],
    left: Outputs,
    right: Outputs,
    data: tuple[Any, Any],
    epsilon: float,
    progress: Callable[[Feature], object],
) -> Iterator[Counted]:
    """The counts of all events that are looked at. The more of them there are, the more they are
    doubted; what is learned is judged by outputs that it was not learned from."""
    judges = tuple(side.take(half(side), len(side)) for side in (left, right))
    simple: list[Feature] = []
    for event in known:
        yield Counted.one(event, event.hits(left), event.hits(right), _DOUBT)
    many = 1
    for feature in proposals(left, right, data, epsilon):
        progress(feature)
        sides = judges if feature[0] in LEARNED else (left, right)
        for group in counted(feature, *(column(side, feature) for side in sides)):
            many += len(group.hits[0])
            yield group._replace(doubt=max(_DOUBT, _GROWTH * math.sqrt(2 * math.log(many))))
        if feature[0] in ("number", "has", "value"):
            simple.append(feature)
    for feature in combinations_of(left, right, simple) + likelihood_ratios(left, right, simple):
        progress(feature)
        for group in counted(feature, *(column(side, feature) for side in judges)):
            yield group._replace(doubt=_DOUBT)


def _joined(
    candidates: list[Candidate], left: Outputs, right: Outputs, aim: Aim
) -> list[Candidate]:
    """Conjunctions and unions of the best events of one direction."""
    hits = [(one.event.hits(left), one.event.hits(right)) for one in candidates]
    joined: list[Candidate] = []
    for (one, (a, b)), (two, (c, d)) in combinations(zip(candidates, hits, strict=True), 2):
        if one.direction != two.direction:
            continue
        least = max(one.score, two.score)
        for group in (
            Counted.one(Event.all_of(one.event, two.event), a & c, b & d, _JOINED),
            Counted.one(Event.any_of(one.event, two.event), a | c, b | d, _JOINED),
        ):
            new = best([group], aim, 2)
            joined += [x for x in new if x.score > least and x.direction == one.direction]
    return sorted(joined, key=lambda one: -one.score)[:4]


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


def _distinct(
    candidates: list[Candidate], left: Outputs, right: Outputs, keep: int
) -> list[Candidate]:
    """The best few whose hits differ on the training outputs."""
    kept: list[Candidate] = []
    seen: set[tuple[str, bytes]] = set()
    for one in candidates[: 8 * keep]:
        hits = np.concatenate([one.event.hits(left), one.event.hits(right)])
        mark = (one.direction, np.packbits(hits).tobytes())
        if mark not in seen:
            seen.add(mark)
            kept.append(one)
        if len(kept) == keep:
            break
    return kept
