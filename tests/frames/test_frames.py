"""Rows to releases: every engine counts the same, and a user changes at most k counters."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import narwhals as nw
import pytest

from exactdp import InvalidParameter
from exactdp.accounting.divergence import hockey_stick
from exactdp.frames import KeyedHash, bounded, counted, draw, release
from exactdp.frames.words import text_word
from exactdp.law import Law
from exactdp.mechanisms import GSHM, GSHMWithSums, TopK
from exactdp.mechanisms.thresholded import Thresholded
from exactdp.samplers import SeededSource, Source, exact_law

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

F = Fraction
Row = tuple[Any, Any, int | None]
ENGINES = ["pandas", "pandas-arrow", "polars", "polars-lazy", "pyarrow", "duckdb", "dask"]
WARNINGS = pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")


def some_rows(seed: int, users: str, count: int = 400) -> list[Row]:
    """Random rows with repetitions, gaps, negative and large numbers, odd texts."""
    rng = random.Random(seed)
    people: list[Any] = [-5, 2**62, -(2**62), *range(40)]
    if users == "text":
        people = [f"u{x}" for x in people]
    keys = ["", "é", "x y", '"quoted", text', "0", "'", *"defgh", *"aabbcc" * 4]
    return [
        (
            rng.choice([None, *people]),
            rng.choice([None, *keys]),
            rng.choice([None, -300, 300, *range(-9, 10)]),
        )
        for _ in range(count)
    ]


def frame_of(engine: str, rows: list[Row]) -> Any:
    people = pa.int64() if rows_are_whole(rows) else pa.string()
    types = {"uid": people, "url": pa.string(), "amount": pa.int64()}
    columns = {name: [row[i] for row in rows] for i, name in enumerate(types)}
    table = pa.table(columns, schema=pa.schema(types))
    if engine == "pyarrow":
        return table
    if engine == "duckdb":
        return duckdb.from_arrow(table)
    if engine.startswith("polars"):
        made = pl.from_arrow(table)
        return made.lazy() if engine == "polars-lazy" else made
    if engine == "pandas":
        return (
            table.to_pandas()
            .astype({"uid": "Int64" if rows_are_whole(rows) else object})
            .astype({"amount": "Int64"})
        )
    arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
    if engine == "pandas-arrow":
        return arrow
    return pytest.importorskip("dask.dataframe").from_pandas(arrow, npartitions=3)


def rows_are_whole(rows: list[Row]) -> bool:
    return all(user is None or isinstance(user, int) for user, _, _ in rows)


def listed(frame: Any) -> list[tuple[Any, ...]]:
    seen = nw.from_native(frame)
    held = seen.collect() if isinstance(seen, nw.LazyFrame) else seen
    return list(zip(*(held[name].to_list() for name in held.columns), strict=True))


def folded(keyed: KeyedHash, value: Any) -> int:
    """The polynomial of the docstring, in plain integers."""
    rest = text_word(value, keyed.salt) if isinstance(value, str) else int(value)
    result = 0
    for _ in range(3):
        rest, digit = divmod(rest, keyed.p)
        result = (result * keyed.e + digit) % keyed.p
    return result


def priority(keyed: KeyedHash, user: Any, key: Any) -> int:
    u, k = folded(keyed, user), folded(keyed, key)
    s, t = keyed.a * u + keyed.b * k + keyed.c, keyed.b * u + keyed.c * k + keyed.a
    return s * s * t % keyed.p


def chosen(rows: list[Row], k: int, keyed: KeyedHash) -> dict[Any, list[Any]]:
    """The first k keys of every user, without any engine."""
    own: dict[Any, set[Any]] = {}
    for user, key, _ in rows:
        if user is not None and key is not None:
            own.setdefault(user, set()).add(key)
    return {
        user: sorted(keys, key=lambda key, u=user: (priority(keyed, u, key), key))[:k]
        for user, keys in own.items()
    }


@WARNINGS
@pytest.mark.parametrize("users", [pytest.param("whole", marks=pytest.mark.slow), "text"])
@pytest.mark.parametrize("engine", [*ENGINES[:-1], pytest.param("dask", marks=pytest.mark.slow)])
def test_every_engine_chooses_the_same_keys(engine: str, users: str) -> None:
    rows, keyed = some_rows(1, users), KeyedHash.drawn(SeededSource(2))
    frame = frame_of(engine, rows)
    found = bounded(frame, user="uid", by="url", k=3, keyed=keyed)
    assert type(found) is type(frame)
    expected = chosen(rows, 3, keyed)
    assert sorted(listed(found)) == sorted((u, x) for u, keys in expected.items() for x in keys)
    counts = Counter(x for keys in expected.values() for x in keys)
    for passes in (1, 3):
        totals = counted(frame, user="uid", by="url", k=3, keyed=keyed, passes=passes)
        assert totals.counts == counts
        assert list(totals.counts) == sorted(counts)


@WARNINGS
@pytest.mark.parametrize("engine", [*ENGINES[:-1], pytest.param("dask", marks=pytest.mark.slow)])
def test_sums_are_clipped_row_by_row_and_per_user(engine: str) -> None:
    rows, keyed = some_rows(3, "whole"), KeyedHash.drawn(SeededSource(2))
    own = chosen(rows, 2, keyed)
    expected: dict[Any, int] = Counter()
    for user, keys in own.items():
        for x in keys:
            values = [v or 0 for u, key, v in rows if (u, key) == (user, x)]
            expected[x] += max(-12, min(12, sum(max(-12, min(12, v)) for v in values)))
    found = counted(
        frame_of(engine, rows), user="uid", by="url", k=2, keyed=keyed, sums={"amount": 12}
    )
    assert {x: row[0] for x, row in found.sums.items()} == expected
    assert any(abs(v or 0) > 12 for _, _, v in rows)


@WARNINGS
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "made",
    [
        GSHM(2, 1, 3, 2, "0.9"),
        GSHMWithSums(2, 2, 3, 4, "0.999", largest=(5,)),
        TopK(4, 1, 2, 3, "0.9"),
    ],
)
def test_every_engine_releases_the_same_and_its_own_kind(engine: str, made: Thresholded) -> None:
    rows = some_rows(5, "text")
    sums = {"amount": 5} if isinstance(made, GSHMWithSums) else None
    results = []
    for kind in ("polars", engine):
        frame = frame_of(kind, rows)
        found = draw(frame, user="uid", by="url", made=made, source=SeededSource(7), sums=sums)
        assert type(found.frame) is type(frame)
        assert found.guarantee == made.guarantee()
        results.append(listed(found.frame))
    assert results[0] == results[1]
    assert len(results[0]) >= 3
    assert [row[0] for row in results[0]] == sorted(row[0] for row in results[0])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_spark_counts_the_same() -> None:
    sql = pytest.importorskip("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        for users in ("whole", "text"):
            rows, keyed = some_rows(1, users), KeyedHash.drawn(SeededSource(2))
            frame = session.createDataFrame(frame_of("pyarrow", rows))
            expected = Counter(x for keys in chosen(rows, 3, keyed).values() for x in keys)
            found = counted(frame, user="uid", by="url", k=3, keyed=keyed, passes=2)
            assert found.counts == expected
            made = GSHM(2, 1, 3, 2, "0.9")
            released = draw(frame, user="uid", by="url", made=made, source=SeededSource(7)).frame
            same = draw(
                frame_of("polars", rows), user="uid", by="url", made=made, source=SeededSource(7)
            )
            assert type(released) is type(frame)
            assert listed(released) == listed(same.frame)
    finally:
        session.stop()


@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("users", ["whole", "text"])
def test_a_user_changes_at_most_k_counters_by_one(users: str, seeds: int) -> None:
    """For every function of the family alike: no other user's choice depends on this one's rows."""
    for seed in range(seeds):
        rows, keyed = some_rows(seed, users, 120), KeyedHash.drawn(SeededSource(seed))
        everyone = counted(frame_of("polars", rows), user="uid", by="url", k=2, keyed=keyed)
        for person in {user for user, _, _ in rows if user is not None} - {rows[0][0]}:
            rest = [row for row in rows if row[0] != person]
            fewer = counted(frame_of("polars", rest), user="uid", by="url", k=2, keyed=keyed)
            lost = Counter(everyone.counts)
            lost.subtract(fewer.counts)
            assert set(lost.values()) <= {0, 1}
            assert sum(lost.values()) <= 2


def test_every_key_of_a_user_is_as_likely() -> None:
    """One user in 4000, six keys, two kept: each about a third of the time; pairs a fifteenth."""
    rows: list[Row] = [(u, x, 0) for u in range(4000) for x in "abcdef"]
    keyed = KeyedHash.drawn(SeededSource(11))
    kept: dict[int, list[str]] = {}
    for user, x in listed(
        bounded(frame_of("polars", rows), user="uid", by="url", k=2, keyed=keyed)
    ):
        kept.setdefault(user, []).append(x)
    single = Counter(x for pair in kept.values() for x in pair)
    double = Counter(tuple(sorted(pair)) for pair in kept.values())
    statistic = sum((single[x] - 8000 / 6) ** 2 / (8000 / 6) for x in "abcdef")
    assert statistic < 30  # 5 degrees of freedom: 2e-5
    assert sum((n - 4000 / 15) ** 2 / (4000 / 15) for n in double.values()) < 55  # 14: 1e-6
    assert len(double) == 15


def release_law(rows: list[Row], made: GSHM, prime: int) -> Law[Any]:
    """The exact law of a release: every function of the family, then every noise."""

    def counts(source: Source) -> tuple[tuple[Any, int], ...]:
        keyed = KeyedHash.drawn(source, prime)
        found = counted(frame_of("polars", rows), user="uid", by="url", k=made.k, keyed=keyed)
        return tuple(found.counts.items())

    return exact_law(counts, residual=0).then(lambda items: made.law(dict(items), residual="1e-3"))


@pytest.mark.slow
@pytest.mark.parametrize("prime", [2, 3])
def test_the_exact_law_of_bounding_counting_and_release_keeps_the_promise(prime: int) -> None:
    made = GSHM(1, "0.5", 0, 3, "0.2")
    others: list[Row] = [("u", "a", 0), ("u", "a", 0)]
    person: list[Row] = [("v", "a", 0), ("v", "b", 0), ("v", "b", 0)]
    laws = [release_law(rows, made, prime) for rows in (others, others + person)]
    assert len(laws[1]) > 4
    promise = made.guarantee().delta.upper
    largest = F(0)
    for p, q in (laws, laws[::-1]):
        found = hockey_stick(p, q, epsilon=F(made.epsilon))
        assert found.lower <= promise
        largest = max(largest, found.lower)
    assert largest > promise / 20
    # without bounding the same mechanism does not keep it
    unbounded = [
        made.law(counted(frame_of("polars", rows), user="uid", by="url").counts, residual="1e-3")
        for rows in ([], person)
    ]
    assert hockey_stick(unbounded[1], unbounded[0], epsilon=3).lower > promise


def test_release_keeps_a_target_and_refuses_other_randomness() -> None:
    rows: list[Row] = [(u, x, 3) for u, x in product(range(600), "ab")]
    frame = frame_of("polars", rows)
    names = {"user": "uid", "by": "url"}
    for mechanism, sums in (("gshm", None), ("gshm", {"amount": 4}), ("csh", None)):
        made = release(frame, **names, k=2, epsilon=2, delta="1e-6", mechanism=mechanism, sums=sums)
        assert made.guarantee.delta.upper <= F("1e-6")
        assert made.guarantee.epsilon == 2
        assert [row[0] for row in listed(made.frame)] == ["a", "b"]
        assert all(abs(row[1] - 600) < 120 for row in listed(made.frame))
    with pytest.raises(InvalidParameter, match="source"):
        release(frame, **names, k=2, epsilon=2, delta="1e-6", source=SeededSource(1))


def test_only_public_keys_are_released() -> None:
    rows: list[Row] = [(u, x, 0) for u, x in product(range(50), "abc")]
    found = counted(frame_of("polars", rows), user="uid", by="url", keys=["c", "z", "a"])
    assert found.counts == {"a": 50, "c": 50}


BAD_CALLS: list[tuple[dict[str, Any], str]] = [
    ({"user": "nobody"}, "user must be a column"),
    ({"by": "uid"}, "by must be another column than the user's, uid"),
    ({"by": "share"}, "by must be a column of integers or of text"),
    ({"sums": {"share": 3}}, "a column of signed integers"),
    ({"sums": {"amount": 0}}, "sums"),
    ({"sums": {"amount": 2**40}}, "sums"),
    ({"mechanism": "laplace"}, "mechanism must be one of"),
    ({"mechanism": "csh", "sums": {"amount": 3}}, "for sums"),
    ({"k": 0}, "k must be"),
    ({"delta": 0}, "delta must be"),
    ({"passes": 0}, "passes must be"),
    ({"frame": {"uid": [1]}}, "frame must be"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CALLS)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    frame = pl.DataFrame({"uid": [1, 2], "url": ["a", "b"], "amount": [1, 2], "share": [0.5, 1.5]})
    call = {"frame": frame, "user": "uid", "by": "url", "k": 2, "epsilon": 1, "delta": "1e-6"}
    with pytest.raises(InvalidParameter, match=message):
        release(**{**call, **change})


def test_an_empty_frame_releases_an_empty_frame() -> None:
    frame = pl.DataFrame({"uid": [], "url": []}, schema={"uid": pl.Int64, "url": pl.String})
    found = release(frame, user="uid", by="url", k=2, epsilon=1, delta="1e-6")
    assert listed(found.frame) == []
    assert found.frame.columns == ["url", "count"]


def test_large_unsigned_users_are_counted() -> None:
    users = pl.Series([2**64 - 1, 2**64 - 1, 2**63, 5], dtype=pl.UInt64)
    frame = pl.DataFrame({"uid": users, "url": ["a", "b", "a", "a"]})
    keyed = KeyedHash.drawn(SeededSource(1))
    found = counted(frame, user="uid", by="url", k=1, keyed=keyed)
    assert sum(found.counts.values()) == 3
    with pytest.raises(InvalidParameter, match="by must be"):
        counted(frame, user="url", by="uid")


def test_a_release_says_what_it_is() -> None:
    made = GSHM(2, 1, 3, 2, "0.9")
    frame = frame_of("polars", some_rows(5, "text"))
    found = draw(frame, user="uid", by="url", made=made, source=SeededSource(7))
    *_, name, promise = str(found).splitlines()
    assert name == "GSHM, k = 2, sigma = 1, counts above 4"
    assert promise == str(made.guarantee())
    assert "changing at most k = 2 counters by one" in promise


def test_a_column_that_cannot_be_summed_is_named_with_its_type() -> None:
    frame = frame_of("polars", some_rows(5, "text"))
    with pytest.raises(InvalidParameter, match="got 'url of type String'"):
        release(frame, user="uid", by="url", k=1, epsilon=1, delta="0.1", sums={"url": 3})


@WARNINGS
@pytest.mark.parametrize("engine", ENGINES)
def test_public_keys_are_of_the_type_of_the_column(engine: str) -> None:
    # users as keys: they are whole numbers
    rows = [(user, f"r{i}", 1) for i, user in enumerate([1, 1, 2, 3])]
    frame = frame_of(engine, rows)
    for keys in ([1, 3, 7], ["1", "3", "7"], [1.0, "3"]):
        assert counted(frame, user="url", by="uid", keys=keys).counts == {1: 2, 3: 1}
    for keys in (["a"], [1.5], [None], [2**63], "13"):
        with pytest.raises(InvalidParameter, match=r"^keys must be"):
            counted(frame, user="url", by="uid", keys=keys)
    for keys in ([1], [None, "r1"], "r1"):
        with pytest.raises(InvalidParameter, match=r"^keys must be"):
            counted(frame, user="uid", by="url", keys=keys)
