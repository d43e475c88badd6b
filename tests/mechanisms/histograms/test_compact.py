"""Compact histograms: exact over small fields, exhaustive over polynomials."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import InvalidParameter
from exactdp.accounting.divergence import max_loss
from exactdp.container import Scalar
from exactdp.law import Law
from exactdp.mechanisms import CompactHistogram, CompactRelease
from exactdp.mechanisms.histograms.compact import _FILE
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.samplers import FastSample, GeoSample, SeededSource, SystemSource
from exactdp.samplers.binary_evaluation import evaluate
from exactdp.samplers.binary_field import BinaryField
from tests.mechanisms.datasets import all_counts, all_pairs, worst_loss

F = Fraction


def mechanism(
    n: int, universe: int, level: int, epsilon: str = "1/2", total: int = 3
) -> CompactHistogram:
    return CompactHistogram(GeoSample(n=n, epsilon=epsilon), universe, total, level)


CASES = [(1, 2, 0, "1"), (1, 4, 0, "2"), (1, 3, 1, "1/2")]


@pytest.mark.parametrize(
    ("n", "universe", "level", "epsilon"),
    [*CASES[:2], pytest.param(*CASES[2], marks=pytest.mark.slow)],
)
def test_loss_is_at_most_the_three_epsilons(
    n: int, universe: int, level: int, epsilon: str
) -> None:
    """The released polynomial itself, enumerated over all choices."""
    compact = mechanism(n, universe, level, epsilon, 9)
    worst = worst_loss(lambda c: compact.law(c, residual=0), n, universe)
    more, less = compact.inverse.losses
    assert worst <= compact.noise.e_half_epsilon**2 * more * less == compact.e_epsilon
    assert compact.guarantee().e_epsilon == compact.e_epsilon
    law = compact.law(all_counts(n, universe)[0], residual=0)
    assert law.support == {tuple(enumerate(c)) for c in product(range(4**3**level), repeat=n + 1)}


@pytest.mark.slow
def test_loss_over_f64_with_two_rows() -> None:
    compact = mechanism(2, 3, 1, "1", 9)
    pairs = all_pairs(lambda c: compact.law(c, residual=0), 2, 3)
    assert max(max_loss(p, q) for p, q in pairs) <= compact.e_epsilon


@pytest.mark.parametrize(
    ("n", "universe", "level", "epsilon"),
    [*CASES[:2], pytest.param(*CASES[2], marks=pytest.mark.slow)],
)
def test_marginals_and_independence(n: int, universe: int, level: int, epsilon: str) -> None:
    """Values at the data's elements follow M(c) through M_0; all n + 1 values are independent."""
    compact, field = mechanism(n, universe, level, epsilon, 9), BinaryField(level)
    for counts in all_counts(n, universe)[:4]:
        law = compact.law(counts, residual=0)
        points = (list(counts) + [x for x in range(field.order) if x not in counts])[: n + 1]
        hashes = law.map(
            lambda h, p=tuple(points): tuple(evaluate(field, [c for _, c in h], x) for x in p)
        )
        expected: Law[tuple[int, ...]] = Law.point(())
        for x in points:
            expected = expected.product(hash_law(compact, counts.get(x))).map(
                lambda pair: (*pair[0], pair[1])
            )
        assert hashes == expected


def hash_law(compact: CompactHistogram, count: int | None) -> Law[int]:
    if count is None:
        return Law.uniform(range(compact.field.order))
    weights: dict[int, Fraction] = {}
    for noisy, weight in compact.noise.law(count).items():
        start, size = compact.inverse.values(noisy)
        for value in range(start, start + size):
            weights[value] = weight / size
    return Law(weights)


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


def test_too_few_hash_values_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="bits"):
        InverseCount(GeoSample(n=2, epsilon=1), 2)
    with pytest.raises(InvalidParameter, match="level"):
        CompactHistogram(GeoSample(n=1, epsilon=1), 5, 2, 0)
    with pytest.raises(InvalidParameter, match="large enough for epsilon"):
        CompactHistogram(GeoSample(n=1, epsilon=1), 4, "0.9", 0)


@pytest.mark.parametrize(
    ("n", "epsilon", "universe", "beta"),
    [
        (1, 1, 2, "0.99"),
        (100, 1, 2**64, "0.05"),
        (1000, "1/10", 2**64, "0.01"),
        (7, "0.3", 2**200, "0.5"),
    ],
)
def test_parameters_of_corollary_7_3(n: int, epsilon: object, universe: int, beta: str) -> None:
    compact = CompactHistogram.of(n=n, epsilon=epsilon, universe=universe, beta=beta)  # type: ignore[arg-type]
    assert compact.field.order >= universe
    assert compact.guarantee().epsilon == F(str(epsilon))
    assert compact.accuracy(beta).per_query <= 5 * 4 / F(str(epsilon)) * (1 + 6)


def test_queries_and_serialisation() -> None:
    compact = CompactHistogram.of(n=60, epsilon=1, universe=2**64, beta="0.01")
    release = compact.release({5: 40, 2**63: 20}, SystemSource())
    assert abs(release[5] - 40) < 40
    assert 0 <= release[123456789] <= 60
    data = release.to_bytes()
    assert len(data) * 8 < 1.15 * 61 * compact.field.degree + 2000
    for again in (
        CompactRelease.from_bytes(data),
        CompactRelease.from_dict(json.loads(json.dumps(release.as_dict()))),
    ):
        assert again == release
        assert [again[x] for x in range(50)] == [release[x] for x in range(50)]
        assert again.guarantee == compact.guarantee()
    for bad in (-1, 2**64, "x"):
        with pytest.raises(InvalidParameter, match="element"):
            release[bad]  # type: ignore[index]
    with pytest.raises(InvalidParameter, match="SystemSource"):
        compact.release({5: 60}, SeededSource(1))
    with pytest.raises(InvalidParameter, match="coefficients"):
        CompactRelease(compact, (1, 2))


@pytest.mark.parametrize("n", range(1, 10))
def test_coefficients_lie_side_by_side_in_files(n: int) -> None:
    compact = mechanism(n, 2, 1)
    coefficients = tuple((23 * i + 40) % compact.field.order for i in range(n + 1))
    packed = sum(c << 6 * i for i, c in enumerate(coefficients))
    data = CompactRelease(compact, coefficients).to_bytes()
    body = packed.to_bytes(-(-6 * (n + 1) // 8), "little")
    assert body in data
    assert CompactRelease.from_bytes(data).coefficients == coefficients


SMALL = mechanism(1, 2, 1)
RELEASE = CompactRelease(SMALL, (5, 60))


@given(st.data())
def test_damaged_files_are_refused_or_read_as_written(data: st.DataObject) -> None:
    raw = bytearray(RELEASE.to_bytes())
    kind = data.draw(st.sampled_from(["cut", "flip", "more"]))
    place = data.draw(st.integers(0, len(raw) - 1))
    if kind == "cut":
        raw = raw[:place]
    elif kind == "more":
        raw += b"\x01" * (place + 1)
    else:
        raw[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(InvalidParameter) as refusal:
        CompactRelease.from_bytes(bytes(raw))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "change",
    [
        {"n": 10**9},
        {"n": "1e308"},
        {"n": 10**12},
        {"n": None},
        {"level": 30},
        {"level": 10**9},
        {"universe": "1e9999"},
        {"text": -1},
        {"text": "x"},
    ],
)
def test_headers_that_promise_too_much_are_refused_at_once(change: dict[str, Scalar]) -> None:
    assert CompactRelease.from_bytes(_FILE.pack(RELEASE._header(), b"\x05\x0f"))
    with pytest.raises(InvalidParameter, match=next(iter(change))):
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
        {"level": 99},
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
