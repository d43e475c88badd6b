"""Bounds that are known beforehand, against enumerated outcomes and deployed matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import factorial, log, prod

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import (
    CompressiveResponse,
    MatrixResponse,
    coherence,
    recovery_bound,
    unbalanced_loss,
)
from exactdp.local.compressive import SetResponse
from exactdp.local.public_matrices import GivenColumns

F = Fraction


def given(sets: list[list[int]], epsilon: str = "1") -> MatrixResponse:
    return MatrixResponse(GivenColumns(np.array(sets, bool)), epsilon=epsilon)


#: Sets of two and three of six outputs, and of one and two: the medium regime.
UNEQUAL = [[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 1], [0, 1, 0, 1, 1, 0]]
SMALL = [[1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize(("a", "b", "m"), [(1, 3, 4), (2, 4, 6), (3, 3, 6), (1, 9, 10)])
@pytest.mark.parametrize("e", [F(3, 2), F(5, 2), F(20)])
def test_the_loss_of_unequal_sets_is_attained(a: int, b: int, m: int, e: Fraction) -> None:
    """By the law of two sets: sizes (1 - beta) m/2 and (1 + beta) m/2, as far apart as they go."""
    small = [y < a for y in range(m)]
    large = [y >= m - b for y in range(m)]
    laws = []
    for marks in (small, large):
        base = sum(marks) * e + m - sum(marks)
        laws.append([(e if inside else 1) / base for inside in marks])
    ratio = max(p[y] / q[y] for p, q in product(laws, repeat=2) for y in range(m))
    beta, epsilon = F(b - a, m), F(log(e))
    stated = unbalanced_loss(epsilon, beta)
    assert stated.float_upper() == pytest.approx(log(ratio), rel=1e-11)
    assert stated.upper <= (1 + beta) * epsilon + F(1, 10**12)


@pytest.mark.parametrize("sets", [UNEQUAL, SMALL])
def test_coherence_is_that_of_centred_columns(sets: list[list[int]]) -> None:
    centred = [np.array(c) - np.mean(c) for c in sets]
    units = [c / np.linalg.norm(c) for c in centred]
    stated = max(abs(float(x @ y)) for x, y in combinations(units, 2))
    assert coherence(given(sets)).float_upper() == pytest.approx(stated, rel=1e-12)


def mean_error(mechanism: SetResponse, p: list[Fraction], n: int) -> float:
    """Of the best fit on one value, over every outcome of n reports."""
    system, m = mechanism._system, mechanism.cells
    q = [sum(w * mechanism.law(x)[y] for x, w in enumerate(p)) for y in range(m)]
    total = 0.0
    for counts in product(range(n + 1), repeat=m):
        if sum(counts) != n:
            continue
        chance = factorial(n) * prod(float(q[y]) ** c / factorial(c) for y, c in enumerate(counts))
        seen = np.array(counts) / n - 1 / m
        fits = system.matrix.T @ seen
        best = int(np.argmax(np.abs(fits)))
        estimate = np.zeros(len(p))
        estimate[best] = system.scale[best] * fits[best]
        total += chance * float(np.linalg.norm(estimate - np.array(p, float)))
    return total


@pytest.mark.parametrize("sets", [UNEQUAL, SMALL])
@pytest.mark.parametrize("n", [1, 4])
def test_no_law_on_one_value_is_further_off_in_the_mean(sets: list[list[int]], n: int) -> None:
    """Unequal sets, three of the inequalities with room: the bound is within a factor of ten."""
    mechanism = given(sets, "2")
    bound = recovery_bound(mechanism, sparsity=1, n=n).float_upper()
    errors = [
        mean_error(mechanism, [F(int(x == own)) for x in range(len(sets))], n)
        for own in range(len(sets))
    ]
    assert max(errors) <= bound < 10 * max(errors)


def test_bounds_at_full_size_and_their_limits() -> None:
    mechanism = CompressiveResponse(k=1000, m=400, epsilon=1, seed=3)
    cosine = coherence(mechanism)
    assert 0.1 < cosine.float_upper() < 0.4
    bounds = [recovery_bound(mechanism, sparsity=1, n=n).float_upper() for n in (10**6, 10**8)]
    assert bounds[0] == pytest.approx(10 * bounds[1], rel=1e-9)
    with pytest.raises(InvalidParameter, match="sparsity"):
        recovery_bound(mechanism, sparsity=20, n=10**6)
    with pytest.raises(InvalidParameter, match="sparsity"):  # two values with the same set
        recovery_bound(given([UNEQUAL[0], UNEQUAL[0]]), sparsity=1, n=10)
    with pytest.raises(InvalidParameter, match="beta"):
        unbalanced_loss(1, 1)
