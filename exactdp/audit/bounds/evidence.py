"""How strongly counts speak against a promise: floats that say where to look, never the verdict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["allocation", "evidence"]

_HALVINGS = 34

Floats = NDArray[np.float64]


def evidence(
    hits: Any, trials: Any, other_hits: Any, other_trials: Any, factor: float, delta: float
) -> Floats:
    """Nats against p <= factor q + delta: the smallest likelihood loss over all such p and q.

    Vectorised; 0 where the frequencies satisfy the promise.
    """
    k, y = np.asarray(hits, dtype=float), np.asarray(other_hits, dtype=float)
    n, m = np.asarray(trials, dtype=float), np.asarray(other_trials, dtype=float)
    against = k / n > factor * (y / m) + delta
    q = _closest(k, n, y, m, factor, delta)
    p = np.minimum(factor * q + delta, 1.0)
    loss = n * _divergence(k / n, p) + m * _divergence(y / m, q)
    return np.where(against, np.maximum(loss, 0.0), 0.0)


def allocation(p: float, q: float, factor: float, delta: float) -> float:
    """The share of samples for the favoured side that makes the evidence grow fastest."""
    shares = np.linspace(0.1, 0.9, 17)
    size = 1e6
    gain = evidence(p * size * shares, size * shares, q * size * (1 - shares),
                    size * (1 - shares), factor, delta)  # fmt: skip
    return float(shares[int(np.argmax(gain))]) if gain.max() > 0 else 0.5


def _closest(k: Floats, n: Floats, y: Floats, m: Floats, factor: float, delta: float) -> Floats:
    """The q of the most likely pair (factor q + delta, q): bisection on a convex function."""
    k, n, y, m = np.broadcast_arrays(k, n, y, m)
    low = np.zeros(k.shape)
    high = np.full(k.shape, max((1 - delta) / factor, 0.0) if factor > 0 else 0.0)
    for _ in range(_HALVINGS):
        q = (low + high) / 2
        p = factor * q + delta  # the sign of the slope, without its denominators:
        gain = factor * (k - n * p) * q * (1 - q) + (y - m * q) * p * (1 - p)
        rising = gain > 0
        low, high = np.where(rising, q, low), np.where(rising, high, q)
    return np.asarray((low + high) / 2)


def _divergence(p: Floats, q: Floats) -> Floats:
    """KL(p || q) of two coins."""
    with np.errstate(all="ignore"):
        one = np.where(p > 0, p * np.log(p / q), 0.0)
        zero = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return np.asarray(np.nan_to_num(one + zero, nan=math.inf, posinf=1e300))
