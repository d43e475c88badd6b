"""Candidate events from one feature: counted on training outputs, ranked by their evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from exactdp.audit.bounds.evidence import Lines, evidence
from exactdp.audit.outputs.batch import Column, as_floats
from exactdp.audit.outputs.event import Event, Hits
from exactdp.audit.outputs.features import Feature, is_numeric

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_DISTINCT = 128
_VALUES, _SHOWN = 2560, 512  # most frequent texts, tuples, ... in sets of values; as single values
_QUANTILES = 64
_INTERVALS = 32
_JUDGES = 250  # least number of judging outputs on each side; with fewer, no set is learned
_HALVINGS = 16
_SURE = 3.0  # deviations by which counts that decide nothing may be off
_LIKELY = 0.5  # part of the doubt about a threshold, if more outputs will count it
_CERTIFIED = 0.66  # deviations that a bound costs on each side, per sqrt(2 ln(1/alpha))

_SIDES = ("left", "right")


@dataclass(frozen=True)
class Aim:
    """What events are chosen for: to break a promise on fresh outputs, or to come near to it.

    lines: of the promise. fresh: outputs of each side that will count the events. alpha: the
    probability of a false alarm.
    """

    lines: Lines
    fresh: int
    alpha: Fraction

    def evidence(self, p: Column, q: Column) -> Column:
        """Nats against the promise of fresh outputs that have these frequencies."""
        return evidence(self.fresh * p, self.fresh, self.fresh * q, self.fresh, self.lines)

    def reach(self, p: Column, q: Column) -> Column:
        """The part of the promise that fresh outputs with these frequencies certify, up to 4."""
        z = _CERTIFIED * math.sqrt(-2 * math.log(self.alpha))
        return _reach(_wilson(p, self.fresh, -z), _wilson(q, self.fresh, z), self.lines)


@dataclass(frozen=True)
class Candidate:
    """An event, the side it favours, and how often it was seen in training: on this side (p), and
    on the other (q)."""

    event: Event
    direction: str
    score: float
    p: float
    q: float


class Counted(NamedTuple):
    """Events, and how often each happened in training.

    make: event number i. hits: at left and right, one entry per event. trials: outputs looked at.
    doubt: deviations by which these counts may be off, as chance picks among many events.
    """

    make: Callable[[int], Event]
    hits: tuple[Column, Column]
    trials: tuple[int, int]
    doubt: float = 1.0

    @classmethod
    def one(cls, event: Event, left: Hits, right: Hits, doubt: float) -> Counted:
        """One event, from its hits on training outputs."""
        hits = np.array([left.sum()]), np.array([right.sum()])
        return cls(lambda i: event, hits, (len(left), len(right)), doubt)


def counted(feature: Feature, left: Column, right: Column) -> list[Counted]:
    """How often the events that a feature suggests happened on either side."""
    groups = (_numeric if is_numeric(feature) else _discrete)(feature, left, right)
    return [each for each in groups if len(each.hits[0])]


def best(groups: Sequence[Counted], aim: Aim, keep: int = 4) -> list[Candidate]:
    """The events that speak most against the promise, in either direction: by the evidence of
    fresh outputs, if training has exaggerated what the event gives away."""
    if not groups:
        return []
    rows = _Rows(groups)
    score = aim.evidence(*rows.cautious())
    order = np.argsort(-score, kind="stable")[:keep].tolist()
    return [rows.candidate(i, float(score[i])) for i in order if score[i] > 0]


def nearest(groups: Sequence[Counted], aim: Aim, keep: int = 4) -> list[Candidate]:
    """The events that come nearest to the promise, of different features, and the threshold that
    probably does: they carry the bounds of an audit that finds no violation.

    The audit counts more outputs than training has seen. With more outputs, a rare threshold may
    come nearer to the promise than any event that is certain after training. Rare sets of values
    are left out: most of those that look promising in training do so by chance.
    """
    if not groups:
        return []
    rows, by_feature = _Rows(groups), dict[Feature, Candidate]()
    likely = np.where(rows.ordered, aim.reach(*rows.cautious(_LIKELY)), 0.0)
    for reach, most in ((aim.reach(*rows.cautious()), keep - 1), (likely, keep)):
        for one in rows.tops(reach):
            if len(by_feature) < most:
                by_feature.setdefault(one.event.feature, one)
    return list(by_feature.values())


class _Rows:
    """All events in both directions, one after another: hits k of n on the favoured side, y of m on
    the other."""

    def __init__(self, groups: Sequence[Counted]) -> None:
        both = [(each, i) for each in groups for i in (0, 1)]
        lengths = [len(each.hits[0]) for each, _ in both]
        self._groups, self._ends = groups, np.cumsum(lengths)
        self.k, self.y = (np.concatenate([x.hits[i ^ j] for x, i in both]) for j in (0, 1))
        self.n, self.m = (np.repeat([x.trials[i ^ j] for x, i in both], lengths) for j in (0, 1))
        self._doubt = np.repeat([x.doubt for x, _ in both], lengths)
        ordered = [x.make(0).relation in ("at least", "at most") for x, _ in both]
        self.ordered = np.repeat(ordered, lengths)

    def cautious(self, part: float = 1.0) -> tuple[Column, Column]:
        """The frequencies of both sides, brought nearer to each other by a part of the doubt."""
        z = part * self._doubt
        return _wilson(self.k / self.n, self.n, -z), _wilson(self.y / self.m, self.m, z)

    def tops(self, score: Column) -> Iterator[Candidate]:
        """The event of each group with the largest score, while scores are positive."""
        starts = [0, *self._ends[:-1].tolist()]
        best = [a + int(np.argmax(score[a:b])) for a, b in zip(starts, self._ends, strict=True)]
        for i in sorted(best, key=lambda i: -score[i]):
            if score[i] <= 0:
                return
            yield self.candidate(i, 0.0)

    def candidate(self, i: int, score: float) -> Candidate:
        """Row i as a candidate."""
        row = int(np.searchsorted(self._ends, i, side="right"))
        group = self._groups[row // 2]
        event = group.make(i - int(self._ends[row]) + len(group.hits[0]))
        p, q = float(self.k[i] / self.n[i]), float(self.y[i] / self.m[i])
        return Candidate(event, _SIDES[row % 2], score, p, q)


def reached(left: tuple[int, int], right: tuple[int, int], promise: Lines) -> float:
    """The part of a promise that counts of one event, hits and trials, surely reach: a hint."""
    if not (left[1] and right[1]):
        return 0.0
    k, n, y, m = np.array([[*left, *right], [*right, *left]]).T
    return float(_reach(_wilson(k / n, n, -_SURE), _wilson(y / m, m, _SURE), promise).max())


def _reach(low: Column, high: Column, promise: Lines) -> Column:
    """The largest s, up to 4, for which probabilities break the promise with s times its epsilon
    and delta."""
    reach = np.zeros(len(low))
    for factor, delta in promise:
        least, step = np.zeros(len(low)), 4.0
        for _ in range(_HALVINGS):
            step /= 2
            middle = least + step
            with np.errstate(over="ignore", invalid="ignore"):  # of a huge epsilon
                holds = low > factor**middle * high + delta * middle
            least = np.where(holds, middle, least)
        reach = np.maximum(reach, least)
    return reach


def _wilson(share: Column, trials: Any, z: Any) -> Column:
    """An end of Wilson's interval for a probability, z deviations away."""
    middle = share + z * z / (2 * trials)
    spread = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return np.asarray((middle + spread) / (1 + z * z / trials))


def _numeric(feature: Feature, left: Column, right: Column) -> Iterator[Counted]:
    def each(relation: str, values: list[Any], at_left: Column, at_right: Column) -> Counted:
        return Counted(
            lambda i: Event(feature, relation, values[i]),
            (at_left, at_right),
            (len(left), len(right)),
        )

    sides = [np.sort(side[side == side]) for side in (left, right)]  # without NaN
    blank = [len(left) - len(sides[0]), len(right) - len(sides[1])]
    if any(blank):
        yield each("undefined", [None], np.array(blank[:1]), np.array(blank[1:]))
    values, often = np.unique(np.concatenate(sides), return_counts=True)
    if not len(values):
        return
    few = len(values) <= _DISTINCT
    cuts = values if few else _cuts(*sides)
    below, upto = ([np.searchsorted(side, cuts, at) for side in sides] for at in ("left", "right"))
    yield each("at least", cuts.tolist(), len(sides[0]) - below[0], len(sides[1]) - below[1])
    yield each("at most", cuts.tolist(), *upto)
    common = np.argsort(-often, kind="stable")[:_DISTINCT]
    points = np.sort(values[common[often[common] > 1]])
    at = [np.searchsorted(x, points, "right") - np.searchsorted(x, points) for x in sides]
    yield each("equals", points.tolist(), *at)
    if few:
        a, b = (_position(values, side) for side in (left, right))
        yield from _likely(a, b, len(values), _among(feature, values.tolist()))
        return
    ends = _edges(sides)
    a, b = (_interval(ends, side) for side in (left, right))
    intervals = len(ends) + 1 if len(ends) else 0
    plain = tuple(ends.tolist())
    yield from _likely(
        a,
        b,
        intervals,
        lambda chosen: Event(feature, "in intervals", (plain, tuple(sorted(chosen)))),
    )


def _among(feature: Feature, values: list[Any]) -> Callable[[list[int]], Event]:
    return lambda chosen: Event(feature, "in", tuple(values[i] for i in sorted(chosen)))


def _cuts(a: Column, b: Column) -> Column:
    """Quantiles of both together, and the outermost values of each."""
    pooled = np.sort(np.concatenate([a, b]))
    chosen = [pooled[np.linspace(0, len(pooled) - 1, _QUANTILES).astype(int)]]
    for side in (a, b):
        ranks = 2 ** np.arange(int(np.log2(max(len(side), 1))) + 1) - 1
        if len(side):
            chosen += [side[ranks], side[::-1][ranks]]
    return np.unique(np.concatenate(chosen))


def _likely(
    left: Column, right: Column, many: int, make: Callable[[list[int]], Event]
) -> Iterator[Counted]:
    """Sets of cases with a large likelihood ratio, learned on one half, counted on the other.

    left, right: the case of each output, from 0; `many` for outputs of no case. make: the event of
    a set of cases.
    """
    halves = [np.split(side, [(len(side) + 1) // 2]) for side in (left, right)]
    sizes = (len(halves[0][1]), len(halves[1][1]))
    if min(sizes) < _JUDGES or not many:
        return
    train, judge = (
        [np.bincount(side[i], minlength=many + 1)[:many] for side in halves] for i in (0, 1)
    )
    for sign in (0, 1):
        k, y = ((train[i] + 0.5) / len(halves[i][0]) for i in (sign, 1 - sign))
        order = np.argsort(-k / y, kind="stable")[: max(1, int((k > y).sum()))]
        at_left, at_right = (np.cumsum(table[order]) for table in judge)
        yield Counted(_first(order.tolist(), make), (at_left, at_right), sizes)


def _first(cases: list[int], make: Callable[[list[int]], Event]) -> Callable[[int], Event]:
    return lambda i: make(cases[: i + 1])


def _edges(sides: list[Column]) -> Column:
    """Cut points that put about equally many outputs between each two."""
    pooled = np.sort(np.concatenate(sides))
    pooled = pooled[np.isfinite(as_floats(pooled))]
    if not len(pooled):
        return np.asarray(pooled)
    return np.unique(pooled[np.linspace(0, len(pooled) - 1, _INTERVALS + 1).astype(int)[1:-1]])


def _position(names: Column, values: Column) -> Column:
    """The index of each value among the names; their number for other values."""
    inside = np.minimum(np.searchsorted(names, values), len(names) - 1)
    return np.where(names[inside] == values, inside, len(names))


def _interval(edges: Column, values: Column) -> Column:
    """Between which cut points each value lies; beyond the last ones for NaN."""
    at = np.searchsorted(edges, values, side="right")
    return np.where(values == values, at, len(edges) + 1)


def _discrete(feature: Feature, left: Column, right: Column) -> Iterator[Counted]:
    # of the first halves alone: even the order of the values must not tell what judges will see
    halves = (Counter(side[: (len(side) + 1) // 2].tolist()) for side in (left, right))
    values = [value for value, _ in sum(halves, Counter()).most_common(_VALUES)]
    case, many = {value: i for i, value in enumerate(values)}, len(values)
    if not values:
        return
    a, b = (np.array([case.get(x, many) for x in side.tolist()]) for side in (left, right))
    tables = [np.bincount(side, minlength=many + 1)[: min(many, _SHOWN)] for side in (a, b)]
    sizes = (len(left), len(right))
    yield Counted(lambda i: Event(feature, "equals", values[i]), (tables[0], tables[1]), sizes)
    yield from _likely(a, b, many, _among(feature, values))
    yield from _unknown(feature, values, [a, b])


def _unknown(feature: Feature, values: list[Any], cases: list[Column]) -> Iterator[Counted]:
    """Values that the first half of a side does not have, counted on the second halves."""
    first, second = zip(*(np.split(side, [(len(side) + 1) // 2]) for side in cases), strict=True)
    sizes = (len(second[0]), len(second[1]))
    for half in first if min(sizes) >= _JUDGES else ():
        seen = np.bincount(half, minlength=len(values) + 1) > 0
        seen[-1] = False
        known = tuple(value for value, one in zip(values, seen, strict=False) if one)
        out = [np.array([int((~seen[side]).sum())]) for side in second]
        yield Counted(_outside(feature, known), (out[0], out[1]), sizes)


def _outside(feature: Feature, known: tuple[Any, ...]) -> Callable[[int], Event]:
    return lambda i: Event(feature, "not in", known)
