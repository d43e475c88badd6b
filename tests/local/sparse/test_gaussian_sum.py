"""Clipped sums with discrete Gaussian noise: the law, the loss, and the loss of many reports."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from mpmath import mp

from exactdp.accounting import pld
from exactdp.local.sparse import GaussianSum, OneBit
from exactdp.samplers import SeededSource

F = Fraction


def masses(sigma2: Fraction, reach: int) -> dict[int, float]:
    weights = {z: mp.exp(-mp.mpf(z * z) / (2 * float(sigma2))) for z in range(-reach, reach + 1)}
    total = mp.fsum(weights.values())
    return {z: float(w / total) for z, w in weights.items()}


def test_a_report_is_a_clipped_sum_with_noise() -> None:
    """k = 2 entries of +-1, clipped at 1: the sums are -1, 0 and 1 with chances 1/4, 1/2, 1/4."""
    m = GaussianSum(d=4, k=2, epsilon=40, delta="0.5", clip=1)
    reports = m.draw_many([{0: 1, 3: -1}] * 40_000, SeededSource(5))
    noisy = (reports[:, 1] - m._limit) / 64
    deviation = float(m.sigma2) ** 0.5 / 64
    mean_square = 0.5 + deviation**2
    seen = (noisy**2).mean()
    assert abs(seen - mean_square) < 5 * (noisy**2).std() / len(noisy) ** 0.5  # alpha = 6e-7
    estimate = m.aggregate().add(reports).estimate()
    # of the item itself: clipping at 1 keeps (1 + 0)/2 of its value
    assert abs(estimate.values[0] - 0.5) < 5 * (m.variance / len(noisy)) ** 0.5
    assert abs(estimate.values[1]) < 5 * (m.variance / len(noisy)) ** 0.5
    assert m.bias == F(1, 2)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_delta_of_a_report_by_its_definition(epsilon: str) -> None:
    """All pairs of clipped sums; the largest hockey-stick divergence is that of 2 eta."""
    m = GaussianSum(d=2, k=1, epsilon=epsilon, delta="0.01", clip="1/16")
    law = masses(m.sigma2, 40 * int(float(m.sigma2) ** 0.5))
    rate, eta = mp.exp(mp.mpf(epsilon)), m.sensitivity // 2
    worst = 0.0
    for moved in range(1, 2 * eta + 1):
        excess = [p - float(rate) * law.get(z + moved, 0.0) for z, p in law.items()]
        worst = max(worst, sum(x for x in excess if x > 0))
    stated = m.loss.delta(epsilon)
    assert float(stated.lower) * (1 - 1e-6) < worst < float(stated.upper) * (1 + 1e-6)
    assert worst <= 0.01
    less = pld.discrete_gaussian(sigma2=m.sigma2, sensitivity=m.sensitivity)
    assert less.delta(F(epsilon) * F(97, 100)).lower > F(1, 100)  # 3 % less is not kept


def test_renyi_divergence_and_many_reports() -> None:
    m = GaussianSum(d=8, k=4, epsilon=1, delta="1e-6")
    for order in (F(3, 2), 2, 16):
        rho = F(m.sensitivity) ** 2 / (2 * m.sigma2)
        divergence = m.loss.renyi(order)
        assert divergence.upper <= order * rho * (1 + F(1, 10**9))
    year = m.loss.composed(12).epsilon("1e-5")
    assert 1 < year.lower < year.upper < 12


def test_one_bit_composes_as_randomized_response() -> None:
    """Four reports of ln 3: delta by enumeration of the number of true answers."""
    loss = OneBit(d=2, k=1, epsilon="1.0986122886681098").loss
    ends = loss.composed(4).delta("1.5")
    exact = 0.0
    for truths in range(5):
        p = comb(4, truths) * 3**truths / 4**4
        q = comb(4, truths) * 3 ** (4 - truths) / 4**4
        exact += max(p - float(np.exp(1.5)) * q, 0)
    assert float(ends.lower) * (1 - 1e-6) <= exact <= float(ends.upper) * (1 + 1e-6)


def test_clips_and_files() -> None:
    m = GaussianSum(d=100, k=8, epsilon=1, users=5000, clip="published")
    assert m.clip == pytest.approx((8 * np.log(5000)) ** 0.5 / 2.5, abs=1 / 64)
    reports = m.draw_many([{3: 1}, {99: "-0.5"}], SeededSource(1))
    state = m.aggregate().add(m.unpack(m.pack(reports), 2))
    assert m.state_from_bytes(state.to_bytes()) == state
    errors = [GaussianSum(d=9, k=8, epsilon=1, clip=c).mean_square(10**5) for c in (1, 2, 4, 8)]
    assert GaussianSum(d=9, k=8, epsilon=1).mean_square(10**5) <= min(errors) * (1 + F(1, 1000))
