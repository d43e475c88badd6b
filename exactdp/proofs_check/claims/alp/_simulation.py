"""Seeded simulations of the estimator, for the numbers of Section 9 only (verdict: supported)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPREAD", "errors", "mean_within", "offsets", "share_within", "wrong_one"]

Numbers = NDArray[np.float64]

#: Standard errors allowed: alpha = 6e-7 by the normal approximation.
SPREAD = 5.0


def wrong_one(p: float, collision: float) -> float:
    """Chance that a zero is reported as a one, with this collision probability."""
    return p + collision * (1 - 2 * p)


@cache
def offsets(p: float, q: float, runs: int, left: int, right: int, seed: int = 1) -> Numbers:
    """Estimate minus y: wrong ones w.p. q in `right` columns, wrong zeros w.p. p in `left`."""
    draw = np.random.default_rng(seed)
    steps = [
        np.where(draw.random((runs, width)) < chance, np.int16(1), np.int16(-1))
        for width, chance in ((left, p), (right, q))
    ]
    down, up = (np.cumsum(side, axis=1, dtype=np.int16) for side in steps)
    middle = np.zeros((runs, 1), np.int16)
    sums = np.concatenate([down[:, ::-1], middle, up], axis=1)
    peak = sums == sums.max(axis=1, keepdims=True)
    places = np.arange(-left, right + 1)
    result: Numbers = (peak * places).sum(axis=1) / peak.sum(axis=1)
    return result


@cache
def errors(alpha: float, collision: float, runs: int, seed: int = 1) -> Numbers:
    """Errors of Algorithm 3 for entries far from both ends, with random rounding."""
    p = 1 / (alpha + 2)
    width = 120 if alpha >= 3 else 700
    raw = offsets(p, wrong_one(p, collision), runs, width, 2 * width, seed)
    draw = np.random.default_rng(seed + 1)
    part = draw.random(runs)
    rounded = (draw.random(runs) < part) - part
    result: Numbers = (raw + rounded) * alpha
    return result


def mean_within(sample: Numbers, stated: float, half_digit: float) -> bool:
    """Whether a stated mean lies within SPREAD standard errors plus its own rounding."""
    slack = SPREAD * float(sample.std()) / math.sqrt(len(sample)) + half_digit
    return abs(float(sample.mean()) - stated) <= slack


def share_within(sample: Numbers, limit: float, share: float) -> bool:
    """Whether the stated share of the sample lies below the limit."""
    found = float((sample <= limit).mean())
    return abs(found - share) <= SPREAD * math.sqrt(share * (1 - share) / len(sample))
