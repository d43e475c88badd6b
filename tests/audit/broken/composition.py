"""Budgets that are not added up."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import against, geometric, laplace


def repeated(data, n, rng, times, spent):
    return data + laplace(rng, 1 / spent, (n, times))


# the honest twin: the budgets add up to 1
@against(repeated, 0, 1, times=2, spent=0.5)
def budget_counted_once(data, n, rng):
    """Two releases with epsilon each, and epsilon promised for both."""
    return repeated(data, n, rng, 2, 1)


# the honest twin: the budgets add up to 1
@against(repeated, 0, 1, times=16, spent=1 / 16)
def advanced_without_delta(data, n, rng):
    """Sixteen releases with epsilon/sqrt(16) each, and delta = 0 promised."""
    return repeated(data, n, rng, 16, 1 / 4)


def overlapping_shared(data, n, rng):
    return np.array(data) + geometric(rng, 1 / 3, (n, len(data)))  # a user is in all three


@against(overlapping_shared, (0, 0, 0), (1, 1, 1))
def overlapping_groups(data, n, rng):
    """Parallel composition over three groups that share users."""
    return np.array(data) + geometric(rng, 1, (n, len(data)))


def sample_without_size(data, n, rng):
    size = data // 2
    # one row changes the sample's size by at most 1
    return np.stack([np.zeros(n), size + geometric(rng, 1, n)], axis=1)


@against(sample_without_size, 9, 10)
def sample_size_released(data, n, rng):
    """The size of a subsample, a fixed share of the data, is released with its noisy count.

    A noisy count of half of the rows, and how many rows were sampled.
    """
    size = data // 2
    return np.stack([np.full(n, size), size + geometric(rng, 1, n)], axis=1)


def averaged_shared(data, n, rng):
    return repeated(data, n, rng, 9, 1 / 9).mean(axis=1)  # the budgets add up to 1


@against(averaged_shared, 0, 1)
def noise_averaged_away(data, n, rng):
    """The mean of nine noisy counts with epsilon each.

    The mean of noisy counts, where each is (1, 0)-DP.
    """
    return repeated(data, n, rng, 9, 1).mean(axis=1)


def amplified(data, n, rng):
    # Poisson sampling with rate 1/4: ln(1 + (e^eps - 1)/4) = 0.25
    sampled = rng.random(n) < 0.25
    return np.where(sampled, data, 0) + geometric(rng, math.log1p(4 * math.expm1(0.25)), n)


@against(amplified, 0, 1, "0.25")
def amplified_without_sampling(data, n, rng):
    """The budget of a subsample, with rows that are always sampled.

    Noise for epsilon 0.25 after sampling a quarter, with the first quarter always sampled.
    """
    return (1 if data else 0) + geometric(rng, math.log1p(4 * math.expm1(0.25)), n)
