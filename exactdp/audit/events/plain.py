"""Any output as plain values: what can be compared, hashed, and written down the same everywhere.

Plain values are None, booleans, integers, floats, Fractions, strings, bytes, tuples and frozensets
of plain values, and Coded ones: a name and plain parts, for everything else. A code depends on the
value alone: no address, no hash, no order of a set, so it is the same in every process. What has no
such code (an object without a state of its own) raises.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np

from exactdp.errors import InvalidParameter

__all__ = ["NAN", "Coded", "attributes", "name_of", "plain"]

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_MOST = 40  # levels of nesting
_ALLOWED = (
    "made of values with a code that is the same in every process: numbers, texts, dates, "
    "collections, data frames, objects with attributes"
)


@dataclass(frozen=True)
class Coded:
    """A value of another type: the name of the type, and parts that say all there is to it."""

    name: str
    parts: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.parts))})"


#: NaN, which does not equal itself, as a value that does.
NAN = Coded("NaN", ())


def plain(value: Any) -> Any:
    """The code of a value, made of plain values.

    Numbers of numpy become Python's; lists and arrays become tuples, dictionaries become
    frozensets of pairs. Raises InvalidParameter where a value has no code of its own.

    >>> plain({"a": [1, 2.0], "when": date(2024, 2, 29)}) == frozenset(
    ...     {("a", (1, 2.0)), ("when", Coded("date", (738945,)))})
    True
    """
    return _plain(value, ())


#: the containers a value is inside of, by their ids: one that contains itself has no code
Inside = tuple[int, ...]


def _plain(value: Any, inside: Inside) -> Any:
    kind: Any = type(value)
    if kind in _THEMSELVES:
        return value
    if kind is float:
        return value if value == value else NAN
    if id(value) in inside or len(inside) > _MOST:
        raise InvalidParameter("run", f"a {name_of(kind)} that contains itself", _ALLOWED)
    code = _code_of(kind)
    return code(value, (*inside, id(value)))


@lru_cache(maxsize=1024)
def _code_of(kind: Any) -> Callable[[Any, Inside], Any]:
    for root in (base.__module__.partition(".")[0] for base in kind.__mro__):
        if root in _FRAMES and hasattr(kind, _FRAMES[root]):
            return _arrow if root == "pyarrow" else _frame
    return next((code for known, code in _CODES if issubclass(kind, known)), _object)


def _tuple(values: Iterable[Any], inside: Inside) -> tuple[Any, ...]:
    return tuple(_plain(value, inside) for value in values)


def _dictionary(value: Mapping[Any, Any], inside: Inside) -> frozenset[Any]:
    return frozenset((_plain(k, inside), _plain(v, inside)) for k, v in value.items())


def _scalar(value: np.generic, inside: Inside) -> Any:
    """A numpy scalar; extended precision as an exact Fraction, dates by their integer."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return Coded(value.dtype.name, (int(value.astype(np.int64)),))
    if isinstance(value, np.longdouble):
        if not np.isfinite(value):
            return _plain(float(value), inside)
        return Fraction(*value.as_integer_ratio())
    if isinstance(value, np.clongdouble):
        return Coded("complex", _tuple((value.real, value.imag), inside))
    if isinstance(value, np.void) and value.dtype.names:
        return Coded("record", _tuple((value[name] for name in value.dtype.names), inside))
    return _plain(value.item(), inside)


def _array(value: Any, inside: Inside) -> Any:
    """An array by its numbers, one number as itself; others by their rows, masked entries as None.

    The shape is part of its form, see forms.py.
    """
    if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and type(value) is np.ndarray:
        flat = _tuple(value.ravel().tolist(), inside)
        return flat[0] if len(flat) == 1 else flat
    if not value.ndim:
        return _plain(value[()], inside)
    if isinstance(value, np.ma.MaskedArray):
        return _tuple((None if one is np.ma.masked else one for one in value), inside)
    return _tuple(value, inside)


def _integer(value: Any, inside: Inside) -> int:
    return int(value)


def _floating(value: Any, inside: Inside) -> Any:
    return _plain(float(value), inside)


def _member(value: enum.Enum, inside: Inside) -> Coded:
    own = value.name if value.name is not None else _plain(value.value, inside)
    return Coded("Enum", (name_of(type(value)), own))


def _moment(value: datetime, inside: Inside) -> Any:
    """Microseconds since the year 1 by its own clock, what else its text says, and its zone."""
    if value != value:
        return Coded("NaT", ())
    clock = timedelta(days=value.toordinal(), hours=value.hour, minutes=value.minute,
                      seconds=value.second, microseconds=value.microsecond)  # fmt: skip
    zone = None if value.tzinfo is None else (str(value.utcoffset()), value.tzname())
    return Coded("datetime", (clock // _MICROSECOND, value.isoformat(), value.fold, zone))


_MICROSECOND = timedelta(microseconds=1)


def _duration(value: timedelta, inside: Inside) -> Coded:
    if value != value:
        return Coded("NaT", ())
    rest = getattr(value, "nanoseconds", 0)  # pandas counts them apart
    days = Coded("timedelta", (value.days * 86_400_000_000 + value.seconds * 1_000_000
                               + value.microseconds,))  # fmt: skip
    return days if not rest else Coded("timedelta", (*days.parts, rest))


def _decimal(value: Decimal, inside: Inside) -> Coded:
    return Coded("Decimal", (_plain(float(value), inside) if value == value else NAN, str(value)))


def _error(value: BaseException, inside: Inside) -> Coded:
    state = _dictionary(vars(value), inside)
    return Coded("exception", (name_of(type(value)), _tuple(value.args, inside), state))


def _frame(value: Any, inside: Inside) -> Coded:
    """A data frame or a series, by methods pandas and polars offer everyone."""
    if hasattr(value, "columns"):
        columns = [value.iloc[:, i] if hasattr(value, "iloc") else value[:, i]
                   for i in range(value.shape[1])]  # fmt: skip
        names = list(value.columns)
    else:
        names, columns = [getattr(value, "name", None)], [value]
    cells = [(name, str(c.dtype), list(c)) for name, c in zip(names, columns, strict=True)]
    index: Any = getattr(value, "index", None)
    rows = (index.names, list(index)) if hasattr(index, "names") else ()
    return Coded(type(value).__name__, (_plain(cells, inside), _tuple(rows, inside)))


def _arrow(value: Any, inside: Inside) -> Coded:
    described = str(getattr(value, "schema", None) or value.type)
    return Coded(type(value).__name__, (_plain(value.to_pylist(), inside), described))


def _object(value: Any, inside: Inside) -> Coded:
    """An object by its type and attributes; without any, by its own repr."""
    name, state = name_of(type(value)), attributes(value)
    if state:
        return Coded(name, _tuple(state, inside))
    shown = repr(value)
    if _ADDRESS.search(shown):
        raise InvalidParameter("run", f"known by its address alone: {name}", _ALLOWED)
    return Coded(name, (shown,))


def attributes(value: Any) -> list[tuple[str, Any]]:
    """The names and values of the attributes an object has of its own, sorted."""
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found |= getattr(value, "__dict__", {})
    return sorted(found.items(), key=lambda pair: str(pair[0]))


def _slots(kind: type) -> list[str]:
    """The slots of a class, as they are called from outside."""
    names = kind.__dict__.get("__slots__", ())
    own = [name for name in ((names,) if isinstance(names, str) else names) if name[-2:] != "__"]
    private = f"_{kind.__name__.lstrip('_')}"
    return [private + name if name.startswith("__") else name for name in own]


def name_of(kind: type) -> str:
    """The name of a type, with its module unless it is built in."""
    return kind.__qualname__ if kind.__module__ == "builtins" else (
        f"{kind.__module__}.{kind.__qualname__}"
    )  # fmt: skip


#: package -> what its tables and columns have and nothing else of it has
_FRAMES = {"pandas": "shape", "polars": "shape", "pyarrow": "to_pylist"}
_THEMSELVES = frozenset({type(None), bool, int, str, bytes, Fraction, Coded})

#: type -> code, tried in this order: an Enum may be an int, a datetime is a date
_CODES: list[tuple[Any, Callable[[Any, Inside], Any]]] = [
    (enum.Enum, _member),
    (np.generic, _scalar),
    (int, _integer),
    (float, _floating),
    (str, lambda value, inside: str.__str__(value)),
    ((bytes, bytearray, memoryview), lambda value, inside: bytes(value)),
    ((tuple, list), _tuple),
    (dict, _dictionary),
    ((set, frozenset), lambda value, inside: frozenset(_tuple(value, inside))),
    (np.ndarray, _array),
    (complex, lambda value, inside: Coded("complex", _tuple((value.real, value.imag), inside))),
    (Decimal, _decimal),
    (Fraction, lambda value, inside: Fraction(value)),
    (datetime, _moment),
    (date, lambda value, inside: Coded("date", (value.toordinal(),))),
    (timedelta, _duration),
    ((time, tzinfo, PurePath), lambda value, inside: Coded(name_of(type(value)), (str(value),))),
    (BaseException, _error),
    (type, lambda value, inside: Coded("type", (name_of(value),))),
    (Mapping, lambda value, inside: Coded(name_of(type(value)), (_dictionary(value, inside),))),
    (Sequence, lambda value, inside: Coded(name_of(type(value)), _tuple(value, inside))),
]
