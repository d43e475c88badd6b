"""Outcomes told apart by what they are, not by ==: True, 1 and 1.0 differ, so do 0.0 and -0.0.

Whoever receives an output sees its type and its content, so both are part of the key of an exact
law. What has no content that can be written down (a function, an object that defines its own
equality) has no key, and a law with such outcomes is not exact.
"""

from __future__ import annotations

import datetime
import enum
import re
import struct
import sys
import types
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.whitebox.holdings import members
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["Outcome", "key_of", "plain", "raised", "returned"]

_BY_VALUE = (type(None), bool, int, str, bytes)
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")
_BY_TEXT = (datetime.date, datetime.time, datetime.datetime, datetime.timedelta, range)


class Outcome:
    """What a run showed: value for people, and a key that is equal only where nothing differs."""

    __slots__ = ("_hash", "key", "value")

    def __init__(self, key: Hashable, value: Hashable) -> None:
        self.key, self.value = key, value
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self.key == other.key

    def __repr__(self) -> str:
        return repr(self.value)


def returned(value: Any) -> Outcome:
    """The outcome of a run that returned; raises NotEnumerable for what has no key."""
    return Outcome(("returned", key_of(value)), plain(value))


def raised(error: Exception) -> Outcome:
    """The outcome of a run that raised: its class, arguments, notes and causes."""
    return Outcome(("raised", _key_of_error(error)), ("raised", type(error).__name__))


def _key_of_error(error: BaseException | None) -> Hashable:
    if error is None:
        return None
    kind, held = type(error), dict(vars(error))
    notes = held.pop("__notes__", ())
    if held:
        raise NotEnumerable(f"an exception with attributes ({', '.join(held)}) as an outcome")
    causes = _key_of_error(error.__cause__), _key_of_error(error.__context__)
    inside = key_of(tuple(members(error)))  # the attributes that it has in C
    return _name(kind), key_of(error.args), key_of(list(notes)), inside, causes


def _name(kind: type) -> str:
    """The full name of a class that can be found by it."""
    found: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not kind:
        raise NotEnumerable(f"an outcome of {kind.__qualname__}, a class that has no place")
    return f"{kind.__module__}.{kind.__qualname__}"


def key_of(value: Any) -> Hashable:
    """Equal only for values of the same type and content; raises NotEnumerable where there is no
    such key."""
    kind = type(value)
    if isinstance(value, LazyNumber):
        return key_of(value.settle())
    if kind is str and _ADDRESS.search(value):
        raise NotEnumerable("an outcome holds the address of an object, another one in every run")
    if kind in _BY_VALUE:
        return kind.__name__, value
    if kind is float:
        return "float", struct.pack("<d", value)
    if kind is complex:
        return "complex", struct.pack("<dd", value.real, value.imag)
    if kind is Fraction:
        return "Fraction", value.numerator, value.denominator
    if kind is Decimal:
        return "Decimal", value.as_tuple()
    if kind in _BY_TEXT and getattr(value, "tzinfo", None) in (None, datetime.UTC):
        return kind.__name__, repr(value)
    return _compound(value, kind)


def _compound(value: Any, kind: type) -> Hashable:
    name = _name(kind)
    if kind is dict or kind is OrderedDict:
        return name, tuple((key_of(k), key_of(v)) for k, v in value.items())
    if kind in (set, frozenset):
        return name, frozenset(map(key_of, value))
    if kind is bytearray:
        return name, bytes(value)
    if kind in (list, tuple) or _is_named_tuple(kind):
        return name, tuple(map(key_of, value))
    if kind is np.ndarray:
        items = value.tolist() if value.dtype.hasobject else value.tobytes()
        return name, _key_of_dtype(value.dtype), value.shape, key_of(items)
    if isinstance(value, np.generic) and kind.__module__ == "numpy":
        return name, _key_of_dtype(value.dtype), value.tobytes()
    if isinstance(value, enum.Enum):
        return name, value.name, key_of(value.value)
    if is_dataclass(value) and kind.__mro__[1:] == (object,) and _only_fields(value):
        return name, tuple(key_of(getattr(value, field.name)) for field in fields(value))
    raise NotEnumerable(
        f"an outcome of type {name} cannot be told apart from others for certain; return numbers, "
        "text, or containers and dataclasses of them"
    )


def _key_of_dtype(kind: np.dtype[Any]) -> str:
    """What is written of a dtype, if that is all."""
    within = [kind.subdtype[0]] if kind.subdtype else []
    within += [field[0] for field in (kind.fields or {}).values()]
    if kind.metadata or any(not _key_of_dtype(each) for each in within):
        raise NotEnumerable("a dtype with metadata as an outcome")
    return repr(kind)


def _is_named_tuple(kind: type) -> bool:
    return kind.__bases__ == (tuple,) and hasattr(kind, "_fields") and kind.__dictoffset__ == 0


def _only_fields(value: Any) -> bool:
    """Whether a dataclass instance holds nothing beside its fields."""
    attributes = {*getattr(value, "__dict__", ()), *_slots(type(value))}
    return attributes <= {field.name for field in fields(value)}


def _slots(kind: type) -> set[str]:
    own = vars(kind).items()
    return {name for name, each in own if isinstance(each, types.MemberDescriptorType)}


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
