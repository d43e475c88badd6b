"""Of the algorithms of StatDP and DP-Sniper the broken ones are found, the correct ones are not."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from exactdp.audit import audit_pairs
from tests.audit.broken.case import Mechanism
from tests.audit.published_algorithms import ALGORITHMS, Algorithm, rappor, sparse_vector_renewed

#: Fast ones, correct and broken.
QUICK = {"sparse vector", "histogram, scale epsilon", "noisy max, index", "sparse vector, no limit"}
SMALLEST_EXCESS = "sparse vector, noisy answers"
every = pytest.mark.parametrize(
    "one",
    [
        pytest.param(x, id=f"{x.paper} {x.name}", marks=() if x.name in QUICK else pytest.mark.slow)
        for x in sorted(ALGORITHMS, key=lambda x: x.name not in QUICK)
    ],
)


@every
def test_what_breaks_its_promise_is_found(one: Algorithm) -> None:
    samples = 1_200_000 if one.name == SMALLEST_EXCESS else 400_000
    report = audit_pairs(one.run(1), one.pairs, epsilon=one.epsilon, samples=samples)
    assert report.violation != one.keeps


def test_claims_of_rappor_are_the_loss_of_eight_bits() -> None:
    claims = {one.name: float(one.epsilon) for one in ALGORITHMS if "Rappor" in one.name}
    assert math.isclose(claims["OneTimeRappor"], 8 * math.log(0.525 / 0.475), abs_tol=1e-5)
    assert math.isclose(claims["Rappor"], 8 * math.log(0.5125 / 0.4875), abs_tol=1e-5)
    assert claims["OneTimeRappor"] > 8 * math.log(0.525 / 0.475)
    assert claims["Rappor"] > 8 * math.log(0.5125 / 0.4875)
    rows = Mechanism(partial(rappor, f=0.75, p=0.45, q=0.55), 1)((0, 1), 200_000)
    assert np.allclose(rows.mean(axis=0), [0.5125] * 2 + [0.4875] * 18, atol=0.006)


def test_a_sparse_vector_ends_after_its_last_answer() -> None:
    rows = Mechanism(partial(sparse_vector_renewed, rho=2, nu=4, most=2), 1)((1,) * 6, 2000)
    for row in rows.tolist():
        end = row.index(-1) if -1 in row else len(row)
        assert set(row[end:]) <= {-1}
        assert row[:end].count(1) == 2 if end < len(row) else row.count(1) <= 2
