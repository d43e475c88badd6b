"""Budgets that are not added up."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import Case, geometric, laplace


def repeated(data, n, rng, times, epsilon):
    return data + laplace(rng, 1 / epsilon, (n, times))


def twice_whole(data, n, rng):
    return repeated(data, n, rng, 2, 1)


def twice_half(data, n, rng):
    return repeated(data, n, rng, 2, 0.5)  # the budgets add up to 1


def root(data, n, rng):
    return repeated(data, n, rng, 16, 1 / 4)


def linear(data, n, rng):
    return repeated(data, n, rng, 16, 1 / 16)  # the budgets add up to 1


def overlapping(data, n, rng):
    return np.array(data) + geometric(rng, 1, (n, len(data)))


def overlapping_shared(data, n, rng):
    return np.array(data) + geometric(rng, 1 / 3, (n, len(data)))  # a user is in all three


def sample_with_size(data, n, rng):
    """A noisy count of half of the rows, and how many rows were sampled."""
    size = data // 2
    return np.stack([np.full(n, size), size + geometric(rng, 1, n)], axis=1)


def sample_without_size(data, n, rng):
    size = data // 2
    # one row changes the sample's size by at most 1
    return np.stack([np.zeros(n), size + geometric(rng, 1, n)], axis=1)


def averaged(data, n, rng):
    """The mean of noisy counts, where each is (1, 0)-DP."""
    return repeated(data, n, rng, 9, 1).mean(axis=1)


def averaged_shared(data, n, rng):
    return repeated(data, n, rng, 9, 1 / 9).mean(axis=1)  # the budgets add up to 1


def amplified_without_sampling(data, n, rng):
    """Noise for epsilon 0.25 after sampling a quarter, with the first quarter always sampled."""
    return (1 if data else 0) + geometric(rng, math.log1p(4 * math.expm1(0.25)), n)


def amplified(data, n, rng):
    # Poisson sampling with rate 1/4: ln(1 + (e^eps - 1)/4) = 0.25
    sampled = rng.random(n) < 0.25
    return np.where(sampled, data, 0) + geometric(rng, math.log1p(4 * math.expm1(0.25)), n)


CASES = (
    Case(
        "budget-counted-once",
        "two releases with epsilon each, and epsilon promised for both",
        twice_whole,
        twice_half,
        0,
        1,
        "1",
    ),
    Case(
        "advanced-without-delta",
        "sixteen releases with epsilon/sqrt(16) each, and delta = 0 promised",
        root,
        linear,
        0,
        1,
        "1",
    ),
    Case(
        "overlapping-groups",
        "parallel composition over three groups that share users",
        overlapping,
        overlapping_shared,
        (0, 0, 0),
        (1, 1, 1),
        "1",
    ),
    Case(
        "sample-size-released",
        "the size of a subsample, a fixed share of the data, is released with its noisy count",
        sample_with_size,
        sample_without_size,
        9,
        10,
        "1",
    ),
    Case(
        "noise-averaged-away",
        "the mean of nine noisy counts with epsilon each",
        averaged,
        averaged_shared,
        0,
        1,
        "1",
    ),
    Case(
        "amplified-without-sampling",
        "the budget of a subsample, with rows that are always sampled",
        amplified_without_sampling,
        amplified,
        0,
        1,
        "0.25",
    ),
)
