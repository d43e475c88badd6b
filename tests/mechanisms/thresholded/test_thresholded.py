"""GSHM, CSH and TopK with discrete noise: exact laws against their guarantees."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter
from exactdp.accounting.divergence import hockey_stick
from exactdp.errors import RandomnessError
from exactdp.mechanisms import (
    CSH,
    GSHM,
    GSHMWithSums,
    NoisyCounts,
    TopK,
    TopKWithBase,
    TopKWithSums,
)
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.mechanisms.thresholded.shared_gaussian import SharedGaussian
from exactdp.samplers import SeededSource, SystemSource
from exactdp.samplers.cdf import Cdf
from tests.reference import discrete_gaussian, leaked

F = Fraction
ALL: list[Thresholded] = [
    GSHM(2, 3, 12, 1, "0.3"),
    CSH(2, 3, 12, 1, "0.1"),
    TopK(2, 3, 12, 1, "0.1"),
    TopKWithBase(2, 3, 12, 1, "0.3"),
]
IDS = [type(m).__name__ for m in ALL]


@pytest.mark.parametrize("mechanism", ALL, ids=IDS)
def test_releases(mechanism: Thresholded) -> None:
    counts = {"b": 100, "a": 60, "c": 0}
    release = mechanism.release(counts, SystemSource())
    noisy = {x: c for x, c in release.items() if x is not None}
    assert list(noisy) == ["a", "b"]
    assert abs(noisy["b"] - 100) < 40
    assert all(c.denominator <= 2 for c in noisy.values())
    assert 0 < release.guarantee.delta.upper < 1
    assert "add-remove" in release.guarantee.neighbours
    assert len(release) == len(release.bins)
    assert mechanism.draw(counts, SeededSource(1)) == mechanism.draw(counts, SeededSource(1))
    for bad in ({"a": -1}, {"a": 1.5}, {"a": "x"}):
        with pytest.raises(InvalidParameter, match="counts"):
            mechanism.draw(bad, SeededSource(1))  # type: ignore[arg-type]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mechanism",
    [
        GSHM(1, "0.7", 1, 1, "0.5"),
        pytest.param(GSHM(2, "0.7", 1, 1, "0.9"), marks=pytest.mark.slow),
        GSHM(2, "0.7", 2, "0.5", "0.9", lower=2),
    ],
    ids=range(3),
)
def test_enumerated_delta_is_within_the_guarantee(mechanism: GSHM) -> None:
    """hockey-stick of the exact laws of neighbours, both ways, up to the residual mass."""
    promise = mechanism.guarantee
    pairs = [({"a": 5}, {"a": 6}), ({}, {"a": 1}), ({"a": 1}, {"a": 2})]
    if mechanism.k == 2:
        pairs += [({"a": 5, "b": 1}, {"a": 6, "b": 2}), ({"a": 5}, {"a": 6, "b": 1})]
    largest = F(0)
    for before, after in pairs:
        laws = [mechanism.law(counts, residual="1e-3") for counts in (before, after)]
        for p, q in (laws, laws[::-1]):
            divergence = hockey_stick(p, q, epsilon=F(mechanism.epsilon))
            assert divergence.lower <= promise.delta.upper
            largest = max(largest, divergence.upper)
    assert largest > promise.delta.upper / 20


def direct_law(mechanism: CSH, counts: tuple[int, ...]) -> dict[tuple[float | None, ...], float]:
    """The law of CSH's output by summing over the shared noise; None where a counter is hidden."""
    sigma, limit = float(mechanism.sigma), 1 + float(mechanism.tau)
    # eight deviations and more: what is cut off is 1e-15
    own, shared = (
        discrete_gaussian(4 * sigma**2 / root, 16) for root in (1, mechanism.sparsity**0.5)
    )
    law: dict[tuple[float | None, ...], float] = Counter()
    for z, weight in shared.items():
        one: list[dict[float | None, float]] = []
        for count in counts:
            seen: dict[float | None, float] = Counter()
            for x, mass in own.items():
                y = count + (x + z) / 2
                seen[y if count and y > limit else None] += mass
            one.append(seen)
        for outcome in product(*one):
            law[outcome] += weight * math.prod(
                part[y] for part, y in zip(one, outcome, strict=True)
            )
    return law


PAIRS = {
    1: [((9,), (10,)), ((0,), (1,)), ((1,), (2,))],
    2: [
        ((9, 9), (10, 10)),
        ((9, 9), (10, 9)),
        ((0, 0), (1, 1)),
        ((9, 0), (10, 1)),
        ((9, 0), (9, 1)),
    ],
}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "mechanism",
    [CSH(1, 1, 4, 1, "0.9"), CSH(2, 1, 3, "0.5", "0.99"), CSH(2, "0.6", 2, 1, "0.99")],
    ids=range(3),
)
def test_csh_is_within_its_guarantee_by_direct_sums(mechanism: CSH) -> None:
    promise = float(mechanism.guarantee.delta.upper)
    largest = max(
        leaked(*(direct_law(mechanism, counts) for counts in pair), float(mechanism.epsilon))
        for pair in PAIRS[mechanism.sparsity]
    )
    assert largest <= promise * (1 + 1e-9)
    assert largest > promise / 3


def test_csh_draws_follow_the_direct_sums() -> None:
    mechanism = CSH(1, "0.5", 1, 1, "0.999")
    law, direct = mechanism.law({"a": 2}, residual="0.05"), direct_law(mechanism, (2,))
    for bins, weight in law.items():
        stated = direct[float(bins[0][1]) if bins else None,]
        assert weight <= stated + F(1, 10**9)
        assert stated <= weight + law.residual


def test_shared_noise_of_irrational_variance_is_exact() -> None:
    noise = SharedGaussian(F(9), 2)
    counts, source = Counter(), SeededSource(3)
    for _ in range(4000):
        counts[noise.sample(source)] += 1
    with mp.workdps(30):
        variance = 9 / mp.sqrt(2)
        total = mp.fsum(mp.exp(-mpf(z * z) / (2 * variance)) for z in range(-60, 61))
        statistic = 0.0
        for z in range(-5, 6):
            expected = 4000 * float(mp.exp(-mpf(z * z) / (2 * variance)) / total)
            statistic += (counts[z] - expected) ** 2 / expected
    assert statistic < 50  # 11 cells: exceeded with probability below 1e-6


def test_top_k_subtracts_the_next_count() -> None:
    counts = {"a": 500, "b": 400, "c": 300, "d": 300}
    bins = dict(TopK(2, 1, 5, 1, "0.999").draw(counts, SeededSource(1)))
    assert set(bins) == {"a", "b"}
    assert abs(bins["a"] - 200) < 10
    assert abs(bins["b"] - 100) < 10
    with_base = dict(TopKWithBase(2, 1, 5, 2, "0.999").draw(counts, SeededSource(1)))
    assert abs(with_base[None] - 300) < 10
    assert abs(with_base["a"] - 500) < 20
    assert TopK(2, 1, 5, 1, "0.999").draw({"a": 3}, SeededSource(1)) == ()


def test_the_private_base_costs_more() -> None:
    plain, based = (kind(9, 20, 150, "0.5", "0.01") for kind in (TopK, TopKWithBase))
    assert based.guarantee.delta.lower > plain.guarantee.delta.upper
    assert based.guarantee.delta.upper < 1


def test_sums_are_released_within_their_guarantee() -> None:
    mechanism = GSHMWithSums(1, 3, 20, 1, "0.1", largest=(3,), spread="2/3")
    promise = mechanism.guarantee
    one, two = discrete_gaussian(9.0, 25), discrete_gaussian(36.0, 50)

    def law(count: int, total: int) -> dict[tuple[int, int], float]:
        pairs = product(one.items(), two.items())
        return {(x + count, y + total): p * q for (x, p), (y, q) in pairs}

    for value in range(-3, 4):  # every value one user can add
        assert leaked(law(1, value), law(0, 0), 1.0) <= promise.delta.upper
    assert promise.delta.lower > GSHM(1, 3, 20, 1, "0.1").guarantee.delta.upper
    bins = mechanism.draw_sums({"a": 90, "b": 2}, {"a": [-200]}, SeededSource(1))
    assert [x for x, _ in bins] == ["a"]
    count, total = bins[0][1]
    assert abs(count - 90) < 25
    assert abs(total + 200) < 50
    release = mechanism.release_sums({"a": 90}, {"a": [5]}, SystemSource())
    assert release.guarantee == promise
    for sums in ({"a": [271]}, {"b": [1]}, {"a": [1.5]}, {"a": 5}, {"a": [1, 2]}):
        with pytest.raises(InvalidParameter, match="sums"):
            mechanism.draw_sums({"a": 90}, sums, SeededSource(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("move", range(-2, 3))
def test_correlated_counts_with_sums_within_their_guarantee(move: int) -> None:
    """One counter of twice its count, with the sum of both noises, and the sum of one column."""
    mechanism = TopKWithSums(1, F("1.5"), 6, "0.5", "0.5", largest=(2,), spread=1)
    z = s = discrete_gaussian(9.0, 18)  # Z_1 and Z have variance 4 sigma^2, the sum has 2^2 sigma^2
    both: dict[int, float] = defaultdict(float)
    for (a, p), (b, q) in product(z.items(), z.items()):
        both[a + b] += p * q

    def law(count: int, total: int) -> dict[Any, float]:
        released = {x + 2 * count: p for x, p in both.items() if x + 2 * count > 14 and count}
        joint: dict[Any, float] = {
            (x, y + total): p * q for x, p in released.items() for y, q in s.items()
        }
        return joint | {None: 1 - sum(released.values())}

    pairs = [(0, 0, 1, move), (7, 0, 8, move), (7, 0, 7, move)]
    for count, total, other, moved in pairs:
        delta = leaked(law(count, total), law(other, moved), 0.5)
        assert delta <= mechanism.guarantee.delta.upper


def test_top_counts_with_sums() -> None:
    mechanism = TopKWithSums.for_target(top=2, epsilon=2, delta="1e-6", largest=(3,))
    counts, sums = {"a": 900, "b": 800, "c": 50}, {"a": [2500], "b": [-100], "c": [7]}
    bins = dict(mechanism.draw_sums(counts, sums, SeededSource(5)))
    assert list(bins) == ["a", "b"]
    for x, (count, total) in bins.items():
        assert abs(count - (counts[x] - 50)) < 9 * mechanism.sigma
        assert abs(total - sums[x][0]) < 6 * 3 * mechanism.sigma
    assert (
        mechanism.sigma < GSHMWithSums.for_target(k=2, epsilon=2, delta="1e-6", largest=(3,)).sigma
    )


def test_a_constant_source_ends_the_shared_noise() -> None:
    class Refusing(SeededSource):
        """Coins that always fall on the refusing side."""

        def inverse_cdf(self, cdf: Cdf) -> int:
            return 0

    with pytest.raises(RandomnessError):
        SharedGaussian(F(10**12), 2).sample(Refusing(1))


@pytest.mark.parametrize("numerators", [(3, -3, 0, 2, -1, 10**30 + 1)])
def test_texts_are_the_decimals_of_the_counts(numerators: tuple[int, ...]) -> None:
    counts = NoisyCounts(range(6), numerators, 2)
    assert [F(text) for text in counts.texts()[0]] == [F(n, 2) for n in numerators]
    assert [count for _, count in counts.bins()] == [F(n, 2) for n in numerators]
    whole = NoisyCounts(range(6), numerators, sums=[[7] * 6])
    assert whole.texts() == [[str(n) for n in numerators], ["7"] * 6]
    (long,) = NoisyCounts(["a"], [10**5000]).texts()  # beyond what Python makes text of
    assert long == ["1" + 5000 * "0"]


def test_the_error_of_a_sum_is_the_quantile_of_its_noise() -> None:
    """P(|Z| > e) <= beta at the bound, and not below: by sums of the density, in doubles."""
    mechanism = GSHMWithSums.for_target(k=3, epsilon=1, delta="1e-6", largest=(2, 7))
    for limit, most in zip((2, 7), mechanism.sum_errors("0.05"), strict=True):
        masses = discrete_gaussian(float(limit * mechanism.sigma) ** 2, 3000)
        beyond = [sum(w for z, w in masses.items() if abs(z) > e) for e in (most, most - 1)]
        assert beyond[0] <= 0.05 < beyond[1]
