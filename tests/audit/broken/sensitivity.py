"""A sensitivity that is not what it is taken for."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import GRID, against, geometric, laplace


def clipped(data, n, rng):
    return sum(min(max(x, 0), 1) for x in data) + laplace(rng, 1, n)  # each row adds at most 1


LEAST, MOST = 0, 10


def gap(data, k):
    """Largest change of the median by one row, k rows away (Nissim, Raskhodnikova, Smith 2007)."""
    ordered = sorted(data)
    middle = len(ordered) // 2

    def at(i):
        return LEAST if i < 0 else MOST if i >= len(ordered) else ordered[i]

    return max(at(middle + t) - at(middle + t - k - 1) for t in range(k + 2))


def median(data, n, rng, furthest):
    # Cauchy noise is admissible with alpha = beta = epsilon/6
    smooth = max(math.exp(-k / 6) * gap(data, k) for k in range(furthest + 1))
    noise = np.rint(rng.standard_cauchy(n) * 6 * smooth * GRID) / GRID
    return sorted(data)[len(data) // 2] + noise


def two_per_replacement(data, n, rng):
    return np.array(data) + geometric(rng, 0.5, (n, len(data)))  # a replaced row moves two bins


@against(two_per_replacement, (1, 0), (0, 1))
def sensitivity_one_for_two(data, n, rng):
    """A replaced row moves two bins, and noise is for one."""
    return np.array(data) + geometric(rng, 1, (n, len(data)))


def manhattan(data, n, rng):
    return np.array(data) + laplace(rng, len(data), (n, len(data)))  # every counter moves by 1


@against(manhattan, (0,) * 10, (1,) * 10)
def sensitivity_root_k(data, n, rng):
    """Laplace noise for the Euclidean norm sqrt(k) of a change whose 1-norm is k."""
    return np.array(data) + laplace(rng, math.sqrt(len(data)), (n, len(data)))


@against(clipped, (1,), (1, 3))
def clipping_forgotten(data, n, rng):
    """A sum of values up to 3 with noise for values up to 1."""
    return sum(data) + laplace(rng, 1, n)


def clipped_then_clipped(data, n, rng):
    return np.clip(clipped(data, n, rng), 0, 1)  # post-processing


@against(clipped_then_clipped, (), (4,))
def clipping_after_noise(data, n, rng):
    """The noisy sum is clipped to the bound, not the values."""
    return np.clip(sum(data) + laplace(rng, 1, n), 0, 1)


def clamped_to_public_bound(data, n, rng):
    return np.clip(sum(data) + geometric(rng, 1, n), 0, 10)  # post-processing


@against(clamped_to_public_bound, (1, 1, 1), (1, 1, 1, 1))
def clamped_to_data(data, n, rng):
    """The noisy count is clamped to the number of rows."""
    return np.clip(sum(data) + geometric(rng, 1, n), 0, len(data))


def median_all_steps(data, n, rng):
    return median(data, n, rng, len(data))  # epsilon = 1; all distances that count


@against(median_all_steps, (0, 0, 0, 0, 0), (0, 0, 0, 0, 10))
def median_smooth_sensitivity(data, n, rng):
    """Smooth sensitivity is maximised over distances 0 and 1 only."""
    return median(data, n, rng, 1)
