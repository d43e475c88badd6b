"""GeoSample and FastSample: exact privacy for counting queries, accuracy, fixed numbers of bits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter
from exactdp.accounting.divergence import max_loss
from exactdp.samplers import FastSample, GeoSample, SeededSource
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.fixed_table import FixedTable
from exactdp.samplers.rational_growth import rational_growth

F = Fraction
EPSILONS = ["1", "1/2", "1/3", "1/10"]
#: T and 1/gamma for which the loss of rounding is far below epsilon = 2, and above it.
SHORT = {"epsilon": 2, "gamma_inverse": 2}


def worst_ratio(sampler: CountSampler) -> Fraction:
    pairs = pairwise([sampler.law(c) for c in range(sampler.n + 1)])
    return Fraction(max(max(max_loss(p, q), max_loss(q, p)) for p, q in pairs))


def mean_square_error(sampler: CountSampler, c: int) -> Fraction:
    return sum((p * (z - c) ** 2 for z, p in sampler.law(c).items()), F(0))


def discrete_laplace_variance(epsilon: Fraction) -> mpf:
    """2 q/(1 - q)^2 for q = e^(-epsilon/2), without clamping."""
    q = mp.exp(-mpf(epsilon.numerator) / epsilon.denominator / 2)
    return 2 * q / (1 - q) ** 2


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("power_of_two", [False, True])
def test_geo_sample_keeps_nearly_all_of_epsilon(n: int, epsilon: str, power_of_two: bool) -> None:
    sampler = GeoSample(n=n, epsilon=epsilon, power_of_two=power_of_two)
    assert worst_ratio(sampler) == sampler.e_half_epsilon
    with mp.workdps(40):
        ratio = sampler.e_half_epsilon
        kept = 2 * mp.log(mpf(ratio.numerator) / ratio.denominator)
        target = mpf(F(epsilon).numerator) / F(epsilon).denominator
        assert kept <= target
        if not power_of_two:
            assert kept >= (1 - mpf(2) ** -40) * target


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
        for t in range(n + 1):
            assert sampler.passing(c, t) == law.probability(lambda z, t=t: z > t)


def test_powers_of_two_are_those_of_the_paper() -> None:
    for epsilon in (F(1), F(1, 3), F(2), F(3), F(1, 10), F(7, 5), F(1, 1000), F(20)):
        rise = GeoSample(n=1, epsilon=epsilon, power_of_two=True).e_half_epsilon - 1
        assert rise.numerator == 1
        assert rise.denominator.bit_count() == 1
        assert 1 / rise >= 2 / epsilon
        assert rise == 1 or 1 / rise < 4 / epsilon


@pytest.mark.parametrize(
    "epsilon", ["1e-3", "0.1", "0.5", "0.89", "0.9", "0.95", "0.99", "1", "2", "5", "20", "60"]
)
def test_mean_square_errors_are_those_of_the_discrete_laplace(epsilon: str) -> None:
    """At most 1.01 times, from the exact laws; the paper's powers of two reach 4 to 5 times."""
    n = min(6 * max(int(1 / F(epsilon)), 1), 50)
    limit = discrete_laplace_variance(F(epsilon)) * mpf(101) / 100
    for sampler in (GeoSample(n=n, epsilon=epsilon), FastSample(n=n, epsilon=epsilon)):
        assert mpf(sampler.variance.numerator) / sampler.variance.denominator <= limit
        for c in {0, 1, n // 2, n}:
            assert mean_square_error(sampler, c) <= sampler.variance
    if F("0.9") <= F(epsilon) < 1:
        rough = float(GeoSample(n=n, epsilon=epsilon, power_of_two=True).variance)
        assert 3.9 * limit < rough < 5.1 * limit


@pytest.mark.parametrize("gamma_inverse", [2, 10, None])
@pytest.mark.parametrize("n", [1, 2, 6, 30])
@pytest.mark.parametrize(("epsilon", "power_of_two"), [("1", False), ("1/10", True)])
def test_fast_sample_is_private(
    n: int, epsilon: str, gamma_inverse: int, power_of_two: bool
) -> None:
    sampler = FastSample(n, epsilon, gamma_inverse, power_of_two=power_of_two)  # type: ignore[misc]
    assert (
        worst_ratio(sampler)
        <= sampler.e_half_epsilon
        <= rational_growth(F(epsilon)) * (1 + F(1, 2**38))
    )
    least = min(min(sampler.law(c).weights.values()) for c in range(n + 1))
    assert least >= F(sampler.uniform_weight, 1 << sampler.bits)


@pytest.mark.parametrize("bits", [7, 8, 9, 12])
def test_fast_sample_with_few_bits_at_every_integer(bits: int) -> None:
    """All 2^T integers: the map that ships has the law of the CDF, which is nearly exhausted."""
    sampler = FastSample(n=3, bits=bits, **SHORT)
    assert 1 < worst_ratio(sampler) <= sampler.e_half_epsilon
    for c in range(4):
        cdf = sampler.cdf(c)
        assert cdf.fixed is not None
        for draw in (cdf.fixed, cdf.search):
            seen = Counter(draw(u) for u in range(1 << bits))
            assert {z: F(k, 1 << bits) for z, k in seen.items()} == sampler.law(c).weights


@pytest.mark.parametrize("bits", [10, 64, 70, 128, 200])
def test_tables_in_bulk_are_tables_one_by_one(bits: int) -> None:
    """The same uniform integers, around every end of the table and of its last 64-bit digits."""
    ends = [1, 5, 1 << bits // 2, (1 << bits - 1) - 1, 1 << bits - 1]
    table = FixedTable(bits, ends, (1 << bits) - (7 << bits - 5), bits - 5)
    marks = [*ends, table.whole, 1 << 32, (1 << 64) - 1, 1 << 64, (1 << bits) - 1]
    tried = [x + d for x in marks for d in (-1, 0, 1) if 0 <= x + d < 1 << bits]
    places = range((bits - 1) // 64 * 64, -1, -64)
    digits = np.array([[x >> p & 2**64 - 1 for x in tried] for p in places], np.uint64)

    class Digits(FixedTable):
        def _read(self, n: int, source: object) -> object:  # type: ignore[override]
            return digits

    reader = Digits(bits, ends, table.whole, table.shift)
    counted, uniform = reader.draw_many(len(tried), SeededSource(1))
    assert list(zip(counted, uniform, strict=True)) == [
        (k, max(v, -1)) for k, v in map(table.at, tried)
    ]


class Counted(int):
    """An integer that counts comparisons with it."""

    comparisons = 0

    def __lt__(self, other: int) -> bool:
        Counted.comparisons += 1
        return int(self) < int(other)

    def __gt__(self, other: int) -> bool:
        Counted.comparisons += 1
        return int(self) > int(other)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
def test_every_draw_makes_the_same_number_of_comparisons(size: int) -> None:
    table = FixedTable(12, range(5, 5 + size), 4000, 2)
    table._filled = [*map(Counted, table._filled)]
    seen = set()
    for u in range(1 << 12):
        Counted.comparisons = 0
        table.at(u)
        seen.add(Counted.comparisons)
    assert seen == {size.bit_length()}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100])
def test_every_search_evaluates_the_distribution_equally_often(size: int) -> None:
    cdf = FastSample(n=size, epsilon=1).cdf(0)
    seen = set()
    for u in (0, 1, cdf.denominator // 3, cdf.denominator // 2, cdf.denominator - 1):
        arguments: list[int] = []
        numerator = cdf.numerator
        counting = type(cdf)(
            0, size, lambda z, n=numerator, a=arguments: a.append(z) or n(z), cdf.denominator
        )
        counting.search(u)
        seen.add(len(arguments))
    assert seen == {size.bit_length()}


def test_draws_in_bulk_read_as_many_bits_as_single_draws() -> None:
    sampler = FastSample(n=1000, epsilon="0.3")
    one, many = SeededSource(1), SeededSource(1)
    for _ in range(300):
        sampler.sample(500, one)
    sampler.sample_many(300, 500, many)
    assert one.bits_used == many.bits_used == 300 * sampler.bits_per_draw


def test_fast_sample_has_a_short_denominator() -> None:
    assert FastSample(n=10**6, epsilon=1).bits < 128
    assert FastSample(n=10**6, epsilon="1e-3").bits < 128


def test_parameters_that_cannot_be_private_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="bits must be >= 56"):
        FastSample(n=3, epsilon=1, gamma_inverse=2, bits=4)
    with pytest.raises(InvalidParameter, match="bits"):  # rounding alone costs more than epsilon
        FastSample(n=3, epsilon="0.1", gamma_inverse=2, bits=6)
    with pytest.raises(InvalidParameter, match="table"):
        FastSample(n=10**9, epsilon="1e-7")
    with pytest.raises(InvalidParameter, match="bits"):
        FastSample(n=3, epsilon="0.9", gamma_inverse=2, bits=6, power_of_two=True)


def test_vectors_worked_by_hand() -> None:
    geo = GeoSample(n=2, epsilon=1, power_of_two=True)
    assert [geo.cdf(c).denominator for c in range(3)] == [15, 15, 15]
    assert [[geo.cdf(c).numerator(z) for z in range(3)] for c in range(3)] == [
        [9, 11, 15],
        [6, 9, 15],
        [4, 6, 15],
    ]
    # of 2^6 integers each count has L = 2^3; of the other 40, noise of q = 1/2 is at least 1 for
    # 40/3 and at least 2 for 40/6, rounded down
    fast = FastSample(n=2, epsilon=4, gamma_inverse=2, bits=6, power_of_two=True)
    assert (fast.uniform_weight, fast.noise_weight, fast.q) == (8, 40, F(1, 2))
    assert fast.tails == [13, 6]
    assert [[fast.cdf(c).numerator(z) for z in range(3)] for c in range(3)] == [
        [35, 50, 64],
        [21, 43, 64],
        [14, 29, 64],
    ]
