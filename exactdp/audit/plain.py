"""The closed list of plain values: types whose text holds everything that a reader sees.

A reader has the object itself, with the definitions of Python and numpy as they are installed, and
may ask for its type, its contents, their order and its attributes, at any depth. Two plain values
of equal text answer all of these questions alike. A type is on the list only if

- it is C's own and cannot be changed (no attribute can be set on it or on its objects), or it is
  fractions.Fraction, whose objects have two slots and nothing else; subclasses are never meant;
- the comment beside it says which parts make up an object, and all of them are in the text.

What is no part of a value: addresses, the memory that an object takes (`sys.getsizeof`), and
whether two equal parts that cannot be changed are one object (`is`), which the language leaves
open. Whether two parts that *can* be changed are one object is in the text.

Every other type is refused: sets, whose order tells how they were built, views of larger arrays,
and classes of a program, whose attributes the program can change at any time.
"""

from __future__ import annotations

import enum
import struct
from collections import deque
from collections.abc import Callable, Mapping, Set
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any
from uuid import UUID

import numpy as np

from exactdp.errors import NotPlain

#: Levels of nesting that are looked into.
_MOST = 100
#: numpy's scalars of a fixed size without padding (a long double has some).
NUMPY_NUMBERS: tuple[Any, ...] = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.longlong),
    *(np.uint8, np.uint16, np.uint32, np.uint64, np.ulonglong),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
)
#: Kinds of numpy's types, by their letters in numpy, whose entries are bytes of a fixed size.
_PLAIN_KINDS = "biufcSUmM"


class Reader:
    """Reads values into texts, which are equal only for equal values, in every process.

    other: reads what is not on the list; the default raises NotPlain. Objects that can be changed
    and come up again are named by the order in which they were met.
    """

    def __init__(self, other: Callable[[Reader, Any], str] | None = None) -> None:
        self._other = other
        self._met: dict[int, tuple[int, Any]] = {}  # with the objects, so that ids stay theirs
        self._depth = 0

    def text(self, value: Any) -> str:
        """The text of a value."""
        kind = type(value)
        if (write := _SCALARS.get(id(kind))) is not None:
            return write(value)
        if (parts := _PARTS.get(id(kind))) is not None:
            return self.group(kind.__name__, parts(value))
        if kind is list:
            return self.once(value, lambda: self.group("list", value))
        if kind is dict:
            return self.once(value, lambda: self._dict(value))
        if kind is np.ndarray and is_plain_array(value):
            return self.once(value, lambda: array_text(value))
        if self._other is None:
            raise not_plain(value)
        return self._other(self, value)

    def group(self, name: str, parts: Any) -> str:
        """The text of an object that consists of some parts."""
        self._depth += 1
        if self._depth > _MOST:
            raise not_plain(parts, f"{name}, nested more than {_MOST} levels deep")
        texts = ", ".join(map(self.text, parts))
        self._depth -= 1
        return f"{name}({texts})"

    def once(self, value: Any, read: Callable[[], str]) -> str:
        """The text of an object that can be changed: in full where it is met first."""
        if (known := self._met.get(id(value))) is not None:
            return f"again {known[0]}"
        self._met[id(value)] = len(self._met), value
        return read()

    def _dict(self, value: dict[Any, Any]) -> str:
        return self.group("dict", (each for item in value.items() for each in item))


def plain_text(value: Any) -> str:
    """A text that is equal only for values of which a reader sees the same.

    Raises NotPlain for a value that is not on the list.

    >>> plain_text([1, True, -0.0, ("a", None)])
    "list(int 1, True, float 8000000000000000, tuple('a', None))"
    >>> plain_text({1, 2})
    Traceback (most recent call last):
    exactdp.errors.NotPlain: a value of type set; return sorted(x)
    """
    return Reader().text(value)


def type_name(kind: type) -> str:
    """The name of a type, with its module unless it is built in."""
    known = kind.__module__ in ("builtins", "numpy")
    return kind.__qualname__ if known else f"{kind.__module__}.{kind.__qualname__}"


def is_plain_array(array: Any) -> bool:
    """Whether nothing lies behind an array: its dtype is one of numpy's own, its entries lie in
    memory of its own without gaps."""
    dtype, flags = array.dtype, array.flags
    return (
        array.base is None and (flags.c_contiguous or flags.f_contiguous) and is_plain_dtype(dtype)
    )


def is_plain_dtype(dtype: Any) -> bool:
    """Whether a dtype is numpy's own: without fields, metadata, padding or Python objects."""
    kind, size = dtype.kind, dtype.itemsize
    padded = (kind == "f" and size > 8) or (kind == "c" and size > 16)
    return kind in _PLAIN_KINDS and not padded and dtype.metadata is None


def array_text(array: Any) -> str:
    """The dtype (with its C type: int64 and longlong differ), the shape, the order in memory, the
    flags (such as whether the array can be written to) and the bytes of the entries."""
    dtype, flags = array.dtype, array.flags.num
    layout = f"{dtype.char} {dtype.str} {array.shape} {array.strides} {flags}"
    return f"ndarray({layout} {array.tobytes().hex()})"


def not_plain(value: Any, kind: str = "") -> NotPlain:
    """The error for a value that is not on the list. kind: what to say instead of its type."""
    return NotPlain(kind or _kind_name(value), _advice(value))


def _kind_name(value: Any) -> str:
    """The type of a value, with what keeps an array from the list."""
    name = type_name(type(value))
    if type(value) is not np.ndarray:
        return name
    if not is_plain_dtype(value.dtype):
        return f"{name} with dtype {value.dtype}"
    return f"{name} that is a view of another object, or has gaps"


def _bits(value: float) -> str:
    return struct.pack(">d", value).hex()


def _numpy_text(value: Any) -> str:
    dtype = value.dtype
    return f"{type(value).__name__} {dtype.char} {dtype.str} {value.tobytes().hex()}"


def _clock_parts(value: datetime | time) -> tuple[Any, ...]:
    day_time = value.hour, value.minute, value.second, value.microsecond
    return (*day_time, value.fold, value.tzinfo)


def _decimal_parts(value: Decimal) -> tuple[Any, ...]:
    sign, digits, exponent = value.as_tuple()
    return sign, bytes(digits), exponent


def by_id(known: dict[type, Any]) -> dict[int, Any]:
    """A table of types to be looked up by id(): a class may claim to equal any other."""
    return {id(kind): each for kind, each in known.items()}


#: Types without parts -> the text. A subclass is another type, and not on the list.
_SCALARS: dict[int, Callable[[Any], str]] = by_id(
    {
        # one object each
        type(None): repr,
        bool: repr,
        # the integer; in hexadecimal, because Python refuses long decimal texts
        int: lambda value: f"int {value:x}",
        # the eight bytes of the double: the sign of a zero, sign and payload of a NaN are in them
        float: lambda value: f"float {_bits(value)}",
        complex: lambda value: f"complex {_bits(value.real)} {_bits(value.imag)}",
        # the code points, the bytes: repr() escapes both without loss
        str: repr,
        bytes: repr,
        # C's fields: the day; days, seconds and microseconds
        date: lambda value: f"date {value.toordinal()}",
        timedelta: lambda value: f"timedelta {value.days} {value.seconds} {value.microseconds}",
        # the name of the type (int64 and longlong differ), its dtype (of times: with the unit), the
        # bytes (of a NaN: with sign and payload)
        **dict.fromkeys(NUMPY_NUMBERS, _numpy_text),
        **dict.fromkeys((np.datetime64, np.timedelta64), _numpy_text),
        # a text or bytes, and nothing else: the dtype follows from the length
        np.str_: lambda value: f"str_ {str.__str__(value)!r}",
        np.bytes_: lambda value: f"bytes_ {bytes(value)!r}",
    }
)
#: Types that consist of parts -> the parts.
_PARTS: dict[int, Callable[[Any], Any]] = by_id(
    {
        # the items in order
        tuple: iter,
        # the two slots, which may hold numpy's integers
        Fraction: lambda value: (value.numerator, value.denominator),
        # sign, digits and exponent: 1.0 and 1.00 differ, and so do NaNs with other digits
        Decimal: _decimal_parts,
        # C's fields; the zone is looked into
        datetime: lambda value: (value.date(), *_clock_parts(value)),
        time: _clock_parts,
        # C's fields: the offset and, where there is one, the name
        timezone: lambda value: value.__getinitargs__(),
    }
)


def _advice(value: Any) -> str:
    """What to return instead of a value that is not on the list."""
    kind = type(value)
    for applies, advice in _ADVICE:
        if applies(kind):
            return advice
    return "numbers, texts, bytes, and tuples, lists and dictionaries of them"


def _is(*kinds: type) -> Callable[[type], bool]:
    return lambda kind: issubclass(kind, kinds)


def _has(name: str) -> Callable[[type], bool]:
    return lambda kind: hasattr(kind, name)


#: Which types -> what to return instead, the first that applies.
_ADVICE: list[tuple[Callable[[type], bool], str]] = [
    (_is(type), "its name (x.__name__)"),
    (_is(enum.Enum), "its name (x.name)"),
    (_is(BaseException), "its text (str(x))"),
    (_has("__dataclass_fields__"), "its fields (dataclasses.asdict(x))"),
    (_has("_asdict"), "tuple(x), or x._asdict()"),
    (_is(np.ndarray), "np.array(x), or x.tolist()"),
    (_is(np.generic), "x.item()"),
    (_has("to_dict"), "x.to_dict()"),
    (_is(Mapping), "dict(x)"),
    (_is(Set), "sorted(x)"),
    (_is(bytearray, memoryview), "bytes(x)"),
    (_is(int, float, str, bytes), "the plain number or text (int(x), float(x), str(x))"),
    (_is(tuple, list, range, deque), "list(x)"),
    (_has("isoformat"), "x.isoformat()"),
    (_is(PurePath, UUID), "str(x)"),
]
