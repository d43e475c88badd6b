"""Which of many columns differ most between two sides: quick scores that guide the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Outputs, as_floats, number

__all__ = ["difference", "excess", "most_different", "most_different_places", "related"]

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_ROWS = 4000
_CELLS = 4_000_000  # numbers compared at once
_VALUES = 500_000  # values of other types
_RELATED = 0.5  # least correlation of related coordinates

Column = NDArray[Any]


def most_different(left: Outputs, right: Outputs, most: int) -> list[int]:
    """The coordinates whose distributions differ most between two batches of vectors."""
    assert left.matrix is not None
    assert right.matrix is not None
    width = min(left.width, right.width)
    rows = min(_ROWS, max(_CELLS // max(width, 1), 100))
    a, b = left.matrix[:rows], right.matrix[:rows]
    scores = np.array([_distance(a[:, i], b[:, i]) for i in range(width)])
    return [int(i) for i in np.argsort(-scores, kind="stable")[:most]]


def most_different_places(
    left: Outputs, right: Outputs, values: Callable[[Outputs], Iterable[list[Any]]], width: int,
    most: int,
) -> list[int]:  # fmt: skip
    """The places at which lists of values, one list per output, differ most between two sides.

    A value that is not a number is given a number of its own.
    """
    rows, known = min(_ROWS, max(_VALUES // max(width, 1), 100)), dict[Any, float]()
    a, b = (
        np.array([[_coded(one, known) for one in row] for row in values(side.take(0, rows))])
        for side in (left, right)
    )
    scores = np.array([_distance(a[:, i], b[:, i]) for i in range(width)])
    return [int(i) for i in np.argsort(-scores, kind="stable")[:most]]


def _coded(value: Any, known: dict[Any, float]) -> float:
    seen = number(value)
    return seen if seen == seen else known.setdefault(value, -1e100 * (len(known) + 1))


def related(outputs: Outputs, most: int, width: int = 256) -> list[tuple[int, int]]:
    """Pairs of coordinates that move together, the closest ones first."""
    assert outputs.matrix is not None
    values = outputs.matrix[:_ROWS, :width].astype(float)
    moving = np.flatnonzero(np.isfinite(values).all(axis=0) & (np.ptp(values, axis=0) > 0))
    if len(moving) < 2:
        return []
    close = np.abs(np.triu(np.corrcoef(values[:, moving], rowvar=False), 1))
    order = np.argsort(-close, axis=None, kind="stable")[:most]
    pairs = [divmod(int(at), len(moving)) for at in order if close.flat[at] > _RELATED]
    return [(int(moving[i]), int(moving[j])) for i, j in pairs]


def difference(left: Column, right: Column) -> float:
    """How differently two columns are distributed, about, in standard deviations."""
    if left.dtype == object or right.dtype == object:
        each = excess(Counter(left.tolist()), Counter(right.tolist())).values()
        together = (sum(one * one for one in each) - len(each)) / (2 * len(each)) ** 0.5
        return float(max(*map(abs, each), together))
    return _distance(left, right)


def excess(left: Counter[Any], right: Counter[Any]) -> dict[Any, float]:
    """By how many standard deviations each value is more frequent on the left."""
    n, m = max(left.total(), 1), max(right.total(), 1)
    found = {}
    for value in left | right:
        a, b = left[value], right[value]
        found[value] = (a / n - b / m) / (((a + b + 1) / (n * m)) ** 0.5)
    return found or {None: 0.0}


def _distance(left: Column, right: Column) -> float:
    """Kolmogorov's distance in standard deviations; NaN counts as the largest number."""
    a, b = (np.sort(np.nan_to_num(as_floats(side), nan=np.inf)) for side in (left, right))
    if not len(a) or not len(b):
        return 0.0
    both = np.concatenate([a, b])
    gaps = np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)
    return float(np.abs(gaps).max() * np.sqrt(len(a) * len(b) / (len(a) + len(b))))
