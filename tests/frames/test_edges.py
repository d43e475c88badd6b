"""Intervals of a column of numbers as keys, against plain Python, on every engine."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import polars as pl
import pytest

from exactdp import frames
from exactdp.errors import InvalidParameter
from exactdp.samplers import SeededSource
from tests.frames.reference import ENGINES, frame_of, listed

_FAR = [None, math.nan, math.inf, -math.inf, 1e300]


def random_rows(seed: int) -> tuple[list[Any], list[float]]:
    rng = random.Random(seed)
    edges = sorted(rng.sample([-3, -1.5, 0, 0.1, 2, 2.5, 7, 10], rng.choice([2, 3, 5])))
    values = [*_FAR, *edges, *(rng.uniform(-4, 11) for _ in range(60))]
    return [(user, rng.choice("ab"), rng.choice(values)) for user in range(200)], edges


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_every_engine_counts_as_numpy_histogram(seed: int) -> None:
    rows, edges = random_rows(seed)
    finite = [v for _, _, v in rows if v is not None and math.isfinite(v)]
    numbers, _ = np.histogram(finite, edges)
    true = {lower: n for lower, n in zip(edges, numbers.tolist(), strict=False) if n}
    label = f"amount:{'..'.join(map(str, edges))}"
    for engine in ENGINES:
        frame = frame_of(engine, rows, "integers", amount="numbers")
        assert frames.count_users(frame, user="uid", by=label).counts == true, engine
        keyed = frames.KeyedHash.draw(SeededSource(1))
        pairs = listed(frames.bound_pairs(frame, user="uid", by=label, k=1, keyed=keyed))
        assert sorted({lower for _, lower in pairs}) == sorted(true), engine


def test_all_intervals_are_released_under_the_name_of_the_column() -> None:
    """Where all parts of the key have edges, the keys are public."""
    frame = pl.DataFrame({"uid": range(900), "age": [30] * 900, "pay": [1.5] * 900})
    out = frames.release(frame, user="uid", by="age:0..18..65..120", k=1, epsilon=1, delta="1e-6")
    assert out.frame.columns == ["age", "count"]
    assert out.frame["age"].to_list() == [0, 18, 65]
    assert abs(out.frame["count"][1] - 900) < 60
    by = ["age:0..18..120", "pay:0..0.5..2"]
    out = frames.release(frame, user="uid", by=by, k=1, epsilon=1, delta="1e-6")
    assert out.frame.select("age", "pay").rows() == [(0, 0), (0, 0.5), (18, 0), (18, 0.5)]


def test_other_parts_of_a_key_may_be_unknown_or_listed() -> None:
    frame = pl.DataFrame({"uid": range(900), "age": [30] * 900, "city": ["x"] * 900})
    call: dict[str, Any] = {"user": "uid", "by": ["city", "age:0..18..65"], "k": 1}
    out = frames.release(frame, **call, epsilon=1, delta="1e-6")
    assert out.frame.rows()[0][:2] == ("x", 18)
    keys = [("y", 0), ("x", 18)]
    out = frames.release(frame, **call, epsilon=1, delta="1e-6", keys=keys)
    assert [row[:2] for row in out.frame.rows()] == [("x", 18), ("y", 0)]
    with pytest.raises(InvalidParameter, match="lower edges of intervals: 0, 18"):
        frames.release(frame, **call, epsilon=1, delta="1e-6", keys=[("x", 65)])


@pytest.mark.parametrize("label", ["age:5..1", "age:1..1", "age:1..x", "age:..", "none:0..1"])
def test_impossible_edges_are_refused(label: str) -> None:
    frame = pl.DataFrame({"uid": [1], "age": [1]})
    with pytest.raises(InvalidParameter) as refusal:
        frames.count_users(frame, user="uid", by=label)
    assert refusal.value.name == "by"


def test_a_column_of_this_name_is_a_column() -> None:
    frame = pl.DataFrame({"uid": [1, 2], "age:0..1": ["x", "y"], "age": [0.5, 2]})
    assert frames.count_users(frame, user="uid", by="age:0..1").counts == {"x": 1, "y": 1}


@pytest.mark.parametrize("engine", ["duckdb", "pandas"])
def test_a_thousand_edges_are_no_deep_expression(engine: str) -> None:
    rows: list[Any] = [(user, "a", user % 999 + 0.5) for user in range(9000)]
    label = f"amount:{'..'.join(map(str, range(1000)))}"
    frame = frame_of(engine, rows, "integers", amount="numbers")
    out = frames.release(frame, user="uid", by=label, k=1, epsilon=20, delta="1e-6")
    assert [row[0] for row in listed(out.frame)] == list(range(999))


def test_edges_of_too_many_keys_are_refused() -> None:
    """A million keys take a minute; three columns of a thousand edges would fill the memory."""
    frame = pl.DataFrame({"uid": [1], "a": [1], "b": [1], "c": [1]})
    by = [f"{name}:{'..'.join(map(str, range(200)))}" for name in "abc"]
    with pytest.raises(InvalidParameter, match="got edges of 7880599 keys"):
        frames.release(frame, user="uid", by=by, k=1, epsilon=1, delta="1e-6")
    out = frames.release(frame, user="uid", by=by[:2], k=1, epsilon=1, delta="1e-6")
    assert len(out.frame) == 199**2
