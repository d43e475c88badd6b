"""Compressive privatization: law, exact privacy of the deployed matrix, recovery."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from exactdp import InvalidParameter
from exactdp.local import CompressiveResponse, HadamardResponse, MatrixResponse, State
from exactdp.local.compressive import SetResponse
from exactdp.local.public_matrices import (
    BalancedColumns,
    GivenColumns,
    HadamardColumns,
    PublicColumns,
    RandomColumns,
)
from exactdp.local.ratio import ratio_within
from exactdp.local.sparse_recovery import Lasso, Pursuit, System
from exactdp.samplers import SeededSource, exact_law

F = Fraction

NESTED = GivenColumns(np.transpose([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]))
MECHANISMS: list[SetResponse] = [
    CompressiveResponse(k=8, m=6, epsilon="0.5", seed=1),
    CompressiveResponse(k=5, m=7, epsilon=2, seed=2, ones=3),
    MatrixResponse(RandomColumns(k=8, m=9, seed=5), epsilon=1),
    MatrixResponse(RandomColumns(k=4, m=12, seed=2, share="0.3"), epsilon="1.6"),
    MatrixResponse(HadamardColumns(k=5, m=8), epsilon=1),
    MatrixResponse(NESTED, epsilon=1),
    MatrixResponse(GivenColumns([[1, 1], [0, 0], [0, 0]]), epsilon=1),
    MatrixResponse(GivenColumns([[1, -1], [-1, 1], [-1, -1], [1, -1], [1, 1]]), epsilon=1),
]
mechanisms = pytest.mark.parametrize("mechanism", MECHANISMS, ids=range(len(MECHANISMS)))


def laws(mechanism: SetResponse) -> list[Any]:
    return [mechanism.law(x) for x in range(mechanism.columns.k)]


@pytest.mark.few(2)
@mechanisms
def test_the_client_has_the_stated_law(mechanism: SetResponse) -> None:
    for value, law in enumerate(laws(mechanism)):
        assert exact_law(lambda s, v=value: mechanism.draw(v, s), residual=0) == law


@mechanisms
def test_two_users_report_independently(mechanism: SetResponse) -> None:
    last = mechanism.columns.k - 1
    law = exact_law(lambda s: tuple(mechanism.draw_many([0, last], s).tolist()), residual=0)
    assert law == mechanism.law(0).product(mechanism.law(last))


@mechanisms
def test_e_epsilon_is_the_largest_ratio_and_hardly_below_the_target(
    mechanism: SetResponse,
) -> None:
    each = laws(mechanism)
    largest = max(p[y] / q[y] for p, q in product(each, each) for y in range(mechanism.cells))
    within = ratio_within(mechanism.epsilon)
    assert largest == mechanism.e_epsilon <= within
    assert mechanism.guarantee.e_epsilon == largest
    assert (mechanism.guarantee * 2).e_epsilon == largest**2
    if largest > 1:  # one more unit would break the promise, unless r is all of e^epsilon
        unit = F(1, 10**11)
        assert mechanism.ratio == within or mechanism._loss(mechanism.ratio + 2 * unit) > within


def test_balanced_columns_lose_nothing_and_random_ones_do() -> None:
    within = ratio_within(F(1, 2))
    balanced = CompressiveResponse(k=200, m=50, epsilon="0.5", seed=3)
    assert balanced.ratio == within == balanced.e_epsilon
    random = MatrixResponse(RandomColumns(k=200, m=50, seed=3), epsilon="0.5")
    assert random.ratio < random.e_epsilon <= within
    sizes = random.columns.sizes
    small, large = int(sizes.min()), int(sizes.max())
    r = random.ratio
    assert random.e_epsilon == r * (large * r + 50 - large) / (small * r + 50 - small)


def test_hadamard_columns_are_hadamard_response() -> None:
    ours = MatrixResponse(HadamardColumns(k=6, m=8), epsilon=1)
    theirs = HadamardResponse(k=6, epsilon=1, blocks=1)
    assert [ours.law(x) for x in range(6)] == [theirs.law(x) for x in range(6)]


@pytest.mark.parametrize(
    "columns",
    [
        BalancedColumns(k=300, m=37, seed=4, ones=11),
        RandomColumns(k=300, m=37, seed=4, share="0.3"),
        HadamardColumns(k=31, m=32),
    ],
    ids=["balanced", "random", "hadamard"],
)
def test_columns_are_the_same_one_by_one_and_together(columns: PublicColumns) -> None:
    together = columns.marks(np.arange(columns.k))
    assert together.shape == (columns.k, columns.m)
    for x in (0, 7, columns.k - 1):
        assert np.array_equal(columns.marks(np.array([x]))[0], together[x])
    assert np.array_equal(columns.sizes, together.sum(axis=1))
    assert len({row.tobytes() for row in together}) == columns.k
    # alpha = 1e-9 for each row: outputs are in about as many sets as chance would have it
    share = columns.sizes.mean() / columns.m
    spread = np.abs(together.sum(axis=0)[1:] - columns.k * share).max()
    assert spread <= 6.5 * (columns.k * share * (1 - share)) ** 0.5 + 1


def test_the_public_stream_is_what_is_documented() -> None:
    import hashlib

    start = b"exactdp public columns, version 1\x00" + b"12" + b"\x00"
    raw = hashlib.shake_128(start + (5).to_bytes(8, "little")).digest(4 * 9)
    words = [int.from_bytes(raw[4 * i : 4 * i + 4], "little") for i in range(9)]
    expected = sorted(range(9), key=lambda y: (words[y], y))[:4]
    marks = BalancedColumns(k=6, m=9, seed=12, ones=4).marks(np.array([5]))[0]
    assert sorted(expected) == np.flatnonzero(marks).tolist()
    bits = RandomColumns(k=6, m=9, seed=12).marks(np.array([5]))[0]
    assert bits.tolist() == [word < 2**31 for word in words]


@pytest.mark.parametrize(
    "make",
    [
        lambda: GivenColumns([[1, 1], [0, 1]]),
        lambda: GivenColumns([[0, 1], [0, 0]]),
        lambda: GivenColumns([1, 0]),
        lambda: GivenColumns([["a", "b"], ["c", "d"]]),
        lambda: GivenColumns([[1, 0], [1]]),
        lambda: GivenColumns([[1, float("nan")], [0, 1]]),
        lambda: RandomColumns(k=500, m=3, seed=1).sizes,
        lambda: MatrixResponse(RandomColumns(k=500, m=3, seed=1), epsilon=1),
        lambda: BalancedColumns(k=5, m=4, seed=1, ones=4),
        lambda: BalancedColumns(k=5, m=4, seed=-1, ones=2),
        lambda: HadamardColumns(k=8, m=8),
        lambda: RandomColumns(k=5, m=4, seed=1, share=1),
        lambda: MatrixResponse(3, epsilon=1),
        lambda: CompressiveResponse(k=8, m=1, epsilon=1, seed=1),
        lambda: CompressiveResponse(k=1, m=8, epsilon=1, seed=1),
        lambda: CompressiveResponse(k=8, m=6, epsilon=0, seed=1),
        lambda: CompressiveResponse(k=8, m=6, epsilon=1, seed=1, ones=6),
        lambda: CompressiveResponse(k=8, m=6, epsilon=1, seed=1).draw(8, SeededSource(1)),
        lambda: Pursuit(0),
    ],
)
def test_bad_input(make: Any) -> None:
    with pytest.raises(InvalidParameter):
        make()


def planted(mechanism: SetResponse, n: int) -> tuple[Any, Any]:
    p = np.zeros(mechanism.columns.k)
    p[[3, 60, 61, 150]] = 0.4, 0.3, 0.2, 0.1
    values = np.repeat(np.arange(len(p)), np.round(p * n).astype(int))
    state = mechanism.aggregate().add(mechanism.draw_many(values, SeededSource(6)))
    return p, state


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "mechanism",
    [
        CompressiveResponse(k=200, m=64, epsilon=1, seed=9),
        MatrixResponse(RandomColumns(k=200, m=64, seed=9), epsilon=1),
        MatrixResponse(RandomColumns(k=200, m=64, seed=9, share="0.2"), epsilon=2),
    ],
)
@pytest.mark.parametrize("recovery", [Pursuit(4), Pursuit(), Lasso()], ids=str)
def test_recovery_finds_a_sparse_distribution(mechanism: SetResponse, recovery: Any) -> None:
    p, state = planted(mechanism, 100_000)
    recovered = mechanism.recover(state, recovery)
    assert set(np.flatnonzero(p)) <= set(np.flatnonzero(recovered))
    assert np.abs(recovered - p).sum() < 0.1
    for method in ("normalized", "projected"):
        estimate = state.estimate(method)
        assert estimate.sum() == pytest.approx(1)
        assert np.abs(estimate - p).sum() < 0.1


def test_recovery_is_exact_without_noise_whatever_the_sizes_of_the_sets() -> None:
    mechanism = MatrixResponse(RandomColumns(k=40, m=30, seed=8, share="0.4"), epsilon=1)
    shares = {3: F(1, 2), 17: F(1, 3), 30: F(1, 6)}
    q = [sum(w * mechanism.law(x)[y] for x, w in shares.items()) for y in range(30)]
    n = 10**12
    counts = np.array([round(n * chance) for chance in q])
    recovered = mechanism.recover(State(mechanism, counts, n), Pursuit(3))
    assert recovered == pytest.approx([float(shares.get(x, 0)) for x in range(40)], abs=1e-9)


@pytest.mark.slow
def test_pursuit_is_the_one_of_scikit_learn() -> None:
    omp = pytest.importorskip("sklearn.linear_model").orthogonal_mp
    mechanism = MatrixResponse(RandomColumns(k=200, m=64, seed=9, share="0.2"), epsilon=2)
    system = mechanism._system
    for seed, most in ((1, 1), (2, 5), (3, 16)):
        counts = np.random.default_rng(seed).integers(0, 1000, 64)
        recovered = Pursuit(most)(system, counts, int(counts.sum()))
        same = omp(system.matrix, system.measured(counts, counts.sum()), n_nonzero_coefs=most)
        assert recovered == pytest.approx(system.scale * same, rel=1e-9, abs=1e-12)


def test_the_system_is_the_centred_channel() -> None:
    mechanism = MECHANISMS[3]
    system = System.of(mechanism.columns.marks(np.arange(4)).T, float(mechanism.ratio))
    for x in range(4):
        column = system.matrix[:, x] / system.scale[x]
        expected = [float(mechanism.law(x)[y] - F(1, 12)) for y in range(12)]
        assert column == pytest.approx(expected)
        assert np.linalg.norm(system.matrix[:, x]) == pytest.approx(1)


def test_estimates_that_cannot_be_had_are_refused() -> None:
    mechanism = CompressiveResponse(k=20, m=8, epsilon=1, seed=1)
    state = mechanism.aggregate()
    with pytest.raises(InvalidParameter, match="report"):
        mechanism.recover(state)
    state.add([1, 2, 3])
    assert (state.estimate() == state.estimate("projected")).all()
    with pytest.raises(InvalidParameter, match="method"):
        state.estimate("unbiased")
    with pytest.raises(InvalidParameter, match="sparsity"):
        mechanism.recover(state, Pursuit(9))
    other = CompressiveResponse(k=20, m=8, epsilon=1, seed=2)
    with pytest.raises(InvalidParameter, match="state"):
        other.recover(state)
    with pytest.raises(InvalidParameter, match="state"):
        other.aggregate() + state
    assert mechanism.state_from_bytes(state.to_bytes()) == state
