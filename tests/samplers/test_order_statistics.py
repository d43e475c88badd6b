"""Order statistics against brute force over all tuples, and certified marginals at huge sizes."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter
from exactdp.law import Law
from exactdp.samplers import (
    GeoSample,
    OrderStatistics,
    RationalCdf,
    RoundedOrderStatistics,
    SeededSource,
    exact_law,
    order_statistics,
)
from exactdp.samplers.rounded_order_statistics import truncated_power
from tests.samplers.bitwise import assert_encloses, bitwise_law

F = Fraction
CDFS = [
    RationalCdf(0, 2, (3, 5, 9).__getitem__, 9),
    RationalCdf(0, 1, (1, 2).__getitem__, 2),
    RationalCdf(0, 3, (0, 1, 1, 4).__getitem__, 4),
    GeoSample(n=2, epsilon=1).cdf(0),
]


def brute_force(cdf: RationalCdf, m: int, k: int) -> Law[tuple[int, ...]]:
    outcomes, weights = cdf.weights()
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for draw in product(range(len(outcomes)), repeat=m):
        weight = F(1)
        for i in draw:
            weight *= weights[i]
        law[tuple(sorted((outcomes[i] for i in draw), reverse=True)[:k])] += weight
    return Law(law)


@pytest.mark.few(19)
@pytest.mark.parametrize("cdf", CDFS, ids=range(len(CDFS)))
@pytest.mark.parametrize("m", range(1, 7))
def test_equals_brute_force(cdf: RationalCdf, m: int) -> None:
    for k in range(m + 1):
        law = exact_law(lambda source, k=k: OrderStatistics(cdf, m).sample(k, source))
        assert law == brute_force(cdf, m, k)


@pytest.mark.few(1)
@pytest.mark.parametrize("cdf", CDFS[:2] + CDFS[3:], ids=range(3))
def test_the_lazy_path_has_the_same_law(cdf: RationalCdf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code for huge sizes (balls and lazy bits) run at m = 3, k = 2, down to single bits."""
    monkeypatch.setattr(order_statistics, "_EXACT_BELOW", 0)
    law = bitwise_law(lambda source: OrderStatistics(cdf, 3).sample(2, source), F(1, 2**11))
    assert_encloses(law, brute_force(cdf, 3, 2))


@pytest.mark.few(1)
@pytest.mark.parametrize("exponent", [64, 1024, pytest.param(4096, marks=pytest.mark.slow)])
def test_the_maximum_at_huge_sizes_is_certified(exponent: int) -> None:
    """P(max <= z) = F(z)^m: brackets of the shipped CDF against mpmath."""
    m, cdf = 2**exponent, GeoSample(n=300, epsilon="1/2").cdf(0)
    largest = OrderStatistics(cdf, m)._largest(300, m)
    with mp.workprec(exponent + 2000):
        for z in range(0, 301, 7):
            value = (mpf(cdf.numerator(z)) / cdf.denominator) ** m
            lower, upper = largest.bracket(z, 96)
            assert lower <= value * 2**96 <= upper
            assert upper - lower <= 1


def test_tie_counts_at_huge_sizes_are_certified() -> None:
    m, top, below = 2**70, 2**71 + 5, 2**71 + 2
    cdf = RationalCdf(0, 2, (below, top, 2**72).__getitem__, 2**72)
    law = order_statistics.tie_law(cdf, 1, m, 20)
    with mp.workprec(800):
        p = 1 - mpf(below) / top
        none = (1 - p) ** m
        term, total = none, mpf(0)
        for j in range(1, 20):
            term = term * (m - j + 1) / j * p / (1 - p)
            total += term
            lower, upper = law.bracket(j, 80)
            assert lower <= total / (1 - none) * 2**80 <= upper


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("m", "below", "top"),
    [
        (10**5, 6 * 10**9, 7 * 10**9),
        (2**300, 2**400 - 2**113, 2**400),
        (2**300, 2**400 - 1, 2**400),
    ],
)
def test_tie_counts_whose_terms_start_far_from_0_are_certified(
    m: int, below: int, top: int
) -> None:
    """Sums of all terms from 1 on, in mpmath; the law adds up those near the mean alone."""
    cdf = RationalCdf(0, 2, (below, top, 2 * top).__getitem__, 2 * top)
    law = order_statistics.tie_law(cdf, 1, m, 10**6)
    with mp.workprec(1200):
        p = 1 - mpf(below) / top
        mean, none = int(m * p), (1 - p) ** m
        away = 20 + int(mean**0.5)
        places = {j for i in (-99, -12, -2, 0, 2, 12, 99) if (j := mean + i * away) >= 1}
        term, total = none, mpf(0)
        for j in range(1, max(places) + 1):
            term = term * (m - j + 1) / j * p / (1 - p)
            total += term
            if j in places:
                for bits in (20, 80, 200):
                    lower, upper = law.bracket(j, bits)
                    assert lower <= min(total / (1 - none), 1) * 2**bits <= upper
                    assert upper - lower <= 1


def test_ties_of_very_many_variables_are_drawn_soon() -> None:
    """10^5 of 2^248 empty bins: by a sum over all of them, each level took seconds."""
    noise = GeoSample(n=10**5, epsilon=1)
    cdf, q = noise.cdf(0), float(noise.q)
    largest = OrderStatistics(cdf, 2**248).sample(10**5, SeededSource(5))
    assert len(largest) == 10**5
    # all of 2^248 bins together have about 2^248 q^v/(1 + q) counts of v or more
    for count, seen in zip(*np.unique(largest, return_counts=True), strict=True):
        expected = 2**248 * q ** int(count) * (1 - q) / (1 + q)
        if count > largest[-1]:
            assert abs(seen - expected) < 6 * expected**0.5 + 6


def test_huge_samples_are_sorted_and_near_the_expected_maximum() -> None:
    cdf = GeoSample(n=1000, epsilon="1/4").cdf(0)
    largest = OrderStatistics(cdf, 2**64).sample(1001, SeededSource(4))
    assert list(largest) == sorted(largest, reverse=True)
    assert len(largest) == 1001
    assert 280 < largest[-1] <= largest[0] < 650


@pytest.mark.parametrize("cdf", CDFS, ids=range(len(CDFS)))
@pytest.mark.parametrize("distance", ["0.1", "1e-3", "1e-9"])
def test_strict_sampling_is_as_close_as_promised(cdf: RationalCdf, distance: str) -> None:
    for m, k in ((1, 1), (3, 2), (4, 4)):
        strict = RoundedOrderStatistics.within(cdf, m, k, distance)
        law, exact = exact_law(strict.sample), brute_force(cdf, m, k)
        gap = sum(abs(law[x] - exact[x]) for x in law.support | exact.support) / 2
        assert 0 <= gap <= strict.distance <= F(distance)
        for _ in range(20):
            source = SeededSource(m)
            strict.sample(source)
            assert source.bits_used == strict.bits


def test_strict_sampling_at_huge_sizes_reads_a_fixed_number_of_bits() -> None:
    strict = RoundedOrderStatistics.within(GeoSample(n=20, epsilon=1).cdf(0), 2**64, 21, "1e-6")
    counts = set()
    for seed in range(10):
        source = SeededSource(seed)
        assert len(strict.sample(source)) == 21
        counts.add(source.bits_used)
    assert counts == {strict.bits}


def test_truncated_power_errs_downward_by_less_than_its_bound() -> None:
    for scale in (1, 10, 1000, 2**40):
        for denominator in (1, 3, 7):
            for numerator in range(denominator + 1):
                for exponent in (1, 2, 3, 10, 2**20 + 1):
                    y = truncated_power(numerator, denominator, exponent, scale)
                    true = F(numerator, denominator) ** min(exponent, 5000)
                    if exponent <= 5000:
                        assert 0 <= true - F(y, scale) <= F(2 * exponent - 1, scale)
                assert truncated_power(denominator, denominator, 99, scale) == scale


def test_bad_arguments() -> None:
    for call in (
        lambda: OrderStatistics(CDFS[0], 0),
        lambda: OrderStatistics(CDFS[0], 3).sample(4, SeededSource(1)),
        lambda: OrderStatistics(CDFS[0], 3).sample(-1, SeededSource(1)),
        lambda: RoundedOrderStatistics.within(CDFS[0], 3, 4, "0.1"),
        lambda: RoundedOrderStatistics.within(CDFS[0], 3, 2, 0),
        lambda: SeededSource(1).fixed_inverse_cdf(CDFS[0]),
    ):
        with pytest.raises(InvalidParameter):
            call()
