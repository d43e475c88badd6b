"""Expected maximum errors and errors of negative values, against enumeration and draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import (
    ALP,
    ApproximateThreshold,
    Combined,
    DenseLaplace,
    MaxProjection,
    SignedALP,
    Threshold,
)
from exactdp.mechanisms.projections.unary_projection import Sketch
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.samplers import SeededSource

F = Fraction


def test_of_independent_noise_it_is_the_expectation() -> None:
    """Against all outcomes of the shipped rows."""
    mechanism = DenseLaplace(d=3, k=2, largest=2, epsilon=1, grid=1)
    law = mechanism.law({0: 1, 2: F(3, 2)}, None)
    exact, truth = F(0), (F(1), F(0), F(3, 2))
    for rows, chance in law.items():
        exact += chance * max(abs(row - x) for row, x in zip(rows, truth, strict=True))
    assert 0 <= mechanism.maximum_error([1, "1.5"]) - exact < F(1, 10**7)


@pytest.mark.parametrize("of", [Threshold, ApproximateThreshold])
def test_of_thresholds_too(of: Any) -> None:
    more = {"t": 1} if of is Threshold else {"delta": "1/3"}
    mechanism = of(d=3, k=2, largest=2, epsilon=1, grid=1, **more)
    exact, truth = F(0), {0: 2, 1: 1}
    for stored, chance in mechanism.law(truth).items():
        values = dict(stored)
        exact += chance * max(abs(values.get(i, 0) - truth.get(i, 0)) for i in range(3))
    assert 0 <= mechanism.maximum_error([2, 1]) - exact < F(1, 10**7)


def test_a_sketch_stays_below_the_bound_and_near_it() -> None:
    """Four entries, over all hash functions of three rows: every collision there can be."""
    mechanism = ALP(d=4, k=2, s=5, largest=2, epsilon=1, alpha=1, steps=1)
    assert mechanism.levels <= 3
    source, worst, runs = SeededSource(3), 0.0, 0
    for row in product(range(5), repeat=4):
        hashes: Any = Tables((row,) * mechanism.levels)
        bits = mechanism.draw({0: 2, 1: 1}, hashes, source)
        worst += abs(Sketch(mechanism, hashes, bits).estimate(range(4)) - [2, 1, 0, 0]).max()
        runs += 1
    bound = float(mechanism.maximum_error([2, 1]))
    assert 0.5 * bound < worst / runs < bound


def test_of_a_combined_sketch_it_is_no_more_than_what_is_stored_and_clipped() -> None:
    mechanism = Combined.of(ALP, d=2**64, k=100, largest=1000, epsilon=1, delta="1e-6")
    bound = float(mechanism.maximum_error([20] * 100))
    assert 10 < bound < 100
    with pytest.raises(InvalidParameter, match="error law covers collisions"):
        Combined.of(MaxProjection, d=2**20, k=5, largest=99, epsilon=1).maximum_error([1])
    with pytest.raises(InvalidParameter, match="at most k = 2 of them, got 3 values"):
        DenseLaplace(d=3, k=2, largest=2, epsilon=1).maximum_error([1, 1, 1])


@pytest.mark.parametrize(
    "mechanism",
    [
        SignedALP.of(d=2**20, k=10, largest=50, epsilon=1),
        Threshold.of(d=2**20, k=10, largest=50, epsilon=1, values="signed"),
        Combined.of(SignedALP, d=2**20, k=10, largest=100, epsilon=1),
    ],
)
def test_errors_of_negative_values_are_mirrored(mechanism: Any) -> None:
    for value in ("0.5", 20):
        above, below = mechanism.error(value), mechanism.error(F(value) * -1)
        assert below.mean_absolute() == above.mean_absolute()
        assert below.mean().upper == -above.mean().lower
    with pytest.raises(InvalidParameter, match="value must be from -"):
        mechanism.error(-101)


def test_draws_of_a_negative_value_have_this_law() -> None:
    n = 2500
    mechanism = SignedALP(d=n, k=n, s=2 * n + 1, largest=10, epsilon=1)
    hashes: Any = Tables((tuple(range(n)),) * mechanism.levels)
    source, law = SeededSource(11), mechanism.error("-8", 0)
    errors = []
    for _ in range(8):  # 20000 values in rows of their own
        bits = mechanism.draw(dict.fromkeys(range(n), -8), hashes, source)
        errors.append(Sketch(mechanism, hashes, bits).estimate(range(n)) + 8)
    seen = np.concatenate(errors)
    stated = float(law.mean().upper)
    assert stated > 0.5  # the clamp at -10 pulls up, so a law of the wrong sign fails
    assert abs(seen.mean() - stated) < 5 * seen.std() / len(seen) ** 0.5  # alpha = 6e-7


def test_only_signed_mechanisms_take_negative_values() -> None:
    for mechanism in (
        ALP.of(d=9, k=1, largest=5, epsilon=1),
        DenseLaplace(d=9, k=1, largest=5, epsilon=1),
    ):
        with pytest.raises(InvalidParameter, match="value must be >= 0, got -1"):
            mechanism.error(-1)
