"""Columns of frames in memory as a pyarrow table of declared types, whatever one row holds.

A column of Python objects or of categories is text in any case, because its type would otherwise
depend on its rows: integers of Python and numpy, dates and `bytes` of UTF-8 are written as text,
and all other objects are missing, such as `bytearray`. Each cell is read by its own type alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from exactdp.errors import InvalidParameter
from exactdp.extras import optional
from exactdp.foreign_numbers import is_numpy_integer
from exactdp.frames.columns import ColumnType
from exactdp.frames.question import Question

if TYPE_CHECKING:
    import narwhals as nw


def typed(rows: nw.DataFrame[Any], question: Question) -> Any:
    """The columns of a question, by their internal names, as a pyarrow table."""
    columns = question.columns.items()
    table = {name: typed_column(rows[name], kind) for name, (_, kind) in columns}
    return optional("pyarrow").table(table)


def typed_column(column: nw.Series[Any], kind: ColumnType) -> Any:
    """A column of a declared type, as an array of pyarrow."""
    pa = optional("pyarrow")
    wanted = getattr(pa, kind.arrow)()
    if wanted == pa.large_string() and column.implementation.is_pandas_like():
        return _texts(pa, column.to_native())
    if kind.is_date and _may_be_text(pa, column):
        return pa.array(map(_day, column.to_native()), type=wanted)
    held = _plain(pa, column.to_arrow())
    return held.cast(wanted, safe=False)  # integers beyond 2^53 become floats


def with_texts(frame: Any, names: Iterable[str]) -> Any:
    """A pandas frame whose columns of these names are texts of pyarrow."""
    import pandas as pd

    pa = optional("pyarrow")
    kind = pd.ArrowDtype(pa.large_string())
    texts = {n: pd.Series(_texts(pa, frame[n]), index=frame.index, dtype=kind) for n in names}
    return frame.assign(**texts)


def _plain(pa: Any, column: Any) -> Any:
    """A column without its dictionary; raises InvalidParameter for one of other types."""
    if not pa.types.is_dictionary(column.type):
        return column
    kind, has = column.type.value_type, pa.types
    if not (has.is_string(kind) or has.is_large_string(kind) or has.is_integer(kind)):
        raise InvalidParameter(
            "frame", f"a dictionary of {kind}", "dictionaries of texts or integers"
        )
    return column.cast(kind)


def _texts(pa: Any, column: Any) -> Any:
    """A column of pandas as texts of pyarrow; no cell changes how another cell is read."""
    kind = pa.large_string()
    with suppress(UnicodeEncodeError):  # half of a surrogate pair
        if _is_text(pa, column.dtype):
            return pa.array(column, type=kind, from_pandas=True)
        # pyarrow reads plain texts as _text does, or raises
        cells = [cell if type(cell) is str else _text(cell) for cell in column]
        return pa.array(cells, type=kind)
    return pa.array(map(_text, column), type=kind)


def _may_be_text(pa: Any, column: nw.Series[Any]) -> bool:
    """Whether a column is one of texts or objects of pandas, by its declared type."""
    if not column.implementation.is_pandas_like():
        return False
    kind = column.to_native().dtype
    return str(kind) == "object" or _is_text(pa, kind)


def _is_text(pa: Any, dtype: Any) -> bool:
    """Whether the type of a column of pandas admits texts alone."""
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        held = dtype.pyarrow_dtype
        return bool(pa.types.is_string(held) or pa.types.is_large_string(held))
    return isinstance(dtype, pd.StringDtype)


def _day(value: Any) -> date | None:
    """The day of a date, a time or a text of the form 2013-01-31; None for every other object."""
    with suppress(ValueError):
        if isinstance(value, datetime):
            if value != value or value.tzinfo is not None:  # NaT, or a time of some zone
                return None
            return date(value.year, value.month, value.day)  # pandas has years beyond 9999
        if isinstance(value, date):
            return date.fromisoformat(date.isoformat(value))
        if isinstance(value, str):
            day = date.fromisoformat(str.__str__(value))
            return day if day.isoformat() == str.__str__(value) else None  # no 2013-W05-4
    return None


def _text(value: Any) -> str | None:
    """The text of a Python object, or None if the object is not text or bytes of UTF-8, an integer
    of Python or numpy, or a date."""
    with suppress(ValueError):  # half of a surrogate pair, other bytes, or too many digits
        if isinstance(value, str):
            return str.encode(value).decode()
        if isinstance(value, bytes):
            return bytes.decode(value)
        if isinstance(value, int) or is_numpy_integer(value):
            return str(int(value))
        if isinstance(value, date) and not isinstance(value, datetime):
            return date.isoformat(value)
    return None
