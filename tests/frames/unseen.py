"""Changes that must not show: the same rows in other frames, and what a reader sees of a release.

`FRAMES` holds frames of the same rows: other engines, data types, collations, settings and pieces.
`ROWS` holds other rows that mean the same. `seen` lists everything that a reader of a release sees,
with noise from a fixed source, so that equal releases are equal lists.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa

from exactdp import frames
from exactdp.mechanisms import GSHM, MAD2R, SIPS, GSHMWithSums, KnownKeys, TopK, TopKWithBase
from exactdp.samplers import SeededSource

#: (user, url, day, amount)
Row = tuple[Any, ...]
Make = Callable[[list[Row]], Any]

NAMES = ("uid", "url", "day", "amount")

#: Texts that some collation takes for equal, and texts beside their pieces.
URLS = ["Ann", "ann", "ANN", "é", "É", "e", "E", "ß", "ss", "a", "a ", "ı", "i", "日本"]
_DAYS = [date(2013, 1, 1), date(2013, 1, 2)]
_USERS = [f"{name}{i}" for i in range(40) for name in ("u", "U", "ü")]


def rows() -> list[Row]:
    """Users with three keys each, of which some spellings have one user alone."""
    rng = random.Random(1)
    visits: list[Row] = []
    for i, user in enumerate(_USERS):
        urls = rng.sample(URLS if i % 9 == 0 else URLS[:6:2], 3)
        visits += [(user, url, rng.choice(_DAYS), rng.randint(-9, 9)) for url in urls]
    return visits + visits[::3]


def _permuted(visits: list[Row]) -> list[Row]:
    return random.Random(7).sample(visits, len(visits))


def _renamed(visits: list[Row]) -> list[Row]:
    """Every user has another name; the order of the names is another one, too."""
    names = dict(zip(_USERS, _permuted([(user,) for user in _USERS]), strict=True))
    return [(f"x{names[user][0]}", *rest) for user, *rest in visits]


def _incomplete(visits: list[Row]) -> list[Row]:
    """Rows without a user or a key, in between."""
    user, url, day, amount = visits[0]
    gaps: list[Row] = [(None, url, day, amount), (user, None, day, amount)] * 3
    return _permuted([*visits, *gaps, ("nobody", None, None, None)])


def _missing_amounts(visits: list[Row]) -> list[Row]:
    """A row whose amount is missing where a user has another one."""
    return [*visits, (*visits[0][:3], None)]


#: Other rows that mean the same.
ROWS: Mapping[str, Callable[[list[Row]], list[Row]]] = {
    "permuted": _permuted,
    "reversed": lambda visits: visits[::-1],
    "renamed": _renamed,
    "incomplete": _incomplete,
    "missing amounts": _missing_amounts,
}


def table(visits: list[Row], **types: Any) -> Any:
    """The rows as a table of pyarrow. types: of columns, if they are not the usual ones."""
    usual = {"uid": pa.string(), "url": pa.string(), "day": pa.date32(), "amount": pa.int64()}
    schema = pa.schema(list({**usual, **types}.items()))
    columns = [list(column) for column in zip(*visits, strict=True)]
    arrays = [
        pa.array(column, field.type.value_type).dictionary_encode().cast(field.type)
        if pa.types.is_dictionary(field.type)
        else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def _halves(visits: list[Row], make: Make) -> list[Any]:
    middle = len(visits) // 3
    return [make(visits[:middle]), make(visits[middle:])]


def _polars(visits: list[Row]) -> Any:
    return pl.from_arrow(table(visits))


def _polars_enum(visits: list[Row]) -> Any:
    """Texts whose declared order is not that of their characters."""
    kinds = {
        name: pl.Enum(list(dict.fromkeys(row[i] for row in visits[::-1] if row[i] is not None)))
        for i, name in enumerate(NAMES[:2])
    }
    return _polars(visits).cast(kinds)


def _pandas(visits: list[Row], **kinds: Any) -> Any:
    import pandas as pd

    frame = table(visits).to_pandas(types_mapper=pd.ArrowDtype)
    return frame.astype(kinds)


def _pandas_objects(visits: list[Row]) -> Any:
    return _pandas(visits, uid=object, url=object, amount="Int64")


def _pandas_odd_objects(visits: list[Row]) -> Any:
    """Rows with objects that are no texts."""
    odd: list[Row] = [
        (1.5, "ann", _DAYS[0], 3),
        ("u0", float("nan"), _DAYS[0], 3),
        ("u0", "\ud800", _DAYS[0], 3),
        (b"\xff", "ann", _DAYS[0], 3),
        ("u0", ("a",), _DAYS[0], 3),
        (float("nan"), "ann", _DAYS[0], 3),
    ]
    import pandas as pd

    whole = _pandas_objects(visits)
    more = pd.DataFrame(
        {n: pd.Series([r[i] for r in odd], dtype=object) for i, n in enumerate(NAMES)}
    )
    return pd.concat([more.astype({"amount": "Int64", "day": whole["day"].dtype}), whole])


def _pandas_categories(visits: list[Row], *, ordered: bool) -> Any:
    import pandas as pd

    def kind(place: int) -> Any:
        values = dict.fromkeys(row[place] for row in visits[::-1] if row[place] is not None)
        return pd.CategoricalDtype(["never", *values], ordered=ordered)

    return _pandas(visits, uid=kind(0), url=kind(1))


def _arrow_dictionary() -> Any:
    import pandas as pd

    return pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))


def _pyarrow(text: Any, **more: Any) -> Make:
    return lambda visits: table(visits, uid=text, url=text, **more)


def _duckdb(*settings: str, text: str = "VARCHAR", source: str = "TABLE") -> Make:
    """A table or view of a connection with settings. text: type of the columns of text."""

    def make(visits: list[Row]) -> Any:
        import duckdb

        connection = duckdb.connect()
        for setting in settings:
            connection.execute(setting)
        connection.register("given_rows", table(visits))
        kind = f"CREATE TABLE kept (uid {text}, url {text}, day DATE, amount BIGINT)"
        connection.execute(kind)
        connection.execute("INSERT INTO kept FROM given_rows")
        if source == "VIEW":
            connection.execute("CREATE VIEW seen AS SELECT * FROM kept")
            return connection.table("seen")
        return connection.table("kept")

    return make


def _duckdb_enums(visits: list[Row]) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("given_rows", table(visits[::-1]))
    for i, name in enumerate(NAMES[:2]):
        values = dict.fromkeys(row[i] for row in visits[::-1] if row[i] is not None)
        listed = ", ".join("'" + value + "'" for value in values)
        connection.execute(f"CREATE TYPE kind_{name} AS ENUM ({listed})")
    return connection.sql(
        "SELECT uid::kind_uid AS uid, url::kind_url AS url, day, amount FROM given_rows"
    )


def _duckdb_files(kind: str) -> Callable[[list[Row], Path], Any]:
    def make(visits: list[Row], folder: Path) -> Any:
        import duckdb

        connection = duckdb.connect()
        for i, part in enumerate(_halves(visits, table)):
            connection.register("part", part)
            connection.execute(f"COPY part TO '{folder}/{i}.{kind}'")
        if kind == "parquet":
            return connection.read_parquet(f"{folder}/*.parquet")
        types = "{'uid': 'VARCHAR', 'url': 'VARCHAR', 'day': 'DATE', 'amount': 'BIGINT'}"
        return connection.sql(
            f"FROM read_csv('{folder}/*.csv', columns = {types}, quote = '\"', header = true)"
        )

    return make


def _dask(parts: int, make: Make = _pandas) -> Make:
    def make_parts(visits: list[Row]) -> Any:
        import dask.dataframe

        return dask.dataframe.from_pandas(make(visits).reset_index(drop=True), npartitions=parts)

    return make_parts


def _dask_unknown_categories(visits: list[Row]) -> Any:
    """Parts whose categories differ."""
    import dask.dataframe

    first, second = _halves(visits, _dask(1, _pandas_objects))
    both = dask.dataframe.concat([first.reset_index(drop=True), second.reset_index(drop=True)])
    return both.astype({"uid": "category", "url": "category"})


#: Frames of the same rows; the first one of each engine is the plain one.
FRAMES: Mapping[str, Mapping[str, Make]] = {
    "polars": {
        "plain": _polars,
        "lazy": lambda visits: _polars(visits).lazy(),
        "categories": lambda visits: _polars(visits).cast(dict.fromkeys(NAMES[:2], pl.Categorical)),
        "enum": _polars_enum,
        "chunks": lambda visits: pl.concat(_halves(visits, _polars), rechunk=False),
        "small integers": lambda visits: _polars(visits).cast({"amount": pl.Int8}),
    },
    "pandas": {
        "plain": _pandas,
        "objects": _pandas_objects,
        "odd objects": _pandas_odd_objects,
        "nullable": lambda visits: _pandas(visits, uid="string[python]", url="string[pyarrow]"),
        "categories": lambda visits: _pandas_categories(visits, ordered=False),
        "ordered categories": lambda visits: _pandas_categories(visits, ordered=True),
        "dictionary": lambda visits: _pandas(
            visits, uid=_arrow_dictionary(), url=_arrow_dictionary()
        ),
        "index": lambda visits: _pandas(visits).set_index("amount", drop=False),
    },
    "pyarrow": {
        "plain": _pyarrow(pa.string()),
        "large": _pyarrow(pa.large_string(), amount=pa.int16()),
        "view": _pyarrow(pa.string_view()),
        "dictionary": _pyarrow(pa.dictionary(pa.int8(), pa.string())),
        "large dictionary": _pyarrow(pa.dictionary(pa.int64(), pa.large_string())),
        "chunks": lambda visits: pa.concat_tables(_halves(visits, table)),
    },
    "duckdb": {
        "plain": _duckdb(),
        "view": _duckdb(source="VIEW"),
        "NOCASE": _duckdb(text="VARCHAR COLLATE NOCASE"),
        "NOACCENT": _duckdb(text="VARCHAR COLLATE NOACCENT"),
        "NOCASE.NOACCENT": _duckdb(text="VARCHAR COLLATE NOCASE.NOACCENT", source="VIEW"),
        "default collation": _duckdb("SET default_collation = 'NOCASE.NOACCENT'"),
        "enum": _duckdb_enums,
        "order": _duckdb("SET default_order = 'DESC'", "SET default_null_order = 'NULLS_FIRST'"),
        "division": _duckdb("SET integer_division = true"),
        "one thread": _duckdb("SET threads = 1", "SET preserve_insertion_order = false"),
        "casting": _duckdb("SET old_implicit_casting = true"),
    },
    "dask": {
        "plain": _dask(1),
        "parts": _dask(4),
        "objects": _dask(3, _pandas_objects),
        "odd objects": _dask(3, _pandas_odd_objects),
        "categories": _dask(3, lambda visits: _pandas_categories(visits, ordered=True)),
        "unknown categories": _dask_unknown_categories,
    },
}

#: Rows in two files.
FILES = {kind: _duckdb_files(kind) for kind in ("parquet", "csv")}


def _release_by(mechanism: Any, **more: Any) -> Callable[[Any], Any]:
    call = {"user": "uid", "by": "url", "mechanism": mechanism, **more}
    return lambda frame: frames.release_by(frame, **call, source=SeededSource(3))


def _keys(mechanism: str) -> Callable[[Any], Any]:
    call = {"user": "uid", "by": "url", "k": 3, "epsilon": 9, "delta": "0.1"}
    return lambda frame: frames.keys(frame, **call, mechanism=mechanism, source=SeededSource(3))


_TARGET: dict[str, Any] = {"k": 3, "epsilon": 6, "delta": "0.1"}

#: Releases of the rows. Each user has three keys, so that no choice of keys depends on names.
RELEASES: Mapping[str, Callable[[Any], Any]] = {
    "sums": _release_by(
        GSHMWithSums.for_target(**_TARGET, largest=(5,)),
        sums={"amount": frames.Sum(-5, 5, of="sums")},
    ),
    "counts": _release_by(GSHM.for_target(**_TARGET), by=["day", "url"]),
    "csh": _release_by(TopK.for_target(top=3, epsilon=6, delta="0.1")),
    "largest": _release_by(TopKWithBase.for_target(top=3, epsilon=6, delta="0.1"), top=3),
    "known": _release_by(
        KnownKeys.for_target(k=3, epsilon=9, delta="0.1"), keys=["é", "ann", "Ann"]
    ),
    "sips": _release_by(SIPS.for_target(**_TARGET, counts="1/2")),
    "mad2r": _release_by(MAD2R.for_target(**_TARGET, counts="1/2")),
    "geometric": _keys("geometric"),
    "weighted": _keys("weighted"),
    "cut": lambda frame: frames.cut(frame, user="uid", by="url", k=1, public=True),
    "advice": lambda frame: frames.advise(
        frame, user="uid", by="url", epsilon=3, delta="1e-3", spend=1, source=SeededSource(3)
    ),
}


@contextmanager
def fixed_noise(patch: Any) -> Iterator[None]:
    """Lets releases take a fixed source. patch: pytest's monkeypatch."""
    from exactdp.samplers import source

    with patch.context() as patched:
        patched.setattr(source, "_VOUCHED", source._VOUCHED | {SeededSource})
        yield


def seen(release: str, frame: Any) -> list[Any]:
    """All that a reader sees: rows in order, types, names, spelling; guarantee and statement."""
    out = RELEASES[release](frame)
    if not hasattr(out, "frame"):
        return [out, str(out)]
    assert type(out.frame) is type(frame)
    held = out.frame.compute() if hasattr(out.frame, "compute") else out.frame
    narrow = nw.from_native(held).lazy().collect("pyarrow")
    values = [tuple((type(cell).__name__, cell) for cell in row) for row in narrow.rows()]
    documents = [str(out.guarantee), out.bounds, str(out.choice), out.statement.to_json()]
    return [narrow.columns, str(narrow.schema), values, *documents, getattr(out, "base", None)]
