"""Outcomes told apart by type and content, not by ==: True, 1 and 1.0 differ, so do 0.0 and -0.0.

They are written as JSON data: equal data means equal outcomes, and the data can be sent to another
process and read there. Values that cannot be written completely (a function, an object of an
unknown class) are refused.
"""

from __future__ import annotations

import datetime
import enum
import json
import re
import sys
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lazy_arrays import LazyArray
from exactdp.audit.code.runs import NotEnumerable

__all__ = ["Outcome", "found", "hashable", "named", "of_error", "read", "written"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")


class Outcome:
    """What a run showed: a value for people, and a key that is equal only for equal outcomes."""

    __slots__ = ("key", "value")

    def __init__(self, data: Any) -> None:
        self.key = json.dumps(data)
        kind, content = data
        self.value: Hashable = (
            hashable(read(content)) if kind == "returned" else ("raised", content[0].split(".")[-1])
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self.key == other.key

    def __repr__(self) -> str:
        return repr(self.value)


def written(value: Any) -> Any:
    """JSON data, equal only for values of the same type and content; raises NotEnumerable."""
    kind = type(value)
    if isinstance(value, LazyNumber):
        return written(value.settle())
    if kind is LazyArray:
        return written(value.__array__())
    if value is None or kind is bool:
        return value
    if kind is str:
        if _ADDRESS.search(value):
            raise NotEnumerable(
                "an outcome holds the address of an object, which differs from run to run; give "
                "its class a __repr__ of its own"
            )
        return value
    if kind in _KNOWN and getattr(value, "tzinfo", None) is None:
        return [kind.__name__, _KNOWN[kind][0](value)]
    if isinstance(value, np.generic) and kind.__module__ == "numpy" and not value.dtype.hasobject:
        return ["scalar", [_dtype(value.dtype), value.tobytes().hex()]]
    if kind is np.ndarray:
        if value.dtype.hasobject:
            return ["objects", [list(value.shape), _all(value.flat)]]
        return ["array", [_dtype(value.dtype), list(value.shape), value.tobytes().hex()]]
    return _written_object(value, kind)


def _all(items: Any) -> list[Any]:
    return [written(item) for item in items]


def _sorted(items: Any) -> list[Any]:
    return sorted(_all(items), key=json.dumps)


def _pairs(value: Any) -> list[Any]:
    return [[written(key), written(item)] for key, item in value.items()]


def _float(value: float) -> str:
    """Exact text, with the bits of a NaN."""
    return value.hex() if value == value else "nan" + np.float64(value).tobytes().hex()


def _read_float(text: str) -> float:
    if text.startswith("nan"):
        return float(np.frombuffer(bytes.fromhex(text[3:]))[0])
    return float.fromhex(text)


def _dtype(kind: np.dtype[Any]) -> str:
    if kind.fields or kind.subdtype or kind.metadata:
        raise NotEnumerable(f"an outcome with dtype {kind}; return an array of numbers")
    return kind.str


def _written_object(value: Any, kind: type) -> Any:
    if kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and kind.__dictoffset__ == 0:
        # collections.namedtuple does not know where its class is kept: name and fields suffice
        called = f"{kind.__module__}:{kind.__qualname__}"
        return ["namedtuple", [called, list(kind._fields), _all(value)]]
    name = named(kind)
    if isinstance(value, enum.Enum):
        return ["enum", [name, value.name]]
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
        if _held(value) <= set(names):
            return ["dataclass", [name, {each: written(getattr(value, each)) for each in names}]]
    raise NotEnumerable(
        f"an outcome of type {name} cannot be told apart from others for certain; return numbers, "
        "text, or containers and dataclasses of them"
    )


def _held(value: Any) -> set[str]:
    """The names of the attributes and slots of an object."""
    slots = [vars(kind).get("__slots__", ()) for kind in type(value).__mro__]
    names = {name for each in slots for name in ([each] if isinstance(each, str) else each)}
    return names.union(getattr(value, "__dict__", ())) - {"__dict__", "__weakref__"}


def named(thing: Any) -> str:
    """The name module:name of a class or function, by which :func:`found` finds it."""
    name = f"{getattr(thing, '__module__', None)}:{getattr(thing, '__qualname__', None)}"
    if "<" in name or found(name) is not thing:
        shown = getattr(thing, "__qualname__", type(thing).__qualname__)
        raise NotEnumerable(f"{shown} is not defined at the top of a module that can be imported")
    return name


def found(name: str) -> Any:
    """What a name such as module:Class stands for, or None."""
    module, _, path = name.partition(":")
    thing: Any = sys.modules.get(module)
    for part in path.split("."):
        thing = getattr(thing, part, None)
    return thing


def read(data: Any) -> Any:
    """The value that :func:`written` wrote."""
    if not isinstance(data, list):
        return data
    kind, content = data
    return _READERS[kind](content)


def _read_all(kind: Any, items: Any) -> Any:
    return kind(map(read, items))


def _read_pairs(kind: Any, pairs: Any) -> Any:
    return kind({read(key): read(item) for key, item in pairs})


def _read_objects(content: Any) -> Any:
    shape, items = content
    made = np.empty(len(items), object)
    made[:] = [read(item) for item in items]
    return made.reshape(shape)


def _read_array(content: Any) -> Any:
    kind, shape, data = content
    return np.frombuffer(bytes.fromhex(data), kind).reshape(shape).copy()


def _read_namedtuple(content: Any) -> Any:
    name, names, items = content
    kind = found(name)
    if getattr(kind, "_fields", None) != tuple(names):
        called = name.split(":")[-1].split(".")[-1]
        kind = namedtuple(called, names)  # type: ignore[misc,no-redef]
    return kind(*map(read, items))


def _read_dataclass(content: Any) -> Any:
    name, values = content
    made = object.__new__(found(name))
    for field, value in values.items():
        object.__setattr__(made, field, read(value))
    return made


#: type -> what writes the content of a value, and what reads it
_KNOWN: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    int: (hex, lambda text: int(text, 16)),
    float: (_float, _read_float),
    complex: (
        lambda value: [_float(value.real), _float(value.imag)],
        lambda parts: complex(*map(_read_float, parts)),
    ),
    Fraction: (
        lambda value: [hex(value.numerator), hex(value.denominator)],
        lambda parts: Fraction(int(parts[0], 16), int(parts[1], 16)),
    ),
    Decimal: (str, Decimal),
    bytes: (bytes.hex, bytes.fromhex),
    bytearray: (bytearray.hex, bytearray.fromhex),
    range: (
        lambda value: _all((value.start, value.stop, value.step)),
        lambda parts: range(*map(read, parts)),
    ),
    datetime.timedelta: (
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
}
for _date in (datetime.datetime, datetime.date, datetime.time):
    _KNOWN[_date] = _date.isoformat, _date.fromisoformat
for _kind in (list, tuple, set, frozenset):
    _write = _sorted if "set" in _kind.__name__ else _all
    _KNOWN[_kind] = _write, partial(_read_all, _kind)
for _mapping in (dict, OrderedDict, Counter):
    _KNOWN[_mapping] = _pairs, partial(_read_pairs, _mapping)
_READERS: dict[str, Callable[[Any], Any]] = {
    "scalar": lambda parts: np.frombuffer(bytes.fromhex(parts[1]), parts[0])[0],
    "array": _read_array,
    "objects": _read_objects,
    "enum": lambda parts: found(parts[0])[parts[1]],
    "namedtuple": _read_namedtuple,
    "dataclass": _read_dataclass,
    **{kind.__name__: reader for kind, (_, reader) in _KNOWN.items()},
}


def of_error(error: BaseException | None) -> Any:
    """JSON data of an exception: its class, arguments, notes and causes."""
    if error is None:
        return None
    held = dict(vars(error))
    notes = held.pop("__notes__", [])
    if held:
        raise NotEnumerable(f"an exception with attributes ({', '.join(held)}) as an outcome")
    causes = of_error(error.__cause__), of_error(error.__context__)
    return [named(type(error)).replace(":", "."), written(error.args), written(notes), *causes]


def hashable(value: Any) -> Any:
    """A value with nothing lazy or mutable left in it: hashable, and pleasant to look up.

    Lists and arrays become tuples, sets frozensets, dicts frozensets of pairs; a Fraction or
    another number is kept as it is.
    """
    if isinstance(value, dict):
        return frozenset((hashable(key), hashable(item)) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return frozenset(hashable(item) for item in value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, np.ndarray):
        return hashable(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(hashable(item) for item in value)
    return value
