"""Outcomes told apart by what they are, not by ==: True, 1 and 1.0 differ, so do 0.0 and -0.0.

Whoever receives an output sees its type and its content. Both are written as JSON data: equal data
means an equal outcome, and the data can be sent to another process and read there. Values that
cannot be written completely (a function, an object with an equality of its own) are refused.
"""

from __future__ import annotations

import datetime
import enum
import json
import re
import sys
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lazy_arrays import LazyArray
from exactdp.audit.code.uniform import NotEnumerable

__all__ = ["Outcome", "named", "plain", "read", "written"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")
_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_DATES = (datetime.datetime, datetime.date, datetime.time)


class Outcome:
    """What a run showed: value for people, and a key that is equal only where nothing differs."""

    __slots__ = ("key", "value")

    def __init__(self, data: Any) -> None:
        self.key = json.dumps(data)
        kind, content = data
        self.value: Hashable = (
            plain(read(content)) if kind == "returned" else ("raised", content[0].split(".")[-1])
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
    if type(value) is LazyArray:
        return written(value.__array__())
    if value is None or kind is bool:
        return value
    if kind is int:
        return ["int", hex(value)]
    if kind is str:
        if _ADDRESS.search(value):
            raise NotEnumerable(
                "an outcome holds the address of an object, another one in every run; give its "
                "class a __repr__ of its own"
            )
        return value
    if kind is float:
        return ["float", _float(value)]
    if kind in _SEQUENCES:
        items = [written(item) for item in value]
        return [
            _SEQUENCES[kind],
            sorted(items, key=json.dumps) if "set" in kind.__name__ else items,
        ]
    if kind is dict or kind is OrderedDict:
        pairs = [[written(key), written(item)] for key, item in value.items()]
        return ["dict" if kind is dict else "OrderedDict", pairs]
    return _written_number(value, kind) or _written_object(value, kind)


def _float(value: float) -> str:
    """Exact text, with the bits of a NaN."""
    return value.hex() if value == value else "nan" + np.float64(value).tobytes().hex()


def _written_number(value: Any, kind: type) -> Any:
    if kind is Fraction:
        return ["Fraction", [hex(value.numerator), hex(value.denominator)]]
    if kind is Decimal:
        return ["Decimal", str(value)]
    if kind is complex:
        return ["complex", [_float(value.real), _float(value.imag)]]
    if kind in (bytes, bytearray):
        return [kind.__name__, value.hex()]
    if kind is range:
        return ["range", [written(part) for part in (value.start, value.stop, value.step)]]
    if kind is datetime.timedelta:
        return ["timedelta", [value.days, value.seconds, value.microseconds]]
    if kind in _DATES and getattr(value, "tzinfo", None) is None:
        return [kind.__name__, value.isoformat()]
    if isinstance(value, np.generic) and kind.__module__ == "numpy" and not value.dtype.hasobject:
        return ["scalar", [_dtype(value.dtype), value.tobytes().hex()]]
    if kind is np.ndarray:
        if value.dtype.hasobject:
            return ["objects", [list(value.shape), [written(each) for each in value.flat]]]
        return ["array", [_dtype(value.dtype), list(value.shape), value.tobytes().hex()]]
    return None


def _dtype(kind: np.dtype[Any]) -> str:
    if kind.fields or kind.subdtype or kind.metadata:
        raise NotEnumerable(f"an outcome with dtype {kind}; return an array of numbers")
    return kind.str


def _written_object(value: Any, kind: type) -> Any:
    name = named(kind)
    if isinstance(value, enum.Enum):
        return ["enum", [name, value.name]]
    if kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and kind.__dictoffset__ == 0:
        return ["namedtuple", [name, [written(item) for item in value]]]
    if is_dataclass(value) and set(getattr(value, "__dict__", ())) <= _fields(kind).keys():
        return [
            "dataclass",
            [name, {each: written(getattr(value, each)) for each in _fields(kind)}],
        ]
    raise NotEnumerable(
        f"an outcome of type {name} cannot be told apart from others for certain; return numbers, "
        "text, or containers and dataclasses of them"
    )


def _fields(kind: Any) -> dict[str, None]:
    return {field.name: None for field in fields(kind)}


def named(thing: Any) -> str:
    """module:name of a class or function that is found under this name."""
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


def _read_float(text: str) -> float:
    if text.startswith("nan"):
        return float(np.frombuffer(bytes.fromhex(text[3:]))[0])
    return float.fromhex(text)


def _read_objects(content: Any) -> Any:
    shape, items = content
    made = np.empty(len(items), object)
    made[:] = [read(item) for item in items]
    return made.reshape(shape)


def _read_array(content: Any) -> Any:
    kind, shape, data = content
    return np.frombuffer(bytes.fromhex(data), kind).reshape(shape).copy()


def _read_dataclass(content: Any) -> Any:
    name, values = content
    made = object.__new__(found(name))
    for field, value in values.items():
        object.__setattr__(made, field, read(value))
    return made


_READERS: dict[str, Any] = {
    "int": lambda text: int(text, 16),
    "float": _read_float,
    "complex": lambda parts: complex(*map(_read_float, parts)),
    "Fraction": lambda parts: Fraction(int(parts[0], 16), int(parts[1], 16)),
    "Decimal": Decimal,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "range": lambda parts: range(*map(read, parts)),
    "timedelta": lambda parts: datetime.timedelta(*parts),
    "scalar": lambda parts: np.frombuffer(bytes.fromhex(parts[1]), parts[0])[0],
    "array": _read_array,
    "objects": _read_objects,
    "enum": lambda parts: found(parts[0])[parts[1]],
    "namedtuple": lambda parts: found(parts[0])(*map(read, parts[1])),
    "dataclass": _read_dataclass,
    "dict": lambda pairs: {read(key): read(item) for key, item in pairs},
    "OrderedDict": lambda pairs: OrderedDict((read(key), read(item)) for key, item in pairs),
    **{kind.__name__: kind.fromisoformat for kind in _DATES},
    **{name: lambda items, kind=kind: kind(map(read, items)) for kind, name in _SEQUENCES.items()},
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


def plain(value: Any) -> Any:
    """A value with nothing lazy or mutable left in it: hashable, and pleasant to look up.

    Lists and arrays become tuples, sets frozensets, dicts frozensets of pairs; a Fraction or
    another number is kept as it is.
    """
    if isinstance(value, LazyNumber):
        return value.settle()
    if isinstance(value, dict):
        return frozenset((plain(key), plain(item)) for key, item in value.items())
    if isinstance(value, (set, frozenset)):
        return frozenset(plain(item) for item in value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    return value
