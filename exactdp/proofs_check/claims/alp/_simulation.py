"""Seeded simulations of the estimator, where the exact law is out of reach (verdict: supported)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["offsets"]

Numbers = NDArray[np.float64]

#: Runs at once, so that they fit into memory.
_AT_ONCE = 500


def offsets(p: float, runs: int, width: int, seed: int = 1) -> Numbers:
    """Estimate minus y: bits wrong w.p. p in so many columns on either side."""
    draw = np.random.default_rng(seed)
    return np.concatenate([_some(p, width, draw) for _ in range(0, runs, _AT_ONCE)])


def _some(p: float, width: int, draw: np.random.Generator) -> Numbers:
    steps = np.where(draw.random((2, _AT_ONCE, width), np.float32) < p, np.int16(1), np.int16(-1))
    down, up = np.cumsum(steps, axis=2, dtype=np.int16)
    sums = np.concatenate([down[:, ::-1], np.zeros((_AT_ONCE, 1), np.int16), up], axis=1)
    peak = sums == sums.max(axis=1, keepdims=True)
    result: Numbers = peak @ np.arange(-width, width + 1.0) / peak.sum(axis=1)
    return result
