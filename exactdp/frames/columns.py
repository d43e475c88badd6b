"""The types of the columns of a frame, and what all engines make of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
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

    @property
    def is_integer(self) -> bool:
        """Whether the column stays a column of 64-bit integers."""
        return self is INTEGERS

    @property
    def is_text(self) -> bool:
        """Whether the column becomes text, and then bytes."""
        return self not in (INTEGERS, NUMBERS)

    def expression(self, name: str) -> Any:
        """The column as integers, as text, or as values that will be rounded; dates of other years
        than 1 to 9999 are missing."""
        column = nw_.col(name)
        if self is NUMBERS:
            return column.cast(nw_.Float64)
        if self is _DATES:
            column = nw_.when(column.dt.year().is_between(1, 9999)).then(column)
        return column.cast(nw_.Int64 if self.is_integer else nw_.String)

    def restored(self, name: str) -> Any:
        """The column of integers or text converted back to the caller's type."""
        if self is _DATES:
            return nw_.col(name).str.to_date(format="%Y-%m-%d")
        return nw_.col(name).cast(getattr(nw_, self.released))

    def written(self, parameter: str, value: Any) -> int | bytes:
        """The representation of a caller's value; raises InvalidParameter."""
        if self is _TEXT or self is _DATES:
            if not (isinstance(value, str) if self is _TEXT else type(value) is date):
                raise InvalidParameter(parameter, value, f"{self.name}, as in the column")
            return _utf8(parameter, str(value))
        least, below = (-(2**63), 2**63) if self.is_integer else (0, 2**64)
        number = integer(parameter, value, least=least)
        if number >= below:
            raise InvalidParameter(parameter, value, f"integers below 2^{below.bit_length() - 1}")
        return number if self.is_integer else str(number).encode()


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
    return schema


def _declared(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """A frame without its rows: a row could change the type of a column of objects."""
    declared = frame._meta if is_dask(frame) else frame  # narwhals is dropping Dask
    without_rows: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw_.from_native(declared).head(0)
    return without_rows


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The rows of a lazy frame; polars streams them, which takes less time and memory."""
    if frame.implementation.is_polars():
        return frame.collect(engine="streaming")
    return frame.collect()


def is_dask(frame: Any) -> bool:
    """Whether a frame is a Dask frame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(frame, dask.DataFrame)


def value_type_of(schema: Mapping[str, Any], name: str, step: Fraction) -> ColumnType:
    """The type of a column of values: integers, or numbers that are rounded to steps."""
    if name not in schema or not schema[name].is_numeric():
        what = f"{name} of type {schema[name]}" if name in schema else name
        raise InvalidParameter("sums", what, "a column of numbers")
    wide = (nw_.UInt64, nw_.UInt128, nw_.Int128)
    whole = step == 1 and schema[name].is_integer() and schema[name] not in wide
    return INTEGERS if whole else NUMBERS


def type_of(schema: Mapping[str, Any], parameter: str, name: str) -> ColumnType:
    if name not in schema:
        raise InvalidParameter(parameter, name, f"a column: one of {', '.join(schema)}")
    kind = schema[name]
    if kind == nw_.UInt64:
        return _UNSIGNED
    if kind.is_integer() and kind not in (nw_.UInt128, nw_.Int128):
        return INTEGERS
    if kind in (nw_.Categorical, nw_.String) or isinstance(kind, nw_.Enum):
        return _TEXT
    if kind == nw_.Date and parameter == "by":
        return _DATES
    allowed = "a column of integers or of text" + (", or of dates" if parameter == "by" else "")
    raise InvalidParameter(parameter, f"{name} of type {kind}", f"{allowed}: convert it first")
