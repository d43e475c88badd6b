"""Sums and means as they are asked for: every reading, on every engine, against plain Python."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest
from narwhals import from_native as narrow

from exactdp.errors import InvalidParameter
from exactdp.frames import Mean, Sum, count_users, release, release_by
from exactdp.mechanisms import GSHMWithSums
from exactdp.samplers import SeededSource
from tests.frames.reference import ENGINES, Row, frame_of, listed

F = Fraction
_CALL: dict[str, Any] = {"user": "uid", "by": "url"}

#: Noise that is 0, but for a probability of e^-5000.
_NO_NOISE: dict[str, Any] = {"sigma": "0.01", "tau": 0, "epsilon": 10**15, "delta": "0.5"}


def rows_of(value: Any, amounts: list[Any]) -> list[int]:
    """The values of a user's rows for a key, in steps."""
    ends = [int(F(end) / F(value.step)) for end in (value.low, value.high)]
    if value.of == "sums":
        ends = [-max(map(abs, ends)), max(map(abs, ends))]
    steps = []
    for amount in amounts:
        if amount is not None and not math.isnan(amount):
            steps.append(
                math.floor(min(max(amount * float(1 / value.step), ends[0]), ends[1]) + 0.5)
            )
        elif value.missing != "drop":
            steps.append(int(F(value.missing) / F(value.step)))
    return steps


def share_and_weight(value: Any, amounts: list[Any]) -> tuple[int, int]:
    """What a user adds to the sum of a key, in steps, and to the number of values."""
    steps = rows_of(value, amounts)
    if not steps:
        return 0, 0
    if value.of == "sums":
        return min(max(sum(steps), int(value.low / value.step)), int(value.high / value.step)), 1
    weight = min(len(steps), value.most or 1)
    return math.floor(F(sum(steps), len(steps)) * weight + F(1, 2)), weight


def answer(value: Any, rows: list[Row]) -> dict[Any, tuple[F, int, int]]:
    """Key -> the sum, the number of values, and the number of users."""
    amounts: dict[tuple[Any, Any], list[Any]] = defaultdict(list)
    for user, key, amount in rows:
        if user is not None and key is not None:
            amounts[user, key].append(amount)
    totals: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (_, key), own in amounts.items():
        share, weight = share_and_weight(value, own)
        totals[key] = [a + b for a, b in zip(totals[key], (share, weight, 1), strict=True)]
    return {key: (s * F(value.step), n, users) for key, (s, n, users) in totals.items()}


def random_question(seed: int) -> tuple[list[Row], str, Any]:
    """Rows with gaps, repetitions and far values; the kind of the amounts; and a sum or mean."""
    rng = random.Random(seed)
    kind = rng.choice(["integers", "numbers"])
    step = rng.choice([1, "0.5", "0.1", 3]) if kind == "numbers" else rng.choice([1, 1, 2])
    low = rng.choice([0, -4, 2, 450]) * F(step)
    high = low + rng.choice([1, 2, 5, 7, 200]) * F(step)
    of = rng.choice(["rows", "rows", "users", "sums"])
    most = rng.choice([1, 2, 3, 5]) if of == "rows" else None
    missing = rng.choice(["drop", "drop", low, high])
    value = rng.choice([Sum, Mean])(low, high, step, of=of, missing=missing, most=most)

    def amount() -> Any:
        far = [None, None, -(10**6), 10**6]
        if kind == "numbers":
            far += [math.nan, math.inf, -math.inf]
        if rng.random() < 0.3:
            return rng.choice(far)
        near = rng.uniform(float(low) - 3, float(high) + 3)
        return round(near) if kind == "integers" else rng.choice([near, round(near * 4) / 4])

    users = rng.choice([3, 10, 30])
    rows = [
        (rng.choice([None, *range(users)]), rng.choice([None, "a", "b", "é"]), amount())
        for _ in range(rng.choice([0, 1, 20, 150]))
    ]
    return rows, kind, value


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(200))
def test_every_engine_answers_as_plain_python(seed: int) -> None:
    """Without noise, also where halves of steps are rounded."""
    rows, kind, value = random_question(seed)
    true = answer(value, rows)
    question = {"means" if isinstance(value, Mean) else "sums": {"amount": value}}
    for engine in ENGINES:
        frame = frame_of(engine, rows, "integers", amount=kind)
        exact = count_users(frame, user="uid", by="url", **question)
        assert exact.counts == {key: users for key, (_, _, users) in true.items()}, engine
        for key, users in exact.counts.items():
            total, values, _ = true[key]
            first, *number = value.released(exact.sums[key], users)
            assert number in ([], [values])
            expected = total / max(values, 1) if isinstance(value, Mean) else total
            if isinstance(value, Sum) or values:
                assert first == float(expected), engine


@pytest.mark.parametrize("step", ["0.1", "0.01", "2.5"])
def test_halves_of_steps_are_read_alike_by_every_engine(step: str) -> None:
    """An engine may divide by a step, or multiply by its inverse: 0.15/0.1 < 1.5 = 0.15 * 10."""
    value = Sum(0, 20 * F(step), step, of="users")
    rows = [(n, f"{n:03}", float((n + F(1, 2)) * F(step))) for n in range(20)]
    expected = {key: rows_of(value, [amount])[0] - 10 for _, key, amount in rows}
    for engine in ENGINES:
        frame = frame_of(engine, rows, "integers", amount="numbers")
        exact = count_users(frame, **_CALL, sums={"amount": value})
        assert {key: total for key, (total,) in exact.sums.items()} == expected, engine


@pytest.mark.parametrize("step", [F(1, 10**101), 10**101])
def test_steps_that_doubles_cannot_count_are_refused(step: Any) -> None:
    """A row of 0 would be no number of steps of 1e-400 on one engine, which refused the release."""
    with pytest.raises(InvalidParameter, match="step"):
        Sum(0, 5 * F(step), step, of="users")


@pytest.mark.few(2)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_release_has_the_sums_and_the_means(engine: str) -> None:
    """With noise of 0: a column each, and the number of values where it is not that of users."""
    rows = [(u % 40, "ab"[u % 3 == 0], u % 7 if u % 5 else None) for u in range(200)]
    frame = frame_of(engine, rows, "integers")
    value = Mean(0, 5, of="rows", most=2)
    largest = tuple(total.half for total in value.totals("amount"))
    exact = GSHMWithSums(k=9, **_NO_NOISE, largest=largest, spread="0.001")
    call: dict[str, Any] = {"user": "uid", "by": "url", "mechanism": exact}
    out = release_by(frame, **call, means={"amount": value}, source=SeededSource(1))
    true = [(key, n, float(s / v), v) for key, (s, v, n) in sorted(answer(value, rows).items())]
    assert listed(out.frame) == true
    held = out.frame.compute() if engine == "dask" else out.frame
    assert narrow(held).collect_schema().names() == ["url", "count", "amount", "amount_values"]


@pytest.mark.parametrize("of", ["rows", "users", "sums"])
@pytest.mark.parametrize("kind", [Sum, Mean])
@pytest.mark.parametrize("missing", ["drop", 0, 7])
def test_one_user_changes_each_total_by_at_most_its_bound(of: str, kind: Any, missing: Any) -> None:
    """All users with up to three rows for a key; the bound is attained, so no smaller one holds."""
    most = 2 if of == "rows" else None
    for low, high in ((0, 8), (-3, 8), (-8, 7)):
        value = kind(low, high, of=of, missing=missing, most=most)
        totals = value.totals("v")
        largest = [0] * len(totals)
        cells = [None, -20, -3, 0, 1, 7, 8, 30]
        for n in (1, 2, 3):
            for amounts in product(cells, repeat=n):
                parts = value.parts(*share_and_weight(value, list(amounts)))
                largest = [max(a, abs(b)) for a, b in zip(largest, parts, strict=True)]
        assert largest == [total.half for total in totals]


def test_the_mean_of_rows_is_not_that_of_sums_nor_of_missing_values_as_zero() -> None:
    """Three tests of each patient around 50, half of the temperatures missing."""
    rows = [(u, day, 40 + u % 21, 36.5 if u % 2 else None) for u in range(2000) for day in range(3)]
    frame = pl.DataFrame(rows, schema=["uid", "day", "hdl", "temperature"], orient="row")
    frame = frame.with_columns(url=pl.lit("laboratory"))
    call: dict[str, Any] = {"user": "uid", "by": "url", "k": 1, "epsilon": 3, "delta": "1e-6"}
    expected: list[tuple[Mean, str, float]] = [
        (Mean(0, 200, of="rows", most=3), "hdl", 50),
        (Mean(0, 200, of="users"), "hdl", 50),
        (Mean(0, 200, of="sums"), "hdl", 150),
        (Mean(30, 45, "0.1", of="rows", most=3, missing="drop"), "temperature", 36.5),
        (Mean(0, 45, "0.1", of="users", missing=0), "temperature", 18.25),
    ]
    for value, column, mean in expected:
        out = release(frame, **call, means={column: value})
        (error,) = out.errors[column]  # exceeded by 5 % of releases; three times it, by 1 of 10^8
        assert abs(out.frame[column][0] - mean) <= 3 * error < 7.5
        assert f"of {column}" in out.bounds[1]["what"]
        assert out.guarantee.checked[-1] == value.described(column)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "value",
    [
        Mean(0, 20, of="rows", most=3),
        Sum(-5, 20, of="rows", most=3),
        Mean(0, 20, "0.5", of="users", missing=0),
        Mean(0, 20, of="users"),
        Mean(10, 60, of="sums"),
        Sum(10, 60, of="sums", missing=0),
    ],
)
def test_stated_errors_hold(value: Any) -> None:
    """Of 1000 releases with keys of 3 to 300 users, at most 5 % exceed their error; and not much
    fewer than that do, where the count is large."""
    rng = random.Random(5)
    rows: list[Row] = [
        (u, key, rng.choice([None, *range(25)]))
        for key, users in (("a", 300), ("b", 40), ("c", 3))
        for u in range(users)
        for _ in range(rng.randint(1, 5))
    ]
    frame = frame_of("polars", rows, "integers")
    true = answer(value, rows)
    question = {"means" if isinstance(value, Mean) else "sums": {"amount": value}}
    largest = tuple(total.half for total in value.totals("amount"))
    noisy = GSHMWithSums(3, 4, 0, 30, "0.9999", largest=largest)
    exact = count_users(frame, user="uid", by="url", **question)
    beyond: dict[str, int] = defaultdict(int)
    source, releases = SeededSource(3), 1000
    for _ in range(releases):
        for key, first, error in _released(noisy, exact, value, source):
            total, values, _ = true[key]
            beyond[key] += (
                abs(first - float(total / (values if isinstance(value, Mean) else 1))) > error
            )
    assert max(beyond.values(), default=0) <= releases * 0.05 + 5 * math.sqrt(releases * 0.0475)


def _released(mechanism: Any, exact: Any, value: Any, source: SeededSource) -> Any:
    """Key, value and stated error of a release of these totals."""
    from exactdp.frames.assembling import errors_of, totals_of

    counters = mechanism.noisy_sums(exact.counts, exact.sums, source)
    errors = errors_of({"amount": value}, mechanism, counters)["amount"]
    ((_, totals),) = totals_of({"amount": value}, counters)
    for key, row, count, error in zip(
        counters.elements, totals, counters.numerators, errors, strict=True
    ):
        yield key, value.released(row, count)[0], error
