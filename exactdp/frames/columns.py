"""The types of the columns of a frame, and what all engines make of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactdp.errors import Described, InvalidParameter
from exactdp.extras import optional
from exactdp.parameters import integer

if TYPE_CHECKING:
    import narwhals as nw

#: Internal name of the column of users; the caller's columns may have any names.
USER = "_user"


class _Narwhals:
    """The narwhals module, imported on first use; raises MissingExtra."""

    def __getattr__(self, name: str) -> Any:
        return getattr(optional("narwhals"), name)


nw_: Any = _Narwhals()


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, and its internal representation.

    Columns are represented as 64-bit integers or as bytes, which are the same on all engines: bytes
    of texts, and of dates and unsigned 64-bit integers as texts.
    """

    name: str  #: "integers", "text", "dates" or "unsigned integers"
    arrow: str  #: the type in pyarrow
    released: str  #: the type in narwhals
    value: Callable[[Any], Any]  #: from the representation to the value
    period: str = ""  #: of dates that become the first day of their week, month or year

    @property
    def is_integer(self) -> bool:
        """Whether the column becomes a column of 64-bit integers."""
        return self.arrow == "int64"

    @property
    def is_date(self) -> bool:
        """Whether the column becomes the texts of dates, and then bytes."""
        return self.arrow == "date32"

    @property
    def is_text(self) -> bool:
        """Whether the column becomes text, and then bytes."""
        return not self.is_integer and self is not NUMBERS

    def expression(self, name: str) -> Any:
        """The column as integers, as text, or as values that will be rounded; dates of other years
        than 1 to 9999 and integers beyond 64 bits are missing."""
        column = nw_.col(name)
        if self is NUMBERS:
            return column.cast(nw_.Float64)
        if self is _HUGE:
            column = nw_.when(column.is_between(-(2**63), 2**63 - 1)).then(column)
        if self.is_date:
            return self._dates(column)
        return column.cast(nw_.Int64 if self.is_integer else nw_.String)

    def _dates(self, column: Any) -> Any:
        """The texts of dates, or of the first days of periods."""
        day = nw_.when(column.dt.year().is_between(1, 9999)).then(column)
        if self.period:
            day = day.dt.date()
        if self.period == "week":
            first = day
            for i in range(1, 7):
                back = day.dt.offset_by(f"-{i}d").cast(nw_.Date)
                later = day.dt.weekday() % 7 == (i + 1) % 7  # Sunday is 0 on Spark, elsewhere 7
                first = nw_.when(later).then(back).otherwise(first)
            day = first
        text = day.cast(nw_.String)
        kept, rest = {"month": (8, "01"), "year": (5, "01-01")}.get(self.period, (0, ""))
        return nw_.concat_str(text.str.slice(0, kept), nw_.lit(rest)) if rest else text

    def restored(self, name: str) -> Any:
        """The column of integers or text converted back to the caller's type."""
        if self.is_date:
            return nw_.col(name).str.to_date(format="%Y-%m-%d")
        return nw_.col(name).cast(getattr(nw_, self.released))

    def written(self, parameter: str, value: Any) -> int | bytes:
        """The representation of a caller's value; raises InvalidParameter."""
        if self is _CATEGORIES and type(value) is int:
            return str(value).encode()
        if self.is_date:
            if type(value) is not date or value != self._first_day(value):
                raise InvalidParameter(parameter, value, f"{self.name}, as in the column")
            return str(value).encode()
        if self.is_text and self is not _UNSIGNED:
            if not isinstance(value, str):
                raise InvalidParameter(parameter, value, f"{self.name}, as in the column")
            return _utf8(parameter, value)
        least, below = (-(2**63), 2**63) if self.is_integer else (0, 2**64)
        number = integer(parameter, value, least=least)
        if number >= below:
            raise InvalidParameter(parameter, value, f"integers below 2^{below.bit_length() - 1}")
        return number if self.is_integer else str(number).encode()

    def _first_day(self, day: date) -> date:
        """The first day of the period of a date."""
        if self.period == "week":
            return day - timedelta(day.weekday())
        month = 1 if self.period == "year" else day.month
        return day.replace(month=month, day=1) if self.period in ("month", "year") else day


def _utf8(parameter: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidParameter(parameter, text, "text without surrogates") from None


def _text(written: bytes) -> str:
    return written.decode()


def _date(written: bytes) -> date:
    return date.fromisoformat(written.decode())


INTEGERS = ColumnType("integers", "int64", "Int64", int)
_TEXT = ColumnType("text", "large_string", "String", _text)
_DATES = ColumnType("dates", "date32", "Date", _date)
NUMBERS = ColumnType("numbers", "float64", "Float64", float)
_UNSIGNED = ColumnType("unsigned integers", "uint64", "UInt64", int)
_HUGE = ColumnType("integers of 128 bits", "int64", "Int64", int)
_CATEGORIES = ColumnType("text or integers", "large_string", "String", _text)

#: What a key may make of a column of dates or times, as in "month:date" -> the type.
_PERIODS = {
    "day": replace(_DATES, period="day"),
    "week": replace(_DATES, name="Mondays", period="week"),
    "month": replace(_DATES, name="first days of months", period="month"),
    "year": replace(_DATES, name="first days of years", period="year"),
}


def schema_of(frame: Any) -> Mapping[str, Any]:
    """Names and types of the columns of a frame; raises InvalidParameter for unknown kinds."""
    try:
        schema: Mapping[str, Any] = _declared(frame).collect_schema()
    except nw_.exceptions.DuplicateError:
        raise InvalidParameter(
            "frame", Described("equal names"), "columns of different names"
        ) from None
    except TypeError:
        allowed = "a frame of pandas, polars, pyarrow, DuckDB, Dask or PySpark"
        raise InvalidParameter("frame", type(frame).__name__, allowed) from None
    if not all(isinstance(name, str) for name in schema):
        wrong = next(name for name in schema if not isinstance(name, str))
        raise InvalidParameter("frame", wrong, "columns whose names are texts: rename them first")
    return schema


def _declared(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """A frame without its rows: a row could change the type of a column of objects."""
    declared = frame._meta if is_dask(frame) else frame  # narwhals is dropping Dask
    without_rows: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw_.from_native(declared).head(0)
    return without_rows


def of_pandas(frame: Any) -> bool:
    """Whether a frame is one of pandas or Dask, whose columns may hold any objects."""
    return is_dask(frame) or bool(nw_.from_native(frame).implementation.is_pandas_like())


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The rows of a lazy frame; polars streams them, which takes less time and memory."""
    if frame.implementation.is_polars():
        return frame.collect(engine="streaming")
    return frame.collect()


def rows_in_memory(frame: Any) -> int:
    """The number of rows of a frame in memory; 0 for a lazy frame."""
    wrapped = None if is_dask(frame) else nw_.from_native(frame)
    return len(wrapped) if isinstance(wrapped, nw_.DataFrame) else 0


def is_dask(frame: Any) -> bool:
    """Whether a frame is a Dask frame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(frame, dask.DataFrame)


def is_spark(frame: Any) -> bool:
    """Whether a frame is one of Spark."""
    return not is_dask(frame) and bool(nw_.from_native(frame).implementation.is_spark_like())


def value_type_of(
    schema: Mapping[str, Any], name: str, step: Fraction, parameter: str = "sums"
) -> ColumnType:
    """The type of a column of values: integers, or numbers that are rounded to steps."""
    if name not in schema or not schema[name].is_numeric():
        what = f"{name} of type {schema[name]}" if name in schema else name
        raise InvalidParameter(parameter, what, "a column of numbers")
    wide = (nw_.UInt64, nw_.UInt128, nw_.Int128)
    whole = step == 1 and schema[name].is_integer() and schema[name] not in wide
    return INTEGERS if whole else NUMBERS


def key_of(schema: Mapping[str, Any], label: str, *, cells: bool) -> tuple[str, ColumnType]:
    """The column and the type of a part of a key: a column's name, or as in "month:date".

    cells: whether the frame is read cell by cell, so that a text of no date is missing.
    """
    period, colon, name = label.partition(":") if isinstance(label, str) else (label, "", "")
    if label in schema or not colon or period not in _PERIODS:
        return label, type_of(schema, "by", label)
    kind = schema.get(name)
    if kind is None:
        raise InvalidParameter("by", label, f"{period}:column, with one of {_names(schema)}")
    plain_time = isinstance(kind, nw_.Datetime) and kind.time_zone is None
    if not (plain_time or kind == nw_.Date or (cells and kind == nw_.String)):
        allowed = f"{period}:column, with a column of dates, or of times without a time zone"
        raise InvalidParameter("by", f"{label} of type {kind}", f"{allowed}: convert it first")
    return name, _PERIODS[period]


def type_of(schema: Mapping[str, Any], parameter: str, name: str) -> ColumnType:
    """The type of a column of users, or of a part of a key; raises InvalidParameter."""
    if not isinstance(name, str) or name not in schema:
        raise InvalidParameter(parameter, name, f"a column: one of {_names(schema)}")
    kind, is_key = schema[name], parameter == "by"
    if kind == nw_.UInt64:
        return _UNSIGNED
    if kind.is_integer():
        return _HUGE if kind in (nw_.UInt128, nw_.Int128) else INTEGERS
    if kind == nw_.Categorical:
        return _CATEGORIES
    if kind == nw_.String or isinstance(kind, nw_.Enum):
        return _TEXT
    if kind == nw_.Date and is_key:
        return _DATES
    allowed = "a column of integers or of text" + (", or of dates" if is_key else "")
    if isinstance(kind, nw_.Datetime) and is_key:
        allowed += f" (as in by='day:{name}', or week, month, year)"
    raise InvalidParameter(parameter, f"{name} of type {kind}", f"{allowed}: convert it first")


def _names(schema: Mapping[str, Any]) -> str:
    return ", ".join(map(str, schema))
