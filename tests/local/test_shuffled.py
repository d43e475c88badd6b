"""Shuffled randomized response against the laws of all data sets, and of all counts."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.local import RandomizedResponse, Shuffled

Counts = tuple[int, ...]

#: Of sums of doubles.
_ROUNDING = mpf("1e-14")


def law(values: tuple[int, ...], m: RandomizedResponse) -> dict[Counts, Fraction]:
    """The law of the counts of the reports, user by user."""
    masses = {(0,) * m.k: Fraction(1)}
    for value in values:
        more: dict[Counts, Fraction] = {}
        for counts, p in masses.items():
            for y in range(m.k):
                added = (*counts[:y], counts[y] + 1, *counts[y + 1 :])
                share = m.e_epsilon if y == value else 1
                more[added] = more.get(added, Fraction(0)) + p * share / (m.e_epsilon + m.k - 1)
        masses = more
    return masses


def blanket(value: int, n: int, m: RandomizedResponse) -> dict[Counts, Fraction]:
    """The law of one report among N uniform ones, with N from Bin(n - 1, k/(r + k - 1))."""
    g = m.k / (m.e_epsilon + m.k - 1)
    masses: dict[Counts, Fraction] = {}
    for uniform in range(n):
        weight = comb(n - 1, uniform) * g**uniform * (1 - g) ** (n - 1 - uniform)
        for y in range(m.k):
            share = m.e_epsilon if y == value else 1
            own = weight * share / (m.e_epsilon + m.k - 1)
            for rest in itertools.product(range(uniform + 1), repeat=m.k):
                if sum(rest) == uniform:
                    counts = (*rest[:y], rest[y] + 1, *rest[y + 1 :])
                    ways = factorial(uniform) // prod(map(factorial, rest))
                    share = own * Fraction(ways, m.k**uniform)
                    masses[counts] = masses.get(counts, Fraction(0)) + share
    return masses


def delta(p: dict[Counts, Fraction], q: dict[Counts, Fraction], epsilon: str) -> mpf:
    e, zero = mp.exp(mpf(epsilon)), Fraction(0)
    return sum(max(number(x) - e * number(q.get(h, zero)), mpf(0)) for h, x in p.items())


def number(x: Fraction) -> mpf:
    return mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("k", "n", "report"), [(2, 1, 1), (2, 4, 2), (3, 3, 1), (4, 2, 2)])
def test_bounds_lie_around_the_worst_data_sets(k: int, n: int, report: int) -> None:
    m = RandomizedResponse(k=k, epsilon=report)
    pairs = [
        (law((x, *others), m), law((y, *others), m), others, {x, y})
        for others in itertools.combinations_with_replacement(range(k), n - 1)
        for x, y in itertools.permutations(range(k), 2)
    ]
    for epsilon in ("0", "0.1", "0.7", "1"):
        bounds = Shuffled(m, n).delta(epsilon)
        low, high = number(bounds.lower), number(bounds.upper)
        deltas = [delta(p, q, epsilon) for p, q, *_ in pairs]
        assert low - _ROUNDING <= max(deltas) <= high + _ROUNDING
        alone = max(
            d
            for d, (*_, others, changed) in zip(deltas, pairs, strict=True)
            if len({*others}) < 2 and (k == 2 or not changed & {*others})
        )
        assert abs(low - alone) < _ROUNDING
        worst = delta(blanket(0, n, m), blanket(1, n, m), epsilon) if k > 2 else max(deltas)
        r = number(m.e_epsilon)
        own = max(r - mp.exp(mpf(epsilon)), mpf(0)) / (r + k - 1)
        assert abs(high - min(worst, own)) < _ROUNDING


@pytest.mark.parametrize(("n", "report"), [(60, 1), (61, 3)])
def test_two_values_are_bounded_for_every_number_of_ones(n: int, report: int) -> None:
    m = RandomizedResponse(k=2, epsilon=report)
    p = float(m.e_epsilon) / (float(m.e_epsilon) + 1)
    for epsilon in (0.05, 0.3, 0.6):
        bounds, e, deltas = Shuffled(m, n).delta(epsilon), math.exp(epsilon), []
        for ones in range(n):
            s = np.convolve(_binomial(ones, p), _binomial(n - 1 - ones, 1 - p))
            with_, without = np.convolve(s, [1 - p, p]), np.convolve(s, [p, 1 - p])
            deltas += [
                np.maximum(a - e * b, 0).sum() for a, b in itertools.permutations((with_, without))
            ]
        assert float(bounds.lower) <= max(deltas) * (1 + 1e-9)
        assert max(deltas) * (1 - 1e-9) <= float(bounds.upper) <= 1.06 * max(deltas)


def _binomial(n: int, p: float) -> NDArray[np.float64]:
    return np.array([comb(n, h) * p**h * (1 - p) ** (n - h) for h in range(n + 1)])


@pytest.mark.parametrize("k", [3, 5])
def test_many_users_lower_bound_is_that_of_two_counts(k: int) -> None:
    """For k = 3 the two counts tell all; for k = 5 they tell less than all counts."""
    m, n = RandomizedResponse(k=k, epsilon=2), 201
    r, e = float(m.e_epsilon), math.exp(0.3)
    q, total = 1 / (r + k - 1), 0.0
    for a, b in itertools.product(range(81), repeat=2):  # larger counts are unlikely
        u = comb(n, a) * comb(n - a, b) * q ** (a + b) * (1 - 2 * q) ** (n - a - b)
        other = (n - a - b) * (k - 3) * q / (1 - 2 * q)  # on average, if all report z
        last = other + (n - a - b - other) / r
        total += max(u * (r * a + b + last - e * (a + r * b + last)) / n, 0.0)
    lower = float(Shuffled(m, n).delta("0.3").lower)
    assert lower == pytest.approx(total, rel=1e-10)


def test_epsilon_is_where_delta_is_reached() -> None:
    for k, n in ((2, 30), (3, 60), (6, 250)):
        reports = Shuffled(RandomizedResponse(k=k, epsilon=1), n)
        epsilon = reports.epsilon("1e-3")
        assert reports.delta(epsilon.upper).upper <= Fraction(1, 1000)
        assert reports.delta(epsilon.upper * Fraction(99, 100)).upper > Fraction(1, 1000)
        assert reports.delta(epsilon.lower).lower >= Fraction(1, 1000) * (1 - Fraction(1, 10**6))
        assert epsilon.upper <= Fraction(102, 100) * epsilon.lower


def test_several_collections_are_bounded() -> None:
    """Two collections of one pair of data sets leak at most the bound, and not much less."""
    m, n = RandomizedResponse(k=3, epsilon=1), 5
    bound = Shuffled(m, n).bound()
    p, q = law((0, 2, 2, 2, 2), m), law((1, 2, 2, 2, 2), m)
    twice = [{g + h: x * y for g, x in w.items() for h, y in w.items()} for w in (p, q)]
    for epsilon in ("0", "0.3", "0.9"):
        for runs, (with_, without) in ((1, (p, q)), (2, twice)):
            true = float(delta(with_, without, epsilon))
            assert true <= bound.composed(runs).delta(epsilon).upper <= 1.2 * true + 0.01


def test_extremes() -> None:
    one = RandomizedResponse(k=3, epsilon=1)
    assert Shuffled(one, 5).epsilon("0.9").upper == 0
    assert Shuffled(one, 5).delta(1).upper == 0  # a report's own guarantee
    assert Shuffled(one, 1).epsilon("1e-9").upper <= 1
    with pytest.raises(InvalidParameter, match="RandomizedResponse"):
        Shuffled(3, 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="n must be"):
        Shuffled(one, 0)
