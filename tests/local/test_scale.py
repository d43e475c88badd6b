"""Every mechanism for every small k, and states tallied on several workers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from exactdp.local import (
    CompressiveResponse,
    FrequencyOracle,
    HadamardResponse,
    LocalMechanism,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    RandomizedResponse,
    Rappor,
    SubsetSelection,
)
from exactdp.local.unary_encoding import UnaryEncoding
from exactdp.samplers import SeededSource, exact_law

KINDS: list[type[FrequencyOracle]] = [
    RandomizedResponse,
    Rappor,
    OptimizedUnaryEncoding,
    HadamardResponse,
    OptimizedLocalHashing,
    SubsetSelection,
]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
@pytest.mark.parametrize("k", range(2, 9))
@pytest.mark.parametrize("kind", KINDS)
def test_all_laws_up_to_eight_values(kind: type[FrequencyOracle], k: int, epsilon: str) -> None:
    oracle = kind(k, epsilon)
    # the values of a subset are alike, and take long
    values = range(k) if kind is not SubsetSelection or k < 6 else (k // 2,)
    laws = {v: oracle.law(v) for v in range(k)}
    for value in values:
        found = exact_law(lambda source, v=value: oracle.draw(v, source), residual=0)
        assert found == laws[value]
    pairs = product(laws.values(), repeat=2)
    assert max(p[y] / q[y] for p, q in pairs for y in p) == oracle.e_epsilon
    for value, law in laws.items():
        mean = [Fraction(0)] * k
        for report, chance in law.items():
            estimate = oracle.fractions(oracle.aggregate().add([report]))
            mean = [m + chance * z for m, z in zip(mean, estimate, strict=True)]
        assert mean == [int(x == value) for x in range(k)]


def tallied(mechanism: LocalMechanism[int], values: Any, seed: int) -> bytes:
    """The state of some users, as a worker sends it."""
    return mechanism.aggregate().add(mechanism.draw_many(values, SeededSource(seed))).to_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [HadamardResponse(k=50, epsilon=1), CompressiveResponse(k=50, m=20, epsilon=1, seed=3)],
    ids=["hadamard", "compressive"],
)
def test_two_workers_make_the_same_state_as_one(mechanism: LocalMechanism[int]) -> None:
    distributed = pytest.importorskip("distributed")
    parts = np.array_split(np.random.default_rng(1).integers(0, 50, 4000), 8)
    here = mechanism.aggregate()
    for seed, part in enumerate(parts):
        here.add(mechanism.draw_many(part, SeededSource(seed)))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        jobs = [client.submit(tallied, mechanism, part, seed) for seed, part in enumerate(parts)]
        done = [mechanism.state_from_bytes(data) for data in client.gather(jobs)]
    there = sum(done[::-1], mechanism.aggregate())
    assert there == here
    assert there.to_bytes() == here.to_bytes()


@pytest.mark.parametrize("k", [13, 16, 40])
@pytest.mark.parametrize("of", [OptimizedUnaryEncoding, Rappor])
def test_packed_rows_of_many_users(of: type[UnaryEncoding], k: int) -> None:
    """Fixed seed, alpha = 1e-6 each: own bits, all others, and none behind the last."""
    oracle, n = of(k, 1), 20_000
    values = np.arange(n) % k
    rows = oracle.draw_many(values, SeededSource(8))
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    assert not bits[:, k:].any()
    own = bits[np.arange(n), values]
    assert binomtest(int(own.sum()), n, float(oracle.kept)).pvalue > 1e-6
    rest = int(bits.sum()) - int(own.sum())
    assert binomtest(rest, n * (k - 1), float(oracle.background)).pvalue > 1e-6
    pairs = int((bits[:, 0] & bits[:, 1])[values > 1].sum())
    both = float(oracle.background) ** 2
    assert binomtest(pairs, int((values > 1).sum()), both).pvalue > 1e-6
    assert (oracle.aggregate().add(rows).counts == bits[:, :k].sum(axis=0)).all()
