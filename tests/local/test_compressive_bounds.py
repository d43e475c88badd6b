"""Bounds that are known beforehand, against enumerated outcomes and deployed matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import factorial, log, prod

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import (
    Certificate,
    CompressivePlan,
    CompressiveResponse,
    MatrixResponse,
    coherence,
    recovery_bound,
    unbalanced_loss,
)
from exactdp.local.compressive import SetResponse
from exactdp.local.public_matrices import GivenColumns, RandomColumns
from exactdp.local.sparse_recovery import System
from exactdp.samplers import SeededSource

F = Fraction


def mechanism_of(sets: list[list[int]], epsilon: str = "1") -> MatrixResponse:
    return MatrixResponse(GivenColumns(np.array(sets, bool).T), epsilon=epsilon)


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
    assert coherence(mechanism_of(sets)).float_upper() == pytest.approx(stated, rel=1e-12)


def mean_error(mechanism: SetResponse, p: list[Fraction], n: int) -> float:
    """Of the best fit on one value, over every outcome of n reports."""
    marks, m = mechanism.columns.marks(np.arange(len(p))), mechanism.cells
    system = System.of(marks.T, float(mechanism.ratio))
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
    mechanism = mechanism_of(sets, "2")
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
        recovery_bound(mechanism_of([UNEQUAL[0], UNEQUAL[0]]), sparsity=1, n=10)
    with pytest.raises(InvalidParameter, match="beta"):
        unbalanced_loss(1, 1)


MATRICES: dict[str, SetResponse] = {
    "balanced": CompressiveResponse(k=40, m=60, epsilon=2, seed=5),
    "random": MatrixResponse(RandomColumns(k=40, m=60, seed=5, share="0.4"), epsilon=2),
}


def exact_means(mechanism: SetResponse, p: list[F]) -> np.ndarray:
    """q - 1/m, by the laws of the reports."""
    laws = [(share, mechanism.law(x)) for x, share in enumerate(p) if share]
    m = mechanism.cells
    return np.array([float(sum(w * law[y] for w, law in laws) - F(1, m)) for y in range(m)])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("seed", range(4))
def test_the_certificate_holds_for_exact_frequencies(name: str, seed: int) -> None:
    """Any distribution, spread ones too: the share outside, and what it adds to each value."""
    mechanism, rng = MATRICES[name], np.random.default_rng(seed)
    support = sorted(rng.choice(40, 3, replace=False).tolist())
    certificate = Certificate.of(mechanism, support)
    weights = rng.integers(0, 50, 40) * (rng.random(40) < 0.2)
    weights[support] += 20 * rng.integers(0, 30, 3)
    p = [F(int(w), int(weights.sum())) for w in weights]
    seen, outside = exact_means(mechanism, p), float(1 - sum(p[x] for x in support))
    high, low, _ = certificate._levels
    assert outside <= (high - certificate._separator @ seen) / (high - low) + 1e-12
    leaks, together, unequal = certificate._leaks
    errors = certificate._dual.T @ seen - np.array([float(p[x]) for x in support])
    assert (abs(errors) <= leaks * outside + unequal).all()
    assert np.linalg.norm(errors) <= together * outside + 2 * unequal
    products = certificate._products(certificate._separator)
    worst = max(set(range(40)) - set(support), key=lambda z: products[z])
    point = exact_means(mechanism, [F(int(x == worst)) for x in range(40)])
    assert high - certificate._separator @ point == pytest.approx(high - low)  # attained


@pytest.mark.parametrize("spread", [False, True])
def test_certified_shares_are_as_near_as_stated(spread: bool) -> None:
    """Fixed seed, 40 runs at beta = 1/20: none of the bounds fails (they are not tight)."""
    mechanism, support, n = MATRICES["balanced"], (3, 17, 30), 3000
    p = np.array([0.002 * spread] * 40)
    p[list(support)] = (1 - p.sum() + p[list(support)].sum()) * np.array([0.5, 0.3, 0.2])
    certificate, rng = Certificate.of(mechanism, support), np.random.default_rng(1)
    for run in range(40):
        values = rng.choice(40, n, p=p)
        state = mechanism.aggregate().add(mechanism.draw_many(values, SeededSource(run)))
        estimate = certificate.shares(state, "0.05")
        assert (abs(estimate.shares - p[list(support)]) <= estimate.within).all()
        outside = 1 - p[list(support)].sum()
        assert outside <= estimate.outside < 1
        error = abs(estimate.shares - p[list(support)]).sum() + outside
        assert error <= estimate.l1
        assert spread or error <= certificate.l1(n, "0.05")


def test_deviations_are_bernstein_bounds() -> None:
    """Binomial tails by their terms: an output that has the largest probability, r/N."""
    certificate = Certificate.of(MATRICES["balanced"], [0])
    u, q = np.zeros(60), certificate._largest
    u[7] = 1
    for n in (20, 200):
        t = certificate._deviation(u, n, log(20))
        tail = sum(
            factorial(n) // factorial(c) // factorial(n - c) * q**c * (1 - q) ** (n - c)
            for c in range(n + 1)
            if abs(c / n - q) > t
        )
        assert tail <= 2 / 20


@pytest.mark.parametrize(
    ("sparsity", "error"), [(10, 0.15), pytest.param(25, 0.5, marks=pytest.mark.slow)]
)
def test_the_size_of_the_paper_is_covered(sparsity: int, error: float) -> None:
    """k = 10 000 and m = 500, and 10^7 users."""
    mechanism = CompressiveResponse(k=10_000, m=500, epsilon="0.5", seed=1)
    assert 0.9 * error < Certificate.of(mechanism, range(sparsity)).l1(10**7, "0.05") < error


def test_a_plan_keeps_its_target() -> None:
    arguments: dict[str, object] = {"k": 200, "epsilon": 1}
    plan = CompressivePlan.for_target(**arguments, sparsity=3, error="0.2")  # type: ignore[arg-type]
    certificate = Certificate.of(plan.mechanism, range(3))
    assert (
        certificate.l1(plan.users, "0.05") <= 0.2 < certificate.l1(plan.users * 99 // 100, "0.05")
    )
    back = CompressivePlan.for_target(**arguments, sparsity=3, users=plan.users)  # type: ignore[arg-type]
    assert back == plan
    more = CompressivePlan.for_target(**arguments, users=4 * plan.users, error="0.2")  # type: ignore[arg-type]
    assert more.sparsity > 3
    assert more.error <= 0.2
    for wrong in (
        {"sparsity": 3},
        {"sparsity": 3, "users": 1, "error": 1},
        {"sparsity": 0, "users": 9},
    ):
        with pytest.raises(InvalidParameter, match="sparsity"):
            CompressivePlan.for_target(**arguments, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="error"):
        CompressivePlan.for_target(**arguments, users=10, error="0.1")  # type: ignore[arg-type]


@pytest.mark.parametrize("support", [[], [1, 1], [40], list(range(31))])
def test_supports_that_are_refused(support: list[int]) -> None:
    with pytest.raises(InvalidParameter):
        Certificate.of(MATRICES["balanced"], support)
