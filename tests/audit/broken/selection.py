"""Picking the best candidate: exponential mechanism, permute-and-flip, report noisy max."""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import against, geometric, laplace


def exponential(data, n, rng, rate):
    """Candidate i with probability proportional to e^(rate quality_i)."""
    return np.argmax(rate * np.array(data) + rng.gumbel(size=(n, len(data))), axis=1)


def exponential_general(data, n, rng):
    return exponential(data, n, rng, 0.5)  # sensitivity 1: rate epsilon/2


def permute_and_flip(data, n, rng, rate):
    """The candidates in random order, each accepted with probability e^(-rate (best - quality))."""
    chance = np.exp(-rate * (max(data) - np.array(data)))
    order = np.argsort(rng.random((n, len(data))), axis=1)
    accepted = rng.random((n, len(data))) < chance[order]
    return order[np.arange(n), np.argmax(accepted, axis=1)]  # the best is always accepted


def noisy_max(data, n, rng, scale):
    return np.argmax(np.array(data) + rng.laplace(0, scale, (n, len(data))), axis=1)


def max_scale(data, n, rng):
    return noisy_max(data, n, rng, 2)  # sensitivity 1, not monotone: scale 2/epsilon


@against(exponential_general, (1,) + (0,) * 9, (0,) + (1,) * 9)
def exponential_monotone_factor(data, n, rng):
    """Rate epsilon, which monotone qualities allow, for qualities that rise and fall."""
    return exponential(data, n, rng, 1)


# the twin, of sensitivity 2: rate epsilon/4
@against(exponential, (2,) + (0,) * 9, (0,) + (2,) * 9, rate=0.25)
def exponential_sensitivity(data, n, rng):
    """A quality of sensitivity 2 is taken to have sensitivity 1."""
    return exponential_general(data, n, rng)


# the twin, of sensitivity 1: rate epsilon/2
@against(permute_and_flip, (1,) + (0,) * 9, (0,) + (1,) * 9, rate=0.5)
def permute_and_flip_factor(data, n, rng):
    """Accepts with e^(-epsilon gap), without the factor 1/2."""
    return permute_and_flip(data, n, rng, 1)


@against(max_scale, (1,) + (0,) * 9, (0,) + (1,) * 9)
def noisy_max_scale(data, n, rng):
    """Scale 1/epsilon, which monotone queries allow, for counts that rise and fall."""
    return noisy_max(data, n, rng, 1)


def max_with_fresh_value(data, n, rng):
    best = noisy_max(data, n, rng, 4)  # epsilon/2 for the choice, epsilon/2 for its value
    return np.stack([best, np.array(data)[best] + laplace(rng, 2, n)], axis=1)


@against(max_with_fresh_value, (0,) * 5, (1,) * 5)
def noisy_max_with_value(data, n, rng):
    """The maximum is released with the noise that found it."""
    noisy = np.array(data) + laplace(rng, 1, (n, len(data)))
    best = np.argmax(noisy, axis=1)
    return np.stack([best, noisy[np.arange(n), best]], axis=1)


def max_without_ties(data, n, rng):
    return np.arange(len(data)) == max_scale(data, n, rng)[:, None]  # as private as max_scale


@against(max_without_ties, (0, 0, 0, 0), (1, 1, 0, 0))
def noisy_max_all_ties(data, n, rng):
    """Every candidate that ties for the noisy maximum is released."""
    noisy = np.array(data) + geometric(rng, 1, (n, len(data)))
    return noisy == noisy.max(axis=1, keepdims=True)


@against(max_with_fresh_value, (3, 2), (2, 3))
def noise_on_winner_only(data, n, rng):
    """The true maximum is chosen, and only its value gets noise."""
    best = np.argmax(data)
    return np.stack([np.full(n, best), data[best] + laplace(rng, 1, n)], axis=1)
