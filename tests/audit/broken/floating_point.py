"""Noise that is right on the real line and wrong in floating point."""

from __future__ import annotations

import numpy as np

from tests.audit.broken.case import against, laplace


def on_a_grid(data, n, rng):
    return data + laplace(rng, 1, n)  # sensitivity 1; rounding is post-processing


@against(on_a_grid, 0, 1)
def float_laplace(data, n, rng):
    """Inverse CDF of a 53-bit uniform: some doubles are reached from one side only."""
    u = rng.random(n) - 0.5
    return data - np.sign(u) * np.log1p(-2 * np.abs(u))


@against(on_a_grid, 0, 1)
def float_laplace_single(data, n, rng):
    """The same in single precision."""
    u = rng.random(n, dtype=np.float32) - np.float32(0.5)
    noise = -np.sign(u) * np.log1p(-2 * np.abs(u))
    return (np.float32(data) + noise).astype(np.float64)


@against(on_a_grid, 0, 1)
def float_coarse_uniform(data, n, rng):
    """The inverse CDF of a uniform with ten bits."""
    u = (rng.integers(0, 1 << 10, n) + 0.5) / (1 << 10) - 0.5
    return data - np.sign(u) * np.log1p(-2 * np.abs(u))


def whole_numbers(data, n, rng):
    return np.rint(data + laplace(rng, 1, n))  # the same grid whatever the data


@against(whole_numbers, 99, 100)
def grid_from_data(data, n, rng):
    """The noisy value is rounded to as many digits as the true one has."""
    unit = 0.1 if data < 100 else 1.0
    return np.rint((data + laplace(rng, 1, n)) / unit) * unit
