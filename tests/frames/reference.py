"""What every engine must return, in plain Python, and the same rows as a frame of every kind."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date, timedelta
from hashlib import sha256
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa
import pytest

from exactdp.frames import KeyedHash

#: (user, key, ..., amount); a key may have several columns.
Row = tuple[Any, ...]

ENGINES = ["pandas", "pandas-arrow", "polars", "polars-lazy", "pyarrow", "duckdb", "dask"]


def few(*engines: str) -> list[Any]:
    """All engines, of which only these run by default; `make engines` runs all.

    pandas, pyarrow and Dask are read by DuckDB.
    """
    return [e if e in engines else pytest.param(e, marks=pytest.mark.slow) for e in ENGINES]


TYPES = {
    "numbers": pa.float64(),
    "integers": pa.int64(),
    "text": pa.string(),
    "dates": pa.date32(),
    "wide": pa.uint64(),
}

_TEXTS = ["", "é", "x y", '"quoted", text', "0", "'", "日本", "a\x1fb", *"defgh", *"aabbcc" * 4]
_VALUES = {
    "integers": [-5, 2**62, -(2**62), -(2**63), 2**63 - 1, *range(40)],
    "text": _TEXTS,
    "dates": [
        date(1, 1, 1),
        date(9999, 12, 31),
        *(date(2013, 1, 1) + timedelta(i) for i in range(9)),
    ],
    "wide": [2**64 - 1, 2**63, 0, *range(9)],
}


def some_rows(
    seed: int, user: str, keys: tuple[str, ...] = ("text",), count: int = 400, users: int = 40
) -> list[Row]:
    """Random rows with repetitions, gaps, negative and large numbers, odd texts."""
    rng = random.Random(seed)
    people: list[Any] = [*_VALUES["wide" if user == "wide" else "integers"], *range(users)]
    if user == "text":
        people = [f"ü{person}" for person in people]
    columns = [[None, *people], *([None, *_VALUES[kind]] for kind in keys)]
    amounts = [None, -300, 300, *range(-9, 10)]
    return [tuple(rng.choice(values) for values in (*columns, amounts)) for _ in range(count)]


def crowd(seed: int, users: int, each: int) -> list[Row]:
    """Shuffled rows of users with `each` keys of 50: enough for engines that work in blocks."""
    rows = [(u, f"k{(u * 7 + j) % 50}", 1) for u in range(users) for j in range(each)]
    random.Random(seed).shuffle(rows)
    return rows


def names_of(keys: tuple[str, ...]) -> list[str]:
    """The names of the columns of a key in these frames."""
    return ["url", "day", "shop"][: len(keys)]


def frame_of(
    engine: str,
    rows: list[Row],
    user: str,
    keys: tuple[str, ...] = ("text",),
    amount: str = "integers",
) -> Any:
    """The rows as a frame; columns uid, the key's, and amount."""
    kinds = ["integers" if user == "integers" else user, *keys, amount]
    names = ["uid", *names_of(keys), "amount"]
    types = [TYPES[kind] for kind in kinds]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    table = pa.table(columns, schema=pa.schema(list(zip(names, types, strict=True))))
    if engine == "pyarrow":
        return table
    if engine == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    if engine.startswith("polars"):
        frame = pl.from_arrow(table)
        return frame.lazy() if engine == "polars-lazy" else frame
    import pandas as pd

    arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
    if engine == "pandas":  # numpy's types wherever pandas has them
        plain = {"integers": "Int64", "wide": "UInt64", "text": object}
        wanted = {n: plain[kind] for n, kind in zip(names, kinds, strict=True) if kind in plain}
        return arrow.astype(wanted)
    if engine == "pandas-arrow":
        return arrow
    import dask.dataframe

    return dask.dataframe.from_pandas(arrow, npartitions=3)


def listed(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a frame of any kind."""
    if hasattr(frame, "compute"):
        frame = frame.compute()
    seen = nw.from_native(frame)
    held = seen.collect() if isinstance(seen, nw.LazyFrame) else seen
    return list(zip(*(held[name].to_list() for name in held.columns), strict=True))


def _word(text: str, salt: int) -> int:
    """60 bits of SHA-256."""
    return int(sha256(f"{salt}:{text}".encode()).hexdigest()[:15], 16)


def folded(keyed: KeyedHash, values: tuple[Any, ...]) -> int:
    """The polynomial of the docstring of keyed_hash, in plain integers."""
    result = 0
    for value in values:
        number = _word(value, keyed.salt) if isinstance(value, str) else int(value)
        digits = []
        for _ in range(3):
            number, digit = divmod(number, keyed.p)
            digits.append(digit)
        for digit in digits:
            result = (result * keyed.e + digit) % keyed.p
    return result


def priority(keyed: KeyedHash, user: Any, key: tuple[Any, ...]) -> int:
    """The place of a key among those of a user."""
    u, k = folded(keyed, (user,)), folded(keyed, key)
    s, t = keyed.a * u + keyed.b * k + keyed.c, keyed.b * u + keyed.c * k + keyed.a
    return s * s * t % keyed.p


def chosen(
    rows: list[Row], k: int, keyed: KeyedHash, types: tuple[str, ...] = ("integers", "text")
) -> dict[Any, list[tuple[Any, ...]]]:
    """The first k keys of every user, without any engine. types: of the user and the key."""

    def text(kind: str, value: Any) -> Any:
        return str(value) if kind in ("dates", "wide") else value

    own: dict[Any, set[tuple[Any, ...]]] = {}
    for user, *key, _ in rows:
        if user is not None and None not in key:
            own.setdefault(user, set()).add(tuple(key))

    def order(user: Any, key: tuple[Any, ...]) -> tuple[Any, ...]:
        written = tuple(map(text, types[1:], key))
        return priority(keyed, text(types[0], user), written), written

    return {
        user: sorted(keys, key=lambda key, u=user: order(u, key))[:k] for user, keys in own.items()
    }


def totals(
    rows: list[Row], own: dict[Any, list[tuple[Any, ...]]], limit: int
) -> tuple[Counter[Any], Counter[Any]]:
    """Users per key, and clipped sums of the last column per key."""
    values: dict[tuple[Any, ...], int] = Counter()
    for user, *key, amount in rows:
        if user is not None and None not in key:
            values[user, *key] += max(-limit, min(limit, amount or 0))
    counts: Counter[Any] = Counter(key for keys in own.values() for key in keys)
    sums: Counter[Any] = Counter()
    for user, keys in own.items():
        for key in keys:
            sums[key] += max(-limit, min(limit, values[user, *key]))
    return counts, sums
