"""Every mechanism for every small k, and rows of many users."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exactdp.local import (
    FrequencyOracle,
    HadamardResponse,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    RandomizedResponse,
    Rappor,
    SubsetSelection,
)
from exactdp.local.unary_encoding import UnaryEncoding
from exactdp.samplers import SeededSource, exact_law
from tests.distributions import binomial_test

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
        enumerated = exact_law(lambda source, v=value: oracle.draw(v, source), residual=0)
        assert enumerated == laws[value]
    pairs = product(laws.values(), repeat=2)
    assert max(p[y] / q[y] for p, q in pairs for y in p) == oracle.e_epsilon
    for value, law in laws.items():
        mean = [Fraction(0)] * k
        for report, chance in law.items():
            estimate = oracle.fractions(oracle.aggregate().add([report]))
            mean = [m + chance * z for m, z in zip(mean, estimate, strict=True)]
        assert mean == [int(x == value) for x in range(k)]


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
    assert binomial_test(int(own.sum()), n, float(oracle.kept)) > 1e-6
    rest = int(bits.sum()) - int(own.sum())
    assert binomial_test(rest, n * (k - 1), float(oracle.background)) > 1e-6
    pairs = int((bits[:, 0] & bits[:, 1])[values > 1].sum())
    both = float(oracle.background) ** 2
    assert binomial_test(pairs, int((values > 1).sum()), both) > 1e-6
    assert (oracle.aggregate().add(rows).counts == bits[:, :k].sum(axis=0)).all()
