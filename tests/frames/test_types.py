"""Types of columns that people have: dates and times by periods, wide integers, categories."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from exactdp import InvalidParameter
from exactdp.frames import Mean, Sum, bound_pairs, count_users, release
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.samplers import SeededSource
from tests.frames.reference import listed

_DAYS = [date(1, 1, 1), date(1969, 12, 31), date(2012, 12, 31), date(9999, 12, 31)]
_DAYS += [date(2013, 1, 1) + timedelta(i) for i in range(40)]
_TIMES = [datetime(d.year, d.month, d.day, 23, 59, 59) for d in _DAYS]

_FIRST = {
    "day": lambda d: d,
    "week": lambda d: d - timedelta(d.isoweekday() - 1),
    "month": lambda d: date(d.year, d.month, 1),
    "year": lambda d: date(d.year, 1, 1),
}

#: Frame -> the same table of pyarrow as a frame.
_FRAMES: dict[str, Any] = {
    "polars": pl.from_arrow,
    "polars-lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "dask": lambda table: _dask(table.to_pandas()),
    "dask-arrow": lambda table: _dask(table.to_pandas(types_mapper=pd.ArrowDtype)),
}


def _dask(frame: Any) -> Any:
    import dask.dataframe

    return dask.dataframe.from_pandas(frame, npartitions=2)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "pandas"])
def test_the_last_nanosecond_of_a_day_before_1970_is_of_that_day(engine: str) -> None:
    """DuckDB drops nanoseconds where it takes the day of a time; 1 - 2**63 is its -infinity."""
    day = 86_400 * 10**9
    ends = [-1, -999, -1000, -1001, -day - 1, -day, day - 1, 0, 2 - 2**63]
    table = pa.table({"uid": range(len(ends)), "at": pa.array(ends, pa.timestamp("ns"))})
    expected = Counter(date(1970, 1, 1) + timedelta(end // day) for end in ends)
    frame = _FRAMES[engine](table)
    assert count_users(frame, user="uid", by="day:at").counts == expected


@pytest.mark.parametrize("period", _FIRST)
@pytest.mark.parametrize("engine", _FRAMES)
def test_dates_and_times_are_keys_by_their_periods(engine: str, period: str) -> None:
    """pandas holds dates as objects; its times are of the column's own unit."""
    for values, kind in ((_DAYS, pa.date32()), (_TIMES, pa.timestamp("us"))):
        table = pa.table({"uid": range(len(values) + 1), "at": pa.array([*values, None], kind)})
        frame, label = _FRAMES[engine](table), f"{period}:at"
        expected = Counter(map(_FIRST[period], _DAYS))
        assert count_users(frame, user="uid", by=label).counts == expected
        some = [date(2013, 1, 1) if period != "week" else date(2012, 12, 31)]
        listed_alone = count_users(frame, user="uid", by=[label], keys=[tuple(some)])
        assert listed_alone.counts == {tuple(some): expected[some[0]]}


@pytest.mark.parametrize("engine", _FRAMES)
def test_dates_come_back_as_dates(engine: str) -> None:
    at = pa.array([date(2013, 1, 1 + i % 3) for i in range(3000)], pa.date32())
    frame = _FRAMES[engine](pa.table({"uid": range(3000), "at": at}))
    out = release(frame, user="uid", by="day:at", k=1, epsilon=1, delta="1e-6")
    assert type(out.frame) is type(frame)
    assert [row[0] for row in listed(out.frame)] == [date(2013, 1, 1 + i) for i in range(3)]
    pairs = bound_pairs(
        frame, user="uid", by="month:at", k=1, keyed=KeyedHash.draw(SeededSource(1))
    )
    assert {row[1] for row in listed(pairs)} <= {date(2013, 1, 1), datetime(2013, 1, 1)}


def test_cells_of_objects_that_are_no_dates_are_missing() -> None:
    cells = [
        date(2013, 1, 31),
        "2013-01-30",
        datetime(2013, 1, 1, 5),
        "x",
        5,
        None,
        1.5,
        "2013-1-2",
    ]
    frame = pd.DataFrame(
        {"uid": range(8), "at": pd.Series([*cells[:6], pd.NaT, cells[7]], dtype=object)}
    )
    assert count_users(frame, user="uid", by="month:at").counts == {date(2013, 1, 1): 3}


BAD_KEYS: list[tuple[Any, str]] = [
    ("at", r"as in by='day:at', or week, month, year.: convert it first"),
    ("day:zoned", "of times without a time zone"),
    ("day:text", "a column of dates, or of times"),
    ("day:uid2", "a column of dates"),
    ("day:nowhere", "day:column, with one of uid, uid2"),
    ("quarter:at", "a column: one of uid"),
    (0, "a column: one of uid"),
]


@pytest.mark.parametrize(("by", "message"), BAD_KEYS)
def test_keys_that_are_none(by: Any, message: str) -> None:
    frame = pl.DataFrame({"uid": [1], "uid2": [1], "at": [_TIMES[0]], "text": ["2013-01-31"]})
    frame = frame.with_columns(zoned=pl.col("at").dt.replace_time_zone("UTC"))
    with pytest.raises(InvalidParameter, match=message):
        count_users(frame, user="uid", by=by)


def test_public_keys_are_first_days() -> None:
    frame = pl.DataFrame({"uid": [1], "at": [date(2013, 1, 31)]})
    for by, day in (("month:at", 2), ("year:at", 2), ("week:at", 1)):
        with pytest.raises(InvalidParameter, match=r"keys must be .*, as in the column"):
            count_users(frame, user="uid", by=by, keys=[date(2013, 1, day)])


def test_names_that_are_no_texts_are_refused() -> None:
    numbered = pd.DataFrame({0: [1], 1: ["a"]})
    nested = pd.DataFrame({("a", "b"): [1], ("a", "c"): ["x"]})
    for frame, user, by in ((numbered, 0, 1), (nested, "a", "b"), (nested, ("a", "b"), ("a", "c"))):
        with pytest.raises(InvalidParameter, match="columns whose names are texts: rename them"):
            count_users(frame, user=user, by=by)


def test_a_key_named_count_is_refused_in_any_case() -> None:
    frame = pl.DataFrame({"uid": [1], "Count": ["a"], "v": [1]})
    for by, more in (("Count", {}), ("v", {"sums": {"Count": Sum(0, 1, of="users")}})):
        with pytest.raises(InvalidParameter, match=r"rename them first|a column of numbers"):
            release(frame, user="uid", by=by, k=1, epsilon=1, delta="1e-6", **more)


@pytest.mark.parametrize("setting", ["true", "false"])
def test_wide_integers_of_duckdb(setting: str) -> None:
    """HUGEINT as users, keys and values: sums of DuckDB have this type."""
    connection = duckdb.connect()
    connection.execute(f"SET arrow_lossless_conversion = {setting}")
    rows = connection.sql(
        "SELECT (i % 2000)::HUGEINT AS uid, (i % 2)::HUGEINT AS url, (3 * (i % 2))::HUGEINT AS v "
        "FROM range(4000) t(i) UNION ALL SELECT 170141183460469231731687303715884105727, 0, 1 "
        "UNION ALL SELECT 1, -170141183460469231731687303715884105727, 1"
    )
    sums = {"v": Sum(0, 5, of="users")}
    exact = count_users(rows, user="uid", by="url", sums=sums)
    assert exact.counts == {0: 1000, 1: 1000}
    assert exact.sums == {0: (-2000,), 1: (1000,)}  # distances from 2
    call: dict[str, Any] = {"user": "uid", "by": "url", "k": 1, "epsilon": 1, "delta": "1e-6"}
    out = release(rows, **call, means={"v": Mean(0, 5, of="users")})
    assert [row[0] for row in out.frame.fetchall()] == [0, 1]


def test_categories_of_integers_take_integers_as_keys() -> None:
    for engine in (lambda frame: frame, _dask):
        frame = engine(pd.DataFrame({"uid": range(4), "c": pd.Categorical([1, 2, 2, 10])}))
        assert count_users(frame, user="uid", by="c", keys=[1, 2, 3]).counts == {"1": 1, "2": 2}
        assert count_users(frame, user="uid", by="c", keys=["2"]).counts == {"2": 2}
    with pytest.raises(InvalidParameter, match="keys must be text or integers"):
        count_users(frame, user="uid", by="c", keys=[1.5])


def test_a_column_of_floats_may_have_steps_of_one() -> None:
    for frame in (
        pl.DataFrame({"uid": [1, 2, 3], "url": "a", "v": [1.5, None, float("nan")]}),
        pd.DataFrame({"uid": [1, 2, 3], "url": "a", "v": [1.5, None, float("nan")]}),
    ):
        exact = count_users(frame, user="uid", by="url", sums={"v": Sum(-5, 5, of="users")})
        assert exact.sums == {"a": (2,)}
