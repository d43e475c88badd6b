"""Privacy proved on the code that ships: exact laws of all small data sets and their neighbours."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from exactdp import InvalidParameter
from exactdp.accounting.divergence import hockey_stick, max_loss, total_variation
from exactdp.law import Law
from exactdp.mechanisms import (
    BasicHistogram,
    FixedTimeSparseHistogram,
    KeepHeavy,
    KeepHeavyResampled,
    KeepHeavySampled,
    PureSparseHistogram,
    SparseHistogram,
    StabilityHistogram,
)
from exactdp.mechanisms.histograms.mixture import Purified, mixed_law
from exactdp.samplers import (
    FastSample,
    GeometricSample,
    GeoSample,
    RationalCdf,
    SeededSource,
    Source,
    TwoSidedGeometric,
    exact_law,
)
from exactdp.samplers.count_samplers import CountSampler
from tests.mechanisms.datasets import all_counts, all_pairs, worst_loss

F = Fraction


def geo(n: int, epsilon: str = "1") -> CountSampler:
    return GeoSample(n=n, epsilon=epsilon)


def fast(n: int, epsilon: str = "1") -> CountSampler:
    return FastSample(n=n, epsilon=epsilon, gamma_inverse=8, bits=16)


SAMPLERS = [geo, fast]


@pytest.mark.parametrize("make", SAMPLERS)
@pytest.mark.parametrize(
    ("kind", "n", "universe"),
    [
        *((BasicHistogram, *size) for size in ((1, 2), (1, 4), (2, 2), (2, 3))),
        *((KeepHeavy, *size) for size in ((1, 2), (1, 5), (2, 3))),
        *((PureSparseHistogram, *size) for size in ((1, 3), (1, 8))),
        pytest.param(BasicHistogram, 3, 3, marks=pytest.mark.slow),
        *(
            pytest.param(PureSparseHistogram, *size, marks=pytest.mark.slow)
            for size in ((2, 5), (2, 8), (3, 7))
        ),
    ],
)
def test_the_loss_is_at_most_that_of_two_counts(
    make: Any, kind: Any, n: int, universe: int
) -> None:
    mechanism = kind(make(n), universe)
    worst = worst_loss(lambda c: mechanism.law(c, residual=0), n, universe)
    assert worst <= mechanism.guarantee.e_epsilon == mechanism.noise.e_half_epsilon**2
    assert mechanism.guarantee.delta == 0
    if kind is BasicHistogram and make is geo:
        assert worst == mechanism.guarantee.e_epsilon  # both counts have the full ratio


@pytest.mark.parametrize("residual", ["0.2", pytest.param("0.02", marks=pytest.mark.slow)])
def test_basic_histogram_with_unbounded_noise(residual: str) -> None:
    """As far as the enumeration reaches, no output is likelier than the promise allows."""
    noise = GeometricSample(n=1, epsilon=2)
    mechanism = BasicHistogram(noise, 2)
    laws = [mechanism.law(counts, residual=residual) for counts in ({0: 1}, {1: 1})]
    for p, q in (laws, laws[::-1]):
        for outcome in p.support & q.support:
            assert p[outcome] <= noise.e_half_epsilon**2 * (q[outcome] + q.residual)
    ratio = noise.e_half_epsilon**2
    noise_law = TwoSidedGeometric(q=noise.q)
    assert noise_law.pmf(0) * noise_law.pmf(0) == ratio * noise_law.pmf(1) * noise_law.pmf(-1)
    with pytest.raises(InvalidParameter, match="bounded"):
        KeepHeavySampled(noise, 4).law({0: 1})


@pytest.mark.parametrize("make", SAMPLERS)
@pytest.mark.parametrize(
    ("n", "universe"), [(1, 3), (1, 5), pytest.param(2, 5, marks=pytest.mark.slow)]
)
def test_sampling_has_exactly_the_law_of_keep_heavy(make: object, n: int, universe: int) -> None:
    noise = make(n)  # type: ignore[operator]
    whole, sampled = KeepHeavy(noise, universe), KeepHeavySampled(noise, universe)
    for counts in all_counts(n, universe):
        assert sampled.law(counts, residual=0) == whole.law(counts, residual=0)


@pytest.mark.few(2)
@pytest.mark.parametrize(("chance", "draws"), [("0.99", 7), ("0.5", 12), ("0.2", 30)])
def test_resampling_has_that_law_unless_it_fails(chance: str, draws: int) -> None:
    mechanism = KeepHeavyResampled(geo(1), 4, failure=chance)
    assert mechanism.draws == draws
    # P(at most 2 of 4 elements occur), by inclusion and exclusion
    failure = F(6 * (2**draws - 2) + 4, 4**draws)
    if draws < 8:
        fails = sum(len(set(s)) < 3 for s in product(range(4), repeat=draws))
        assert failure == F(fails, 4**draws)
    assert failure <= F(chance)
    for counts in ({0: 1}, {3: 1}):
        whole = KeepHeavy(geo(1), 4).law(counts, residual=0)
        assert mechanism.law(counts, residual=0) == mixed_law(whole, Law.point(()), failure)


def test_resampling_fails_as_rarely_as_promised() -> None:
    for n, universe, beta in ((1, 4, F(1, 2)), (2, 8, F(1, 5))):
        mechanism = KeepHeavyResampled(geo(n), universe, failure=beta)
        law = {1: F(1)}  # number of distinct elements after one draw
        for _ in range(mechanism.draws - 1):
            after: Counter[int] = Counter()
            for k, weight in law.items():
                after[k] += weight * k / universe
                after[k + 1] += weight * (universe - k) / universe
            law = dict(after)
        assert sum(weight for k, weight in law.items() if k < 2 * n + 1) <= beta


@pytest.mark.parametrize("make", SAMPLERS)
@pytest.mark.parametrize(("n", "universe"), [(1, 2), (2, 2), (2, 3), (3, 2)])
def test_stability_histogram_has_exactly_its_delta(make: object, n: int, universe: int) -> None:
    noise = make(n)  # type: ignore[operator]
    for threshold in range(n + 1):
        mechanism = StabilityHistogram(noise, universe, threshold, "0.9999")
        pairs = all_pairs(lambda c, m=mechanism: m.law(c, residual=0), n, universe)
        factor = mechanism.guarantee.e_epsilon
        worst = max(hockey_stick(p, q, e_epsilon=factor).upper for p, q in pairs)
        assert mechanism.guarantee.delta == mechanism.exact_delta
        assert worst <= mechanism.exact_delta
        if make is geo or n == 1:
            assert worst == mechanism.exact_delta


def test_stability_threshold_of_delta_is_the_least() -> None:
    for delta in ("0.3", "1e-3", "1e-9"):
        mechanism = StabilityHistogram.for_target(geo(100), 10, delta)
        assert mechanism.exact_delta <= F(delta)
        if mechanism.threshold:
            with pytest.raises(InvalidParameter, match="delta must be >="):
                StabilityHistogram(geo(100), 10, mechanism.threshold - 1, delta)


@pytest.mark.slow
def test_sparse_histogram_is_as_close_as_promised() -> None:
    for n, universe, distance in ((1, 3, "0.01"), (1, 4, "1e-4"), (2, 5, "0.05")):
        noise = geo(n)
        strict, whole = SparseHistogram(noise, universe, distance), KeepHeavy(noise, universe)
        for counts in all_counts(n, universe)[:6]:
            gap = total_variation(strict.law(counts, 0), whole.law(counts, 0))
            assert gap <= F(distance)
        promise = strict.guarantee
        factor = promise.e_epsilon
        assert promise.delta == (factor + 1) * F(distance)
        if n == 1:
            for p, q in all_pairs(lambda c, m=strict: m.law(c, residual=0), n, universe):
                assert hockey_stick(p, q, e_epsilon=factor) <= promise.delta


@pytest.mark.parametrize("universe", [3, 4])
def test_algorithm_8_is_pure(universe: int) -> None:
    mechanism = FixedTimeSparseHistogram(geo(1), universe, gamma_bits=2)
    worst = worst_loss(lambda c: mechanism.law(c, residual=0), 1, universe)
    assert worst <= mechanism.guarantee.e_epsilon
    assert mechanism.guarantee.delta == 0
    # without the mixture the loss is finite, but may be larger
    assert worst_loss(lambda c: mechanism.sparse.law(c, residual=0), 1, universe) < math.inf


def test_the_law_that_does_not_depend_on_data_covers_every_output() -> None:
    mechanism = FixedTimeSparseHistogram(geo(2), 5, gamma_bits=1)
    law = exact_law(mechanism.random_bins, residual=0)
    assert min(law.weights.values()) >= F(1, (4 * 5 * 3) ** 2)
    possible = {
        tuple((x, c) for x, c in enumerate(counts) if c)
        for counts in product(range(3), repeat=5)
        if sum(c > 0 for c in counts) <= 2
    }
    assert law.support == possible


def test_a_purified_mechanism_is_a_mixture_and_reads_a_fixed_number_of_bits() -> None:
    """Randomised response, truncated to (1, 0) and (0, 1) with the distance 1/4."""
    near = {0: Law({0: F(7, 8), 1: F(1, 8)}), 1: Law({0: F(1, 8), 1: F(7, 8)})}

    def respond(bit: int, source: Source) -> int:
        return int(source.fixed_inverse_cdf(RationalCdf(0, 1, (7 - 6 * bit, 8).__getitem__, 8)))

    def coin(source: Source) -> int:
        return int(source.fixed_inverse_cdf(RationalCdf(0, 1, (1, 2).__getitem__, 2)))

    # within 1/8 of randomised response with ratio 3, whose probabilities are 3/4 and 1/4
    arguments = {"near": respond, "cover": coin, "e_epsilon": F(3), "least": F(1, 2)}
    purified = Purified(**arguments, distance=F(1, 8), gamma_bits=1)  # type: ignore[arg-type]
    laws = [exact_law(lambda source, b=bit: purified.draw(b, source), residual=0) for bit in (0, 1)]
    fair = Law({0: F(1, 2), 1: F(1, 2)})
    assert laws == [mixed_law(near[bit], fair, F(1, 2)) for bit in (0, 1)]
    assert max(max_loss(*laws), max_loss(*laws[::-1])) <= 3
    used = set()
    for seed in range(20):
        source = SeededSource(seed)
        purified.draw(seed % 2, source)
        used.add(source.bits_used)
    assert used == {1 + 3 + 1}
    with pytest.raises(InvalidParameter, match="distance"):
        Purified(**arguments, distance=F(1, 8), gamma_bits=2)  # type: ignore[arg-type]
