"""Columns in canonical form: integers, and texts as the bytes of UTF-8.

Engines compare texts by collations ("Ann" equals "ann"), and dictionaries and categories by codes.
Bytes have one equality and one order on every engine, which no declaration or setting changes.
Rows take this form before anything is compared; texts are restored after the last comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exactdp.frames.columns import INTEGERS, USER, ColumnType, nw_
from exactdp.frames.question import Question
from exactdp.frames.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw


def canonical(rows: nw.LazyFrame[Any], question: Question) -> nw.LazyFrame[Any]:
    """The columns of a question as integers and bytes. Rows without a user or a key are left out. A
    value outside of the range of its type is missing."""
    col = nw_.col
    typed = [kind.expression(name) for name, (_, kind) in question.columns.items()]
    present = [~col(name).is_null() for name in (USER, *question.keys)]
    columns = zip(
        question.value_columns, question.value_types, question.values.values(), strict=True
    )
    steps = [_in_steps(col(name), kind, value) for name, kind, value in columns]
    plain = as_bytes(_in_microseconds(rows).select(*typed), question.texts).filter(*present)
    return plain.with_columns(*steps) if steps else plain


def _in_microseconds(rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Rows of DuckDB whose times in nanoseconds before 1970 are 999 ns earlier: DuckDB drops digits
    after the microsecond, by which the last microsecond of such a day would be the next day."""
    if not rows.implementation.is_duckdb():
        return rows
    kinds: dict[str, Any] = dict(rows.collect_schema())
    times = {name: kind for name, kind in kinds.items() if kind == nw_.Datetime}
    names = [name for name, kind in times.items() if kind.time_unit == "ns"]
    if not names:
        return rows
    early = "isfinite({0}) AND epoch_ns({0}) BETWEEN -9223372036854774000 AND -1"
    moved = (
        f"CASE WHEN {early} THEN make_timestamp_ns(epoch_ns({{0}}) - 999) ELSE {{0}} END AS {{0}}"
    )
    changed = ", ".join(moved.format(name) for name in names)
    earlier: nw.LazyFrame[Any] = nw_.from_native(rows.to_native().project(f"* REPLACE ({changed})"))
    return earlier


def as_bytes(frame: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Columns of text as columns of bytes."""
    return _converted(frame, names, "encode", "Binary")


def as_texts(frame: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Columns of bytes as columns of text, which DuckDB compares in binary."""
    return _converted(frame, names, "decode", "String")


def _converted(
    frame: nw.LazyFrame[Any], names: Sequence[str], function: str, kind: str
) -> nw.LazyFrame[Any]:
    """Columns by a function of DuckDB, or cast to a type of polars and Spark.

    narwhals has no such function: its cast to bytes reads escapes in DuckDB.
    """
    if not names:
        return frame
    native, engine = frame.to_native(), frame.implementation
    if engine.is_duckdb():
        changed = ", ".join(f"{function}({name}) AS {name}" for name in names)
        native = native.project(f"* REPLACE ({changed})")
    elif engine.is_spark_like():
        from pyspark.sql import functions

        columns = {name: functions.col(name).cast(kind.lower()) for name in names}
        native = native.withColumns(columns)
    else:
        import polars as pl

        native = native.with_columns(pl.col(names).cast(getattr(pl, kind)))
    changed_frame: nw.LazyFrame[Any] = nw_.from_native(native)
    return changed_frame


def _in_steps(column: Any, kind: ColumnType, value: Reading) -> Any:
    """An expression: the values of rows, clipped to their range, as numbers of steps.

    NaN is missing. Halves of a step are rounded up: `round` differs between engines. So do
    quotients by a number, which polars multiplies by its inverse.
    """
    low, high = value.row_range
    if kind is INTEGERS:
        steps = column.clip(low, high)
    else:
        nearest = ((column * float(1 / value.step)).clip(low, high) + 0.5).floor()
        steps = nw_.when(~column.is_nan()).then(nearest).cast(nw_.Int64)
    return steps if value.substitute is None else steps.fill_null(value.substitute)
