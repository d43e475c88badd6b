"""Lower bounds of the discrete CSH: against exact deltas of pairs of histograms, by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.accounting import discrete_csh

F = Fraction


def masses(variance: float, reach: int) -> np.ndarray:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return weights / weights.sum()


def of_two(sigma: float, tau: float, epsilon: float, r: int, m: int) -> float:
    """The delta of one pair with k = 2, in both orders: r counters in one histogram, m of the
    other 2 - r larger by one in it. Counters in both are so large that they are always seen."""
    variance, reach = 4 * sigma**2, int(40 * sigma)
    own, shared = masses(variance, reach), masses(variance / 2**0.5, reach)
    values, size = np.arange(-reach, reach + 1), 2 * reach + 1
    hides = np.array([own[values + z <= 2 * tau].sum() for z in values]) ** r
    j = 2 - r
    first, second = (np.zeros((2 * size + 4,) * j) for _ in range(2))
    for z, chance, hidden in zip(values, shared, hides, strict=True):
        for law, moved, weight in ((first, 2, hidden), (second, 0, 1.0)):
            parts = []
            for i in range(j):
                at, part = reach + z + (moved if i < m else 0), np.zeros(2 * size + 4)
                part[at : at + size] = own
                parts.append(part)
            term = chance * weight
            law += term * (np.multiply.outer(*parts) if j == 2 else parts[0] if j else 1.0)
    rate = np.exp(epsilon)
    one = np.maximum(first - rate * second, 0).sum() + 1 - first.sum()
    return float(max(one, np.maximum(second - rate * first, 0).sum()))


@pytest.mark.parametrize(
    ("sigma", "tau", "epsilon"), [("1.5", "4", "1"), ("1.5", "9", "1"), ("2", "15/2", "0.5")]
)
def test_between_the_deltas_of_pairs_and_the_upper_bound(
    sigma: str, tau: str, epsilon: str
) -> None:
    arguments: dict[str, Any] = {"sparsity": 2, "sigma": sigma, "tau": F(tau), "epsilon": epsilon}
    numbers = float(F(sigma)), float(F(tau)), float(F(epsilon))
    pairs = {
        (r, m): of_two(*numbers, r, m)
        for r, m in product(range(3), range(3))
        if m <= 2 - r and r + m
    }
    least = float(discrete_csh.least_delta(**arguments).lower)
    most = float(discrete_csh.delta(**arguments).upper)
    exact = max(pairs.values())
    assert least <= exact * (1 + 1e-9)
    assert exact <= most * (1 + 1e-9)
    assert least > 0.97 * exact  # a bound 3 % below would not pass


@pytest.mark.parametrize("sparsity", [1, 4, 16])
def test_square_sparsities_are_solved(sparsity: int) -> None:
    arguments: dict[str, Any] = {"sparsity": sparsity, "epsilon": "0.35"}
    calibration = discrete_csh.calibrate(**arguments, delta="1e-5")
    point = {**arguments, "sigma": calibration.sigma, "tau": calibration.tau}
    least, most = discrete_csh.least_delta(**point), discrete_csh.delta(**point)
    assert most.upper / least.lower - 1 < F(1, 10**6)


@pytest.mark.parametrize("sparsity", [2, 3, 10])
def test_calibrated_thresholds_are_the_least_for_their_noise(sparsity: int) -> None:
    calibration = discrete_csh.calibrate(sparsity=sparsity, epsilon=1, delta="1e-6")
    tau = F(calibration.tau or 0) - F(1, 2)
    below = discrete_csh.least_delta(sparsity=sparsity, sigma=calibration.sigma, tau=tau, epsilon=1)
    assert below.lower > F(1, 10**6)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="sparsity"):
        discrete_csh.least_delta(k=3, sigma=1, tau=1, epsilon=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidParameter, match="sigma"):
        discrete_csh.least_delta(sparsity=3, sigma=0, tau=1, epsilon=1)
