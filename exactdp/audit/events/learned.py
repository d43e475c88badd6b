"""A learned half-space: logistic regression on what the outputs look like, with numpy alone."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.features import Feature, column
from exactdp.audit.events.outputs import Outputs, as_floats, kind
from exactdp.audit.events.screen import telling

__all__ = ["combinations_of"]

_COLUMNS = 40
_WIDE = 256  # coordinates of a vector, all of which may have to be combined
_ROWS = 20_000
_WORK = 1 << 28  # rows times columns squared
_LEAST = 100
_RIDGES = (1e-3, 0.3)
_SURE = 8  # columns up to which little shrinking is always enough
_STEPS = 12


def combinations_of(left: Outputs, right: Outputs) -> list[Feature]:
    """The linear combinations of simple columns that tell the two sides apart best.

    Fitted on the first half of the training outputs, so that the second can judge them: with
    little and with much shrinking, because few outputs do not determine many weights.
    """
    halves = [side.take(0, min((len(side) + 1) // 2, _ROWS)) for side in (left, right)]
    if min(map(len, halves)) < _LEAST:
        return []
    columns = _columns(halves[0], halves[1])
    halves = [side.take(0, max(_WORK // max(len(columns), 1) ** 2, _LEAST)) for side in halves]
    if len(columns) < 2:
        return []
    design = np.concatenate([_design(side, columns) for side in halves])
    centre, spread = design.mean(axis=0), design.std(axis=0)
    useful = spread > 0
    if useful.sum() < 2:
        return []
    scaled = (design[:, useful] - centre[useful]) / spread[useful]
    labels = np.repeat([1.0, 0.0], [len(halves[0]), len(halves[1])])
    chosen = tuple(one for one, keep in zip(columns, useful, strict=True) if keep)
    ridges = _RIDGES if len(chosen) > _SURE else _RIDGES[:1]
    fits = [_logistic(scaled, labels, ridge) / spread[useful] for ridge in ridges]
    return [("combination", chosen, tuple(w.tolist())) for w in fits if np.isfinite(w).all()]


def _design(outputs: Outputs, columns: list[Feature]) -> NDArray[np.float64]:
    values = np.stack([as_floats(column(outputs, one)) for one in columns], axis=1)
    return np.asarray(
        np.clip(np.nan_to_num(values, nan=0.0, posinf=1e300, neginf=-1e300), -1e100, 1e100)
    )


def _logistic(
    rows: NDArray[np.float64], labels: NDArray[np.float64], shrinking: float
) -> NDArray[Any]:
    """Newton's method with a ridge; the intercept is fitted and dropped."""
    x = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    w = np.zeros(x.shape[1])
    ridge = shrinking * len(rows) * np.eye(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (labels - p) - ridge @ w
        curve = (x * (p * (1 - p))[:, None]).T @ x + ridge
        step = np.linalg.solve(curve, slope)
        w += step
        if np.abs(step).max() < 1e-6:
            break
    return w[:-1]


def _columns(left: Outputs, right: Outputs) -> list[Feature]:
    if left.sparse and right.sparse:
        counts = Counter(key for side in (left, right) for table in side.tables for key in table)
        keys = [key for key, _ in counts.most_common(_COLUMNS // 2)]
        return [("has", key) for key in keys] + [("get", key) for key in keys]
    if left.matrix is not None and right.matrix is not None:
        return _polynomial(telling(left, right, _WIDE), left.matrix.dtype == bool)
    return _one_hot(left, right, min(max(left.width, right.width), 12))


def _polynomial(near: list[int], binary: bool) -> list[Feature]:
    base: list[Feature] = [("coordinate", i) for i in near]
    if not binary:
        base += [("power", one, 2) for one in base[:8]]
    if 1 < len(near) <= 5:
        pairs = combinations(sorted(near), 2)
        base += [("absolute", ("difference", i, j), 0.0) for i, j in pairs]
    return base


def _one_hot(left: Outputs, right: Outputs, width: int) -> list[Feature]:
    rows = [*left.rows, *right.rows]
    found: list[Feature] = []
    for i in range(width):
        values = Counter(row[i] for row in rows if i < len(row))
        common = [value for value, count in values.most_common(4) if count > len(rows) / 50]
        found += [("is", ("value", i), value) for value in common]
        if any(kind(value) == "number" for value in values):
            found.append(("coordinate", i))
    return found[:_COLUMNS]
