"""Columns in canonical form: integers, and texts as the bytes of UTF-8.

Engines compare texts by collations ("Ann" equals "ann"), and dictionaries and categories by codes.
Bytes have one equality and one order on every engine, which no declaration or setting changes.
Rows take this form before anything is compared; texts are restored after the last comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exactdp.frames.columns import USER, nw_
from exactdp.frames.question import Question
from exactdp.frames.ranges import Range

if TYPE_CHECKING:
    import narwhals as nw


def canonical(rows: nw.LazyFrame[Any], question: Question) -> nw.LazyFrame[Any]:
    """The columns of a question as integers and bytes. Rows without a user or a key are left out;
    missing values are 0. A value outside of the range of its type is missing.
    """
    col = nw_.col
    typed = [kind.expression(name) for name, (_, kind) in question.columns.items()]
    present = [~col(name).is_null() for name in (USER, *question.keys)]
    ranges = zip(question.values, question.limits.values(), strict=True)
    known = [_in_steps(col(name), each).fill_null(0) for name, each in ranges]
    seen = as_bytes(rows.select(*typed), question.texts).filter(*present)
    return seen.with_columns(*known) if known else seen


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


def _in_steps(values: Any, limit: Range) -> Any:
    """An expression: the values of rows as numbers of steps; NaN is missing."""
    if limit.step == 1:
        return values
    steps = (values / float(limit.step)).clip(-limit.largest, limit.largest).round(0)
    return nw_.when(~values.is_nan()).then(steps).cast(nw_.Int64)
