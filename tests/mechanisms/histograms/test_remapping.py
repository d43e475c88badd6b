"""Estimates by Bayes, the lower bound of sparse histograms, and releases that take one time."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product
from math import exp, expm1
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import (
    KeepHeavySampled,
    PaddedSparseHistogram,
    Remapping,
    in_one_time,
    least_sparse_error,
)
from exactdp.mechanisms.histograms.remapping import LOSSES
from exactdp.samplers import GeoSample

F = Fraction


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [[1, 1, 1, 1], [F(1, 2), 0, 3, 1], [8, 4, 2, 1]])
def test_no_other_map_loses_less(loss: str, prior: list[Any]) -> None:
    noise = GeoSample(n=3, epsilon="1.5")
    best, weights = Remapping(noise, prior, loss), [F(p) / sum(map(F, prior)) for p in prior]

    def lost(estimates: tuple[int, ...]) -> Fraction:
        total = F(0)
        for c, weight in enumerate(weights):
            for z, chance in noise.law(c).items():
                total += weight * chance * LOSSES[loss](estimates[z] - c)
        return total

    everything = [lost(estimates) for estimates in product(range(4), repeat=4)]
    assert best.expected_loss == min(everything) == lost(best.estimates)
    assert best.loss_without == lost((0, 1, 2, 3))


@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_private_mechanism_loses_less(loss: str) -> None:
    """Universal optimality: against the linear program over all mechanisms of the same ratio."""
    linprog = pytest.importorskip("scipy.optimize").linprog
    n, prior = 4, [5, 1, 3, 1, 2]
    noise = GeoSample(n=n, epsilon=1)
    r, size = float(noise.e_half_epsilon), n + 1
    cost = [prior[c] / sum(prior) * LOSSES[loss](z - c) for c in range(size) for z in range(size)]
    rows, sums = [], np.zeros((size, size * size))
    for c, z in product(range(size), repeat=2):
        sums[c, c * size + z] = 1
        for other in {c - 1, c + 1} & set(range(size)):
            row = np.zeros(size * size)
            row[c * size + z], row[other * size + z] = 1, -r
            rows.append(row)
    least = linprog(cost, np.array(rows), np.zeros(len(rows)), sums, np.ones(size)).fun
    assert float(Remapping(noise, prior, loss).expected_loss) == pytest.approx(least, abs=1e-9)


def test_bad_priors_are_refused() -> None:
    noise = GeoSample(n=2, epsilon=1)
    for prior, allowed in (
        ([1], "n \\+ 1 = 3 weights"),
        ([0] * 3, "positive weight"),
        ([1, -1, 1], ">= 0"),
    ):
        with pytest.raises(InvalidParameter, match=allowed):
            Remapping(noise, prior)
    with pytest.raises(InvalidParameter, match="posteriors are listed"):
        Remapping(GeoSample(n=1001, epsilon=1), [1] * 1002)


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_lower_bound_by_its_formula(epsilon: float, delta: float) -> None:
    n, universe, beta = 50, 10**12, 0.1

    def excluded(error: int) -> bool:
        a = error + 1
        most = exp(a * epsilon) * n / (universe - 1)
        return most + delta * expm1(a * epsilon) / expm1(epsilon) < 1 - beta

    stated = least_sparse_error(n=n, universe=universe, epsilon=epsilon, delta=delta, beta=beta)
    assert all(excluded(e) for e in range(stated))
    assert stated == n or not excluded(stated)


def test_every_mechanism_stays_above_the_lower_bound() -> None:
    """The chance of an error below the bound, by exact laws, is too small."""
    n, universe = 3, 3000
    noise = GeoSample(n=n, epsilon=1)
    bound = least_sparse_error(n=n, universe=universe, epsilon=1, beta="0.5")
    assert bound == n  # no pure sparse histogram says anything about three rows
    released = KeepHeavySampled(noise, universe).law({0: n}, residual="1e-6")
    assert released.probability(lambda bins: dict(bins).get(0, 0) > 0) < F(1, 2)


def test_few_rows_are_refused_with_the_least_number() -> None:
    with pytest.raises(InvalidParameter, match="n must be >= 84: no count of fewer rows passes"):
        PaddedSparseHistogram.of(n=10, epsilon=1, universe=2**64)
    assert PaddedSparseHistogram.of(n=84, epsilon=1, universe=2**64).threshold < 84
    with pytest.raises(InvalidParameter, match=">= 84"):
        PaddedSparseHistogram.of(n=83, epsilon=1, universe=2**64)
    with pytest.raises(InvalidParameter, match="BasicHistogram"):
        PaddedSparseHistogram.of(n=3, epsilon="0.1", universe=64)


def slow(data: int, seconds: float) -> int:
    time.sleep(seconds)
    if data < 0:
        raise InvalidParameter("data", data, ">= 0")
    return data


@pytest.mark.parametrize(("takes", "ends"), [(0.0, 0.05), (0.06, 0.1)])
def test_releases_and_refusals_end_at_a_multiple(takes: float, ends: float) -> None:
    start = time.monotonic()
    assert in_one_time("0.05", slow, 1, seconds=takes) == 1
    middle = time.monotonic()
    with pytest.raises(InvalidParameter):
        in_one_time("0.05", slow, -1, takes)
    assert min(middle - start, time.monotonic() - middle) >= ends
    for wrong in (0, -1):
        with pytest.raises(InvalidParameter, match="seconds"):
            in_one_time(wrong, slow, 1, 0.0)
