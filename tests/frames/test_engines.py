"""Every engine returns what plain Python returns, row for row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from exactdp.frames import KeyedHash, Sum, bound_pairs, count_users
from exactdp.frames.cells import cells_of
from exactdp.frames.question import read_question
from exactdp.samplers import SeededSource
from tests.frames.reference import (
    ENGINES,
    Row,
    chosen,
    crowd,
    few,
    frame_of,
    listed,
    names_of,
    some_rows,
    totals,
)
from tests.frames.test_quantiles import counted, random_reading

#: Types of the user and of the columns of the key.
QUESTIONS = [
    ("integers", "text"),
    ("wide", "dates"),
    ("text", "text", "dates", "integers"),
    ("text", "integers"),
    ("text", "wide"),
    ("integers", "dates", "text"),
]


def compared(
    make: Callable[..., Any], rows: list[Row], types: tuple[str, ...], k: int, passes: int
) -> None:
    """Bounded pairs, counts and sums of a frame against the reference.

    make: what makes a frame of rows, the type of the user and those of the key.
    """
    keyed = KeyedHash.draw(SeededSource(2))
    user, *keys = types
    frame = make(rows, user, tuple(keys))
    by: Any = names_of(tuple(keys))
    own = chosen(rows, k, keyed, types)
    kept = bound_pairs(frame, user="uid", by=by, k=k, keyed=keyed)
    assert type(kept) is type(frame)
    pairs = sorted((u, *key) for u, keys in own.items() for key in keys)
    assert sorted(map(_plain, listed(kept))) == pairs
    counts, sums = totals(rows, own, 12)
    limits = {"amount": Sum(-12, 12, of="sums")}
    counters = count_users(frame, user="uid", by=by, k=k, keyed=keyed, sums=limits, passes=passes)
    assert counters.counts == counts
    assert {key: total for key, (total,) in counters.sums.items()} == sums
    assert list(counters.counts) == sorted(counts)


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Dates of pandas and DuckDB are dates of Python, or times at midnight."""
    return tuple(value.date() if hasattr(value, "date") else value for value in row)


@pytest.mark.parametrize(
    "types",
    [QUESTIONS[0], *(pytest.param(types, marks=pytest.mark.slow) for types in QUESTIONS[1:3])],
    ids="-".join,
)
@pytest.mark.parametrize("engine", few("polars", "polars-lazy"))
def test_every_engine_chooses_and_counts_the_same(engine: str, types: tuple[str, ...]) -> None:
    user, *keys = types
    compared(partial(frame_of, engine), some_rows(1, user, tuple(keys)), types, k=3, passes=1)


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_passes_count_the_same(engine: str) -> None:
    compared(partial(frame_of, engine), some_rows(3, "text"), ("text", "text"), k=2, passes=3)


@pytest.mark.slow
@pytest.mark.parametrize("engine", few("polars", "pyarrow"))
def test_one_key_of_many_is_kept_in_large_frames(engine: str) -> None:
    """100 000 pairs: pyarrow, ranked by narwhals, kept up to ten keys of a user."""
    rows = crowd(1, 20_000, 5)
    frame, keyed = frame_of(engine, rows, "integers"), KeyedHash.draw(SeededSource(2))
    bounded_frame = bound_pairs(frame, user="uid", by="url", k=1, keyed=keyed)
    kept = Counter(user for user, _ in listed(bounded_frame))
    assert len(kept) == 20_000
    assert set(kept.values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 10, 30])
@pytest.mark.parametrize("types", QUESTIONS, ids="-".join)
@pytest.mark.parametrize("engine", ENGINES)
def test_large_frames_of_every_type(engine: str, types: tuple[str, ...], k: int) -> None:
    user, *keys = types
    compared(
        partial(frame_of, engine),
        some_rows(k, user, tuple(keys), 200_000, 3000),
        types,
        k=k,
        passes=2,
    )


@pytest.fixture(scope="module")
def session() -> Any:
    sql = pytest.importorskip("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield spark
    spark.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", [1, 3, 10, 30])
@pytest.mark.parametrize("types", [q for q in QUESTIONS if "wide" not in q], ids="-".join)
def test_spark_chooses_and_counts_the_same(session: Any, types: tuple[str, ...], k: int) -> None:
    """Spark has no unsigned integers."""
    user, *keys = types

    def on_spark(rows: list[Row], user: str, keys: tuple[str, ...]) -> Any:
        table = frame_of("pyarrow", rows, user, keys)
        kinds = {"int64": "bigint", "string": "string", "date32[day]": "date"}
        schema = ", ".join(f"{field.name} {kinds[str(field.type)]}" for field in table.schema)
        return session.createDataFrame(list(zip(*table.to_pydict().values(), strict=True)), schema)

    compared(on_spark, some_rows(k, user, tuple(keys), 20_000, 900), types, k=k, passes=2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(12))
def test_spark_places_values_as_plain_python(session: Any, seed: int) -> None:
    """For quantiles, at most m values of a user."""
    rows, reading, k = random_reading(seed)
    keyed = KeyedHash.draw(SeededSource(seed))
    floats = [(u, key, None if a is None else float(a)) for u, key, a in rows]
    frame = session.createDataFrame(floats, "uid bigint, url string, amount double")
    question = read_question(frame, user="uid", by="url", passes=1 + seed % 2)
    true = counted(rows, reading, k, keyed)
    assert cells_of(question, "amount", reading, k, keyed).of_keys(true) == true
