"""Candidate events from one feature: counted on training outputs, ranked by their evidence."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.bounds.evidence import Lines, evidence
from exactdp.audit.outputs.batch import as_floats
from exactdp.audit.outputs.event import Event
from exactdp.audit.outputs.features import Feature, is_numeric

__all__ = ["Candidate", "Group", "best", "counted", "counts", "farthest", "reached"]

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_DISTINCT = 128
_VALUES, _SHOWN = 2560, 512  # of a column of texts, tuples, ...: in sets, and by themselves
_QUANTILES = 64
_CELLS = 32
_JUDGES = 250  # outputs on each side without which no set is learned
_HALVINGS = 16
_DEVIATIONS = 3.0  # by which training counts may be off without misleading the choice
_ENOUGH = 1000  # outputs in the judging half from which on its evidence counts for more

Column = NDArray[Any]
_SIDES = ("left", "right")


@dataclass(frozen=True)
class Candidate:
    """An event, the side it favours, and how often it was seen in training."""

    event: Event
    direction: str
    score: float
    p: float
    q: float


def counted(
    event: Event, left: NDArray[np.bool_], right: NDArray[np.bool_], promise: Lines,
    penalty: float = 0.0,
) -> list[Candidate]:  # fmt: skip
    """The event as a candidate, from its hits on training outputs."""
    sizes = (len(left), len(right))
    group = (lambda i: event, np.array([left.sum()]), np.array([right.sum()]), sizes, 1.0)
    return [
        dataclasses.replace(one, score=one.score - penalty)
        for one in best([group], promise, 2)
        if one.score > penalty
    ]


Make = Callable[[int], Event]
#: makes event i; hits at left and right, one entry per event; outputs looked at; weight of evidence
Group = tuple[Make, Column, Column, tuple[int, int], float]


def counts(feature: Feature, left: Column, right: Column) -> list[Group]:
    """How often the events that a feature suggests happened on either side."""
    groups = (_numeric if is_numeric(feature) else _discrete)(feature, left, right)
    return [group for group in groups if len(group[1])]


def best(groups: list[Group], promise: Lines, keep: int = 4) -> list[Candidate]:
    """The candidates with the most evidence against a promise, in either direction."""
    if not groups:
        return []
    rows = [
        (k, y, trials, others, weight, 0.5 * np.log(len(at_left)))
        for _, at_left, at_right, (n, m), weight in groups
        for k, y, trials, others in ((at_left, at_right, n, m), (at_right, at_left, m, n))
    ]
    lengths = [len(row[0]) for row in rows]
    k, y = (np.concatenate([row[i] for row in rows]) for i in (0, 1))
    n, m, weight, price = (np.repeat([row[i] for row in rows], lengths) for i in (2, 3, 4, 5))
    score = weight * evidence(k, n, y, m, promise)
    score = np.where(score > 0, np.maximum(score - price, 1e-3 * score), 0.0)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    found = []
    for i in np.argsort(-score, kind="stable")[:keep]:
        if score[i] > 0:
            row = int(np.searchsorted(starts, i, side="right")) - 1
            event = groups[row // 2][0](int(i - starts[row]))
            p, q = float(k[i] / n[i]), float(y[i] / m[i])
            found.append(Candidate(event, _SIDES[row % 2], float(score[i]), p, q))
    return found


def farthest(groups: list[Group], promise: Lines) -> list[Candidate]:
    """The event that surely comes nearest to the promise: it carries the bounds of an audit that
    finds no violation."""
    reach, one = 0.0, None
    for make, at_left, at_right, (n, m), _ in groups:
        for side, k, y, sizes in (("left", at_left, at_right, (n, m)),
                                  ("right", at_right, at_left, (m, n))):  # fmt: skip
            found = _reach(k, sizes[0], y, sizes[1], promise)
            i = int(np.argmax(found))
            if found[i] > reach:
                reach = float(found[i])
                one = Candidate(make(i), side, 0.0, float(k[i] / sizes[0]), float(y[i] / sizes[1]))
    return [] if one is None else [one]


def reached(left: tuple[int, int], right: tuple[int, int], promise: Lines) -> float:
    """The part of a promise that counts of one event, hits and trials, surely reach: a hint."""
    (k, n), (y, m) = left, right
    if not (n and m):
        return 0.0
    at_left, at_right = np.array([k]), np.array([y])
    ways = _reach(at_left, n, at_right, m, promise), _reach(at_right, m, at_left, n, promise)
    return max(float(one[0]) for one in ways)


def _reach(k: Column, n: int, y: Column, m: int, promise: Lines) -> Column:
    """The largest s, up to 4, for which counts surely break the promise with s times its epsilon
    and delta: for probabilities three deviations away from the shares."""
    low, high = _wilson(k, n, -_DEVIATIONS), _wilson(y, m, _DEVIATIONS)
    found = np.zeros(len(k))
    for factor, delta in promise:
        least, step = np.zeros(len(k)), 4.0
        for _ in range(_HALVINGS):
            step /= 2
            middle = least + step
            with np.errstate(over="ignore", invalid="ignore"):  # of a huge epsilon
                holds = low > factor**middle * high + delta * middle
            least = np.where(holds, middle, least)
        found = np.maximum(found, least)
    return found


def _wilson(hits: Column, trials: int, z: float) -> Column:
    """An end of Wilson's interval for a probability, z deviations away."""
    share = hits / trials
    middle = share + z * z / (2 * trials)
    spread = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return np.asarray((middle + spread) / (1 + z * z / trials))


def _numeric(feature: Feature, left: Column, right: Column) -> Iterator[Group]:
    sizes = (len(left), len(right))
    undefined = [side != side if side.dtype.kind in "fO" else None for side in (left, right)]
    blank = [0 if mask is None else int(mask.sum()) for mask in undefined]
    if any(blank):
        yield (
            lambda i: Event(feature, "undefined", None),
            np.array(blank[:1]), np.array(blank[1:]), sizes, 1.0,
        )  # fmt: skip
    a = np.sort(left if undefined[0] is None else left[~undefined[0]])
    b = np.sort(right if undefined[1] is None else right[~undefined[1]])
    values, counts = np.unique(np.concatenate([a, b]), return_counts=True)
    if not len(values):
        return
    cuts = values if len(values) <= _DISTINCT else _cuts(a, b)
    below = [np.searchsorted(side, cuts, side="left") for side in (a, b)]
    upto = [np.searchsorted(side, cuts, side="right") for side in (a, b)]
    plain = cuts.tolist()
    yield (
        lambda i: Event(feature, "at least", plain[i]),
        len(a) - below[0], len(b) - below[1], sizes, 1.0,
    )  # fmt: skip
    yield lambda i: Event(feature, "at most", plain[i]), upto[0], upto[1], sizes, 1.0
    repeated = values[np.argsort(-counts, kind="stable")[:_DISTINCT]]
    repeated = repeated[counts[np.argsort(-counts, kind="stable")[:_DISTINCT]] > 1]
    if len(repeated):
        yield _points(feature, np.sort(repeated), a, b, sizes)
    if len(values) <= _DISTINCT:
        a, b = (_position(values, side) for side in (left, right))
        yield from _likely(a, b, len(values), partial(_in, feature, values.tolist()))
        return
    ends = _edges([left, right])
    a, b = (_cell(ends, side) for side in (left, right))
    cells = len(ends) + 1 if len(ends) else 0
    yield from _likely(a, b, cells, partial(_in_cells, feature, tuple(ends.tolist())))


def _in(feature: Feature, values: list[Any], chosen: list[int]) -> Event:
    return Event(feature, "in", tuple(values[i] for i in sorted(chosen)))


def _in_cells(feature: Feature, ends: tuple[Any, ...], chosen: list[int]) -> Event:
    return Event(feature, "in cells", (ends, tuple(sorted(chosen))))


def _points(
    feature: Feature, values: Column, a: Column, b: Column, sizes: tuple[int, int]
) -> Group:
    at = [np.searchsorted(x, values, "right") - np.searchsorted(x, values, "left") for x in (a, b)]
    plain = values.tolist()
    return lambda i: Event(feature, "equals", plain[i]), at[0], at[1], sizes, 1.0


def _cuts(a: Column, b: Column) -> Column:
    """Quantiles of both together, and the outermost values of each."""
    pooled = np.sort(np.concatenate([a, b]))
    at = np.linspace(0, len(pooled) - 1, _QUANTILES).astype(int)
    chosen = [pooled[at]]
    for side in (a, b):
        ranks = 2 ** np.arange(int(np.log2(max(len(side), 1))) + 1) - 1
        if len(side):
            chosen += [side[ranks], side[::-1][ranks]]
    return np.unique(np.concatenate(chosen))


def _likely(
    left: Column, right: Column, many: int, make: Callable[[list[int]], Event]
) -> Iterator[Group]:
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
        chosen = order.tolist()
        yield _prefixes(make, chosen), at_left, at_right, sizes, _weight(sizes)


def _prefixes(make: Callable[[list[int]], Event], chosen: list[int]) -> Make:
    return lambda i: make(chosen[: i + 1])


def _weight(sizes: tuple[int, int]) -> float:
    """Evidence from half of the outputs stands for more than itself, once there is enough."""
    return 1.5 if min(sizes) >= _ENOUGH else 1.0


def _edges(sides: list[Column]) -> Column:
    """Cut points that put about equally many outputs into each cell."""
    pooled = np.sort(np.concatenate(sides))
    pooled = pooled[np.isfinite(as_floats(pooled))]
    if not len(pooled):
        return np.asarray(pooled)
    return np.unique(pooled[np.linspace(0, len(pooled) - 1, _CELLS + 1).astype(int)[1:-1]])


def _position(names: Column, values: Column) -> Column:
    """The index of each value among the names; their number for other values."""
    inside = np.minimum(np.searchsorted(names, values), len(names) - 1)
    return np.where(names[inside] == values, inside, len(names))


def _cell(edges: Column, values: Column) -> Column:
    """The cell of each value; beyond the last one for NaN."""
    at = np.searchsorted(edges, values, side="right")
    return np.where(values == values, at, len(edges) + 1)


def _discrete(feature: Feature, left: Column, right: Column) -> Iterator[Group]:
    pooled = Counter(left.tolist()) + Counter(right.tolist())
    values = [value for value, _ in pooled.most_common(_VALUES)]
    case, many = {value: i for i, value in enumerate(values)}, len(values)
    a, b = (np.array([case.get(x, many) for x in side.tolist()]) for side in (left, right))
    if not values:
        return
    tables = [np.bincount(side, minlength=many + 1)[: min(many, _SHOWN)] for side in (a, b)]
    sizes = (len(left), len(right))
    yield lambda i: Event(feature, "equals", values[i]), tables[0], tables[1], sizes, 1.0
    yield from _likely(a, b, many, partial(_in, feature, values))
    yield from _unknown(feature, values, [a, b])


def _unknown(feature: Feature, values: list[Any], cases: list[Column]) -> Iterator[Group]:
    """Values that the first half of a side does not have, counted on the second halves."""
    first, second = zip(*(np.split(side, [(len(side) + 1) // 2]) for side in cases), strict=True)
    sizes = (len(second[0]), len(second[1]))
    for half in first if min(sizes) >= _JUDGES else ():
        seen = np.bincount(half, minlength=len(values) + 1) > 0
        seen[-1] = False
        known = tuple(value for value, one in zip(values, seen, strict=False) if one)
        out = [np.array([int((~seen[side]).sum())]) for side in second]
        yield _outside(feature, known), out[0], out[1], sizes, _weight(sizes)


def _outside(feature: Feature, known: tuple[Any, ...]) -> Make:
    return lambda i: Event(feature, "not in", known)
