"""GeoSample and FastSample: exact privacy for counting queries, accuracy, denominators."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp.accounting.divergence import max_loss
from exactdp.samplers import FastSample, GeoSample

F = Fraction
EPSILONS = ["1", "1/2", "1/3", "1/10"]


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_geo_sample_is_exactly_half_epsilon_tilde_private(n: int, epsilon: str) -> None:
    sampler = GeoSample(n=n, epsilon=epsilon)
    losses = [
        loss
        for c in range(n)
        for loss in (
            max_loss(sampler.law(c), sampler.law(c + 1)),
            max_loss(sampler.law(c + 1), sampler.law(c)),
        )
    ]
    assert max(losses) == sampler.e_half_epsilon
    with mp.workdps(30):
        half = mpf(F(epsilon).numerator) / F(epsilon).denominator / 2
        assert mpf(sampler.e_half_epsilon.numerator) / sampler.e_half_epsilon.denominator <= mp.exp(
            half
        )


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_geo_sample_is_the_clamped_geometric_law(n: int, epsilon: str) -> None:
    """Summed from the pmf of two-sided geometric noise, not from the scaled CDF."""
    sampler = GeoSample(n=n, epsilon=epsilon)
    q = 1 / sampler.e_half_epsilon
    for c in range(n + 1):
        law = sampler.law(c)
        assert law[0] == q**c / (1 + q)
        assert law[n] == q ** (n - c) / (1 + q)
        for z in range(1, n):
            assert law[z] == (1 - q) / (1 + q) * q ** abs(z - c)


def test_the_exponent_is_the_least() -> None:
    for epsilon in (F(1), F(1, 3), F(2), F(3), F(1, 10), F(7, 5), F(1, 1000), F(20)):
        bits = GeoSample(n=1, epsilon=epsilon).bits
        assert 2**bits >= 2 / epsilon
        assert bits == 0 or 2 ** (bits - 1) < 2 / epsilon


@pytest.mark.parametrize("gamma_inverse", [2, 10, 1 << 20])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 30])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_fast_sample_is_private(n: int, epsilon: str, gamma_inverse: int) -> None:
    if n == 30 and epsilon == "1/10":
        return
    sampler = FastSample(n=n, epsilon=epsilon, gamma_inverse=gamma_inverse)
    for c in range(n):
        for a, b in ((c, c + 1), (c + 1, c)):
            assert max_loss(sampler.law(a), sampler.law(b)) <= sampler.e_half_epsilon
    least = min(min(sampler.law(c).weights.values()) for c in range(n + 1))
    assert least >= F(1, gamma_inverse * (n + 1))


def test_fast_sample_cuts_as_early_as_privacy_allows() -> None:
    """One step earlier the loss bound fails: the condition on t is exact."""
    sampler = FastSample(n=40, epsilon=1, gamma_inverse=4)
    assert sampler.reach < 40

    class Earlier(FastSample):
        @property
        def reach(self) -> int:  # type: ignore[override]
            return sampler.reach - 1

    earlier = Earlier(n=40, epsilon=1, gamma_inverse=4)
    losses = [max_loss(earlier.law(c + 1), earlier.law(c)) for c in range(40)]
    losses += [max_loss(earlier.law(c), earlier.law(c + 1)) for c in range(40)]
    assert max(losses) > sampler.e_half_epsilon


def test_fast_sample_has_a_short_denominator() -> None:
    fast = FastSample(n=10**6, epsilon=1)
    assert fast.cdf(3).denominator.bit_length() < 400
    assert fast.reach < 200


def test_vectors_worked_by_hand() -> None:
    geo = GeoSample(n=2, epsilon=1)
    assert [geo.cdf(c).denominator for c in range(3)] == [15, 15, 15]
    assert [[geo.cdf(c).numerator(z) for z in range(3)] for c in range(3)] == [
        [9, 11, 15],
        [6, 9, 15],
        [4, 6, 15],
    ]
    fast = FastSample(n=10, epsilon=1, gamma_inverse=2)
    assert fast.reach == 7
    assert fast.cdf(0).denominator == 80190
    assert [fast.cdf(0).numerator(z) for z in range(11)] == [
        27702, 36693, 43902, 49923, 55152, 59853, 64202, 69255, 72900, 76545, 80190,
    ]  # fmt: skip
