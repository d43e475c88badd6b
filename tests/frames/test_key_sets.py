"""Keys selected in rounds, known keys, the largest counts, and series of releases."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from exactdp import InvalidParameter, frames
from exactdp.accounting import pld
from exactdp.accounting.pld import Exhausted
from exactdp.frames.cells import cells_of
from exactdp.frames.pairs import all_pairs
from exactdp.frames.question import read_question
from exactdp.frames.reading import Reading
from exactdp.mechanisms import MAD2R, GSHMWithSums, KnownKeys, TopKWithBase
from exactdp.samplers import SeededSource
from tests.frames.reference import (
    ENGINES,
    Row,
    chosen,
    crowd,
    few,
    folded,
    frame_of,
    listed,
    names_of,
    priority,
    some_rows,
)

PLAIN = {"user": "uid", "by": "url"}


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", few("polars", "pandas"))
@pytest.mark.parametrize(
    ("user", "keys"), [("integers", ("text",)), ("text", ("dates", "text")), ("wide", ("wide",))]
)
def test_pairs_in_memory_are_those_of_plain_python(
    engine: str, user: str, keys: tuple[str, ...]
) -> None:
    rows = some_rows(3, user, keys)
    frame = frame_of(engine, rows, user, keys)
    question = read_question(frame, user="uid", by=names_of(keys), passes=2)
    keyed = frames.KeyedHash.draw(SeededSource(4))
    pairs, named = all_pairs(question, keyed)
    own = chosen(rows, 10**9, keyed, (user, *keys))
    assert len(pairs) == sum(map(len, own.values()))
    people = sorted(own, key=str if user == "wide" else None)
    keys_of: dict[Any, list[Any]] = {}
    for place in pairs.firsts(10**6).tolist():
        keys_of.setdefault(people[pairs.users[place]], []).append(named[pairs.keys[place]])
    assert keys_of == own
    person, key = people[0], own[people[0]][0]

    def text(kind: str, value: Any) -> Any:
        return str(value) if kind in ("dates", "wide") else value

    written = text(user, person), tuple(map(text, keys, key))
    first = pairs.order[(pairs.users == 0) & (pairs.keys == named.index(key))]
    assert first.tolist() == [folded(keyed, written[:1]) * keyed.p + priority(keyed, *written)]


@pytest.mark.parametrize("engine", few("polars"))
def test_every_engine_releases_the_same_keys_and_counts(engine: str) -> None:
    rows = crowd(2, 300, 7)
    mechanism = MAD2R.for_target(k=5, epsilon=4, delta="0.1", counts="1/2")
    releases = []
    for kind in ("polars", engine):
        frame = frame_of(kind, rows, "integers")
        out = frames.release_by(frame, **PLAIN, mechanism=mechanism, source=SeededSource(5))
        assert type(out.frame) is type(frame)
        assert len(out.guarantee.checked) == 3
        releases.append(listed(out.frame))
    assert releases[0] == releases[1]
    assert len(releases[0]) > 40
    assert all(abs(count - 42) < 25 for _, count in releases[0])  # 300 users, 7 of 50 keys each


@pytest.mark.slow
def test_keys_in_rounds_have_a_statement_that_holds() -> None:
    rows: list[Row] = [(u, x, 0) for u in range(500) for x in "abc"] + [(0, "secret", 0)]
    for mechanism in ("weighted", "sips", "mad2r"):
        frame = frame_of("polars", rows, "integers")
        out = frames.keys(frame, **PLAIN, k=3, epsilon=1, delta="1e-6", mechanism=mechanism)
        assert out.frame["url"].to_list() == ["a", "b", "c"]
        assert out.statement.check().verdict == "valid"
        bound = out.statement.fields["unit"]["bounds"][1]
        assert bound["what"] == "squared weights of one user in a round"


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_known_keys_are_all_released(engine: str) -> None:
    rows: list[Row] = [(u, x, 0) for u, x in product(range(200), "abc")]
    mechanism = KnownKeys.for_target(k=2, epsilon=8, delta="1e-3")
    call = {**PLAIN, "mechanism": mechanism, "keys": ["z", "a", "c"], "source": SeededSource(3)}
    frame = frame_of(engine, rows, "integers")
    out = frames.release_by(frame, **call)
    counts = dict(listed(out.frame))
    assert list(counts) == ["a", "c", "z"]
    assert abs(counts["a"] - 200) < 10
    assert abs(counts["z"]) < 10
    assert type(out.frame) is type(frame)


def test_known_keys_of_two_columns_and_their_noise() -> None:
    frame = pl.DataFrame({"uid": [1, 2], "a": ["x", "y"], "day": [date(2026, 1, 5)] * 2})
    known = list(product("xyz", [date(2026, 1, d) for d in (5, 6)]))
    out = frames.release(
        frame, user="uid", by=["a", "day"], keys=known, k=3, epsilon=1, delta="1e-6"
    )
    assert [row[:2] for row in out.frame.rows()] == known
    assert isinstance(out.mechanism, KnownKeys)
    error = out.mechanism.accuracy("0.05").per_query
    assert str(out.choice).startswith(f"known-keys: {error} users: error of one count (95 %)")
    few = frames.release(
        frame, user="uid", by=["a", "day"], keys=known[:1], k=3, epsilon=1, delta="1e-6"
    )
    assert few.mechanism.k == 1  # one key is listed


@pytest.mark.slow
def test_largest_counts() -> None:
    rows: list[Row] = [(u, f"k{j}", 0) for j in range(30) for u in range(100 * j)]
    frame = frame_of("polars", rows, "integers")
    target = {"epsilon": 2, "delta": "1e-6"}
    out = frames.release(frame, **PLAIN, top=3, **target)
    assert isinstance(out.mechanism, TopKWithBase)
    assert out.frame["url"].to_list() == ["k27", "k28", "k29"]
    assert out.base is not None
    assert abs(out.base - 2600) < 60
    assert abs(out.frame["count"][2] - 2900) < 60
    bounded = frames.release(frame, **PLAIN, top=3, k=1, **target)
    assert [each.name for each in bounded.choice.options] == ["gshm", "top-k-with-base"]
    assert len(bounded.frame) == 3


@pytest.mark.slow
def test_a_series_of_releases_has_one_price(tmp_path: Path) -> None:
    rows: list[Row] = [(u, x, 0) for u, x in product(range(900), "ab")]
    frame = frame_of("polars", rows, "integers")
    budget = pld.Budget(epsilon=3, delta="1e-6", file=tmp_path / "month.json")
    call = {**PLAIN, "k": 2, "epsilon": 2, "delta": "1e-6", "times": 3, "note": "visits"}
    for _ in range(3):
        out = frames.release(frame, **call, budget=pld.Budget.open(tmp_path / "month.json"))
        assert out.mechanism.k == 6
        assert out.guarantee.checked[1].startswith("every user counts for at most k = 2 keys")
        assert out.bounds[0]["at_most"] == 2
    assert budget.spent == {"epsilon": 2, "delta": out.guarantee.delta.upper}
    with pytest.raises(Exhausted, match="all 3 expenses of the series 'visits"):
        frames.release(frame, **call, budget=budget)
    assert len(budget.expenses) == 3  # a refused one leaves no trace
    with pytest.raises(Exhausted, match="100 was asked for"):  # less noise under the same note
        frames.release(frame, **{**call, "epsilon": 100}, budget=budget)
    with pytest.raises(Exhausted):
        frames.keys(frame, **PLAIN, k=2, epsilon=2, delta="1e-9", budget=budget)
    frames.keys(frame, **PLAIN, k=2, epsilon=1, delta="1e-17", budget=budget)
    assert [each.note for each in budget.expenses][-1] == "keys of uid by url"


def test_public_keys_may_be_read_only_once() -> None:
    frame = pl.DataFrame({"uid": [1, 2], "url": ["a", "b"]})
    call: dict[str, Any] = {**PLAIN, "k": 1, "epsilon": 1, "delta": "1e-6"}
    for keys in (iter("az"), pl.Series(["a", "z"]), np.array(["a", "z"])):
        assert frames.release(frame, **call, keys=keys).frame["url"].to_list() == ["a", "z"]


@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_thousands_of_public_keys_of_two_columns(engine: str) -> None:
    """As one condition they would be an expression of thousands of levels. Keys of which each
    column alone is public do not count."""
    rows: list[Row] = [(u, f"k{u % 1500}", u % 7, 1) for u in range(6000)]
    keys = [(f"k{i}", i % 7) for i in range(1500)]
    true = {key: users for key, users in Counter(row[1:3] for row in rows).items() if key in keys}
    frame = frame_of(engine, rows, "integers", ("text", "integers"))
    call: dict[str, Any] = {"user": "uid", "by": ["url", "day"], "keys": keys}
    assert frames.count_users(frame, **call).counts == true
    assert frames.count_users(frame, **{**call, "keys": []}).counts == {}
    question = read_question(frame, **call)
    cells = cells_of(
        question, "amount", Reading(0, 1, of="users"), 1, frames.KeyedHash(5, 1, 1, 1, 1, 1)
    )
    assert cells.of_keys(keys) == {key: {1: true[key]} if key in true else {} for key in keys}
    nothing = read_question(frame, **{**call, "keys": []})
    assert (
        cells_of(
            nothing, "amount", Reading(0, 1, of="users"), 1, frames.KeyedHash(5, 1, 1, 1, 1, 1)
        ).rows
        == []
    )


def test_a_failed_check_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from exactdp.frames import counting

    first = counting.first_keys
    monkeypatch.setattr(counting, "first_keys", lambda pairs, order, k: first(pairs, order, 9))
    budget = pld.Budget(epsilon=1, delta="1e-6")
    frame = frame_of("polars", crowd(1, 50, 6), "integers")
    with pytest.raises(frames.EngineError):
        frames.release(frame, **PLAIN, k=2, epsilon=1, delta="1e-6", budget=budget)
    assert budget.expenses == []


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_ranges_are_centred_and_means_are_near(engine: str) -> None:
    """Values from 450 to 600 around 525, of users with two rows; far ones are clipped."""
    rows: list[Row] = [(u, x, 200 + 10 * (u % 10)) for u, x in product(range(900), "ab")] * 2
    rows += [(u, "a", 9999) for u in range(90)] + [(5000, "a", None)]
    frame = frame_of(engine, rows, "integers")
    limits = {"amount": frames.Sum(450, 600, of="sums", missing=0)}
    averages = {"amount": frames.Mean(450, 600, of="sums", missing=0)}
    totals = frames.count_users(frame, **PLAIN, sums=limits)
    true = {x: [2 * (200 + 10 * (u % 10)) for u in range(900)] for x in "ab"}
    true["a"][:90] = [9999] * 90
    true["a"].append(0)
    clipped = {x: [min(max(v, 450), 600) for v in values] for x, values in true.items()}
    assert totals.counts == {"a": 901, "b": 900}
    assert totals.sums == {x: (sum(values) - 525 * len(values),) for x, values in clipped.items()}
    assert totals.checked[-1] == "sums of amount over users: sums within [450, 600]"
    mechanism = GSHMWithSums.for_target(k=2, epsilon=4, delta="1e-6", largest=(75,))
    call = {**PLAIN, "mechanism": mechanism, "source": SeededSource(1)}
    out = frames.release_by(frame, **call, means=averages)
    noise = 6 * 75 * float(mechanism.sigma) / 800  # six deviations: alpha = 1e-8
    for x, _, mean in listed(out.frame):
        assert abs(mean - sum(clipped[x]) / len(clipped[x])) < noise + 1
    sums = frames.release_by(frame, **call, sums=limits)
    for x, count, total in listed(sums.frame):
        assert abs(total - 525 * count - totals.sums[x][0]) < 6 * 75 * float(mechanism.sigma)
    assert out.bounds[1] == {
        "what": "absolute sum of amount, less 525, of one user for one key",
        "at_most": 75,
        "checked": True,
    }


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_numbers_are_rounded_to_steps(engine: str) -> None:
    """Prices in steps of 1/4 between -1 and 5; no value lies in the middle of two steps."""
    special = [math.nan, None, math.inf, -math.inf, 1e300, 0.0, 0.13, 4.9]
    rows: list[Row] = [(u, x, u * 0.37 % 4 - 1.3) for u, x in product(range(60), "ab")] * 2
    rows += [(100 + i, "a", value) for i, value in enumerate(special)]
    frame = frame_of(engine, rows, "integers", amount="numbers")

    def steps(values: list[Any]) -> int:
        known = [v for v in values if v is not None and not math.isnan(v)]
        total = sum(round(min(max(v / 0.25, -20), 20)) for v in known)
        return min(max(total, -4), 20) - 8

    of = {(u, x): [v for w, y, v in rows if (w, y) == (u, x)] for u, x, _ in rows}
    totals = frames.count_users(
        frame, **PLAIN, sums={"amount": frames.Sum(-1, 5, "0.25", of="sums")}
    )
    for key in "ab":
        assert totals.sums[key] == (sum(steps(of[u, x]) for u, x in of if x == key),)
    assert totals.checked[-1] == "sums of amount over users: sums within [-1, 5] in steps of 0.25"
    mechanism = GSHMWithSums.for_target(k=2, epsilon=4, delta="1e-6", largest=(12,), lower=1)
    call = {**PLAIN, "mechanism": mechanism, "source": SeededSource(2)}
    out = frames.release_by(frame, **call, sums={"amount": frames.Sum(-1, 5, "0.25", of="sums")})
    noise = 6 * float(mechanism.sigma) / 4  # six deviations: alpha = 1e-8
    for key, count, total in listed(out.frame):
        assert abs(total - totals.sums[key][0] / 4 - 2 * count) < 12 * noise
        assert total * 4 == round(total * 4)
    assert out.bounds[1]["what"] == (
        "absolute sum of amount, less 2, in steps of 0.25 of one user for one key"
    )


def test_ranges_that_are_none() -> None:
    ranges: list[tuple[Any, ...]] = [(5, 5), (7, 2), (0, 2**32), ("x", 3), (1, 2, 3), (0, 1, 0)]
    for ends in [*ranges, (1.5, 2)]:
        with pytest.raises(InvalidParameter, match=r"low|step"):
            frames.Mean(*ends, of="users")
    wrong: list[dict[str, Any]] = [
        {},
        {"of": "mean"},
        {"of": "users", "most": 3},
        {"of": "rows", "most": 0},
        {"of": "rows"},
        {"of": "rows", "most": 2**31},
        {"of": "rows", "most": 1, "missing": 6},
        {"of": "rows", "most": 1, "missing": "1/2"},
        {"of": "rows", "most": 1, "missing": "leave"},
    ]
    for options in wrong:
        with pytest.raises(InvalidParameter, match=r"of|most|missing"):
            frames.Mean(0, 5, **options)
    readings = 'one of "rows": over all rows, .*; "users": over users, .*; "sums": over users, '
    with pytest.raises(InvalidParameter, match=f"^of must be {readings}"):
        frames.Sum(0, 5)
