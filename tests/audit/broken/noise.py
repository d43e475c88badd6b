"""Noise of the wrong size or kind."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import GRID, against, gaussian, geometric, laplace

#: Smallest Gaussian noise that is (1, 0.01)- and (8, 0.1)-DP at sensitivity 1, rounded up.
SIGMA, SIGMA_LARGE_EPSILON = 1.877876, 0.321456

#: The least for CSH with k = 10 at (1, 0.01), rounded up, and the threshold that goes with it.
SIGMA_CSH, K = 3.39955, 10


def laplace_inverse_epsilon(data, n, rng):
    return data + laplace(rng, 2, n)  # sensitivity 1, scale 1/epsilon


@against(laplace_inverse_epsilon, 0, 1, "0.5")
def laplace_scale_epsilon(data, n, rng):
    """The scale is epsilon instead of 1/epsilon."""
    return data + laplace(rng, 0.5, n)


def geometric_nats(data, n, rng):
    return data + geometric(rng, 1, n)  # sensitivity 1


@against(geometric_nats, 0, 1)
def nats_as_bits(data, n, rng):
    """The budget is converted to bits, and noise added as if those were nats."""
    return data + geometric(rng, 1 / math.log(2), n)


def laplace_scale(data, n, rng):
    return data + laplace(rng, 1, n)  # sensitivity 1


@against(laplace_scale, 0, 1)
def laplace_deviation(data, n, rng):
    """1/epsilon is made the standard deviation instead of the scale."""
    return data + laplace(rng, 1 / math.sqrt(2), n)


def gaussian_exact(data, n, rng):
    return data + gaussian(rng, SIGMA, n)  # gaussian.delta <= 0.01, see test_promises


@against(gaussian_exact, 0, 1, "1", "0.01")
def gaussian_variance(data, n, rng):
    """Sigma is passed where the variance is expected."""
    return data + gaussian(rng, math.sqrt(SIGMA), n)


def gaussian_exact_large_epsilon(data, n, rng):
    return data + gaussian(rng, SIGMA_LARGE_EPSILON, n)  # gaussian.delta <= 0.1


@against(gaussian_exact_large_epsilon, 0, 1, "8", "0.1", samples=4_000_000)
def gaussian_classic(data, n, rng):
    """sqrt(2 ln(1.25/delta))/epsilon, which is proved for epsilon < 1, at epsilon = 8."""
    return data + gaussian(rng, math.sqrt(2 * math.log(1.25 / 0.1)) / 8, n)


def discrete_exact(data, n, rng):
    return data + geometric(rng, 0.5, n)  # sensitivity 1


@against(discrete_exact, 0, 1, "0.5")
def geometric_first_order(data, n, rng):
    """Success probability epsilon instead of 1 - e^-epsilon."""
    p = 0.5  # epsilon, in place of 1 - e^-epsilon
    return data + rng.geometric(p, n) - rng.geometric(p, n)


@against(geometric_nats, 0, 1)
def geometric_truncated(data, n, rng):
    """Noise is cut off at 5, with no mixing over the outputs that become impossible."""
    return data + np.clip(geometric(rng, 1, n), -5, 5)


@against(geometric_nats, 0, 1)
def exact_zero(data, n, rng):
    """An empty count gets no noise."""
    noise = geometric(rng, 1, n)
    return data + (noise if data else 0 * noise)


def with_shared_noise(data, n, rng):
    # CSH at counts far above the threshold: sigma^2/sqrt(k) shared by all counters
    noise = rng.normal(0, SIGMA_CSH, (n, K)) + rng.normal(0, SIGMA_CSH / K**0.25, (n, 1))
    return np.array(data) + np.rint(noise * GRID) / GRID


@against(with_shared_noise, (1000,) * K, (1001,) * K, "1", "0.01")
def correlated_noise_forgotten(data, n, rng):
    """The noise shared by all counters is left out, its benefit to sigma is not."""
    return np.array(data) + gaussian(rng, SIGMA_CSH, (n, K))


def fresh(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, len(data)))  # one counter changes, by 1


@against(fresh, (0, 0), (0, 1))
def noise_reused(data, n, rng):
    """Two counters get the same noise."""
    return np.array(data) + laplace(rng, 1, (n, 1))


@against(fresh, (3, 3), (3, 4))
def noise_cached_by_answer(data, n, rng):
    """Noise is cached under the true answer, so equal answers get equal noise."""
    answers, places = np.unique(data, return_inverse=True)
    return np.array(data) + laplace(rng, 1, (n, len(answers)))[:, places]
