"""Learned statistics: logistic regression, and the likelihood ratio of fitted noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Outputs, as_floats, kind
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.ranking import most_different

__all__ = ["combinations_of", "likelihood_ratios"]

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_COLUMNS = 40
_COORDINATES = 256  # of a vector, all of which may have to be combined
_ROWS = 20_000
_WORK = 1 << 28  # rows times columns squared
_LEAST = 100  # outputs without which nothing is learned
_RIDGES = (1e-3, 0.3)
_FEW = 8  # columns up to which the smaller ridge is always enough
_STEPS = 12
_MOVED = 4.0  # standard errors by which a fitted location or scale must differ between the sides


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
    ridges = _RIDGES if len(chosen) > _FEW else _RIDGES[:1]
    fits = [_logistic(scaled, labels, ridge) / spread[useful] for ridge in ridges]
    return [("combination", chosen, tuple(w.tolist())) for w in fits if np.isfinite(w).all()]


def likelihood_ratios(left: Outputs, right: Outputs, features: Sequence[Feature]) -> list[Feature]:
    """Likelihood ratios of independent Laplace and of Gaussian noise fitted to some columns.

    Fitted on the first half of the training outputs. By the lemma of Neyman and Pearson their
    thresholds are the best events where noise of that law was added to the columns.
    """
    halves = [side.take(0, min((len(side) + 1) // 2, _ROWS)) for side in (left, right)]
    least = min(map(len, halves))
    if least < _LEAST:
        return []
    if left.matrix is not None and right.matrix is not None:
        features = [("coordinate", i) for i in most_different(halves[0], halves[1], _COORDINATES)]
    columns = [[as_floats(column(side, one)) for side in halves] for one in features]
    finite = [all(np.isfinite(side).all() for side in sides) for sides in columns]
    found: list[Feature] = []
    for law in ("Laplace", "Gaussian"):
        fits = [
            (feature, *fit)
            for feature, sides, usable in zip(features, columns, finite, strict=True)
            if usable and (fit := _moved(_fitted(law, sides[0]), _fitted(law, sides[1]), least))
        ]
        if len(fits) > 1:
            found.append(("likelihood ratio", law, *zip(*fits, strict=True)))
    return found


def _fitted(law: str, values: NDArray[np.float64]) -> tuple[float, float]:
    """The most likely location and scale."""
    if law == "Gaussian":
        return float(values.mean()), float(values.std())
    centre = float(np.median(values))
    return centre, float(np.abs(values - centre).mean())


def _moved(
    left: tuple[float, float], right: tuple[float, float], n: int
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Both fits where they differ, with one scale where only the locations do; None otherwise.

    The location and ln of the scale of Laplace noise have the standard error 1/sqrt(n), in units
    of the scale; those of Gaussian noise, 1/sqrt(n) and 1/sqrt(2 n).
    """
    (a, s), (b, t) = left, right
    if not s or not t:
        return None
    error = _MOVED * math.sqrt(2 / n)
    if abs(math.log(s / t)) > error:
        return left, right
    scale = (s + t) / 2
    return ((a, scale), (b, scale)) if abs(a - b) > error * scale else None


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
        return _polynomial(most_different(left, right, _COORDINATES), left.matrix.dtype == bool)
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
