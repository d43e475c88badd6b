"""Exact errors side by side, against the formulas of the literature and against trial."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import HadamardResponse, OptimizedLocalHashing, SubsetSelection
from exactdp.local.comparison import ORACLES, compare
from exactdp.samplers import SeededSource


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_errors_agree_with_published_formulas(epsilon: float) -> None:
    """Per coordinate that nobody has: Wang et al. 2017, Table 1, and Ye, Barg 2018."""
    k, e = 1000, math.exp(epsilon)
    rows = {row.name: float(row.square_error) / k for row in compare(k, str(epsilon), 1)}
    assert rows["randomized-response"] == pytest.approx((k - 2 + e) / (e - 1) ** 2, rel=3e-2)
    assert rows["unary"] == pytest.approx(4 * e / (e - 1) ** 2, rel=5e-2)
    assert rows["hashing"] == pytest.approx(4 * e / (e - 1) ** 2, rel=6e-2)
    half = math.exp(epsilon / 2)
    assert rows["rappor"] == pytest.approx(half / (half - 1) ** 2, rel=1e-9)
    assert min(rows, key=lambda name: rows[name]) == "subset"
    assert rows["hadamard"] >= rows["subset"]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", list(ORACLES))
def test_errors_agree_with_trials(name: str) -> None:
    """The squared error of 200 trials within 30 %: alpha below 1e-6 for a sum of many squares."""
    oracle = ORACLES[name](k=30, epsilon="1.2")
    values = np.repeat(np.arange(30), 10)
    source = SeededSource(2)
    errors = []
    for _ in range(200):
        state = oracle.aggregate().add(oracle.draw_many(values, source))
        errors.append(float(((state.estimate() - 1 / 30) ** 2).sum()))
    stated = float(oracle.total_variance()) / len(values)
    assert np.mean(errors) == pytest.approx(stated, rel=0.3)


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5", "5"])
@pytest.mark.parametrize("k", [6, 50])
def test_defaults_are_the_best_of_all_choices(k: int, epsilon: str) -> None:
    sizes = [SubsetSelection(k, epsilon, d).total_variance() for d in range(1, k)]
    assert SubsetSelection(k, epsilon).total_variance() == min(sizes)
    blocks = [HadamardResponse(k, epsilon, 1 << i).total_variance() for i in range(10)]
    assert HadamardResponse(k, epsilon).total_variance() == min(blocks)
    primes = [g for g in range(2, 150) if all(g % d for d in range(2, g))]
    buckets = [OptimizedLocalHashing(k, epsilon, g).total_variance() for g in primes]
    assert OptimizedLocalHashing(k, epsilon).total_variance() == min(buckets)


def test_bad_input() -> None:
    for arguments in ((1, 1, 1), (10, 0, 1), (10, 1, 0)):
        with pytest.raises(InvalidParameter):
            compare(*arguments)
    for kind, wrong in ((HadamardResponse, 3), (OptimizedLocalHashing, 4), (SubsetSelection, 10)):
        with pytest.raises(InvalidParameter):
            kind(10, 1, wrong)


def test_mechanisms_that_cannot_serve_so_many_values_are_left_out() -> None:
    names = {row.name for row in compare(1 << 30, 1, 1)}
    assert "randomized-response" in names
    assert "unary" not in names
