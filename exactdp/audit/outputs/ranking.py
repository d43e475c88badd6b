"""Which of many columns differ most between two sides: quick scores that guide the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Column, Outputs, as_floats, number
from exactdp.audit.outputs.features import Feature, column

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_ROWS = 4000
_COMPARED = 4_000_000  # numbers compared at once
_SLOWER = 8  # times fewer values, where each is a Python object
_RELATED = 0.5  # least correlation of related coordinates


def most_different(
    left: Outputs, right: Outputs, features: Sequence[Feature], most: int
) -> list[Feature]:
    """The features whose columns differ most between two batches; a value that is not a number is
    given a number of its own."""
    values = _COMPARED // (1 if left.matrix is not None else _SLOWER)
    rows, known = min(_ROWS, max(values // max(len(features), 1), 100)), dict[Any, float]()
    a, b = left.take(0, rows), right.take(0, rows)
    scores = [
        _distance(*(_coded(column(side, feature), known) for side in (a, b)))
        for feature in features
    ]
    return [features[i] for i in np.argsort(-np.array(scores), kind="stable")[:most]]


def _coded(values: Column, known: dict[Any, float]) -> Column:
    if values.dtype != object:
        return values
    pairs = ((number(one), one) for one in values)
    return np.array(
        [x if x == x else known.setdefault(one, -1e100 * (len(known) + 1)) for x, one in pairs]
    )


def related(outputs: Outputs, most: int, width: int = 256) -> list[tuple[int, int]]:
    """Pairs of coordinates that move together, the closest ones first."""
    values = outputs.numbers[:_ROWS, :width].astype(float)
    moving = np.flatnonzero(np.isfinite(values).all(axis=0) & (np.ptp(values, axis=0) > 0))
    if len(moving) < 2:
        return []
    close = np.abs(np.triu(np.corrcoef(values[:, moving], rowvar=False), 1))
    order = np.argsort(-close, axis=None, kind="stable")[:most]
    pairs = [divmod(int(at), len(moving)) for at in order if close.flat[at] > _RELATED]
    return [(int(moving[i]), int(moving[j])) for i, j in pairs]


def difference(left: Column, right: Column) -> float:
    """About the distance between the distributions of two columns, in standard deviations."""
    if left.dtype == object or right.dtype == object:
        each = excess(Counter(left.tolist()), Counter(right.tolist())).values()
        together = (sum(one * one for one in each) - len(each)) / (2 * len(each)) ** 0.5
        return float(max(*map(abs, each), together))
    return _distance(left, right)


def excess(left: Counter[Any], right: Counter[Any]) -> dict[Any, float]:
    """By how many standard deviations each value is more frequent on the left."""
    n, m = max(left.total(), 1), max(right.total(), 1)
    deviations = {}
    for value in left | right:
        a, b = left[value], right[value]
        deviations[value] = (a / n - b / m) / (((a + b + 1) / (n * m)) ** 0.5)
    return deviations or {None: 0.0}


def _distance(left: Column, right: Column) -> float:
    """Kolmogorov's distance in standard deviations; NaN counts as the largest number."""
    a, b = (np.sort(np.nan_to_num(as_floats(side), nan=np.inf)) for side in (left, right))
    if not len(a) or not len(b):
        return 0.0
    both = np.concatenate([a, b])
    gaps = np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)
    return float(np.abs(gaps).max() * np.sqrt(len(a) * len(b) / (len(a) + len(b))))
