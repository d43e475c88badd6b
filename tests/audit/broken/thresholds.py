"""Sparse histograms: thresholds that are off, early, missing, or for fewer keys."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import GRID, against, gaussian, geometric, laplace, sparse

#: A key is released when its noisy count exceeds LEVEL: at count 1 and epsilon = 1 with probability
#: e^-5/(1 + e^-1) = 0.004926; when it reaches LEVEL, with probability e^-4/(1 + e^-1) = 0.0134.
LEVEL = 5

#: (sigma, tau) of the GSHM at (1, 0.01) for one key and for ten, rounded up.
GSHM_ONE, GSHM_TEN = (1.877876, 4.3687), (5.938364, 18.342954)


def release(data, noise, level):
    noisy = np.array(list(data.values()), dtype=np.int64) + noise
    return sparse(list(data), noisy, noisy > level)


def on_grid(level):
    return math.ceil(level * GRID) / GRID  # rounded noise stays below it as often as real noise


def presence(data, n, rng, level):
    """The released key, or nothing, as 1 or 0, and the noisy count where released."""
    if not data:
        return np.zeros((n, 2))
    noisy = data["a"] + laplace(rng, 1, n)
    kept = noisy > level
    return np.stack([kept, np.where(kept, noisy, 0)], axis=1)


def gshm(data, n, rng, sigma, tau):
    """Noisy counters above 1 + tau; 0 for a counter that is not released."""
    counts = np.array(data)
    noisy = counts + gaussian(rng, sigma, (n, len(data)))
    return np.where((counts > 0) & (noisy > on_grid(1 + tau)), noisy, 0)


def above(data, n, rng):
    # one key, one count changes by 1: delta = P(1 + noise > LEVEL) = e^-5/(1 + e^-1) < 0.004927
    return release(data, geometric(rng, 1, (n, len(data))), LEVEL)


@against(above, {}, {"a": 1}, "1", "0.004927", samples=10_000)
def threshold_off_by_one(data, n, rng):
    """>= instead of >: the true delta is 0.0134."""
    return release(data, geometric(rng, 1, (n, len(data))), LEVEL - 1)  # noisy >= LEVEL


@against(above, {"a": LEVEL - 1}, {"a": LEVEL}, "1", "0.004927")
def threshold_before_noise(data, n, rng):
    """True counts are compared with the threshold, then noise is added."""
    kept = {key: count for key, count in data.items() if count >= LEVEL}
    return release(kept, geometric(rng, 1, (n, len(kept))), -math.inf)


@against(above, {"b": 30}, {"a": 1, "b": 30}, "1", "0.004927")
def threshold_missing(data, n, rng):
    """Every non-zero count is released with noise."""
    return release(data, geometric(rng, 1, (n, len(data))), -math.inf)


@against(presence, {}, {"a": 1}, "1", "0.01", level=on_grid(1 + math.log(1 / (2 * 0.01))))
def stability_threshold_low(data, n, rng):
    """Ln(1/(2 delta))/epsilon without the 1 that one row adds."""
    return presence(data, n, rng, on_grid(math.log(1 / (2 * 0.01))))


def gshm_ten(data, n, rng):
    return gshm(data, n, rng, *GSHM_TEN)  # gshm.delta(k=10) <= 0.01, see test_promises


@against(gshm_ten, (0,) * 10, (1,) * 10, "1", "0.01")
def gshm_one_key_for_ten(data, n, rng):
    """Noise and threshold for k = 1 where a user holds 10 keys."""
    return gshm(data, n, rng, *GSHM_ONE)


def noisy_size(data, n, rng):
    # the bins are fixed in advance, and the size is counted after noise
    noisy = np.array(data) + geometric(rng, 1, (n, len(data)))
    return np.concatenate([np.count_nonzero(noisy, axis=1)[:, None], noisy], axis=1)


@against(noisy_size, (4, 0, 0), (4, 0, 1))
def exact_size(data, n, rng):
    """The number of non-empty bins is released as it is."""
    noisy = np.array(data) + geometric(rng, 1, (n, len(data)))
    return np.concatenate([np.full((n, 1), np.count_nonzero(data)), noisy], axis=1)
