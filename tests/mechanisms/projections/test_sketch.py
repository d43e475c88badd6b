"""Sketches as a user has them: queries, files, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import ALP, HistogramALP, LogALP, SignedALP, Sketch, UnitEpsilonALP
from exactdp.mechanisms.projections.files import kind
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.samplers import SeededSource, SystemSource
from tests.distributions import binomial_test

F = Fraction
GIVEN: dict[str, Any] = {"d": 2**64, "k": 20, "s": 200, "largest": 60, "epsilon": 2}
CLASSES: list[tuple[Any, dict[str, Any]]] = [
    (ALP, GIVEN),
    (SignedALP, GIVEN),
    (UnitEpsilonALP, {**GIVEN, "epsilon": 1}),
    (HistogramALP, GIVEN),
    (LogALP, {**GIVEN, "start": 2}),
]
VECTOR = {2**60 + i: 3 * i for i in range(20)}


@pytest.mark.parametrize(("of", "arguments"), CLASSES, ids=lambda x: getattr(x, "__name__", ""))
def test_round_trip_and_queries(of: Any, arguments: dict[str, Any]) -> None:
    mechanism = of(**arguments)
    sketch = mechanism.project(VECTOR, SystemSource())
    again = Sketch.from_bytes(sketch.of_texts(5).to_bytes(), of)
    assert again.mechanism == mechanism
    assert again.text == 5
    ids = [*VECTOR, 0, 1, 2**64 - 1]
    assert (again.estimate(ids) == sketch.estimate(np.array(ids, np.uint64))).all()
    assert [float(sketch[i]) for i in ids] == pytest.approx(again.estimate(ids).tolist(), rel=1e-12)
    assert again.guarantee == mechanism.guarantee
    assert again.size["array"] == 200 * mechanism.levels
    assert 8 * len(sketch.to_bytes()) <= sketch.size["array"] + sketch.size["hash functions"] + 4096
    for value in sketch.estimate(range(50)):
        assert (-60 if mechanism.signed else 0) <= value <= 60


def seeded(mechanism: Any, vector: dict[int, Any], seed: int) -> Sketch:
    """A sketch that is the same in every run."""
    source = SeededSource(seed)
    hashes = UniversalHashes.draw(mechanism.levels, mechanism.d, mechanism.s, source)
    return Sketch(mechanism, hashes, mechanism.draw(vector, hashes, source))


def test_beyond_64_bits() -> None:
    mechanism = ALP(d=2**300, k=3, s=30, largest=10, epsilon=50)
    sketch = seeded(mechanism, {2**299 + 1: "9.5", 5: 2}, 1)
    again = Sketch.from_bytes(sketch.to_bytes(), ALP)
    ids = [2**299 + 1, 5, 2**299, 2**64]
    assert again.estimate(ids) == pytest.approx([9.5, 2, 0, 0], abs=1.5)
    assert (again.estimate(ids) == sketch.estimate(ids)).all()


def test_signed_values_both_ways() -> None:
    mechanism = SignedALP(d=100, k=4, s=40, largest=10, epsilon=50)
    sketch = seeded(mechanism, {1: -9, 2: 9, 3: "-0.5", 4: 0}, 1)
    for estimates in (sketch.estimate(range(5)), sketch.difference(range(5))):
        assert estimates == pytest.approx([0, -9, 9, -0.5, 0], abs=1.5)
    with pytest.raises(InvalidParameter, match="signed"):
        ALP(**GIVEN).project({}, SystemSource()).difference([1])


def test_noise_and_set_bits_at_full_size() -> None:
    """Fixed seed, alpha = 1e-6 each: flips of empty and of set places, level by level."""
    mechanism = ALP(d=2**40, k=3000, s=7001, largest=30, epsilon=1)
    places = SeededSource(1)
    ids = {places.bits(40): 30 for _ in range(3000)}
    m, s, p = mechanism.levels, mechanism.s, float(mechanism.flip)
    hashes = UniversalHashes.draw(m, mechanism.d, s, SeededSource(2))
    bits = mechanism.draw(ids, hashes, SeededSource(3))
    array = np.unpackbits(bits, bitorder="little")[: s * m].reshape(m, s)
    keys = hashes.keys(list(ids))
    for level in range(m - 1):
        full = np.zeros(s, bool)
        full[hashes.rows(keys, level).astype(np.intp)] = True
        assert full.sum() < 3000  # some collide
        ones, zeros = int(array[level, full].sum()), int(array[level, ~full].sum())
        assert binomial_test(ones, int(full.sum()), 1 - p) > 1e-6
        assert binomial_test(zeros, int((~full).sum()), p) > 1e-6


def test_rounding_at_full_size() -> None:
    """Values of large denominators take the scalar path; their mean level is right."""
    mechanism = ALP(d=10**6, k=4000, s=9000, largest=3, epsilon="1.5")
    for denominator in (10, 3**50):
        value = F(denominator // 3, denominator)
        law = mechanism.cells.places(value)
        assert set(law) == {0, 1}
        entries = mechanism.checked(dict.fromkeys(range(4000), value))
        levels = mechanism.cells.level(entries, SeededSource(5))
        assert binomial_test(int(levels.sum()), 4000, float(law[1])) > 1e-6


MECHANISM = ALP(d=100, k=1, s=7, largest=5, epsilon=1)
SMALL = MECHANISM.project({5: 3}, SystemSource()).to_bytes()
HEADER, PAYLOAD = kind(ALP).unpack(SMALL)
PAYLOAD = bytes(PAYLOAD)


@pytest.mark.parametrize(
    ("change", "payload"),
    [
        ({"s": "1000000000"}, PAYLOAD),
        ({"largest": "1e9"}, PAYLOAD),
        ({"largest": "1e5"}, PAYLOAD),
        ({"d": "1e9999"}, PAYLOAD),
        ({"d": 2**4000}, PAYLOAD),
        ({"epsilon": "1e-9"}, PAYLOAD),
        ({"epsilon": "nan"}, PAYLOAD),
        ({"k": None}, PAYLOAD),
        ({"k": "3/2"}, PAYLOAD),
        ({"alpha": "-3"}, PAYLOAD),
        ({"text": -1}, PAYLOAD),
        ({}, PAYLOAD[:-1]),
        ({}, PAYLOAD + b"0"),
        ({}, b""),
        ({}, PAYLOAD[:-1] + b"\xff"),
    ],
    # random noise in a test's name would be another name in every worker
    ids=lambda part: "payload" if isinstance(part, bytes) else None,
)
def test_hostile_files_are_refused(change: dict[str, Any], payload: bytes) -> None:
    assert Sketch.from_bytes(kind(ALP).pack(HEADER, PAYLOAD), ALP).mechanism == MECHANISM
    with pytest.raises(InvalidParameter):
        Sketch.from_bytes(kind(ALP).pack({**HEADER, **change}, payload), ALP)
    with pytest.raises(InvalidParameter, match="kind"):
        Sketch.from_bytes(SMALL, SignedALP)


@pytest.mark.parametrize(
    ("vector", "name"),
    [
        ({1: -1}, "vector[1]"),
        ({1: 61}, "vector[1]"),
        ({1: "60.0001"}, "vector[1]"),
        ({1: float("nan")}, "vector[1]"),
        ({1: float("inf")}, "vector[1]"),
        ({1: None}, "vector[1]"),
        ({1: True}, "vector[1]"),
        ({-1: 1}, "id"),
        ({2**64: 1}, "id"),
        ({"x" * 8: 1}, "data"),
        ({None: 1}, "id"),
        ({1.5: 1}, "id"),
        ({"x": 1, b"x": 2}, "vector"),
        (dict.fromkeys(range(21), 1), "vector"),
    ],
)
def test_bad_vectors_before_anything_is_drawn(vector: dict[Any, Any], name: str) -> None:
    source = SystemSource()
    with pytest.raises(InvalidParameter) as refusal:
        ALP(**GIVEN).project(vector, source)
    assert refusal.value.name == name
    assert source.bits_used == 0


def test_more_refusals() -> None:
    mechanism = ALP(**GIVEN)
    with pytest.raises(InvalidParameter, match="counts"):
        HistogramALP(**GIVEN).project({1: "0.5"}, SystemSource())
    sketch = mechanism.project(dict.fromkeys(range(30), 0), SystemSource())
    for bad in (-1, 2**64, None, 1.5):
        with pytest.raises(InvalidParameter, match="id"):
            sketch[bad]  # type: ignore[index]
        with pytest.raises(InvalidParameter, match="id"):
            sketch.estimate([bad])  # type: ignore[list-item]
    assert sketch.estimate([]).shape == (0,)
