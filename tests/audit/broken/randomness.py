"""Randomness that is biased, repeated, or a function of the data."""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import against, laplace

#: 1 - e/(1 + e): how often randomised response at epsilon = 1 must lie.
LIE = 1 / (1 + np.e)


def respond(data, lies):
    return np.where(lies, 1 - data, data)


def three_quarters(data, n, rng):
    return respond(data, rng.random(n) >= 0.75)  # ratio 3 <= e^1.098613


@against(three_quarters, 0, 1, "1.098613")
def response_too_honest(data, n, rng):
    """Randomised response at ln 3 tells the truth with probability 0.755."""
    return respond(data, rng.random(n) >= 0.755)


def one_in_five(data, n, rng):
    return respond(data, rng.integers(0, 5, n) == 4)  # ratio 4 <= e^1.386295


@against(one_in_five, 0, 1, "1.386295")
def modulo_bias(data, n, rng):
    """One lie in five from four bits modulo 5."""
    return respond(data, rng.integers(0, 16, n) % 5 == 4)


def one_in_three(data, n, rng):
    return respond(data, rng.integers(0, 3, n) == 2)  # ratio 2 <= e^0.693148


@against(one_in_three, 0, 1, "0.693148", samples=10_000_000)
def modulo_bias_byte(data, n, rng):
    """One lie in three from a byte modulo 3."""
    return respond(data, rng.integers(0, 256, n) % 3 == 2)


def all_bits(data, n, rng):
    return respond(data, rng.random(n) < LIE)  # ratio e, up to 2^-53


@against(all_bits, 0, 1)
def low_bits_dropped(data, n, rng):
    """A lie is drawn from a uniform number of which four bits are kept."""
    return respond(data, (rng.integers(0, 16, n) + 1) / 16 <= LIE)


def fresh(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, *np.shape(data)))  # one counter changes, by 1


@against(fresh, 0, 1)
def constant_seed(data, n, rng):
    """Every call starts from the same seed."""
    return data + laplace(np.random.default_rng(7), 1, n)


@against(fresh, 10, 11)
def seeded_by_data(data, n, rng):
    """Noise is seeded by the true count and the day."""
    days = np.array([laplace(np.random.default_rng([data, day]), 1, None) for day in range(16)])
    return data + days[rng.integers(0, 16, n)]


@against(fresh, (0, 0, 0, 0), (0, 0, 0, 1))
def forked_workers(data, n, rng):
    """Two forked workers draw the same noise for their counters.

    Two workers with two counters each; the second continues the first one's generator state.
    """
    half = len(data) // 2
    noise = laplace(rng, 1, (n, half))
    return np.array(data) + np.concatenate([noise, noise], axis=1)


@against(fresh, (0, 0), (0, 1))
def short_period(data, n, rng):
    """Two values of noise from a generator with 256 states.

    Two values from a generator with 256 states.
    """
    state = rng.integers(0, 256, n)
    table = laplace(np.random.default_rng(0), 1, (256, 2))
    return np.array(data) + table[state]
