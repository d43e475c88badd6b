"""The law of every client by enumeration, and the privacy that follows from it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np
import pytest

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.local.sparse.entries import checked
from exactdp.local.sparse.probability_ratio import worst_ratio
from exactdp.samplers import exact_law
from tests.local.sparse.model import (
    Outcome,
    Vector,
    answers,
    distance,
    hashed,
    report_law,
    vectors,
)

F = Fraction

#: One of every row of Table II with linear functions; large epsilon for short ranges of noise.
ROWS = {
    "event": SparseVectorMean(d=4, k=2, epsilon=14, level="event", grid=1, bins=1),
    "event, two bins": SparseVectorMean(d=2, k=2, epsilon=40, level="event", grid=1, bins=2),
    "L": SparseVectorMean(d=2, k=1, epsilon=8, L="1.5", grid=1, bins=1),
    "L, grid 2": SparseVectorMean(d=4, k=2, epsilon=12, L="0.75", grid=2, bins=1),
    "user": SparseVectorMean(d=4, k=4, epsilon=6, level="user", grid=1, bins=1, users=1),
    "user, not clipped": SparseVectorMean(d=2, k=1, epsilon=9, level="user", grid=2, bins=1),
    "event, clipped": SparseVectorMean(d=4, k=2, epsilon=14, level="event", grid=1, bins=1, clip=1),
}
SHOWN: dict[str, list[Vector]] = {
    "event": [{}, {3: F(-1)}, {0: F(1, 2), 2: F(1)}],
    "event, two bins": [{0: F(1, 3), 1: F(1)}],
    "L": vectors(2, 1, [F(i, 4) for i in range(-4, 5) if i]),
    "L, grid 2": [{1: F(1, 8), 3: F(-5, 8)}],
    "user": [{0: F(1), 1: F(1), 2: F(1), 3: F(1)}, {0: F(-1), 3: F(1, 2)}],
    "user, not clipped": [{0: F(1, 3)}],
    "event, clipped": [{0: F(1, 2), 2: F(1)}],
}


@pytest.mark.few(1)
@pytest.mark.parametrize("row", ROWS)
def test_the_client_has_the_law_of_algorithm_1(row: str) -> None:
    m = ROWS[row]
    for vector in SHOWN[row][:3]:
        law = m.law(vector)
        assert law == report_law(m, vector)


@pytest.mark.slow
def test_the_client_has_the_law_of_algorithm_1_with_four_items_in_two_bins() -> None:
    m = SparseVectorMean(d=4, k=3, epsilon=30, level="event", grid=1, bins=2)
    vector = {0: F(1, 3), 1: F(-1), 3: F(3, 4)}
    law = m.law(vector)
    assert law == report_law(m, vector)


def spread_of(laws: list[Law[Outcome]]) -> Fraction:
    """The largest ratio of two probabilities of a report."""
    outcomes = laws[0].support
    return max(max(p[y] for p in laws) / min(p[y] for p in laws) for y in outcomes)


def present(entries: tuple[Fraction, ...]) -> Vector:
    return {x: v for x, v in enumerate(entries) if v}


def test_the_user_level_row_clips() -> None:
    plan = ROWS["user"].plan
    assert plan.clip is not None
    assert plan.clip < 4


@pytest.mark.few(1)
@pytest.mark.parametrize("grid", [1, 2])
def test_event_level_reports_change_by_the_stated_ratio_at_most(grid: int) -> None:
    m = SparseVectorMean(d=2, k=2, epsilon=9, level="event", grid=grid, bins=1)
    values = [F(i, 2 * grid) for i in range(-2 * grid, 2 * grid + 1) if i]
    laws = {
        entries: report_law(m, present(entries)) for entries in product([F(0), *values], repeat=2)
    }
    largest = max(
        spread_of([law for entries, law in laws.items() if entries[kept] == value])
        for kept, value in product(range(2), values)
    )
    assert largest == m.plan.q ** (-2 * grid) <= m.e_epsilon


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("length", "grid", "k"),
    [("0.5", 1, 1), ("0.75", 2, 1), pytest.param("1.5", 1, 2, marks=pytest.mark.slow)],
)
def test_random_rounding_costs_exactly_what_is_said(length: str, grid: int, k: int) -> None:
    m = SparseVectorMean(d=2, k=k, epsilon=2, L=length, grid=grid, bins=1)
    assert m.plan.clip is None
    values = [F(i, 4 * grid) for i in range(-4 * grid, 4 * grid + 1) if i]
    laws = [(v, report_law(m, v)) for v in vectors(2, k, values)]
    largest = max(
        p[y] / q[y]
        for (v, p), (w, q) in product(laws, laws)
        if distance(v, w) <= F(length)
        for y in p.support
    )
    assert largest == worst_ratio(m.plan.q, F(length) * grid, k) <= m.e_epsilon
    # what is given away: 4% of epsilon on the coarsest grid, as F need not be what it is there
    assert float(largest) > float(m.e_epsilon) ** 0.95


@pytest.mark.slow
def test_user_level_reports_change_by_the_stated_ratio_at_most() -> None:
    m = ROWS["user"]
    largest = spread_of([report_law(m, v) for v in vectors(4, 4, [F(-1), F(1)])])
    assert m.plan.clip is not None
    assert largest == m.plan.q ** (-2 * m.plan.clip) <= m.e_epsilon


@pytest.mark.few(1)
@pytest.mark.parametrize("row", ["event", "event, two bins", "L", "user, not clipped"])
def test_one_report_has_the_vector_as_its_mean(row: str) -> None:
    m = ROWS[row]
    for vector in SHOWN[row]:
        mean, square = [F(0)] * m.d, [F(0)] * m.d
        for report, chance in report_law(m, vector).items():
            means = m.aggregate().add([report]).estimate().exact(range(m.d))
            for x, value in enumerate(means):
                mean[x] += chance * value
                square[x] += chance * value**2
        assert all(abs(mean[x] - vector.get(x, 0)) <= m.plan.bias < F(1, 2**62) for x in range(m.d))
        assert all(s - a * a <= m.plan.variance for s, a in zip(square, mean, strict=True))


KEYED = SparseVectorMean(d=4, k=4, epsilon=8, L=8, delta="0.3", hashes="keyed", grid=1, bins=1)


def test_keyed_clients_have_the_law_of_algorithm_1_given_their_functions() -> None:
    vector = {0: F(1), 1: F(-1, 2), 3: F(1)}
    values = checked([vector], d=4, k=4, grid=1)
    key = (1, 2)
    functions = np.array([key])
    place, sign = KEYED.family.places(np.repeat(functions, 4, axis=0), np.arange(4))
    places = dict(enumerate(zip(place.tolist(), sign.tolist(), strict=True)))
    law = exact_law(
        lambda source: KEYED.form.single(KEYED.respond_with(functions, values, source)[0]),
        residual=0,
    )
    assert {y[2:]: p for y, p in law.items()} == answers(KEYED, places, vector)
    assert all(y[:2] == key for y in law)


def test_uneven_bins_have_the_law_of_algorithm_1_given_their_functions() -> None:
    m = SparseVectorMean(d=4, k=1, epsilon=100, level="event", grid=1, bins=3)
    values, mixed = checked([{3: F(-1)}], d=4, k=1, grid=1), m.family.mixed(np.arange(4))  # type: ignore[union-attr]
    assert m.plan.hit == F(6, 16)
    rows = [1, 3, 2, 1, 3]
    functions, places = np.array([rows]), {3: hashed(rows, int(mixed[3]), 3)}
    law = exact_law(
        lambda source: tuple(m.respond_with(functions, values, source)[0].tolist()), residual=0
    )
    assert {y[5:]: p for y, p in law.items()} == answers(m, places, {3: F(-1)})


def whole(law: dict[Outcome, Fraction], unit: int) -> list[int]:
    """Probabilities in order of outcomes, in units."""
    return [int(law[y] * unit) for y in sorted(law)]


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_squeezed_bins_keep_epsilon_and_delta_over_all_functions(k: int) -> None:
    m = SparseVectorMean(d=k, k=k, epsilon=8, L=2 * k, delta="0.3", hashes="keyed", grid=1, bins=1)
    assert m.plan.delta == F(3, 10)
    assert m.plan.q ** (-2 * k) > m.e_epsilon  # less noise than for every function
    signed = [dict(enumerate((0, s) for s in signs)) for signs in product((-1, 1), repeat=k)]
    every = vectors(k, k, [F(-1), F(1)])
    unit = lcm(*(p.denominator for p in answers(m, signed[0], every[-1]).values()))
    laws = [[whole(answers(m, places, v), unit) for places in signed] for v in every]
    some = [laws[every.index({x: F(1) for x in range(size)})] for size in range(k + 1)]
    up, down = m.e_epsilon.numerator, m.e_epsilon.denominator
    most = 0
    for p, q in (*product(some, laws), *product(laws, some)):  # up to signs and order of items
        pairs = zip((x for law in p for x in law), (x for law in q for x in law), strict=True)
        most = max(most, sum(max(down * x - up * y, 0) for x, y in pairs))
    assert 0 < F(most, down * unit * len(signed)) <= m.plan.delta


def test_ratios_are_within_the_exponential() -> None:
    for m in (*ROWS.values(), KEYED):
        with precision(300):
            assert ball(m.e_epsilon) <= ball(m.epsilon).exp()
