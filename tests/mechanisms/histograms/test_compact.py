"""Compact histograms: exact over small fields, exhaustive over polynomials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from exactdp import InvalidParameter
from exactdp.accounting.divergence import max_loss
from exactdp.container import Scalar
from exactdp.law import Law
from exactdp.mechanisms import CompactHistogram, CompactRelease
from exactdp.mechanisms.histograms.compact import _FILE
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.samplers import (
    FastSample,
    GeoSample,
    SeededSource,
    SystemSource,
    binary_polynomials,
)
from exactdp.samplers.binary_evaluation import Evaluator
from exactdp.samplers.rational_growth import rational_growth
from tests.mechanisms.datasets import all_counts, all_pairs, worst_loss
from tests.samplers.bitwise import joint

F = Fraction


def mechanism(n: int, universe: int, period: int, words: int = 1) -> CompactHistogram:
    return CompactHistogram(GeoSample(n=n, epsilon="1/2"), universe, 9, period, words)


#: Over F_4, F_16 and F_64, without and with a fixed number of random bits.
_SHORT = FastSample(n=1, epsilon=8, gamma_inverse=2, bits=4)
CASES = [
    mechanism(1, 2, 3),
    CompactHistogram(_SHORT, 2, 9, 5),
    CompactHistogram(_SHORT, 2, 9, 5, fixed_time=True),
    *(
        pytest.param(compact, marks=pytest.mark.slow)
        for compact in (
            mechanism(1, 4, 3),
            mechanism(1, 2, 3, 2),
            CompactHistogram(_SHORT, 2, 9, 3, 2),
            mechanism(1, 3, 9),
        )
    ),
]


@cache
def _law(compact: CompactHistogram, counts: tuple[tuple[int, int], ...]) -> Law[Any]:
    return compact.law(dict(counts), residual=0)


def law_of(compact: CompactHistogram, counts: Mapping[int, int]) -> Law[Any]:
    return _law(compact, tuple(counts.items()))


@pytest.mark.few(1)
@pytest.mark.parametrize("compact", CASES)
def test_loss_is_at_most_the_three_epsilons(compact: CompactHistogram) -> None:
    """The released polynomial itself, enumerated over all choices."""
    n, universe = compact.n, compact.universe
    worst = worst_loss(lambda c: law_of(compact, c), n, universe)
    assert worst <= compact.e_epsilon == compact.guarantee.e_epsilon
    more, less = compact.inverse.losses
    fixed = compact.noise.bits_per_draw is not None
    cost = 1 + F(2, (1 << compact._hash_bits - compact.value_bits) - 1) if fixed else 1
    assert compact.e_epsilon == compact.noise.e_half_epsilon**2 * more * less * cost
    law = law_of(compact, all_counts(n, universe)[0])
    assert len(law.support) == 1 << compact.value_bits * (n + 1)


@pytest.mark.slow
def test_loss_over_f16_with_two_rows() -> None:
    compact = mechanism(2, 3, 5)
    pairs = all_pairs(lambda c: compact.law(c, residual=0), 2, 3)
    assert max(max_loss(p, q) for p, q in pairs) <= compact.e_epsilon


@pytest.mark.few(1)
@pytest.mark.parametrize("compact", CASES)
def test_marginals_and_independence(compact: CompactHistogram) -> None:
    """Values at the data's elements follow M(c) through M_0; all n + 1 values are independent."""
    for counts in all_counts(compact.n, compact.universe)[:2]:
        law = law_of(compact, counts)
        points = [*counts, *[x for x in range(compact.field.order) if x not in counts]]
        points = points[: compact.n + 1]
        hashes = law.map(lambda h, p=tuple(points): hash_values(compact, h, p))
        expected = joint(hash_law(compact, counts.get(x)) for x in points)
        fixed = compact.noise.bits_per_draw is not None
        for outcome in hashes.support | expected.support:
            assert abs(hashes[outcome] - expected[outcome]) <= fixed * F(1, 2**48)


def hash_values(
    compact: CompactHistogram, bins: tuple[tuple[int, int], ...], points: tuple[int, ...]
) -> tuple[int, ...]:
    degree, order = compact.field.degree, compact.field.order
    places = range(0, compact.value_bits, degree)
    words = [Evaluator(compact.field, [c >> p & order - 1 for _, c in bins]) for p in places]
    return tuple(sum(w(x) << i * degree for i, w in enumerate(words)) for x in points)


def hash_law(compact: CompactHistogram, count: int | None) -> Law[int]:
    if count is None:
        return Law.uniform(range(1 << compact.value_bits))
    weights: dict[int, Fraction] = {}
    for noisy, weight in compact.noise.law(count).items():
        start, size = compact.inverse.values(noisy)
        for value in range(start, start + size):
            weights[value] = weight / size
    return Law(weights)


@pytest.mark.parametrize("fixed_time", [False, True])
def test_a_release_reads_a_fixed_number_of_bits(fixed_time: bool) -> None:
    compact = CompactHistogram.of(n=20, epsilon=1, universe=1000, beta="0.1", fixed_time=fixed_time)
    for counts in ({5: 20}, dict.fromkeys(range(20), 1), {1: 7, 999: 13}):
        source = SeededSource(3)
        compact.draw(counts, source)
        assert source.bits_used == compact.bits
    assert mechanism(1, 2, 3).bits is None


@pytest.mark.parametrize("fixed_time", [False, True])
def test_field_operations_do_not_depend_on_the_data(
    monkeypatch: pytest.MonkeyPatch, fixed_time: bool
) -> None:
    """The number and the lengths of products of polynomials, for few and many distinct elements."""
    shapes: list[tuple[int, int]] = []
    integers = binary_polynomials._Slots.integers

    def counting(slots: object, bits: object) -> object:
        shapes.append(bits.shape[:2])  # type: ignore[attr-defined]
        return integers(slots, bits)  # type: ignore[arg-type]

    monkeypatch.setattr(binary_polynomials._Slots, "integers", counting)
    compact = CompactHistogram.of(n=20, epsilon=1, universe=1000, beta="0.1", fixed_time=fixed_time)
    runs = []
    for counts in ({5: 20}, dict.fromkeys(range(20), 1), {1: 7, 999: 13}):
        shapes.clear()
        compact.draw(counts, SeededSource(3))
        runs.append(tuple(shapes))
    assert (len(set(runs)) == 1) == fixed_time


@pytest.mark.parametrize(
    "noise", [GeoSample(n=3, epsilon=1), FastSample(n=5, epsilon=1, gamma_inverse=9)]
)
@pytest.mark.parametrize("bits", [8, 18, 54])
def test_inverse_count(noise: GeoSample, bits: int) -> None:
    inverse = InverseCount(noise, bits)
    starts = [inverse.values(z) for z in range(noise.n + 1)]
    assert starts[0][0] == 0
    assert sum(size for _, size in starts) == 2**bits
    for z, (start, size) in enumerate(starts):
        assert inverse.count(start) == inverse.count(start + size - 1) == z
        target = noise.law(0)[z] * 2**bits
        assert abs(size - target) < 1
        below = sum(noise.law(0)[y] for y in range(z + 1))
        assert F(start + size, 2**bits) >= below
    more, less = inverse.losses
    ratios = [inverse.law[z] / noise.law(0)[z] for z in range(noise.n + 1)]
    assert (more, less) == (max(ratios), 1 / min(ratios))


@pytest.mark.parametrize(
    ("n", "epsilon", "universe", "beta"),
    [
        (1, 1, 2, "0.99"),
        (100, 1, 2**64, "0.05"),
        (50, 8, 1000, "0.01"),
        (1000, "1/10", 2**64, "0.01"),
        (7, "0.3", 2**200, "0.5"),
    ],
)
def test_parameters_for_an_error(n: int, epsilon: str, universe: int, beta: str) -> None:
    """M_0 is exact, nearly all of epsilon is kept, and errors are those of clamped noise."""
    compact = CompactHistogram.of(n=n, epsilon=epsilon, universe=universe, beta=beta)
    assert compact.field.order >= universe
    assert compact.inverse.losses == (1, 1)
    loss, noise = F(str(epsilon)), compact.noise
    assert compact.guarantee.epsilon == loss
    assert noise.e_half_epsilon - 1 >= (1 - F(1, 2**10)) * loss / 2
    q = 1 / rational_growth(loss)
    assert noise.variance <= F(101, 100) * 2 * q / (1 - q) ** 2
    a = compact.accuracy(beta).simultaneous
    assert a >= n or noise.tail(a) <= F(beta) / universe


def test_queries_and_serialisation() -> None:
    compact = CompactHistogram.of(n=60, epsilon=1, universe=2**64, beta="0.01")
    release = compact.release({5: 40, 2**63: 20}, SystemSource())
    assert abs(release[5] - 40) < 40
    assert 0 <= release[123456789] <= 60
    data = release.to_bytes()
    assert len(data) * 8 < 61 * compact.value_bits + 4000
    for again in (
        CompactRelease.from_bytes(data),
        CompactRelease.from_dict(json.loads(json.dumps(release.as_dict()))),
    ):
        assert again == release
        assert [again[x] for x in range(50)] == [release[x] for x in range(50)]
        assert again.guarantee == compact.guarantee
    for bad in (-1, 2**64, "x"):
        with pytest.raises(InvalidParameter, match="element"):
            release[bad]  # type: ignore[index]
    with pytest.raises(InvalidParameter, match="coefficients"):
        CompactRelease(compact, (1, 2))


@pytest.mark.parametrize("n", range(1, 10))
def test_coefficients_lie_side_by_side_in_files(n: int) -> None:
    compact = CompactHistogram(GeoSample(n=n, epsilon="1/2"), 2, 9, 9)
    coefficients = tuple((23 * i + 40) % compact.field.order for i in range(n + 1))
    packed = sum(c << 6 * i for i, c in enumerate(coefficients))
    data = CompactRelease(compact, coefficients).to_bytes()
    body = packed.to_bytes(-(-6 * (n + 1) // 8), "little")
    assert body in data
    assert CompactRelease.from_bytes(data).coefficients == coefficients


SMALL = mechanism(1, 2, 9)
RELEASE = CompactRelease(SMALL, (5, 60))


@pytest.mark.parametrize(
    "change",
    [
        {"n": 10**9},
        {"n": "1e308"},
        {"n": 10**12},
        {"n": None},
        {"period": 30},
        {"period": 10**9},
        {"words": 10**9},
        {"universe": "1e9999"},
        {"text": -1},
        {"text": "x"},
    ],
)
def test_headers_that_promise_too_much_are_refused_at_once(change: dict[str, Scalar]) -> None:
    assert CompactRelease.from_bytes(_FILE.pack(RELEASE._header(), b"\x05\x0f"))
    with pytest.raises(InvalidParameter, match="|".join([*change, "data"])):
        CompactRelease.from_bytes(_FILE.pack({**RELEASE._header(), **change}, b"\x05\x0f"))


def test_files_say_whether_elements_are_texts() -> None:
    texts = RELEASE.of_texts(3)
    assert CompactRelease.from_bytes(texts.to_bytes()) == texts
    assert CompactRelease.from_bytes(RELEASE.to_bytes()).text is None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "other"},
        {"version": 1},
        {"n": 0},
        {"n": "x"},
        {"universe": "1000"},
        {"period": 99},
        {"words": 0},
        {"epsilon": "0"},
        {"coefficients": ["5"]},
        {"coefficients": ["5", "zz"]},
        {"coefficients": "560"},
        {"coefficients": ["5", "fff"]},
        {"noise_epsilon": None},
    ],
)
def test_wrong_json_is_refused(change: dict[str, object]) -> None:
    assert CompactRelease.from_dict(RELEASE.as_dict()) == RELEASE
    with pytest.raises(InvalidParameter):
        CompactRelease.from_dict({**RELEASE.as_dict(), **change})
    missing = RELEASE.as_dict()
    del missing[next(iter(change))]
    with pytest.raises(InvalidParameter):
        CompactRelease.from_dict(missing)
