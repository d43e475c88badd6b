"""The bound of counters and sums against sums over all outputs, in doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from exactdp.accounting import csh_sums, gshm_sums

Floats = NDArray[np.float64]


def _noise(variance: float, reach: int) -> Floats:
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-(z**2) / (2 * variance))
    masses: Floats = weights / weights.sum()
    return masses


def _moved(masses: Floats, by: int) -> Floats:
    moved = np.zeros_like(masses)
    moved[by:] = masses[: len(masses) - by]
    return moved


def _shared(sigma: float, spread: float, limit: int, counters: int) -> tuple[Floats, Floats]:
    """The laws of one sum of all counters and of one sum of all their sums, in both data sets.

    The density ratio depends on these alone.
    """
    laws = []
    for scale, by in ((sigma, 1), (spread * limit * sigma, limit)):
        one = _noise(scale**2, math.ceil(9 * scale * math.sqrt(counters)) + counters * by)
        total = one
        for _ in range(counters - 1):
            total = np.convolve(total, one)
        laws.append((total, _moved(total, counters * by)))
    (count, count_moved), (value, value_moved) = laws
    return np.outer(count_moved, value_moved), np.outer(count, value)


def _exact(sigma: float, spread: float, limit: int, k: int, tau: int, epsilon: float) -> float:
    """The largest delta over all numbers of counters that only one data set has, in both orders."""
    x, noise = math.exp(epsilon), _noise(sigma**2, math.ceil(12 * sigma) + tau)
    hidden = float(noise[: len(noise) // 2 + tau + 1].sum())
    largest = 0.0
    for counters in range(k + 1):
        p, q = _shared(sigma, spread, limit, counters) if counters else (np.ones(1), np.ones(1))
        all_hidden = hidden ** (k - counters)
        with_extra = 1 - all_hidden + float(np.maximum(all_hidden * p - x * q, 0).sum())
        without = float(np.maximum(q - x * all_hidden * p, 0).sum())
        largest = max(largest, with_extra, without)
    return largest


@pytest.mark.parametrize(
    ("sigma", "spread", "limit", "k", "tau", "epsilon"),
    [
        ("12", "1", 1, 1, 50, "0.2"),
        ("12", "1", 2, 2, 30, "0.1"),
        ("9", "1/2", 3, 1, 20, "0"),
        ("8", "2", 1, 3, 28, "0.7"),
        ("3", "1", 1, 2, 5, "1"),
        ("1", "1", 1, 2, 2, "1"),  # too little noise to be rounded
    ],
)
def test_above_the_exact_delta_and_near(
    sigma: str, spread: str, limit: int, k: int, tau: int, epsilon: str
) -> None:
    bound = gshm_sums.delta(k=k, columns=1, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread)
    numbers = float(sigma), float(Fraction(spread)), limit, k, tau, float(epsilon)
    exact = _exact(*numbers)
    assert exact <= float(bound.upper) * (1 + 1e-9)
    if float(sigma) >= 8:
        assert float(bound.lower) <= exact * 1.05


def test_a_threshold_below_that_by_zcdp() -> None:
    """zCDP and the added delta of the threshold ask for 111."""
    calibration = gshm_sums.calibrate(k=10, columns=1, epsilon=1, delta="1e-6")
    assert calibration.tau <= 98
    assert calibration.guarantee.delta.upper <= Fraction(1, 10**6)
    assert calibration.refuted is not None
    assert calibration.refuted.delta.lower > Fraction(1, 10**6)


def _divergence(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize(("sigma", "limit", "epsilon"), [("6", 1, "0.3"), ("5", 3, "0")])
def test_correlated_noise_of_one_counter_and_a_sum(sigma: str, limit: int, epsilon: str) -> None:
    """Half of two discrete Gaussians moves by two halves, a sum by its limit."""
    scale, reach = float(sigma), math.ceil(22 * float(sigma))
    count = np.convolve(_noise(4 * scale**2, reach), _noise(4 * scale**2, reach))
    value = _noise((limit * scale) ** 2, math.ceil(11 * limit * scale))
    p, q = np.outer(_moved(count, 2), _moved(value, limit)), np.outer(count, value)
    exact = _divergence(p, q, float(epsilon))
    one = csh_sums.CshSums(sparsity=1, columns=1, sigma=sigma, tau=50, epsilon=epsilon)
    assert exact <= float(one.noise().upper) * (1 + 1e-9)
    assert float(one.noise().lower) <= exact * 1.1


@pytest.mark.parametrize("moved", [1, 2])
def test_correlated_noise_of_two_counters(moved: int) -> None:
    sigma, reach, epsilon = 5.0, 90, 0.2
    own, shared = _noise(4 * sigma**2, reach), _noise(4 * sigma**2 / math.sqrt(2), reach)
    size = 2 * reach + 1
    table = np.zeros((size + 2 * reach, size + 2 * reach))
    for z, mass in enumerate(shared):
        table[z : z + size, z : z + size] += mass * np.outer(own, own)
    p = np.zeros_like(table)
    by = 2 if moved == 2 else 0
    p[2:, by:] = table[:-2, : table.shape[1] - by]
    both = csh_sums.CshSums(sparsity=2, columns=0, sigma=5, tau=50, epsilon=str(epsilon))
    exact = max(_divergence(p, table, epsilon), _divergence(table, p, epsilon))
    assert exact <= float(both.noise().upper) * (1 + 1e-9)
    if moved == 2:
        assert float(both.noise().lower) <= exact * 1.3


def test_a_threshold_of_correlated_noise_below_that_by_zcdp() -> None:
    calibration = csh_sums.calibrate(sparsity=10, columns=1, epsilon=1, delta="1e-6")
    assert calibration.tau <= Fraction("97.5")
