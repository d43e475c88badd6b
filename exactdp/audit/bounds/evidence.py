"""How strongly counts speak against a promise: floats that say where to look, never the verdict.

A promise is given as lines: p <= factor q + delta for the probabilities of every event.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exactdp.bisection import halved

_HALVINGS = 24
_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5)  # q where lines touch the promise
_LARGEST = 600.0  # epsilon whose exponential is still a double

Floats = NDArray[np.float64]

#: (factor, delta) of every line.
Lines: TypeAlias = tuple[tuple[float, float], ...]


def evidence(hits: Any, trials: Any, other_hits: Any, other_trials: Any, promise: Lines) -> Floats:
    """Evidence against a promise, in nats: the least loss of log-likelihood if p and q keep it.

    The allowed pairs (p, q) form a convex set, so the loss is that of the line that separates the
    set from the frequencies.
    Vectorised; 0 where the frequencies satisfy the promise.
    """
    k, y = np.asarray(hits, dtype=float), np.asarray(other_hits, dtype=float)
    n, m = np.asarray(trials, dtype=float), np.asarray(other_trials, dtype=float)
    shape = (2, len(promise), *(1 for _ in np.broadcast_shapes(k.shape, y.shape, n.shape, m.shape)))
    factor, delta = np.array(promise, dtype=float).T.reshape(shape)
    against = k / n > factor * (y / m) + delta
    nats = np.zeros(against.shape)
    if against.any():  # most events keep most promises
        k, n, y, m, factor, delta = (
            np.broadcast_to(x, against.shape)[against] for x in (k, n, y, m, factor, delta)
        )
        q = _closest(k, n, y, m, factor, delta)
        p = np.minimum(factor * q + delta, 1.0)
        loss = n * _divergence(k / n, p) + m * _divergence(y / m, q)
        nats[against] = np.maximum(loss, 0.0)
    return np.asarray(nats.max(axis=0))


def weakened(promise: Lines, share: float) -> Lines:
    """The lines of a promise that allows only this share of epsilon and delta."""
    return tuple((factor**share, delta * share) for factor, delta in promise)


def allocation(p: float, q: float, promise: Lines) -> float:
    """The share of samples for the favoured side that makes the evidence grow fastest."""
    shares = np.linspace(0.1, 0.9, 17)
    size = 1e6
    gain = evidence(p * size * shares, size * shares, q * size * (1 - shares),
                    size * (1 - shares), promise)  # fmt: skip
    return float(shares[int(np.argmax(gain))]) if gain.max() > 0 else 0.5


def _closest(k: Floats, n: Floats, y: Floats, m: Floats, factor: Floats, delta: Floats) -> Floats:
    """The q of the most likely pair (factor q + delta, q): bisection on a convex function, from
    the frequency on the other side to the q that allows the one on this side.

    factor: > 0. k/n > factor y/m + delta: more than the promise allows.
    """
    # with p = s + delta and q = s/factor, the slope without its denominators is
    # (k - n p) s (1 - q) + (y - m q) p (1 - p), a cubic in s
    share, over = 1 / factor, k - n * delta
    linear, constant = 1 - 2 * delta, delta * (1 - delta)
    cubic = (n + m) * share
    quadratic = n + y + (over + m * linear) * share
    first, last = over + y * linear - m * constant * share, y * constant
    low = factor * (y / m)
    size = k / n - delta - low
    most = int(max(n.max(), m.max()))  # the factor by which an error of p or q grows
    for _ in range(max(_HALVINGS, most.bit_length() + 8)):
        size /= 2
        s = low + size
        low = np.where(((cubic * s - quadratic) * s + first) * s + last > 0, s, low)
    return np.asarray((low + size / 2) * share)


def _divergence(p: Floats, q: Floats) -> Floats:
    """KL(p || q) of two coins."""
    with np.errstate(all="ignore"):
        one = np.where(p > 0, p * np.log(p / q), 0.0)
        zero = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return np.asarray(np.nan_to_num(one + zero, nan=math.inf, posinf=1e300))


def exp(epsilon: Fraction) -> float:
    """e^epsilon as a double, whatever epsilon is."""
    return math.exp(min(float(epsilon), _LARGEST))


def tangents(needs: Callable[[float, float], float], value: float) -> Lines:
    """Approximate tangents to the set of allowed pairs (p, q), at a few values of q."""
    lines = []
    for q in _RATES:
        p = _largest(needs, q, value)
        step = 1e-4 * q
        slope = (_largest(needs, q + step, value) - _largest(needs, q - step, value)) / (2 * step)
        if slope > 0:
            lines.append((slope, max(p - slope * q, 0.0)))
    return tuple(lines) or ((1.0, 0.0),)


def _largest(needs: Callable[[float, float], float], q: float, value: float) -> float:
    """The largest p allowed beside q, by bisection of its log-odds."""

    def rate(log_odds: float) -> float:
        return 1 / (1 + math.exp(-log_odds))

    def is_refuted(log_odds: float) -> bool:
        p = rate(log_odds)
        return not (p < 1 and needs(p, q) <= value)

    return rate(halved(math.log(q / (1 - q)), 36.0, is_refuted, times=52)[0])
