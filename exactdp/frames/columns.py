"""The columns of users, keys and values of a frame, and their types."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from exactdp.errors import Described, InvalidParameter
from exactdp.extras import optional
from exactdp.frames.ranges import Range, ranges
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
        return self is _INTEGERS

    @property
    def is_text(self) -> bool:
        """Whether the column becomes text, and then bytes."""
        return self not in (_INTEGERS, _NUMBERS)

    def expression(self, name: str) -> Any:
        """The column as integers, as text, or as values that will be rounded; dates of other years
        than 1 to 9999 are missing."""
        column = nw_.col(name)
        if self is _NUMBERS:
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


_INTEGERS = ColumnType("integers", "int64", "Int64", int)
_TEXT = ColumnType("text", "large_string", "String", _text)
_DATES = ColumnType("dates", "date32", "Date", _date)
_NUMBERS = ColumnType("numbers", "float64", "Float64", float)
_UNSIGNED = ColumnType("unsigned integers", "uint64", "UInt64", int)


@dataclass(frozen=True)
class Question:
    """The requested columns, by the caller's names, and their types.

    user: column of users. by: columns that together are the key. single: whether a key is the value
    of a single column instead of a tuple. limits: column of values -> range of a user's value for a
    key.
    """

    user: str
    by: tuple[str, ...]
    single: bool
    limits: Mapping[str, Range]
    user_type: ColumnType
    key_types: tuple[ColumnType, ...]

    @property
    def given(self) -> str | tuple[str, ...]:
        """The column name of the key, or the names as a tuple: the argument `by` of a caller."""
        return self.by[0] if self.single else self.by

    @property
    def keys(self) -> list[str]:
        """Internal names of the columns of the key."""
        return [f"_key_{i}" for i in range(len(self.by))]

    @property
    def values(self) -> list[str]:
        """Internal names of the columns of values."""
        return [f"_value_{i}" for i in range(len(self.limits))]

    @property
    def texts(self) -> list[str]:
        """Internal names of the columns that become text, and then bytes."""
        return [name for name, (_, kind) in self.columns.items() if kind.is_text]

    @property
    def columns(self) -> dict[str, tuple[str, ColumnType]]:
        """Internal name -> (the caller's name, type)."""
        by_name = {USER: (self.user, self.user_type)}
        by_name |= dict(zip(self.keys, zip(self.by, self.key_types, strict=True), strict=True))
        kinds = [_INTEGERS if each.step == 1 else _NUMBERS for each in self.limits.values()]
        columns = zip(self.limits, kinds, strict=True)
        return by_name | dict(zip(self.values, columns, strict=True))

    def key(self, written: Sequence[Any]) -> Any:
        """The key, in the caller's types, from the key columns of a row."""
        parts = [kind.value(part) for kind, part in zip(self.key_types, written, strict=True)]
        return parts[0] if self.single else tuple(parts)

    def columns_of(self, keys: Sequence[Any]) -> list[list[Any]]:
        """The values of each key column, from a list of keys."""
        if self.single:
            return [list(keys)]
        return [list(column) for column in zip(*keys, strict=True)] or [[] for _ in self.by]

    def listed(self, keys: Iterable[Any]) -> tuple[tuple[int | bytes, ...], ...]:
        """The representations of public keys, each once, sorted; raises InvalidParameter."""
        if isinstance(keys, str):
            raise InvalidParameter("keys", keys, "a list of keys")
        return tuple(sorted({self.written_key(key) for key in keys}))

    def written_key(self, key: Any) -> tuple[int | bytes, ...]:
        """The representation of a public key; raises InvalidParameter."""
        parts = (key,) if self.single else key
        if not isinstance(parts, tuple) or len(parts) != len(self.by):
            raise InvalidParameter("keys", key, f"tuples of {len(self.by)} parts: {self.by}")
        return tuple(t.written("keys", part) for t, part in zip(self.key_types, parts, strict=True))


def asked(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    sums: Mapping[str, Any] | None,
    means: Mapping[str, Any] | None = None,
) -> Question:
    """Read a question from arguments, and check it against the frame's columns; raises
    InvalidParameter."""
    schema = _schema(frame)
    single = isinstance(by, str)
    names = (by,) if isinstance(by, str) else tuple(by)
    if not names or len(set(names)) < len(names) or user in names:
        raise InvalidParameter("by", by, f"one or more columns other than the user's, {user}")
    limits = ranges(sums, means)
    for name, each in limits.items():
        _numbers(schema, name, whole=each.step == 1)
    return Question(
        user,
        names,
        single,
        limits,
        _type_of(schema, "user", user),
        tuple(_type_of(schema, "by", name) for name in names),
    )


def _schema(frame: Any) -> Mapping[str, Any]:
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


def collected(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The rows of a lazy frame; polars streams them, which takes less time and memory."""
    if frame.implementation.is_polars():
        return frame.collect(engine="streaming")
    return frame.collect()


def is_dask(frame: Any) -> bool:
    """Whether a frame is a Dask frame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(frame, dask.DataFrame)


def _numbers(schema: Mapping[str, Any], name: str, *, whole: bool) -> None:
    """Raise InvalidParameter unless a column holds numbers, or integers of at most 64 bits."""
    what = f"{name} of type {schema[name]}" if name in schema else name
    wide = (nw_.UInt64, nw_.UInt128, nw_.Int128)
    allowed = "a column of signed integers, or of numbers with a step: (low, high, step)"
    if name not in schema or not schema[name].is_numeric():
        raise InvalidParameter("sums", what, allowed)
    if whole and (not schema[name].is_integer() or schema[name] in wide):
        raise InvalidParameter("sums", what, allowed)


def _type_of(schema: Mapping[str, Any], parameter: str, name: str) -> ColumnType:
    if name not in schema:
        raise InvalidParameter(parameter, name, f"a column: one of {', '.join(schema)}")
    kind = schema[name]
    if kind == nw_.UInt64:
        return _UNSIGNED
    if kind.is_integer() and kind not in (nw_.UInt128, nw_.Int128):
        return _INTEGERS
    if kind in (nw_.Categorical, nw_.String) or isinstance(kind, nw_.Enum):
        return _TEXT
    if kind == nw_.Date and parameter == "by":
        return _DATES
    allowed = "a column of integers or of text" + (", or of dates" if parameter == "by" else "")
    raise InvalidParameter(parameter, f"{name} of type {kind}", f"{allowed}: convert it first")
