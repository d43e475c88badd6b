"""Any output as plain values: what can be compared, hashed, and written down the same everywhere.

Plain values are None, booleans, integers, floats, Fractions, strings, bytes, tuples and frozensets
of plain values, and Coded ones: a name and plain parts, for everything else. A code depends on the
value alone: no address, no hash, no order of a set, so it is the same in every process. What has no
such code (an object without a state of its own) raises.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np

from exactdp.audit.events.parts import ALLOWED, name_of, parts
from exactdp.errors import Described, InvalidParameter

__all__ = ["NAN", "Coded", "plain"]

_MOST = 40  # levels of nesting


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
        raise InvalidParameter("run", Described(f"a {name_of(kind)} that contains itself"), ALLOWED)
    inside = (*inside, id(value))
    made = parts(value)
    if made is not None:
        return Coded(made[0], _tuple(made[1], inside))
    return _code_of(kind)(value, inside)


@lru_cache(maxsize=1024)
def _code_of(kind: Any) -> Callable[[Any, Inside], Any]:
    return next(code for known, code in _CODES if issubclass(kind, known))


def _tuple(values: Iterable[Any], inside: Inside) -> tuple[Any, ...]:
    values = tuple(values)
    if _THEMSELVES.issuperset(map(type, values)):  # as those of long lists are
        return values
    return tuple(_plain(value, inside) for value in values)


def _dictionary(value: Mapping[Any, Any], inside: Inside) -> frozenset[Any]:
    if _THEMSELVES.issuperset((*map(type, value), *map(type, value.values()))):
        return frozenset(value.items())
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
        return _masked(value, inside)
    return _tuple(value, inside)


def _masked(value: Any, inside: Inside) -> Any:
    """A mask hides nothing from whoever has the array."""
    pairs = zip(value.data, np.ma.getmaskarray(value).tolist(), strict=True)
    if value.ndim > 1:
        return _tuple((np.ma.array(data, mask=mask) for data, mask in pairs), inside)
    return tuple(
        Coded("masked", _tuple((data, mask), inside)) if mask else _plain(data, inside)
        for data, mask in pairs
    )


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
    (Fraction, lambda value, inside: Fraction(value)),
    (datetime, _moment),
    (date, lambda value, inside: Coded("date", (value.toordinal(),))),
    (timedelta, _duration),
    ((time, tzinfo), lambda value, inside: Coded(name_of(type(value)), (repr(value),))),
    (PurePath, lambda value, inside: Coded(name_of(type(value)), (str(value),))),
    (type, lambda value, inside: Coded("type", (name_of(value),))),
]
