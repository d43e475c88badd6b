"""Where rows are dealt with: each engine's way to evaluate pairs once, and to hold a release.

Frames of pandas and pyarrow are read by DuckDB, without a copy where types allow; polars, DuckDB
and Spark deal with their own; Dask brings all rows of a user into one partition, which DuckDB reads.
So rows are ordered in two ways only, by SQL's window functions and by polars.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from exactdp.errors import ExactDPError, InvalidParameter
from exactdp.frames.bounding import Bounding
from exactdp.frames.columns import USER, Question, narwhals

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["evaluated", "lazy_pairs", "same_kind"]


def lazy_pairs(frame: Any, bounding: Bounding) -> nw.LazyFrame[Any]:
    """The pairs of a frame, not evaluated yet."""
    nw_ = narwhals()
    seen = nw_.from_native(frame)
    named = [nw_.col(name).alias(n) for n, (name, _) in bounding.question.columns.items()]
    rows, kind = seen.select(*named), seen.implementation
    if kind.is_polars():
        return bounding.pairs(rows.lazy())
    if kind.is_duckdb() or kind.is_spark_like():
        return bounding.pairs(rows)
    if kind.is_dask():
        return _by_partition(rows.to_native(), bounding)
    if isinstance(rows, nw_.DataFrame):
        return bounding.pairs(_read_by_duckdb(rows, bounding.question))
    allowed = "a frame of pandas, polars, pyarrow, DuckDB, Dask or PySpark"
    raise InvalidParameter("frame", type(frame).__name__, allowed)


def _read_by_duckdb(rows: nw.DataFrame[Any], question: Question) -> nw.LazyFrame[Any]:
    """Rows in memory as a relation of DuckDB, in a connection of its own."""
    pa, duckdb = _pyarrow(), _duckdb()
    types = {n: getattr(pa, kind.arrow)() for n, (_, kind) in question.columns.items()}
    try:
        table = rows.to_arrow().cast(pa.schema(types))
    except (pa.ArrowException, UnicodeEncodeError):
        raise InvalidParameter("frame", "others", "values of the columns' types") from None
    found: nw.LazyFrame[Any] = narwhals().from_native(duckdb.connect().from_arrow(table))
    return found


def _by_partition(rows: Any, bounding: Bounding) -> nw.LazyFrame[Any]:
    """The pairs of a Dask frame, with all rows of a user in one partition."""
    import pandas as pd

    nw_ = narwhals()

    def pairs(part: Any) -> Any:
        read = _read_by_duckdb(nw_.from_native(part.reset_index(drop=True)), bounding.question)
        table = bounding.pairs(read).collect("pyarrow").to_native()
        return table.to_pandas(types_mapper=pd.ArrowDtype)

    present = rows.dropna(subset=[USER, *bounding.question.keys]).shuffle(on=USER)
    made = present.map_partitions(pairs, meta=pairs(present._meta))
    found: nw.LazyFrame[Any] = nw_.from_native(made)
    return found


@contextmanager
def evaluated(pairs: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """The pairs evaluated once, so that what is checked is what is counted; freed at the end."""
    nw_ = narwhals()
    kind, native = pairs.implementation, pairs.to_native()
    if kind.is_polars():
        yield pairs.collect(engine="streaming").lazy()
    elif kind.is_dask():
        yield nw_.from_native(native.persist())
    elif kind.is_duckdb():
        with _temporary_table(native) as table:
            yield nw_.from_native(table)
    else:
        yield nw_.from_native(native.localCheckpoint())


@contextmanager
def _temporary_table(relation: Any) -> Iterator[Any]:
    """A relation as a temporary table of its own connection, which DuckDB may keep on disk."""
    name = f"exactdp_{secrets.token_hex(8)}"
    view = f"{name}_view"
    relation.query(view, f"CREATE TEMP TABLE {name} AS FROM {view}")
    try:
        yield relation.query(view, f"FROM {name}")
    finally:
        relation.query(view, f"DROP TABLE {name}")


def same_kind(frame: Any, names: Sequence[str], types: Sequence[str], columns: list[Any]) -> Any:
    """Columns as a frame of the kind of `frame`. types: as narwhals names them."""
    nw_, pa = narwhals(), _pyarrow()
    arrow = {"Int64": pa.int64(), "UInt64": pa.uint64(), "Float64": pa.float64()}
    arrow |= {"String": pa.string(), "Date": pa.date32()}
    schema = pa.schema([(name, arrow[kind]) for name, kind in zip(names, types, strict=True)])
    table = pa.table(columns, schema=schema)
    given = nw_.from_native(frame)
    kind = given.implementation
    if isinstance(given, nw_.DataFrame):
        return nw_.from_arrow(table, backend=kind).to_native()
    if kind.is_polars():
        return nw_.from_arrow(table, backend="polars").lazy().to_native()
    if kind.is_dask():
        return nw_.from_arrow(table, backend="pandas").lazy(backend="dask").to_native()
    if kind.is_duckdb():
        return _duckdb().from_arrow(table)
    session = given.to_native().sparkSession
    return nw_.from_arrow(table, backend="pyarrow").lazy(backend=kind, session=session).to_native()


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ExactDPError("frames need pyarrow: pip install 'exactdp[frames]'") from None
    return pyarrow


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise ExactDPError("frames need duckdb: pip install 'exactdp[frames]'") from None
    return duckdb
