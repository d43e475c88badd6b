"""Thresholds, noisy rows and the combined sketch: whole laws against products of plain ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.law import Law
from exactdp.mechanisms import (
    ApproximateThreshold,
    DenseLaplace,
    MaxProjection,
    NoisyRows,
    Threshold,
)
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon
from exactdp.mechanisms.projections.grid_noise import GridNoise
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.samplers import SeededSource
from tests.distributions import binomial_test, chi_square
from tests.samplers.bitwise import joint

F = Fraction


def geometric(noise: GridNoise, center: int, low: int) -> Law[int]:
    """Two-sided geometric noise around a value in steps, cut to [low, steps]: by its definition."""
    q, top = 1 / (1 + noise.rise), noise.steps
    weights = {v: (1 - q) / (1 + q) * q ** abs(v - center) for v in range(low + 1, top)}
    weights[low] = q ** (center - low) / (1 + q) if center > low else 1 - q / (1 + q)
    weights[top] = q ** (top - center) / (1 + q) if center < top else 1 - q / (1 + q)
    return Law(weights)


def noisy(noise: GridNoise, x: Fraction, low: int) -> Law[int]:
    """The same for a value between two steps."""
    place = x / noise.grid
    below, part = place // 1, place % 1
    parts = [(1 - part, int(below)), (part, int(below) + 1)]
    return Law.mixture([(w, geometric(noise, c, low)) for w, c in parts if w])


@pytest.mark.few(1)
@pytest.mark.parametrize("values", ["positive", "signed"])
@pytest.mark.parametrize("x", [{}, {1: F(1)}, {2: F(3, 2)}, {0: F(2, 3)}, {1: F(-1)}])
def test_threshold_is_noise_on_every_entry(values: str, x: dict[int, Fraction]) -> None:
    """How many zeros are stored, which, and their values: as with a draw for each entry."""
    if values == "positive" and min(x.values(), default=0) < 0:
        x = {i: -v for i, v in x.items()}
    mechanism = Threshold(d=3, k=1, largest=2, epsilon=1, t=1, grid=1, values=values)
    low = -2 if values == "signed" else 0
    plain = joint([noisy(mechanism.noise, x.get(i, F(0)), low) for i in range(3)])
    stored = plain.map(lambda vs: tuple((i, v) for i, v in enumerate(vs) if abs(v) >= 1))
    assert mechanism.law(x) == stored


def worst(laws: dict[tuple[Fraction, ...], Law[Any]]) -> Fraction:
    largest = F(1)
    for x, y in product(laws, repeat=2):
        if 0 < sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1:
            ratio = max_loss(laws[x], laws[y])
            assert isinstance(ratio, F)
            largest = max(largest, ratio)
    return largest


@pytest.mark.parametrize(
    ("k", "grid", "step"),
    [
        (1, F(1), F(1, 4)),
        (1, F(1, 2), F(1, 4)),
        pytest.param(2, F(1), F(1, 2), marks=pytest.mark.slow),
    ],
)
def test_noise_on_a_grid_costs_what_the_closed_form_says(
    k: int, grid: Fraction, step: Fraction
) -> None:
    mechanism = DenseLaplace(d=k, k=k, largest=2, epsilon=1, grid=grid)
    values = [step * n for n in range(int(2 / step) + 1)]
    ordered = combinations_with_replacement(values, k)  # entries are alike
    laws = {x: mechanism.law(dict(enumerate(x)), None) for x in ordered}
    for x, law in laws.items():
        assert law == joint([noisy(mechanism.noise, v, 0) for v in x])
    rise = mechanism.noise.rise
    stated = e_epsilon(rise / grid, rise, k)
    assert worst(laws) == stated <= mechanism.noise.e_epsilon < stated + F(1, 2**63)
    assert float(mechanism.noise.e_epsilon) <= np.exp(1.0)
    assert log(float(stated)) == pytest.approx(1, abs=1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize("values", ["positive", "signed", "counts"])
@pytest.mark.parametrize("d", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 4)), (F(2), F(1, 8))])
def test_approximate_threshold_keeps_delta(
    values: str, d: int, epsilon: Fraction, delta: Fraction
) -> None:
    """Every pair on a grid of halves: the exact delta against the stated one."""
    mechanism = ApproximateThreshold(
        d=d, k=d, largest=4, epsilon=epsilon, delta=delta, grid=1, values=values
    )
    top = [F(n, 2) for n in range(4)] if values != "counts" else [F(n) for n in range(5)]
    grid = [*top, *(-v for v in top[1:])] if values == "signed" else top
    laws = {x: mechanism.law(dict(enumerate(x))) for x in product(grid, repeat=d)}
    stated, largest = mechanism.guarantee.delta, F(0)
    base = mechanism.noise.e_epsilon
    for x, y in product(laws, repeat=2):
        if 0 < sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1:
            largest = max(largest, hockey_stick(laws[x], laws[y], e_epsilon=base).lower)
    assert largest <= stated.upper <= delta
    if mechanism.noise.rise <= 1 or values == "counts":
        assert largest >= stated.lower  # an entry of 1 against one of 0


def test_threshold2_law() -> None:
    mechanism = ApproximateThreshold(d=1, k=1, largest=4, epsilon=1, delta=F(1, 4), grid=F(1, 2))
    for x in (F(1, 3), F(1), F(5, 4), F(4)):
        start = Law({F(1): x, F(0): 1 - x}) if x < 1 else Law({x: F(1)})
        plain = start.then(lambda y: noisy(mechanism.noise, y, 0) if y else Law({-1: F(1)}))
        stored = plain.map(lambda v: ((0, v),) if v >= mechanism.least else ())
        assert mechanism.law({0: x}) == stored


@pytest.mark.parametrize("rows", [(0, 1, 1), (0, 0, 0), (1, 0, 1)])
def test_max_projection(rows: tuple[int, ...]) -> None:
    mechanism = MaxProjection(d=3, k=3, s=2, largest=2, epsilon=2, grid=1)
    x = (F(1, 2), F(2), F(1))
    largest = [max([F(0), *(x[i] for i in range(3) if rows[i] == a)]) for a in range(2)]
    law = mechanism.law(dict(enumerate(x)), Tables((rows,)))
    assert law == joint([noisy(mechanism.noise, y, 0) for y in largest])


def test_stored_zeros_of_a_huge_domain() -> None:
    """Fixed seed, alpha = 1e-6: how many, where, and how large; d is beyond every array."""
    d = 2**200
    mechanism = Threshold(d=d, k=1, largest=1000, epsilon=1, t=134, grid=F(1, 4))
    source, number, places, sizes = SeededSource(8), 0, [], []
    assert 20 < mechanism.expected_empty.lower < 200
    expected = float(mechanism.expected_empty.lower)
    for _ in range(8):
        stored = mechanism.draw({d // 2: 300}, source)
        empty = [(i, v) for i, v in stored if i != d // 2]
        number += len(empty)
        places += [i * 8 // d for i, _ in empty]
        sizes += [v for _, v in empty]
    assert abs(number - 8 * expected) < 5 * (8 * expected) ** 0.5
    assert chi_square(np.bincount(places, minlength=8), np.full(8, len(places) / 8)) > 1e-6
    more = sum(v > mechanism.least for v in sizes)
    assert binomial_test(more, number, float(1 / (1 + mechanism.noise.rise))) > 1e-6


def test_bulk_and_single_noise_have_one_law() -> None:
    """Above and below the number of draws that are made one by one; alpha = 1e-6."""
    noise = DenseLaplace(d=1, k=1, largest=2, epsilon=1, grid=1).noise
    q = 1 / (1 + noise.rise)
    chances = [q**4 / (1 + q) if abs(v) == 4 else (1 - q) / (1 + q) * q ** abs(v)
               for v in range(-4, 5)]  # fmt: skip
    for n, times in ((64, 40), (65, 80)):
        source = SeededSource(n)
        noises = np.concatenate([noise.draw(n, source) for _ in range(times)])
        assert noises.min() >= -4
        seen = [int((noises == v).sum()) for v in range(-4, 5)]
        assert chi_square(seen, np.array(chances, float) * n * times) > 1e-6


@pytest.mark.parametrize("of", [DenseLaplace, MaxProjection])
def test_rows_as_files(of: Any) -> None:
    more = {"s": 300} if of is MaxProjection else {}
    mechanism = of(d=1000, k=4, largest=100, epsilon=20, grid=F(1, 4), **more)
    source = SeededSource(1)
    hashes = mechanism.hashes(source)
    rows = NoisyRows(mechanism, hashes, mechanism.draw({5: 77, 999: "3.25"}, hashes, source))
    assert rows.estimate([5, 999]) == pytest.approx([77, 3.25], abs=3)
    data = rows.to_bytes()
    again = NoisyRows.from_bytes(data, of)
    assert again.mechanism == mechanism
    assert (again.estimate(range(1000)) == rows.estimate(range(1000))).all()
    assert float(again[5]) == again.estimate([5])[0]
    assert again.guarantee == mechanism.guarantee
    raw = bytearray(data)
    raw[-40] ^= 1
    with pytest.raises(InvalidParameter, match="checksum"):
        NoisyRows.from_bytes(bytes(raw), of)
