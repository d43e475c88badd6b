"""The padded sparse histogram: its law by enumeration, its exact loss, failures and accuracy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import Any

import pytest
from mpmath import mp, mpf

from exactdp import InvalidParameter
from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms import PaddedSparseHistogram
from exactdp.mechanisms.histograms.padding import PaddingCounts
from exactdp.samplers import FastSample, SeededSource
from exactdp.samplers.enumeration import exact_law
from tests.mechanisms.datasets import Counts, all_counts, worst_loss

F = Fraction


def small(n: int, universe: int, length: int, threshold: int, draws: int, **noise: Any) -> Any:
    sampler = FastSample(n=n, epsilon=2, **noise)
    return PaddedSparseHistogram(sampler, universe, 99, length, threshold, draws)


def padding_weights(mechanism: PaddedSparseHistogram) -> dict[int, Fraction]:
    """The law of a padding count, from draws by single integers."""
    return exact_law(lambda source: int(mechanism.padding.draw_many(1, source)[0])).weights  # type: ignore[return-value]


def stated_law(mechanism: PaddedSparseHistogram, counts: Counts) -> Law[Any]:
    """From the definition: kept noisy counts, then a uniform set of other elements."""
    m, n, d, t = mechanism, mechanism.n, mechanism.universe, mechanism.threshold
    padding = padding_weights(mechanism)
    distinct = [1] + [0] * d  # sequences of draws by the number of distinct elements
    for _ in range(m.draws):
        distinct = [0] + [distinct[k] * k + distinct[k - 1] * (d - k + 1) for k in range(1, d + 1)]
    failure = F(sum(distinct[: m.length + n]), d**m.draws)
    weights: dict[Any, Fraction] = {(): failure}
    noisy = [mechanism.noise.law(c).items() for c in counts.values()]
    for outcome in product(*noisy):
        kept = {x: v for x, (v, _) in zip(counts, outcome, strict=True) if v > t}
        chance = prod((p for _, p in outcome), start=F(1)) * (1 - failure)
        others = [x for x in range(d) if x not in kept]
        missing = m.length - len(kept)
        for chosen in combinations(others, missing):
            for values in product(padding, repeat=missing):
                bins = tuple(sorted({**kept, **dict(zip(chosen, values, strict=True))}.items()))
                weight = prod((padding[v] for v in values), start=chance)
                weights[bins] = weights.get(bins, F(0)) + weight / comb(len(others), missing)
    return Law(weights)


@pytest.mark.parametrize(
    "mechanism",
    [
        small(1, 4, 1, 0, 2, bits=9, gamma_inverse=2),
        small(1, 4, 1, 0, 3),
        pytest.param(small(1, 8, 2, 0, 3), marks=pytest.mark.slow),
    ],
)
def test_the_law_is_the_stated_one_and_private(mechanism: PaddedSparseHistogram) -> None:
    n, universe = mechanism.n, mechanism.universe
    laws = {}
    for counts in all_counts(n, universe):
        laws[tuple(counts)] = law = mechanism.law(counts, residual=0)
        assert law == stated_law(mechanism, counts)
    worst = worst_loss(lambda counts: laws[tuple(counts)], n, universe)
    assert worst <= mechanism.e_epsilon
    if mechanism.noise.bits > 20:  # rounding costs nothing: the bound is attained
        assert worst == mechanism.e_epsilon


@pytest.mark.slow
def test_the_law_for_two_rows() -> None:
    mechanism = small(2, 8, 2, 1, 4, bits=10, gamma_inverse=3)
    sets: list[Counts] = [{0: 2}, {0: 1, 1: 1}, {1: 2}]
    laws = [mechanism.law(counts, residual=0) for counts in sets]
    assert laws == [stated_law(mechanism, counts) for counts in sets]
    for p, q in pairwise(laws):
        assert max(max_loss(p, q), max_loss(q, p)) <= mechanism.e_epsilon


@pytest.mark.parametrize(
    ("n", "epsilon", "universe", "length"),
    [
        (100, 1, 2**64, None),
        (100, "0.9", 10**9, 100),
        (10_000, "1/10", 256**31, 20_000),
        (6, 8, 30, 6),
    ],
)
def test_the_threshold_is_the_least_for_epsilon(
    n: int, epsilon: object, universe: int, length: int | None
) -> None:
    histogram = PaddedSparseHistogram.of(n=n, epsilon=epsilon, universe=universe, length=length)  # type: ignore[arg-type]
    loss = histogram.epsilon
    with mp.workdps(60):
        kept = mp.log(mpf(histogram.e_epsilon.numerator) / histogram.e_epsilon.denominator)
        target = mpf(loss.numerator) / loss.denominator
        assert (1 - mpf(2) ** -38) * target <= kept <= target
    fields = (
        histogram.noise,
        universe,
        loss,
        histogram.length,
        histogram.threshold - 1,
        histogram.draws,
    )
    if histogram.threshold:
        with pytest.raises(InvalidParameter, match="larger threshold"):
            PaddedSparseHistogram(*fields)  # type: ignore[arg-type]


def test_a_longer_release_needs_a_lower_threshold() -> None:
    arguments = {"n": 10_000, "epsilon": 1, "universe": 2**64}
    thresholds = [
        PaddedSparseHistogram.of(**arguments, length=length).threshold  # type: ignore[arg-type]
        for length in (10_000, 10_100, 12_500, 20_000, 100_000)
    ]
    assert thresholds == sorted(thresholds, reverse=True)
    assert thresholds[0] - thresholds[2] >= 15  # about 2 ln(2500)


@pytest.mark.parametrize("threshold", [0, 1, 3, 9])
@pytest.mark.parametrize("bits", [10, 14, 56])
def test_padding_counts_are_nearly_the_counts_that_pass(threshold: int, bits: int) -> None:
    noise = FastSample(n=12, epsilon=1, gamma_inverse=2, bits=bits)
    padding, law = PaddingCounts(noise, threshold), noise.law(1)
    outcomes, weights = padding.cdf().weights()
    assert outcomes == list(range(threshold + 1, 13))
    passing = law.probability(lambda z: z > threshold)
    assert padding.passing == passing
    assert padding.excess == max(law[v] / p for v, p in zip(outcomes, weights, strict=True))
    assert padding.excess >= passing
    for chance in (F(1, 2), F(1, 20)):
        a = padding.error(chance)
        tails = [sum(weights[k:], F(0)) for k in range(len(weights) + 1)]
        assert tails[a] <= chance
        assert a == 1 or tails[a - 1] > chance


def test_many_padding_counts_follow_the_law() -> None:
    """Counts of 20 000 draws in bulk within five standard deviations of the exact law."""
    padding = PaddingCounts(FastSample(n=40, epsilon=1), 3)
    counts = padding.draw_many(20_000, SeededSource(7)).tolist()
    outcomes, weights = padding.cdf().weights()
    for v, p in zip(outcomes, weights, strict=True):
        assert abs(counts.count(v) - 20_000 * p) <= 5 * float(20_000 * p) ** 0.5 + 1


def test_releases_of_large_data() -> None:
    n, universe = 2000, 256**31
    histogram = PaddedSparseHistogram.of(n=n, epsilon=1, universe=universe)
    counts = {7: 1000, universe - 1: 800, **dict.fromkeys(range(100, 300), 1)}
    bins = histogram.draw(counts, SeededSource(3))
    assert len(bins) == histogram.length
    assert all(0 <= x < universe and histogram.threshold < c <= n for x, c in bins)
    assert [x for x, _ in bins] == sorted({x for x, _ in bins})
    bound = histogram.accuracy("0.001")
    for x, c in ((7, 1000), (universe - 1, 800)):
        assert abs(dict(bins)[x] - c) <= bound.per_query
    assert all(abs(c - counts.get(x, 0)) <= bound.simultaneous for x, c in bins)
    assert histogram.failure < F(1, 2**63)
