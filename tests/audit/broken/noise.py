"""Noise of the wrong size or kind."""

from __future__ import annotations

import math

import numpy as np

from tests.audit.broken.case import GRID, Case, gaussian, geometric, laplace

#: Smallest Gaussian noise that is (1, 0.01)- and (8, 0.1)-DP at sensitivity 1, rounded up.
SIGMA, SIGMA_LARGE_EPSILON = 1.877876, 0.321456

#: The least for CSH with k = 10 at (1, 0.01), rounded up, and the threshold that goes with it.
SIGMA_CSH, K = 3.39955, 10


def laplace_epsilon(data, n, rng):
    return data + laplace(rng, 0.5, n)


def laplace_inverse_epsilon(data, n, rng):
    return data + laplace(rng, 2, n)  # sensitivity 1, scale 1/epsilon


def geometric_bits(data, n, rng):
    return data + geometric(rng, 1 / math.log(2), n)


def geometric_nats(data, n, rng):
    return data + geometric(rng, 1, n)  # sensitivity 1


def laplace_deviation(data, n, rng):
    return data + laplace(rng, 1 / math.sqrt(2), n)


def laplace_scale(data, n, rng):
    return data + laplace(rng, 1, n)  # sensitivity 1


def gaussian_root(data, n, rng):
    return data + gaussian(rng, math.sqrt(SIGMA), n)


def gaussian_exact(data, n, rng):
    return data + gaussian(rng, SIGMA, n)  # gaussian.delta <= 0.01, see test_promises


def gaussian_classic(data, n, rng):
    return data + gaussian(rng, math.sqrt(2 * math.log(1.25 / 0.1)) / 8, n)


def gaussian_exact_large_epsilon(data, n, rng):
    return data + gaussian(rng, SIGMA_LARGE_EPSILON, n)  # gaussian.delta <= 0.1


def discrete_first_order(data, n, rng):
    p = 0.5  # epsilon, in place of 1 - e^-epsilon
    return data + rng.geometric(p, n) - rng.geometric(p, n)


def discrete_exact(data, n, rng):
    return data + geometric(rng, 0.5, n)  # sensitivity 1


def truncated(data, n, rng):
    return data + np.clip(geometric(rng, 1, n), -5, 5)


def data_zero_exact(data, n, rng):
    noise = geometric(rng, 1, n)
    return data + (noise if data else 0 * noise)


def independent_only(data, n, rng):
    return np.array(data) + gaussian(rng, SIGMA_CSH, (n, K))


def with_shared_noise(data, n, rng):
    # CSH at counts far above the threshold: sigma^2/sqrt(k) shared by all counters
    noise = rng.normal(0, SIGMA_CSH, (n, K)) + rng.normal(0, SIGMA_CSH / K**0.25, (n, 1))
    return np.array(data) + np.rint(noise * GRID) / GRID


def reused(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, 1))


def fresh(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, len(data)))  # one counter changes, by 1


def cached_by_answer(data, n, rng):
    answers, places = np.unique(data, return_inverse=True)
    return np.array(data) + laplace(rng, 1, (n, len(answers)))[:, places]


CASES = (
    Case(
        "laplace-scale-epsilon",
        "the scale is epsilon instead of 1/epsilon",
        laplace_epsilon,
        laplace_inverse_epsilon,
        0,
        1,
        "0.5",
    ),
    Case(
        "nats-as-bits",
        "the budget is converted to bits, and noise added as if those were nats",
        geometric_bits,
        geometric_nats,
        0,
        1,
        "1",
    ),
    Case(
        "laplace-deviation",
        "1/epsilon is made the standard deviation instead of the scale",
        laplace_deviation,
        laplace_scale,
        0,
        1,
        "1",
    ),
    Case(
        "gaussian-variance",
        "sigma is passed where the variance is expected",
        gaussian_root,
        gaussian_exact,
        0,
        1,
        "1",
        "0.01",
    ),
    Case(
        "gaussian-classic",
        "sqrt(2 ln(1.25/delta))/epsilon, which is proved for epsilon < 1, at epsilon = 8",
        gaussian_classic,
        gaussian_exact_large_epsilon,
        0,
        1,
        "8",
        "0.1",
        samples=4_000_000,
    ),
    Case(
        "geometric-first-order",
        "success probability epsilon instead of 1 - e^-epsilon",
        discrete_first_order,
        discrete_exact,
        0,
        1,
        "0.5",
    ),
    Case(
        "geometric-truncated",
        "noise is cut off at 5, with no mixing over the outputs that become impossible",
        truncated,
        geometric_nats,
        0,
        1,
        "1",
    ),
    Case(
        "exact-zero",
        "an empty count gets no noise",
        data_zero_exact,
        geometric_nats,
        0,
        1,
        "1",
    ),
    Case(
        "correlated-noise-forgotten",
        "the noise shared by all counters is left out, its benefit to sigma is not",
        independent_only,
        with_shared_noise,
        (1000,) * K,
        (1001,) * K,
        "1",
        "0.01",
    ),
    Case(
        "noise-reused",
        "two counters get the same noise",
        reused,
        fresh,
        (0, 0),
        (0, 1),
        "1",
    ),
    Case(
        "noise-cached-by-answer",
        "noise is cached under the true answer, so equal answers get equal noise",
        cached_by_answer,
        fresh,
        (3, 3),
        (3, 4),
        "1",
    ),
)
