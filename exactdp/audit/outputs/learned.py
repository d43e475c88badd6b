"""Learned statistics: logistic regression, and the likelihood ratio of fitted noise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Outputs, as_floats
from exactdp.audit.outputs.families import coordinates, half
from exactdp.audit.outputs.features import Feature, column

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_COLUMNS = 40
_COORDINATES = 256  # of a vector, all of which may have to be combined
_ROWS = 20_000
_WORK = 1 << 28  # rows times columns squared
_LEAST = 100  # outputs without which nothing is learned
_RIDGES = (1e-3, 0.3)
_FEW = 8  # columns up to which the smaller ridge is always enough
_SURE = 2.5  # standard errors by which a mean must differ between the sides to count for sure
_MOVED = 4.0  # standard errors by which a fitted location or scale must differ between the sides


def combinations_of(left: Outputs, right: Outputs, simple: Sequence[Feature]) -> list[Feature]:
    """The linear combinations of simple features that tell the two sides apart best.

    Fitted on the first half of the training outputs, so that the second can judge them: with
    little and with much shrinking, because few outputs do not determine many weights; and with
    equal weights for the features that surely differ, which is best for bits of equal noise.
    """
    halves = _first_halves(left, right)
    if halves is None:
        return []
    if left.matrix is not None and right.matrix is not None:
        columns = _polynomial(coordinates(*halves, _COORDINATES), left.matrix.dtype == bool)
    else:
        columns = _one_hot(*halves, simple)
    if len(columns) < 2:
        return []
    rows = max(_WORK // len(columns) ** 2, _LEAST)
    left, right = (side.take(0, rows) for side in halves)
    design = np.concatenate([_design(side, columns) for side in (left, right)])
    centre, spread = design.mean(axis=0), design.std(axis=0)
    useful = spread > 0
    if useful.sum() < 2:
        return []
    scaled = (design[:, useful] - centre[useful]) / spread[useful]
    chosen = tuple(one for one, keep in zip(columns, useful, strict=True) if keep)
    ridges = _RIDGES if len(chosen) > _FEW else _RIDGES[:1]
    apart = scaled[: len(left)].mean(axis=0) - scaled[len(left) :].mean(axis=0)
    related = scaled.T @ scaled / len(scaled)
    fits = [np.linalg.solve(related + ridge * np.eye(len(apart)), apart) for ridge in ridges]
    fits = [fit / spread[useful] for fit in fits if np.isfinite(fit).all()]
    sure = np.abs(apart) > _SURE * math.sqrt(1 / len(left) + 1 / len(right))
    if sure.sum() > 1:  # powers of two, so that equal sums are equal numbers
        fits.append(np.where(sure, np.sign(apart) * 2.0 ** -np.rint(np.log2(spread[useful])), 0))
    terms = [[pair for pair in zip(chosen, fit.tolist(), strict=True) if pair[1]] for fit in fits]
    return [("combination", *zip(*pairs, strict=True)) for pairs in terms]


def _first_halves(left: Outputs, right: Outputs) -> tuple[Outputs, Outputs] | None:
    """What is learned from; None where there are too few outputs."""
    first, second = (side.take(0, min(half(side), _ROWS)) for side in (left, right))
    return (first, second) if min(len(first), len(second)) >= _LEAST else None


def likelihood_ratios(left: Outputs, right: Outputs, simple: Sequence[Feature]) -> list[Feature]:
    """Likelihood ratios of independent Laplace and of Gaussian noise fitted to some numbers.

    Fitted on the first half of the training outputs. By the lemma of Neyman and Pearson their
    thresholds are the best events where noise of that law was added to the numbers.
    """
    halves = _first_halves(left, right)
    if halves is None:
        return []
    least = min(map(len, halves))
    features = [one for one in simple if one[0] == "number"]
    if left.matrix is not None and right.matrix is not None:
        features = coordinates(*halves, _COORDINATES)
    columns = [[as_floats(column(side, one)) for side in halves] for one in features]
    finite = [all(np.isfinite(side).all() for side in sides) for sides in columns]
    ratios: list[Feature] = []
    for law in ("Laplace", "Gaussian"):
        fits = [
            (feature, *fit)
            for feature, sides, usable in zip(features, columns, finite, strict=True)
            if usable and (fit := _moved(_fitted(law, sides[0]), _fitted(law, sides[1]), least))
        ]
        if len(fits) > 1:
            ratios.append(("likelihood ratio", law, *zip(*fits, strict=True)))
    return ratios


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


def _polynomial(near: list[Feature], binary: bool) -> list[Feature]:
    features = [*near]
    if not binary:
        features += [("power", one, 2) for one in near[:8]]
    if 1 < len(near) <= 5:
        pairs = combinations(sorted(i for _, i in near), 2)
        features += [("absolute", ("difference", i, j), 0.0) for i, j in pairs]
    return features


def _one_hot(left: Outputs, right: Outputs, simple: Sequence[Feature]) -> list[Feature]:
    """Numbers as they are; of other features, whether they have one of their common values."""
    features: list[Feature] = []
    for feature in simple[:_COLUMNS]:
        if feature[0] != "value":
            features.append(feature)
            continue
        values = Counter(column(left, feature).tolist()) + Counter(column(right, feature).tolist())
        common = [value for value, count in values.most_common(4) if count > values.total() / 50]
        features += [("is", feature, value) for value in common]
    return features[:_COLUMNS]
