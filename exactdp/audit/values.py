"""Outputs of any type as common values: what can be compared, hashed, and written as JSON.

Common values are None, booleans, integers, floats, Fractions, texts, bytes, tuples of common
values, and Tables of them. Everything that is lost on the way (1 and 1.0 are equal, a list and a
tuple become tuples) is kept in the text of the types, see :func:`types_of`. Both depend on the
value alone, so they are equal in every process.
"""

from __future__ import annotations

import enum
import json
import numbers
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np

from exactdp.audit.plain import type_name
from exactdp.errors import Described, InvalidParameter

ALLOWED = (
    "made of numbers, texts, bytes, dates, tuples, lists, sets, dictionaries, data classes, "
    "exceptions, numpy arrays and data frames; for outputs of another type, give features=, a "
    "function from an output to such a value"
)
#: NaN, which does not equal itself, as a value that does
NAN = "nan"

BUILT_IN = frozenset({type(None), bool, int, float, str, bytes})
#: Not timedelta64, an integer with a unit.
_INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.longlong, np.unsignedinteger)
OF_NUMPY = (np.inexact, np.bool_, *_INTEGERS)
_SCALARS = frozenset({type(None), bool, int, str, bytes, Fraction})
_BASES: tuple[Any, ...] = (tuple, list, set, frozenset, dict, str, int, float, bytes)
_MOST = 40  # levels of nesting; a list that contains itself has no end


class Table(dict[Any, Any]):
    """A dictionary that is never changed, so that it has a hash. The order of keys is ignored."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))


def _refuse(value: Any) -> Any:
    raise _refused(f"an object of type {type_name(type(value))}")


def common(
    value: Any,
    depth: int = 0,
    unknown: Callable[[Any], Any] = _refuse,
) -> Any:
    """A value as a common value.

    depth: levels of nesting above it. unknown: what to make of types that are not supported; the
    default raises InvalidParameter.

    >>> common({"a": [1, 2.0], "when": date(2024, 2, 29)})
    {'a': (1, 2.0), 'when': '2024-02-29'}
    >>> common({("key", 3)}), common({"key"})
    ({'key': 3}, {'key': True})
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is float:
        return value if value == value else NAN
    if kind in (tuple, list) and _SCALARS.issuperset(map(type, value)):
        return tuple(value)
    if isinstance(value, OF_NUMPY):
        return _number_of_numpy(value)
    if depth > _MOST:
        raise _refused("a value nested more than 40 levels deep")
    inner = _contents(value)
    if inner is None:
        return _scalar(value, unknown)
    if isinstance(inner, list):
        return tuple(common(one, depth + 1, unknown) for one in inner)
    return Table((key, common(one, depth + 1, unknown)) for key, one in inner.items())


def _contents(value: Any) -> list[Any] | dict[Any, Any] | None:
    """What a value contains: a list, or a dictionary with common values as keys; None for scalars.

    An array is the list of its numbers in order. Attributes beside the items of a list, or beside
    the fields of a data class, are contents, too: somebody who has the object can read them.
    """
    bases = [kind for kind in _BASES if isinstance(value, kind)]
    if bases and getattr(value, "__dict__", None) and not isinstance(value, enum.Enum):
        return [bases[0](value), vars(value)]
    if isinstance(value, (tuple, list, range)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        return _elements(value)
    if isinstance(value, Mapping):
        return _items(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _entries(value)
    if isinstance(value, np.void) and value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return named | getattr(value, "__dict__", {})
    if isinstance(value, BaseException):
        return [type_name(type(value)), list(value.args), *([vars(value)] if vars(value) else [])]
    return _frame(value)


def _items(value: Mapping[Any, Any]) -> dict[Any, Any]:
    items = {common(key): one for key, one in value.items()}
    if len(items) < len(value):
        raise _refused("a dictionary with keys that differ only in their types")
    return items


def _elements(values: Any) -> dict[Any, Any]:
    """A set of pairs (key, value), such as a sparse histogram, as a dictionary; any other set as a
    dictionary from its elements to True."""
    elements = sorted(map(common, values), key=repr)
    if all(type(one) is tuple and len(one) == 2 for one in elements):
        pairs = dict(elements)
        if len(pairs) == len(elements):
            return pairs
    return dict.fromkeys(elements, True)


def _entries(array: Any) -> list[Any]:
    """The entries of an array; a mask hides nothing from someone who has the array."""
    if isinstance(array, np.ma.MaskedArray):
        return [np.asarray(array.data), np.ma.getmaskarray(array)]
    return list(array.ravel()) if array.dtype.names else array.ravel().tolist()


def _frame(value: Any) -> dict[Any, Any] | None:
    """The columns of a data frame, the values of a series; of pandas, with the index."""
    package = type(value).__module__.partition(".")[0]
    if package == "pandas" and hasattr(value, "index") and hasattr(value, "to_numpy"):
        frame = value.to_frame() if value.ndim == 1 else value
        columns = [frame.iloc[:, i].tolist() for i in range(frame.shape[1])]
        return {"index": frame.index.tolist(), "names": frame.columns.tolist(), "columns": columns}
    if package == "polars" and hasattr(value, "to_dict"):
        return dict(value.to_dict(as_series=False))
    if package in ("polars", "pyarrow") and hasattr(value, "to_numpy"):
        return {"values": value.to_list() if package == "polars" else value.to_pylist()}
    return dict(value.to_pydict()) if package == "pyarrow" and hasattr(value, "to_pydict") else None


def _scalar(value: Any, unknown: Callable[[Any], Any]) -> Any:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name or value.value}"  # a flag may have no name
    if isinstance(value, type):
        return type_name(value)
    for kind, convert in _CONVERTED:
        if isinstance(value, kind):
            return convert(value)
    return unknown(value)


def _refused(what: str) -> InvalidParameter:
    return InvalidParameter("run", Described(f"{what} in an output"), ALLOWED)


def _number_of_numpy(value: Any) -> Any:
    if isinstance(value, np.longdouble) and np.isfinite(value):
        return Fraction(*value.as_integer_ratio())
    plain = value.item()
    return str(value) if isinstance(plain, np.generic) else common(plain)


#: type -> what makes a common value of it, tried in this order
_CONVERTED: list[tuple[Any, Callable[[Any], Any]]] = [
    ((np.datetime64, np.timedelta64), str),
    (np.generic, lambda value: common(value.item())),
    (np.ndarray, lambda value: common(value[()])),
    (bool, bool),
    (int, int),
    (float, lambda value: float(value) if value == value else NAN),
    (complex, lambda value: (common(value.real), common(value.imag))),
    (Decimal, lambda value: Fraction(value) if value.is_finite() else str(value).lower()),
    (str, lambda value: str.__str__(value)),
    ((bytes, bytearray, memoryview), bytes),
    (UUID, lambda value: value.int),
    (numbers.Rational, Fraction),
    ((date, time), lambda value: value.isoformat()),
    (timedelta, str),
]


def types_of(value: Any) -> str:
    """The types of a value and of what it contains.

    >>> types_of([1, 2, 0.5, {"a": (None, True)}])
    "list(int*2, float, dict('a': tuple(NoneType, bool)))"
    >>> types_of(np.zeros((2, 3), dtype=np.float32))
    'ndarray(2, 3) float32'
    """
    kind = type(value)
    if kind in BUILT_IN or isinstance(value, OF_NUMPY):
        return str(kind.__name__)
    name = type_name(kind)
    dtypes = getattr(value, "dtypes", getattr(value, "dtype", None))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{name}{value.shape} {value.dtype.descr if value.dtype.names else value.dtype}"
    if isinstance(value, Decimal):
        return f"{name} {value}"
    if isinstance(value, (date, time)):
        return f"{name} {getattr(value, 'tzinfo', None)!r}"
    if isinstance(value, (set, frozenset)):
        return f"{name}({', '.join(sorted(set(map(_element_text, value))))})"
    inner = _contents(value)
    if inner is None:
        return name
    if isinstance(inner, list):
        described = _runs(tuple(map(types_of, inner)))
    else:
        keys = map(_key_text, value) if isinstance(value, Mapping) else map(repr, inner)
        pairs = zip(keys, map(types_of, inner.values()), strict=True)
        described = ", ".join(f"{key}: {types}" for key, types in pairs)
    if isinstance(value, np.ndarray):
        name += str(value.shape)
    return f"{name}({described})" + (f" {dtypes}" if dtypes is not None else "")


def _key_text(key: Any) -> str:
    """A key of a dictionary; with its type, where the common value has another one."""
    if type(key) in _SCALARS:
        return repr(key)
    types, plain = types_of(key), common(key)
    return repr(plain) if types == types_of(plain) else f"{types} {plain!r}"


def _element_text(one: Any) -> str:
    """The types of an element of a set; with the element, where the common value has other ones."""
    types, plain = types_of(one), common(one)
    return types if types == types_of(plain) else f"{types} {plain!r}"


@lru_cache(maxsize=1024)
def _runs(names: tuple[str, ...]) -> str:
    runs = ((name, sum(1 for _ in group)) for name, group in groupby(names))
    return ", ".join(name if count == 1 else f"{name}*{count}" for name, count in runs)


def encoded(value: Any) -> Any:
    """A common value as JSON types; floats in hexadecimal, so nothing is rounded.

    Raises InvalidParameter for other values.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"integer": hex(value)}
    for name, (kind, write, _) in _JSON.items():
        if isinstance(value, kind):
            return {name: write(value)}
    raise InvalidParameter("value", value, "made of numbers, texts, bytes, None, tuples and sets")


def decoded(value: Any) -> Any:
    """The common value that encoded() wrote."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        if name == "integer":
            return int(inner, 16)
        if name in _JSON:
            return _JSON[name][2](inner)
    raise InvalidParameter("value", value, "written by Event.as_dict()")


_JSON: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, float.hex, float.fromhex),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "fraction": (Fraction, str, Fraction),
    "tuple": (tuple, lambda v: [encoded(x) for x in v], lambda v: tuple(map(decoded, v))),
    "table": (
        Table,
        lambda v: sorted(([encoded(x), encoded(v[x])] for x in v), key=json.dumps),
        lambda v: Table((decoded(key), decoded(one)) for key, one in v),
    ),
}
