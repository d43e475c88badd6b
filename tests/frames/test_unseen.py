"""Changes that must not show do not show, on any engine; and faults of this kind are noticed."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import dask.dataframe
import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from exactdp import InvalidParameter, frames
from exactdp.frames import bounding, columns, counting, engines
from exactdp.frames.canonical import canonical
from exactdp.frames.columns import USER
from exactdp.mechanisms.thresholded import mechanism
from tests.frames.unseen import (
    FILES,
    FRAMES,
    RELEASES,
    ROWS,
    Make,
    fixed_noise,
    rows,
    seen,
    table,
)

#: Of the default run: the other releases read rows by the same code.
_QUICK = "sums"


def _some(names: Any) -> list[Any]:
    return [n if n == _QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> Any:
    # Dask would refuse objects that are no texts
    with fixed_noise(monkeypatch), dask.config.set({"dataframe.convert-string": False}):
        yield


@cache
def _plain(release: str) -> list[Any]:
    """What a reader sees of a plain frame of polars; called with fixed noise."""
    return seen(release, FRAMES["polars"]["plain"](rows()))


def compare_with_plain(release: str, make: Make) -> None:
    """Fail if a release differs from that of a plain frame of polars."""
    assert seen(release, make(rows())) == _plain(release)


@pytest.mark.parametrize(
    "kind", [(e, n) for e, kinds in FRAMES.items() for n in kinds], ids="-".join
)
@pytest.mark.parametrize("release", _some(RELEASES))
def test_engines_types_collations_settings_and_pieces(release: str, kind: tuple[str, str]) -> None:
    engine, name = kind
    compare_with_plain(release, FRAMES[engine][name])


@pytest.mark.few(10)
@pytest.mark.parametrize("engine", FRAMES)
@pytest.mark.parametrize("change", ROWS)
@pytest.mark.parametrize("release", _some(RELEASES))
def test_rows_that_mean_the_same(release: str, engine: str, change: str) -> None:
    plain = FRAMES[engine]["plain"]
    compare_with_plain(release, lambda visits: plain(ROWS[change](visits)))


@pytest.mark.parametrize("kind", FILES)
def test_a_file_in_two_pieces(tmp_path: Path, kind: str) -> None:
    compare_with_plain("sums", lambda visits: FILES[kind](visits, tmp_path))


@pytest.mark.parametrize("engine", FRAMES)
def test_unsorted_output_is_noticed(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys in the order in which an engine meets them."""
    plain, rows_of = FRAMES[engine]["plain"], counting._of_table

    def as_met(table: Any, bounding: Any) -> list[Any]:
        met = {key: place for place, key in reversed(list(enumerate(table["_key_0"].to_pylist())))}
        return sorted(rows_of(table, bounding), key=lambda row: met[row[0]])

    compare_with_plain("geometric", plain)
    monkeypatch.setattr(counting, "_of_table", as_met)
    monkeypatch.setattr(counting, "sorted", list, raising=False)
    monkeypatch.setattr(mechanism, "in_order", list)
    monkeypatch.setattr(engines, "_in_order", lambda relation, names, types: relation)
    with pytest.raises(AssertionError):
        compare_with_plain("geometric", lambda visits: plain(ROWS["permuted"](visits)))


def _collated(rows: Any, question: Any) -> Any:
    """Pairs of user and key as the columns' collation compares them, before they become bytes."""
    pairs = rows.group_by(USER, *question.keys).agg(nw.len().alias("_rows"))
    if pairs.implementation.is_spark_like():  # which would leave a grouping out before another one
        pairs = nw.from_native(pairs.to_native().localCheckpoint())
    return canonical(pairs, question)


@pytest.mark.parametrize("kind", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "default collation"])
def test_collated_keys_are_noticed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "canonical", _collated)
    compare_with_plain("csh", FRAMES["duckdb"]["plain"])
    with pytest.raises(AssertionError):
        compare_with_plain("csh", FRAMES["duckdb"][kind])


@pytest.mark.parametrize("name", [name for name in FRAMES["pandas"] if "objects" in name])
def test_types_from_rows_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The type of a column of objects, as narwhals finds it in its rows."""
    monkeypatch.setattr(columns, "_declared", lambda frame: nw.from_native(frame))
    compare_with_plain("geometric", FRAMES["pandas"]["objects"])
    if name != "objects":
        with pytest.raises(InvalidParameter, match="of type Object"):
            compare_with_plain("geometric", FRAMES["pandas"][name])


#: Days since 1970 of the first and last dates of Python, one day further, and the ends of 32 bits.
_FAR = [-719163, -(2**31), 2932897, 2**31 - 1, 2**31 - 2, -(2**31) + 1]


@pytest.mark.parametrize("engine", FRAMES)
def test_dates_out_of_range_are_missing(engine: str) -> None:
    """Dates of DuckDB from arrow include infinity: 2^31 - 1 days."""
    ends = [date.min, date.max] * 30
    good = [(f"u{i}", "a", day, 0) for i, day in enumerate(ends)]
    far = pa.array(_FAR * 30, pa.int32()).view(pa.date32())
    names = pa.array([f"u{i}" for i in range(len(far))])
    more = {"uid": names, "url": pa.array(["a"] * len(far)), "day": far, "amount": names}
    both = pa.concat_tables([table(good).drop_columns("amount"), pa.table(more).drop("amount")])
    frame = _on(engine, both)
    totals = frames.count_users(frame, user="uid", by="day")
    assert totals.counts == {date.min: 30, date.max: 30}
    assert frames.count_users(frame, user="uid", by=["url", "day"]).counts == {
        ("a", date.min): 30,
        ("a", date.max): 30,
    }


def test_dates_of_duckdb_out_of_range_are_missing() -> None:
    days = ["infinity", "-infinity", "0044-03-15 (BC)", "10000-01-01", "5877642-06-25 (BC)"]
    rows_ = ", ".join(f"({i}, DATE '{day}')" for i, day in enumerate([*days, "2013-01-31"]))
    frame = duckdb.connect().sql(f"FROM (VALUES {rows_}) AS kept(uid, day)")
    assert frames.count_users(frame, user="uid", by="day").counts == {date(2013, 1, 31): 1}


#: Columns of amounts of 4 users, and their sums in steps of 1/4 within [-4, 4]; NaN is missing.
_AMOUNTS = {
    "doubles": (pa.array([math.nan, math.inf, -1e308, 0.3], pa.float64()), 16 - 16 + 1),
    "floats": (pa.array([math.nan, -math.inf, 3e38, 0.25], pa.float32()), -16 + 16 + 1),
    "integers": (pa.array([2**63 - 1, 2**53 + 1, -(2**63), 1], pa.int64()), 16 + 4),
    "unsigned": (pa.array([2**64 - 1, 2**53 + 1, None, 1], pa.uint64()), 16 + 16 + 4),
    "decimals": (
        pa.array(
            [Decimal(10) ** 35, Decimal(10) ** 35, None, Decimal("0.25")], pa.decimal128(38, 2)
        ),
        16 + 16 + 1,
    ),
}


@pytest.mark.parametrize("kind", _AMOUNTS)
@pytest.mark.parametrize("engine", FRAMES)
def test_numbers_out_of_range_are_clipped_or_missing(engine: str, kind: str) -> None:
    amounts, total = _AMOUNTS[kind]
    sums = {"amount": frames.Sum(-4, 4, "0.25", of="sums")}
    held = pa.table({"uid": [1, 2, 3, 4], "url": ["a"] * 4, "amount": amounts})
    totals = frames.count_users(_on(engine, held), user="uid", by="url", sums=sums)
    assert totals.sums == {"a": (total,)}


def _on(engine: str, held: Any) -> Any:
    """A table of pyarrow as a frame of an engine."""
    if engine == "polars":
        return pl.from_arrow(held)
    if engine == "duckdb":
        return duckdb.connect().from_arrow(held)
    if engine == "pyarrow":
        return held
    frame = held.to_pandas(types_mapper=pd.ArrowDtype)
    return frame if engine == "pandas" else dask.dataframe.from_pandas(frame, npartitions=2)
