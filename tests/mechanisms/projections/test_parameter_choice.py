"""Parameters that are chosen keep what they are chosen for."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import ALP, HistogramALP
from exactdp.mechanisms.projections.parameter_choice import (
    private_sparsity,
    threshold_alp_for,
    within_bits,
)
from exactdp.samplers import SeededSource, SystemSource

F = Fraction


def test_an_error_is_kept_and_a_larger_one_costs_less() -> None:
    bits = []
    for error in (4, 3, "2.5"):
        made = threshold_alp_for(d=10**6, k=50, u=10**6, epsilon=1, error=error)
        assert made.sketch.error(F(made.sketch.beta) / 2).mean_absolute().upper <= F(error)
        assert made.guarantee().epsilon == 1
        bits.append(made.sketch.layout.size)
    assert sorted(set(bits)) == bits
    with pytest.raises(InvalidParameter, match="error"):
        threshold_alp_for(d=10**6, k=50, u=10**6, epsilon=1, error="0.5")


@pytest.mark.parametrize("of", [ALP, HistogramALP])
def test_a_memory_is_filled(of: type[ALP]) -> None:
    made = within_bits(of, 100_000, d=10**6, k=50, beta=30, epsilon=1)
    assert 0 <= 100_000 - made.s * made.levels < made.levels
    with pytest.raises(InvalidParameter, match="bits"):
        within_bits(of, 100, d=10**6, k=50, beta=30, epsilon=1)


def test_a_private_sparsity_is_rarely_too_small() -> None:
    drawn = [private_sparsity(50, d=100, epsilon=1, source=SystemSource()) for _ in range(400)]
    stated = drawn[0].missed
    assert stated.upper <= F(1, 100)
    q = exp(-1)
    least = next(n for n in range(100) if q**n <= 1 / 100)
    assert float(stated.lower) == pytest.approx(q ** (least + 1) / (1 + q), rel=1e-6)
    # more than 20 of 400 below 50 have a probability under 1e-9
    assert sum(found.k < 50 for found in drawn) <= 20
    assert all(1 <= found.k <= 100 for found in drawn)
    assert drawn[0].guarantee.e_epsilon is not None
    assert 2.718 < float(drawn[0].guarantee.e_epsilon) <= exp(1)
    with pytest.raises(InvalidParameter, match="source"):
        private_sparsity(5, d=100, epsilon=1, source=SeededSource(1))
