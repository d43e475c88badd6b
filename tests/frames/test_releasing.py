"""From rows to a release: the caller's kind of frame, the promised law, and clear errors."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import product
from typing import Any

import polars as pl
import pytest

from exactdp import InvalidParameter
from exactdp.accounting.divergence import hockey_stick
from exactdp.frames import KeyedHash, Mean, Sum, bound_pairs, count_users, release, release_by
from exactdp.law import Law
from exactdp.mechanisms import GSHM, GSHMWithSums, KnownKeys, TopK
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.samplers import SeededSource, Source, exact_law
from tests.frames.reference import ENGINES, Row, few, frame_of, listed, some_rows

F = Fraction

#: One key of each user, and sums up to 1.
_SMALL: dict[str, Any] = {"k": 1, "epsilon": 1, "delta": "1e-6"}


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "mechanism",
    [
        GSHM(2, 1, 3, 2, "0.9"),
        GSHMWithSums(2, 2, 3, 4, "0.999", largest=(5,)),
        TopK(4, 1, 2, 3, "0.9"),
    ],
)
def test_every_engine_releases_the_same_and_its_own_kind(
    engine: str, mechanism: Thresholded
) -> None:
    rows = some_rows(5, "text")
    sums = {"amount": Sum(-5, 5, of="sums")} if isinstance(mechanism, GSHMWithSums) else None
    results = []
    for kind in ("polars", engine):
        frame = frame_of(kind, rows, "text")
        released = release_by(
            frame, user="uid", by="url", mechanism=mechanism, source=SeededSource(7), sums=sums
        )
        assert type(released.frame) is type(frame)
        assert released.guarantee.delta == mechanism.guarantee.delta
        results.append(listed(released.frame))
    assert results[0] == results[1]
    assert len(results[0]) >= 3
    assert [row[0] for row in results[0]] == sorted(row[0] for row in results[0])


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("users", ["integers", "text"])
def test_a_user_changes_at_most_k_counters_by_one(users: str, seeds: int) -> None:
    """For every function of the family alike: no other user's choice depends on this one's rows."""
    for seed in range(seeds):
        rows = some_rows(seed, users, count=120)
        keyed = KeyedHash.draw(SeededSource(seed))
        everyone = count_users(
            frame_of("polars", rows, users), user="uid", by="url", k=2, keyed=keyed
        )
        for person in {user for user, _, _ in rows if user is not None} - {rows[0][0]}:
            rest = [row for row in rows if row[0] != person]
            fewer = count_users(
                frame_of("polars", rest, users), user="uid", by="url", k=2, keyed=keyed
            )
            lost = Counter(everyone.counts)
            lost.subtract(fewer.counts)
            assert set(lost.values()) <= {0, 1}
            assert sum(lost.values()) <= 2


def test_every_key_of_a_user_is_as_likely() -> None:
    """Of 1500 users with six keys two are kept: each a third of the time; each pair a fifteenth."""
    rows: list[Row] = [(u, x, 0) for u in range(1500) for x in "abcdef"]
    keyed = KeyedHash.draw(SeededSource(11))
    kept: dict[int, list[str]] = {}
    for user, x in listed(
        bound_pairs(frame_of("polars", rows, "integers"), user="uid", by="url", k=2, keyed=keyed)
    ):
        kept.setdefault(user, []).append(x)
    single = Counter(x for pair in kept.values() for x in pair)
    double = Counter(tuple(sorted(pair)) for pair in kept.values())
    statistic = sum((single[x] - 500) ** 2 / 500 for x in "abcdef")
    assert statistic < 30  # 5 degrees of freedom: 2e-5
    assert sum((n - 100) ** 2 / 100 for n in double.values()) < 55  # 14: 1e-6
    assert len(double) == 15


def release_law(rows: list[Row], mechanism: GSHM, prime: int) -> Law[Any]:
    """The exact law of a release: every function of the family, then every noise."""

    def counts(source: Source) -> tuple[tuple[Any, int], ...]:
        keyed = KeyedHash.draw(source, prime)
        totals = count_users(
            frame_of("polars", rows, "text"), user="uid", by="url", k=mechanism.k, keyed=keyed
        )
        return tuple(totals.counts.items())

    return exact_law(counts, residual=0).then(
        lambda items: mechanism.law(dict(items), residual="1e-3")
    )


@pytest.mark.slow
@pytest.mark.parametrize("prime", [2, 3])
def test_the_exact_law_of_bounding_counting_and_release_keeps_the_promise(prime: int) -> None:
    mechanism = GSHM(1, "0.5", 0, 3, "0.2")
    others: list[Row] = [("u", "a", 0), ("u", "a", 0)]
    person: list[Row] = [("v", "a", 0), ("v", "b", 0), ("v", "b", 0)]
    laws = [release_law(rows, mechanism, prime) for rows in (others, others + person)]
    assert len(laws[1]) > 4
    promise = mechanism.guarantee.delta.upper
    largest = F(0)
    for p, q in (laws, laws[::-1]):
        divergence = hockey_stick(p, q, epsilon=F(mechanism.epsilon))
        assert divergence.lower <= promise
        largest = max(largest, divergence.lower)
    assert largest > promise / 20
    # without bounding the same mechanism does not keep it
    unbounded = [
        mechanism.law(
            count_users(frame_of("polars", rows, "text"), user="uid", by="url").counts,
            residual="1e-3",
        )
        for rows in ([], person)
    ]
    assert hockey_stick(unbounded[1], unbounded[0], epsilon=3).lower > promise


def test_release_keeps_a_target_and_refuses_other_randomness() -> None:
    rows: list[Row] = [(u, x, 3) for u, x in product(range(600), "ab")]
    frame = frame_of("polars", rows, "integers")
    names = {"user": "uid", "by": "url"}
    kinds: list[dict[str, Any]] = [
        {"k": 2, "mechanism": "gshm"},
        {"k": 2, "mechanism": "gshm", "sums": {"amount": Sum(-4, 4, of="sums")}},
        {"top": 2, "mechanism": "top-k"},
    ]
    for kind in kinds:
        released = release(frame, **names, epsilon=2, delta="1e-6", **kind)
        assert released.guarantee.delta.upper <= F("1e-6")
        assert released.guarantee.epsilon == 2
        assert [row[0] for row in listed(released.frame)] == ["a", "b"]
        assert all(abs(row[1] - 600) < 120 for row in listed(released.frame))
    with pytest.raises(InvalidParameter, match="source"):
        release(frame, **names, k=2, epsilon=2, delta="1e-6", source=SeededSource(1))


def test_only_public_keys_are_released() -> None:
    rows: list[Row] = [(u, x, 0) for u, x in product(range(50), "abc")]
    totals = count_users(
        frame_of("polars", rows, "integers"), user="uid", by="url", keys=["c", "z", "a"]
    )
    assert totals.counts == {"a": 50, "c": 50}


FIVE = Sum(-5, 5, of="sums")

BAD_CALLS: list[tuple[dict[str, Any], str]] = [
    ({"user": "nobody"}, "user must be a column"),
    ({"by": "uid"}, "by must be one or more columns other than the user's, uid"),
    ({"by": []}, "by must be one or more columns"),
    ({"by": ["url", "url"]}, "by must be one or more columns"),
    ({"by": ["url", "nowhere"]}, "by must be a column: one of uid, url"),
    ({"by": "share"}, "by must be a column of integers or of text, or of dates: convert it"),
    (
        {"sums": {"amount": 3}},
        r"sums\['amount'\] must be one of Sum\(low, high, of=\"rows\", most=m\)",
    ),
    ({"means": {"amount": (0, 3)}}, 'Mean.*of="rows".*of="users".*of="sums".*got .0, 3'),
    ({"means": {"amount": FIVE}}, "means.*Mean"),
    ({"sums": {"amount": FIVE}, "means": {"amount": Mean(0, 5, of="users")}}, "a sum is mean"),
    ({"sums": ["amount"]}, "sums must be a dict"),
    ({"sums": {"url": FIVE}}, "got 'url of type String'"),
    ({"sums": {"nowhere": FIVE}}, "a column of numbers"),
    ({"mechanism": "laplace"}, "mechanism must be one of"),
    ({"mechanism": "top-k-with-base", "sums": {"amount": FIVE}}, "for sums"),
    ({"mechanism": "known-keys"}, "mechanism must be given with keys"),
    ({"selection": "best"}, "selection must be one of"),
    ({"selection": "sips", "sums": {"amount": FIVE}}, "selection must be left out"),
    ({"selection": "sips", "share": 1}, "counts must be"),
    ({"top": 2, "mechanism": "top-k", "times": 2}, "times must be 1"),
    ({"mechanism": "top-k"}, "k must be left out here: give top, the number of largest counters"),
    ({"mechanism": "top-k-with-base"}, "k must be left out here: give top"),
    ({"k": None, "mechanism": "top-k"}, "top must be the number of largest counts to release"),
    ({"times": 0}, "times must be"),
    ({"k": None}, "k must be the largest number of keys per user"),
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
    released = release(frame, user="uid", by="url", k=2, epsilon=1, delta="1e-6")
    assert listed(released.frame) == []
    assert released.frame.columns == ["url", "count"]


def test_large_unsigned_users_are_counted() -> None:
    users = pl.Series([2**64 - 1, 2**64 - 1, 2**63, 5], dtype=pl.UInt64)
    frame = pl.DataFrame({"uid": users, "url": ["a", "b", "a", "a"]})
    keyed = KeyedHash.draw(SeededSource(1))
    totals = count_users(frame, user="uid", by="url", k=1, keyed=keyed)
    assert sum(totals.counts.values()) == 3
    keys = count_users(frame, user="url", by="uid").counts
    assert keys == {5: 1, 2**63: 1, 2**64 - 1: 2}


def test_a_release_says_what_it_is() -> None:
    mechanism = GSHM(2, 1, 3, 2, "0.9")
    frame = frame_of("polars", some_rows(5, "text"), "text")
    released = release_by(frame, user="uid", by="url", mechanism=mechanism, source=SeededSource(7))
    *_, name, promise = str(released).splitlines()
    assert name == "GSHM, k = 2, sigma = 1, counts above 4"
    assert promise == (
        f"{mechanism.guarantee}; checked on the data: every pair of user and key counts once, "
        "every user counts for at most k = 2 keys, chosen by their own rows alone"
    )
    assert "changing at most k = 2 counters by one" in promise


@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_public_keys_are_of_the_type_of_the_column(engine: str) -> None:
    # users as keys: they are whole numbers
    rows = [(user, f"r{i}", 1) for i, user in enumerate([1, 1, 2, 3])]
    frame = frame_of(engine, rows, "integers")
    for keys in ([1, 3, 7], ["1", "3", "7"], [1.0, "3"]):
        assert count_users(frame, user="url", by="uid", keys=keys).counts == {1: 2, 3: 1}
    for keys in (["a"], [1.5], [None], [2**63], "13"):
        with pytest.raises(InvalidParameter, match=r"^keys must be"):
            count_users(frame, user="url", by="uid", keys=keys)
    for keys in ([1], [None, "r1"], "r1"):
        with pytest.raises(InvalidParameter, match=r"^keys must be"):
            count_users(frame, user="uid", by="url", keys=keys)


@pytest.mark.parametrize("engine", few("polars"))
def test_a_key_of_several_columns(engine: str) -> None:
    """The released frame has the columns of the key, of their types."""
    rows: list[Row] = [
        (u, x, date(2013, 1, day), 0) for u, x, day in product(range(300), "ab", (1, 2))
    ]
    frame = frame_of(engine, rows, "integers", ("text", "dates"))
    table = release(frame, user="uid", by=["url", "day"], k=4, epsilon=2, delta="1e-6").frame
    assert type(table) is type(frame)
    keys = [(x, str(day)[:10]) for x, day, _ in listed(table)]
    assert keys == [(x, f"2013-01-0{day}") for x, day in product("ab", (1, 2))]
    public = [("a", date(2013, 1, 2)), ("c", date(2013, 1, 1))]
    only = count_users(frame, user="uid", by=["url", "day"], keys=public)
    assert only.counts == {public[0]: 300}
    with pytest.raises(InvalidParameter, match=r"^keys must be tuples of 2 parts"):
        count_users(frame, user="uid", by=["url", "day"], keys=["a"])


def test_times_are_refused_as_keys() -> None:
    """Two times of one day are two keys, which is seldom meant."""
    frame = pl.DataFrame({"uid": [1], "at": [date(2013, 1, 1)]}).cast({"at": pl.Datetime})
    with pytest.raises(
        InvalidParameter,
        match=r"by must be a column .*: convert it first, got .at of type Datetime",
    ):
        count_users(frame, user="uid", by="at")


def test_nothing_is_left_behind_on_a_connection_of_the_caller() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT range AS uid, 'a' AS url FROM range(9000)")
    released = release(
        connection.table("visits"), user="uid", by="url", k=1, epsilon=1, delta="1e-6"
    )
    assert len(released.frame.fetchall()) == 1
    assert connection.sql("SHOW ALL TABLES").fetchall() != []
    names = connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()
    views = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    assert (names, views) == ([("visits",)], [])


@pytest.mark.parametrize(
    ("mechanism", "more", "name"),
    [
        (GSHM.for_target(**_SMALL), {"k": 3}, "k"),
        (KnownKeys.for_target(**_SMALL), {"k": 3, "keys": "abc"}, "k"),
        (KnownKeys.for_target(**_SMALL), {}, "keys"),
        (GSHMWithSums.for_target(**_SMALL), {"sums": {"v": Sum(-10, 10, of="sums")}}, "mechanism"),
        (GSHM.for_target(**_SMALL), {"sums": {"v": Sum(-1, 1, of="sums")}}, "mechanism"),
        (GSHM.for_target(**_SMALL), {"means": {"v": Mean(0, 9, of="users")}}, "mechanism"),
    ],
)
def test_a_mechanism_for_smaller_changes_is_refused(
    mechanism: Any, more: dict[str, Any], name: str
) -> None:
    """One user has three keys and sums up to 10; the guarantee is that of one key and of sums up to
    1, or the mechanism has no threshold and needs a list of keys."""
    frame = pl.DataFrame({"u": [1] * 3 + [2], "g": ["a", "b", "c", "a"], "v": [10, 0, 0, 0]})
    call = {"user": "u", "by": "g", "mechanism": mechanism, "source": SeededSource(1), **more}
    if "keys" in call:
        call["keys"] = list(call["keys"])
    with pytest.raises(InvalidParameter) as refusal:
        release_by(frame, **call)
    assert refusal.value.name == name


def test_a_short_list_of_keys_bounds_the_keys_of_a_user() -> None:
    frame = pl.DataFrame({"u": [1, 1, 2], "g": ["a", "b", "a"]})
    mechanism = KnownKeys.for_target(**_SMALL)
    call: dict[str, Any] = {"user": "u", "by": "g", "mechanism": mechanism}
    out = release_by(frame, **call, source=SeededSource(1), keys=["a"], k=3)
    assert out.frame["g"].to_list() == ["a"]
