"""Runs of plans without noise, so that changes of the rows that must not show can be compared."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from exactdp.plans import ENGINES, Query

Row = dict[str, Any]

DAY = datetime.date(2013, 1, 1)

#: Keys that are unknown, of several columns, and public; the last query has sums.
QUERIES = [
    Query("visits", ("url",), 4),
    Query("days", ("day", "url"), 4, sums={"amount": 7}),
    Query("known", ("url",), 4, keys=("ann", "Ann", "é"), sums={"amount": 7}),
]

#: Too little noise to see.
TINY = 1e-9


def rows() -> list[Row]:
    """Users with at most four keys; each of the keys has more users than any threshold hides."""
    rng = random.Random(3)
    urls = ["Ann", "ann", "é", "e", "É"]
    visits = [
        {"uid": f"u{user}", "url": url, "day": DAY + datetime.timedelta(user % 2), "amount": amount}
        for user in range(600)
        for url, amount in zip(rng.sample(urls, 4), rng.choices(range(-9, 10), k=4), strict=True)
    ]
    return rng.sample(visits + visits[::2], len(visits) + len(visits[::2]))


class _Text(str):
    """A text with a spelling of its own."""

    def __repr__(self) -> str:
        return "spelt"

    __str__ = __repr__


def _renamed(visits: list[Row]) -> list[Row]:
    return [{**row, "uid": f"x{int(row['uid'][1:]) * 7919 % 10007}"} for row in visits]


def _numbers(visits: list[Row]) -> list[Row]:
    return [{**row, "uid": int(row["uid"][1:])} for row in visits]


def _floats(visits: list[Row]) -> list[Row]:
    """Integers as pandas writes them beside missing values."""
    return [{**row, "uid": float(row["uid"][1:]), "amount": float(row["amount"])} for row in visits]


def _numpy(visits: list[Row]) -> list[Row]:
    return [
        {
            "uid": np.int64(row["uid"][1:]),
            "url": np.str_(row["url"]),
            "day": np.datetime64(row["day"]),
            "amount": np.float32(row["amount"]),
        }
        for row in visits
    ]


def _texts(visits: list[Row]) -> list[Row]:
    return [{**row, "url": _Text(row["url"])} for row in visits]


def _decimals(visits: list[Row]) -> list[Row]:
    return [{**row, "amount": Decimal(row["amount"])} for row in visits]


def _incomplete(visits: list[Row]) -> list[Row]:
    """Rows without a user, without a key, and with neither integers, texts nor dates."""
    gaps = [
        None,
        float("nan"),
        np.float64("nan"),
        Decimal("NaN"),
        0.5,
        float("inf"),
        b"ann",
        ("a",),
    ]
    users = [{**visits[0], "uid": gap} for gap in gaps for _ in range(400)]
    keys = [{**visits[i], "url": gap} for i, gap in enumerate(gaps * 400)]
    days = [{**row, "day": datetime.datetime(2013, 1, 1)} for row in visits[:600]]
    for row in days:
        row["url"] = None
    return random.Random(5).sample(visits + users + keys + days, len(visits + users + keys + days))


def _missing(visits: list[Row]) -> list[Row]:
    """Values that are missing, of users and keys that have others."""
    gaps = [None, float("nan"), Decimal("NaN"), Decimal("sNaN"), "7", np.datetime64("NaT")]
    return [*visits, *({**visits[i], "amount": gap} for i, gap in enumerate(gaps * 5))]


CHANGES: Mapping[str, Callable[[list[Row]], list[Row]]] = {
    "permuted": lambda visits: random.Random(7).sample(visits, len(visits)),
    "reversed": lambda visits: visits[::-1],
    "columns in another order": lambda visits: [dict(reversed(row.items())) for row in visits],
    "renamed": _renamed,
    "numbers": _numbers,
    "floats": _floats,
    "numpy": _numpy,
    "texts": _texts,
    "decimals": _decimals,
    "incomplete": _incomplete,
    "missing": _missing,
}


def presto(visits: list[Row]) -> list[Any]:
    """The queries of Presto in DuckDB, with sums in place of noisy sums."""
    import duckdb
    import pandas as pd

    release_plan = ENGINES["presto"].plan("presto", "uid", QUERIES, epsilon=40, delta="1e-6")
    with duckdb.connect() as connection:
        connection.register("rows_of_users", pd.DataFrame(visits))
        connection.execute("CREATE MACRO noisy_sum_gaussian(x, s) AS sum(x)")
        connection.execute("CREATE MACRO is_nan(x) AS isnan(x::DOUBLE)")
        parts = ENGINES["presto"].code(release_plan).split(";")[: len(QUERIES)]
        return [connection.execute(part).fetchall() for part in parts]


def loaded(engine: str) -> dict[str, Any]:
    """The module in the code of a plan, with noise too small to see; thresholds are those of the
    plan."""
    release_plan = ENGINES[engine].plan(engine, "uid", QUERIES, epsilon=40, delta="1e-6")
    space: dict[str, Any] = {}
    exec(compile(ENGINES[engine].code(release_plan), "plan.py", "exec"), space)  # noqa: S102
    for query in space["QUERIES"]:
        query["scale"] = TINY
        if "noise" in query:
            query["noise"] = [1 / TINY, query["noise"][1]]
    return space


def seen(space: dict[str, Any], visits: list[Row]) -> list[Any]:
    """Results in their order, with types and spelling; numbers without what noise may change."""
    return [(name, *_typed(result)) for name, result in space["run"](iter(visits)).items()]


def _typed(result: Any) -> Iterator[Any]:
    for key, values in result.items() if isinstance(result, dict) else result:
        parts = key if isinstance(key, tuple) else (key,)
        yield [(type(part).__name__, repr(part)) for part in parts]
        yield [(name, round(value, 3)) for name, value in values.items()]
