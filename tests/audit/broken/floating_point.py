"""Noise that is right on the real line and wrong in floating point."""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import Case, laplace


def inverse_cdf(data, n, rng):
    u = rng.random(n) - 0.5
    return data - np.sign(u) * np.log1p(-2 * np.abs(u))


def on_a_grid(data, n, rng):
    return data + laplace(rng, 1, n)  # sensitivity 1; rounding is post-processing


def coarse_uniform(data, n, rng):
    u = (rng.integers(0, 1 << 10, n) + 0.5) / (1 << 10) - 0.5
    return data - np.sign(u) * np.log1p(-2 * np.abs(u))


def single_precision(data, n, rng):
    u = rng.random(n, dtype=np.float32) - np.float32(0.5)
    noise = -np.sign(u) * np.log1p(-2 * np.abs(u))
    return (np.float32(data) + noise).astype(np.float64)


def three_digits(data, n, rng):
    unit = 0.1 if data < 100 else 1.0
    return np.rint((data + laplace(rng, 1, n)) / unit) * unit


def whole_numbers(data, n, rng):
    return np.rint(data + laplace(rng, 1, n))  # the same grid whatever the data


CASES = (
    Case(
        "float-laplace",
        "inverse CDF of a 53-bit uniform: some doubles are reached from one side only",
        inverse_cdf,
        on_a_grid,
        0,
        1,
        "1",
    ),
    Case(
        "float-laplace-single",
        "the same in single precision",
        single_precision,
        on_a_grid,
        0,
        1,
        "1",
    ),
    Case(
        "float-coarse-uniform",
        "the inverse CDF of a uniform with ten bits",
        coarse_uniform,
        on_a_grid,
        0,
        1,
        "1",
    ),
    Case(
        "grid-from-data",
        "the noisy value is rounded to as many digits as the true one has",
        three_digits,
        whole_numbers,
        99,
        100,
        "1",
    ),
)
