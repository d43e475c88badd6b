"""Variances over users: what one user changes, every engine against Python, and stated errors."""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from exactdp.errors import InvalidParameter
from exactdp.frames import Variance, count_users, release, release_by
from exactdp.mechanisms import GSHMWithSums
from exactdp.samplers import SeededSource
from tests.frames.reference import ENGINES, Row, frame_of, listed
from tests.frames.test_values import share_and_weight

F = Fraction

_VALUES = [
    Variance(0, 20, of="users"),
    Variance(-4, 3, "0.5", of="users", missing=0),
    Variance(10, 61, of="sums"),
]


def some_rows(seed: int) -> list[Row]:
    rng = random.Random(seed)
    return [
        (u, key, rng.choice([None, *range(-6, 30)]))
        for key, users in (("a", 300), ("b", 40), ("c", 3))
        for u in range(users)
        for _ in range(rng.randint(1, 3))
    ]


def variances(value: Variance, rows: list[Row]) -> dict[Any, float]:
    """Key -> the variance over users with a value, by the statistics module."""
    amounts: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    for user, key, amount in rows:
        amounts[key, user].append(amount)
    shares: dict[Any, list[F]] = defaultdict(list)
    for (key, _), own in amounts.items():
        share, weight = share_and_weight(value, own)
        shares[key] += [share * F(value.step)] * weight
    return {key: float(statistics.pvariance(own)) for key, own in shares.items()}


@pytest.mark.parametrize("of", ["users", "sums"])
@pytest.mark.parametrize("missing", ["drop", 0, 7])
def test_one_user_changes_each_total_by_at_most_its_bound(of: str, missing: Any) -> None:
    """All users with up to two rows for a key; the bound is attained, so no smaller one holds."""
    for low, high in ((0, 8), (-3, 8), (-8, 7)):
        value = Variance(low, high, of=of, missing=missing)
        totals = value.totals("v")
        largest = [0] * len(totals)
        for n in (1, 2):
            for amounts in product([None, -20, -3, 0, 1, 3, 4, 7, 8, 30], repeat=n):
                parts = value.parts(*share_and_weight(value, list(amounts)))
                largest = [max(a, abs(b)) for a, b in zip(largest, parts, strict=True)]
        assert all(total.half >= n for total, n in zip(totals, largest, strict=True))
        assert largest[-1] == totals[-1].half


@pytest.mark.few(2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", _VALUES)
def test_every_engine_has_the_variance_of_the_statistics_module(engine: str, value: Any) -> None:
    rows = some_rows(1)
    exact = count_users(
        frame_of(engine, rows, "integers"), user="uid", by="url", means={"amount": value}
    )
    for key, variance in variances(value, rows).items():
        *_, stated = value.released(exact.sums[key], exact.counts[key])
        assert stated == pytest.approx(variance, rel=1e-12, abs=1e-12)


def test_a_release_has_a_column_of_variances() -> None:
    frame = frame_of("polars", some_rows(2), "integers")
    value = Variance(0, 20, of="users")
    out = release(
        frame, user="uid", by="url", k=3, epsilon=20, delta="1e-6", means={"amount": value}
    )
    assert out.frame.columns == ["url", "count", "amount", "amount_values", "amount_variance"]
    assert out.errors.keys() == {"amount", "amount_variance"}
    assert "squared distance of the mean of amount from 10" in out.bounds[-1]["what"]


@pytest.mark.slow
@pytest.mark.parametrize("value", _VALUES)
def test_stated_errors_hold(value: Any) -> None:
    """Of 120 releases with keys of 3 to 300 users, at most 5 % exceed their error, but for chance
    (alpha < 1e-4), and the errors of large keys say something."""
    rows = some_rows(5)
    frame, true = frame_of("polars", rows, "integers"), variances(value, rows)
    largest = tuple(total.half for total in value.totals("amount"))
    mechanism = GSHMWithSums.for_target(k=1, epsilon=4, delta="0.1", largest=largest)
    source, beyond, seen = SeededSource(7), 0, 0
    for _ in range(120):
        out = release_by(
            frame, user="uid", by="url", mechanism=mechanism, source=source, means={"amount": value}
        )
        for (key, *_, variance), error in zip(
            listed(out.frame), out.errors["amount_variance"], strict=True
        ):
            seen += key != "c"
            beyond += key != "c" and abs(variance - true[key]) > error
    assert beyond / seen <= 0.05 + 4 * (0.05 * 0.95 / seen) ** 0.5


def test_rows_and_wide_ranges_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="rows of one user depend on each other"):
        Variance(0, 9, of="rows", most=1)
    with pytest.raises(InvalidParameter, match="at most 92 680 steps apart"):
        Variance(0, 100_000, of="users")
    Variance(0, 92_680, of="users")
