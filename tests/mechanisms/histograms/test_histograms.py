"""Input, output, accuracy and randomness of the histogram mechanisms."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import (
    BasicHistogram,
    FixedTimeSparseHistogram,
    KeepHeavy,
    KeepHeavyResampled,
    KeepHeavySampled,
    PaddedSparseHistogram,
    PureSparseHistogram,
    SparseHistogram,
    StabilityHistogram,
    counts_of_rows,
    decode_bytes,
    encode_bytes,
)
from exactdp.mechanisms.empty_bins import element_of_rank, fresh_elements
from exactdp.mechanisms.histograms.mechanism import HistogramMechanism
from exactdp.samplers import FastSample, GeoSample, SeededSource, SystemSource, exact_law
from tests.mechanisms.datasets import all_counts

F = Fraction
GEO, FAST = GeoSample(n=6, epsilon=1), FastSample(n=6, epsilon=1)
ALL: list[HistogramMechanism] = [
    BasicHistogram(GEO, 30),
    StabilityHistogram(GEO, 30, 2, "0.5"),
    KeepHeavy(GEO, 30),
    KeepHeavySampled(GEO, 30),
    KeepHeavyResampled(GEO, 30, "0.1"),
    PureSparseHistogram(GEO, 30),
    SparseHistogram(GEO, 30, "1e-6"),
    FixedTimeSparseHistogram(GEO, 30),
    PaddedSparseHistogram.of(n=6, epsilon=8, universe=30, length=6),
    BasicHistogram(FAST, 30),
    StabilityHistogram(FAST, 30, 2, "0.5"),
]
IDS = [f"{type(m).__name__}-{type(m.noise).__name__}" for m in ALL]


@pytest.mark.parametrize("mechanism", ALL, ids=IDS)
def test_releases_are_sorted_and_carry_their_guarantee(mechanism: HistogramMechanism) -> None:
    release = mechanism.release({3: 4, 20: 2}, SystemSource())  # type: ignore[attr-defined]
    assert list(release) == sorted(release)
    assert all(0 <= x < 30 and 0 <= c <= 6 for x, c in release.items())
    assert release.guarantee == mechanism.guarantee
    assert "replace-one" in release.guarantee.neighbours
    assert mechanism.source in str(release.guarantee)
    assert mechanism.variance == mechanism.noise.variance
    assert release[29] == dict(release).get(29, 0)
    assert len(release) == len(release.bins)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({0: 5}, "the sum of counts must be n = 6, got 5"),
        ({0: 7}, "n = 6, got 7"),
        ({30: 6}, "element must be < universe = 30"),
        ({-1: 6}, "element must be an integer >= 0"),
        ({"a": 6}, "element must be an integer >= 0"),
        ({0: -1, 1: 7}, r"counts\[0\] must be an integer >= 0"),
        ({0: 1.5, 1: 4.5}, r"counts\[0\] must be an integer >= 0"),
        ({0: 3, "0": 3}, "occurs once"),
    ],
)
def test_wrong_counts_are_refused_before_any_randomness(
    counts: dict[int, int], message: str
) -> None:
    for mechanism in ALL:
        source = SeededSource(1)
        with pytest.raises(InvalidParameter, match=message):
            mechanism.draw(counts, source)
        assert source.bits_used == 0


def test_algorithm_8_says_when_it_would_read_too_many_bits() -> None:
    with pytest.raises(InvalidParameter, match="PaddedSparseHistogram has no such limit"):
        FixedTimeSparseHistogram(GeoSample(n=944, epsilon=1), 256**31)
    FixedTimeSparseHistogram(GeoSample(n=944, epsilon=1), 10_000)


def test_rows_and_byte_strings() -> None:
    assert counts_of_rows([3, 1, 3]) == {3: 2, 1: 1}
    seen = set()
    for text in (b"", b"\x00", b"\x00\x00", b"a", b"ab", b"https://example.org"):
        element = encode_bytes(text, 40)
        assert decode_bytes(element) == text
        assert element < 256**41
        seen.add(element)
    assert len(seen) == 6
    with pytest.raises(InvalidParameter, match="longest"):
        encode_bytes(b"abc", 2)
    with pytest.raises(InvalidParameter, match="encode_bytes"):
        decode_bytes(0x0203)


def test_elements_by_rank() -> None:
    rng = random.Random(5)
    for _ in range(200):
        taken = sorted(rng.sample(range(30), rng.randrange(12)))
        free = [x for x in range(30) if x not in taken]
        assert [element_of_rank(taken, r) for r in range(len(free))] == free


def test_fresh_elements_are_all_equally_likely_in_any_order() -> None:
    law = exact_law(lambda source: tuple(fresh_elements([1, 3], 3, 6, source)), residual=0)
    assert dict(law.items()) == dict.fromkeys(permutations([0, 2, 4, 5], 3), F(1, 24))


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "mechanism",
    [
        *[m for m in ALL if m.bits is not None],
        SparseHistogram(GEO, 2**64, "1e-9"),
        FixedTimeSparseHistogram(FastSample(n=6, epsilon="1/3"), 100),
        PaddedSparseHistogram.of(n=6, epsilon=40, universe=10**30),
    ],
    ids=lambda m: f"{type(m).__name__}-{m.universe}",
)
def test_releases_read_a_fixed_number_of_bits(mechanism: HistogramMechanism) -> None:
    used = set()
    for seed in range(25):
        rng, source = random.Random(seed), SeededSource(seed)
        size = rng.randrange(1, 7)
        elements = rng.sample(range(min(mechanism.universe, 100)), size)
        counts = dict.fromkeys(elements, 1)
        counts[elements[0]] += 6 - size
        mechanism.draw(counts, source)
        used.add(source.bits_used)
    assert used == {mechanism.bits}


def test_mechanisms_with_a_varying_number_of_bits_say_so() -> None:
    assert {type(m).__name__ for m in ALL if m.bits is None} == {
        *("BasicHistogram", "StabilityHistogram", "KeepHeavy", "KeepHeavySampled"),
        *("KeepHeavyResampled", "PureSparseHistogram"),
    }


@pytest.mark.parametrize(
    "mechanism",
    [
        BasicHistogram(GeoSample(n=2, epsilon=2), 2),
        BasicHistogram(FastSample(n=2, epsilon=2), 2),
        StabilityHistogram(GeoSample(n=3, epsilon=2), 3, 1, "0.9"),
        KeepHeavy(GeoSample(n=2, epsilon=2), 3),
        PureSparseHistogram(GeoSample(n=1, epsilon=2), 4),
    ],
    ids=lambda m: f"{type(m).__name__}-{type(m.noise).__name__}",
)
def test_accuracy_holds_exactly_on_small_instances(mechanism: HistogramMechanism) -> None:
    """The probability of an error beyond the bound, from the exact law."""
    for counts in all_counts(mechanism.n, mechanism.universe):
        law = mechanism.law(counts, residual=0)
        true = [counts.get(x, 0) for x in range(mechanism.universe)]
        for chance in (F("0.5"), F("0.1"), F("0.01")):
            bound = mechanism.accuracy(chance)
            assert bound.beta == chance
            errors = law.map(lambda bins, t=tuple(true): worst_error(dict(bins), t))
            assert errors.probability(lambda e, b=bound: e > b.simultaneous) <= chance
            for x, count in enumerate(true):
                if count > bound.per_query_above:
                    error = law.map(lambda bins, x=x, c=count: abs(dict(bins).get(x, 0) - c))
                    assert error.probability(lambda e, b=bound: e > b.per_query) <= chance


def worst_error(released: dict[int, int], true: tuple[int, ...]) -> int:
    return max(abs(released.get(x, 0) - count) for x, count in enumerate(true))


def test_error_is_the_least_that_its_bound_allows() -> None:
    for noise in (
        GeoSample(n=50, epsilon=1),
        FastSample(n=50, epsilon=1, gamma_inverse=10**6),
    ):
        for beta in ("0.3", "1e-3", "2e-6"):
            a = noise.error(beta)
            assert noise.tail(a) <= F(beta)
            assert a == 0 or noise.tail(a - 1) > F(beta)
        for a in (0, 1, 5):
            for c in (0, 3, 25, 50):
                law = noise.law(c)
                assert law.probability(lambda z, c=c, a=a: abs(z - c) > a) <= noise.tail(a)
    assert FastSample(n=200, epsilon=1, gamma_inverse=10).error("0.01") == 200
    with pytest.raises(InvalidParameter, match="beta"):
        GeoSample(n=50, epsilon=1).error(0)


def test_huge_universes() -> None:
    for universe in (2**64, 2**256, 256**41):
        mechanism = PureSparseHistogram(GeoSample(n=2000, epsilon=1), universe)
        heavy = universe - 5
        release = mechanism.draw({heavy: 1990, **dict.fromkeys(range(10), 1)}, SeededSource(3))
        assert abs(dict(release)[heavy] - 1990) < 60
        assert len(release) <= 2000
