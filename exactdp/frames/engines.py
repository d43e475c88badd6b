"""The engines: how each evaluates rows or pairs once, and makes a frame of a release.

DuckDB reads frames of pandas and pyarrow, without a copy if types allow. Polars, DuckDB and Spark
process their own frames. Dask moves all rows of a user into one partition, which DuckDB reads. So
only window functions of SQL, and polars, order rows.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from exactdp.errors import InvalidParameter
from exactdp.extras import optional
from exactdp.frames.bounding import BoundedPairs, Bounding
from exactdp.frames.checking import check_part, engine_fault
from exactdp.frames.columns import USER, collect, is_dask, nw_
from exactdp.frames.in_memory import typed, typed_column, with_texts
from exactdp.frames.parts import ALL, Part, parts_for
from exactdp.frames.question import Question

if TYPE_CHECKING:
    import narwhals as nw

_Result = TypeVar("_Result")

RowsOf = Callable[["nw.LazyFrame[Any]", Part], "nw.LazyFrame[Any]"]
Work = Callable[["nw.LazyFrame[Any]", Part], _Result]


def over_pairs(bounding: Bounding, work: Callable[[BoundedPairs], _Result]) -> list[_Result]:
    """Apply `work` to the evaluated pairs of each part of the users; on Dask, of each partition.

    The pairs are evaluated once, so `work` checks and counts the same pairs.
    """

    def on_part(pairs: nw.LazyFrame[Any], part: Part) -> _Result:
        with _evaluated(bounding.every(bounding.of_public_keys(part.rows(pairs)))) as every:
            check_part(every, part)
            with _bounded(bounding, every) as bounded:
                return work(bounded)

    return _over_frame(bounding, bounding.distinct, on_part)


def over_tables(bounding: Bounding, work: Callable[[Any], _Result]) -> list[_Result]:
    """Apply `work` to a table of pyarrow for each part of the users: the pairs with the users'
    totals, or without values all rows, in which pairs are repeated."""
    rows_of = bounding.distinct if bounding.question.values else bounding.counted_rows

    def on_part(pairs: nw.LazyFrame[Any], part: Part) -> _Result:
        table = part.rows(pairs).collect("pyarrow")
        with _lazy(table.select(USER), pairs.implementation.is_polars()) as users:
            check_part(users, part)
        return work(table.to_native())

    return _over_frame(bounding, rows_of, on_part)


def _over_frame(bounding: Bounding, rows_of: RowsOf, work: Work[_Result]) -> list[_Result]:
    frame = bounding.question.frame
    over = _over_partitions if is_dask(frame) else _over_parts
    return over(frame, bounding, rows_of, work)


def _over_parts(
    frame: Any, bounding: Bounding, rows_of: RowsOf, work: Work[_Result]
) -> list[_Result]:
    """Apply `work` to evaluated rows, and in turn to each part of their users.

    rows_of: from all rows to those of the users in a part.
    """
    results = []
    with _rows(frame, bounding) as rows:
        for read in ALL.split(bounding.question.passes):
            with _evaluated(rows_of(rows, read)) as pairs:
                results += [work(pairs, part) for part in read.split(_number_of_parts(pairs))]
    return results


@contextmanager
def _lazy(table: nw.DataFrame[Any], on_polars: bool) -> Iterator[nw.LazyFrame[Any]]:
    """A table of pyarrow on polars or DuckDB."""
    if on_polars:
        yield table.lazy("polars")
    else:
        with optional("duckdb").connect() as connection:
            yield nw_.from_native(connection.from_arrow(table.to_native()))


def _number_of_parts(pairs: nw.LazyFrame[Any]) -> int:
    """In how many parts evaluated pairs are bounded; Spark divides them itself."""
    if pairs.implementation.is_spark_like():
        return 1
    return parts_for(collect(pairs.select(nw_.len())).item())


@contextmanager
def _bounded(bounding: Bounding, every: nw.LazyFrame[Any]) -> Iterator[BoundedPairs]:
    """The evaluated pairs, with the evaluated choices."""
    choices = bounding.choices(every)
    if choices is None:
        yield BoundedPairs(every)
    else:
        with _evaluated(choices) as marked:
            yield BoundedPairs(every, marked, bounding.k)


def lazy_pairs(bounding: Bounding, work: Callable[[BoundedPairs], nw.LazyFrame[Any]]) -> Any:
    """Apply `work` to the pairs of a lazy frame; returns a lazy frame of the same kind."""
    frame = bounding.question.frame

    def on_rows(rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        every = bounding.every(bounding.distinct(rows, ALL))
        return work(BoundedPairs(every, bounding.choices(every), bounding.k))

    if not is_dask(frame):
        with _rows(frame, bounding) as rows:
            return on_rows(rows).to_native()

    def part(frame: Any) -> Any:
        with _rows(frame, bounding) as rows:
            return on_rows(rows).collect("pyarrow").to_pandas()

    together = _together(bounding)
    return together.map_partitions(part, meta=part(together._meta))


@contextmanager
def _rows(frame: Any, bounding: Bounding) -> Iterator[nw.LazyFrame[Any]]:
    """The requested columns, on an engine with ordered windows."""
    wrapped = nw_.from_native(frame)
    named = [nw_.col(name).alias(n) for n, (name, _) in bounding.question.columns.items()]
    kind = wrapped.implementation
    if kind.is_polars() or kind.is_duckdb() or kind.is_spark_like():
        yield wrapped.select(*named).lazy()
    elif isinstance(wrapped, nw_.DataFrame):
        table = typed(wrapped.select(*named), bounding.question)
        with optional("duckdb").connect() as connection:
            yield nw_.from_native(connection.from_arrow(table))
    else:
        allowed = "a frame of pandas, polars, pyarrow, DuckDB, Dask or PySpark"
        raise InvalidParameter("frame", type(frame).__name__, allowed)


def _together(bounding: Bounding) -> Any:
    """The rows of a Dask frame with a user, shuffled so that a user's rows share a partition.

    Rows are shuffled by a new column of :func:`_shares_of`, whose name is longer than all others.
    """
    question = bounding.question
    columns = dict(question.columns.values())
    texts = [name for name, kind in columns.items() if kind.arrow == "large_string"]
    rows = question.frame[list(columns)]
    rows = rows.map_partitions(with_texts, texts, meta=with_texts(rows._meta, texts))
    rows = rows.dropna(subset=[question.user])
    shares = _shares_of(question)
    share = "_".join(["", *columns, ""])

    def with_shares(frame: Any) -> Any:
        return frame.assign(**{share: shares(frame)})

    rows = rows.map_partitions(with_shares, meta=with_shares(rows._meta))
    return rows.shuffle(on=share)


def _shares_of(question: Question) -> Callable[[Any], Any]:
    """A function from a partition to the numbers of the shares of all users that its rows are in.

    There are a hundred times as many shares as partitions, so that partitions are alike in size.
    The function does not hold the question's frame, which Dask would copy with the function.
    """
    from pandas.util import hash_array

    user, kind, number = question.user, question.user_type, 100 * question.frame.npartitions

    def shares(frame: Any) -> Any:
        users = typed_column(nw_.from_native(frame)[user], kind).to_pandas()
        return (hash_array(users.to_numpy(), categorize=False) % number).astype("int64")

    return shares


def _over_partitions(
    frame: Any, bounding: Bounding, rows_of: RowsOf, work: Work[_Result]
) -> list[_Result]:
    """Apply `work` to each partition of a Dask frame.

    Raises EngineError if users of the same share are in two partitions.
    """
    from dask.base import compute
    from dask.delayed import delayed

    shares = _shares_of(bounding.question)

    def one(frame: Any) -> tuple[list[_Result], set[int]]:
        results = _over_parts(frame, bounding, rows_of, work)
        return results, set(shares(frame).tolist())

    parts = [delayed(one)(part) for part in _together(bounding).to_delayed()]
    computed: list[tuple[list[_Result], set[int]]] = compute(*parts)  # type: ignore[no-untyped-call]
    if sum(len(numbers) for _, numbers in computed) > len(
        set().union(*(numbers for _, numbers in computed))
    ):
        raise engine_fault("dask", "the rows of a user are in two partitions")
    return [result for results, _ in computed for result in results]


@contextmanager
def _evaluated(pairs: nw.LazyFrame[Any]) -> Iterator[nw.LazyFrame[Any]]:
    """The evaluated pairs, which are freed at the end of the block."""
    kind, native = pairs.implementation, pairs.to_native()
    if kind.is_polars():
        yield collect(pairs).lazy()
    elif kind.is_duckdb():
        with _temporary_table(native) as table:
            yield nw_.from_native(table)
    else:
        yield nw_.from_native(native.localCheckpoint())


@contextmanager
def _temporary_table(relation: Any) -> Iterator[Any]:
    """A relation as a temporary table of its connection, which DuckDB may spill to disk."""
    name = f"exactdp_{secrets.token_hex(8)}"
    view = f"{name}_view"
    relation.query(view, f"CREATE TEMP TABLE {name} AS FROM {view}")
    try:
        yield relation.query(view, f"FROM {name}")
    finally:
        relation.query(view, f"DROP TABLE {name}")
        relation.query(view, f"DROP VIEW IF EXISTS {view}")  # DuckDB 1 keeps the view of a query


def same_kind(frame: Any, names: Sequence[str], types: Sequence[str], columns: list[Any]) -> Any:
    """Columns as a frame of the same kind as `frame`. types: names of narwhals types.

    Rows are in the order of all columns, from the first one on.
    """
    pa = optional("pyarrow")
    arrow = {"Int64": pa.int64(), "UInt64": pa.uint64(), "Float64": pa.float64()}
    arrow |= {"String": pa.string(), "Date": pa.date32()}
    schema = pa.schema([(name, arrow[kind]) for name, kind in zip(names, types, strict=True)])
    table = pa.table(columns, schema=schema)
    if is_dask(frame):
        import pandas

        plain = {pa.date32(): pandas.ArrowDtype(pa.date32())}  # Dask makes texts of other dates
        rows = table.to_pandas(types_mapper=plain.get)
        return sys.modules["dask.dataframe"].from_pandas(rows, npartitions=1)
    wrapped = nw_.from_native(frame)
    kind = wrapped.implementation
    if isinstance(wrapped, nw_.DataFrame):
        return nw_.from_arrow(table, backend=kind).to_native()
    if kind.is_polars():
        return nw_.from_arrow(table, backend="polars").lazy().to_native()
    if kind.is_duckdb():
        return _in_order(optional("duckdb").from_arrow(table), names, types)
    session = wrapped.to_native().sparkSession
    return nw_.from_arrow(table, backend="pyarrow").lazy(backend=kind, session=session).to_native()


def _in_order(relation: Any, names: Sequence[str], types: Sequence[str]) -> Any:
    """A relation of DuckDB that keeps its order under any settings of its connection."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    terms = [
        f"encode({name})" if kind == "String" else name
        for name, kind in zip(quoted, types, strict=True)
    ]
    return relation.order(", ".join(f"{term} ASC NULLS LAST" for term in terms))
