"""What a value is made of: all that tells it from others of its type, as values again.

Codes (plain.py) and forms (forms.py) are both made from these parts, so nothing is in the one that
the other cannot see.
"""

from __future__ import annotations

import enum
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set, ValuesView
from copyreg import dispatch_table
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePath
from types import MemberDescriptorType
from typing import Any, TypeAlias

import numpy as np

from exactdp.errors import Described, InvalidParameter

__all__ = ["ALLOWED", "attributes", "name_of", "parts"]

ALLOWED = (
    "made of values with a code that is the same in every process: numbers, texts, dates, "
    "collections, data frames, objects with attributes"
)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")

#: the name of a kind of value, and what one of them is made of
Parts: TypeAlias = tuple[str, list[Any]]
#: a type, and what makes one of just that type of a value of a type derived from it
Base: TypeAlias = tuple[Any, Callable[..., Any]]


def parts(value: Any) -> Parts | None:
    """A name and the parts of a value; None for numbers, texts, dates, plain containers, arrays.

    Those have parts only where their type adds attributes of its own. Raises InvalidParameter for
    what is known by its address alone, or does not say what it is made of.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return None
    known, base = _known(kind)
    if known is not None:
        return known(value)
    if base is None or kind in (base[0], defaultdict):
        return None
    added = attributes(value)
    return (name_of(kind), [base[1](value), *added]) if added else None


def attributes(value: Any) -> list[tuple[str, Any]]:
    """The names and values of the attributes an object has of its own, sorted."""
    slotted = (kind for kind in type(value).__mro__ if "__slots__" in vars(kind))
    found = {
        name: getattr(value, name)
        for kind in slotted
        for name, entry in vars(kind).items()
        if isinstance(entry, MemberDescriptorType) and hasattr(value, name)
    }
    found |= getattr(value, "__dict__", {})
    return sorted(found.items(), key=lambda pair: str(pair[0]))


def name_of(kind: type) -> str:
    """The name of a type, with its module unless it is built in."""
    return kind.__qualname__ if kind.__module__ == "builtins" else (
        f"{kind.__module__}.{kind.__qualname__}"
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _known(
    kind: Any,
) -> tuple[Callable[[Any], Parts] | None, tuple[Any, Callable[..., Any]] | None]:
    """What says the parts of values of a type; or the type it is based on, and how to become it."""
    if issubclass(kind, _CODED):
        return None, None
    for root in (base.__module__.partition(".")[0] for base in kind.__mro__):
        if root in _FRAMES and hasattr(kind, _FRAMES[root]):
            return (_arrow if root == "pyarrow" else _frame), None
    if kind.__module__.startswith("pandas") and issubclass(kind, (date, timedelta)):
        return None, None  # their attributes say what their text does
    base = next((pair for pair in _BASES if issubclass(kind, pair[0])), None)
    if base is not None:
        return None, base
    return next((made for known, made in _MADE if issubclass(kind, known)), _object), None


def _error(value: BaseException) -> Parts:
    because = [value.__cause__, None if value.__suppress_context__ else value.__context__]
    return "exception", [name_of(type(value)), value.args, dict(attributes(value)), *because]


def _frame(value: Any) -> Parts:
    """A data frame, a series or an index, by methods pandas and polars offer everyone."""
    columns, names = [value], []
    if hasattr(value, "columns"):
        take = value.iloc if hasattr(value, "iloc") else value
        columns = [take[:, i] for i in range(value.shape[1])]
        names = _column(value.columns) if hasattr(value, "iloc") else []
    index = getattr(value, "index", None)
    rows = _column(index) if hasattr(type(index), "names") else []
    found = [*map(_column, columns), rows, names, dict(getattr(value, "attrs", {}))]
    return type(value).__name__, found


def _column(values: Any) -> list[Any]:
    """Names, type, what the type allows, and the cells."""
    named = [*values.names] if hasattr(type(values), "names") else getattr(values, "name", None)
    allowed: Any = getattr(getattr(values, "dtype", None), "categories", None)
    listed = [[str(allowed.dtype), *allowed]] if hasattr(allowed, "dtype") else []
    return [name_of(type(values)), named, str(getattr(values, "dtype", "")), listed, [*values]]


def _arrow(value: Any) -> Parts:
    described = str(getattr(value, "schema", None) or value.type)
    return type(value).__name__, [value.to_pylist(), described]


def _mapping(value: Mapping[Any, Any]) -> Parts:
    return name_of(type(value)), [dict(value), *attributes(value)]


def _sequence(value: Sequence[Any]) -> Parts:
    added: list[Any] = attributes(value) or _copied(value)
    return name_of(type(value)), [list(value), *added]


def _view(value: Any) -> Parts:
    return name_of(type(value)), [list(value)]


def _object(value: Any) -> Parts:
    """An object by its type and attributes; without any, by its repr and what it is copied from."""
    name, state = name_of(type(value)), attributes(value)
    if hasattr(type(value), "__array__"):
        return name, [np.asarray(value), *state]
    if state:
        return name, [*state]
    shown = repr(value)
    if _ADDRESS.search(shown):
        raise InvalidParameter("run", Described(f"known by its address alone: {name}"), ALLOWED)
    return name, [shown, *_copied(value)]


def _copied(value: Any) -> list[Any]:
    """What the protocol of the module copy makes a copy from: a repr may be cut short."""
    registered: Any = dispatch_table.get(type(value))
    try:
        made = registered(value) if registered else value.__reduce_ex__(4)
    except TypeError:
        allowed = f"{ALLOWED}; this one does not say what it is made of"
        raise InvalidParameter("run", name_of(type(value)), allowed) from None
    if isinstance(made, str):  # a name that says all
        return []
    _, args, state, *items = (*made, None)[:5]
    return [args, state, *(None if each is None else list(each) for each in items)]


#: types whose values plain.py writes down as they are
_CODED = (enum.Enum, np.generic, np.ma.MaskedArray, type, time, tzinfo, PurePath, memoryview)

#: package -> what its tables and columns have and nothing else of it has
_FRAMES = {"pandas": "shape", "polars": "shape", "pyarrow": "to_pylist"}

_PLAIN = frozenset({type(None), bool, int, float, str, bytes, tuple, list, dict, set, frozenset})

#: types that have codes of their own
_BASES: list[Base] = [
    (bool, bool),
    (int, int),
    (float, float),
    (str, str.__str__),
    (bytes, bytes),
    (bytearray, bytes),
    (tuple, tuple),
    (list, list),
    (dict, dict),
    (set, set),
    (frozenset, frozenset),
    (np.ndarray, np.asarray),
    (Fraction, Fraction),
    (datetime, lambda value: datetime.combine(value.date(), value.timetz())),
    (date, lambda value: date.fromordinal(value.toordinal())),
    (timedelta, lambda value: timedelta(value.days, value.seconds, value.microseconds)),
]

#: what the values of other types are made of, tried in this order
_MADE: list[tuple[Any, Callable[[Any], Parts]]] = [
    (complex, lambda value: ("complex", [value.real, value.imag])),
    (Decimal, lambda value: ("Decimal", [float(value) if value == value else np.nan, str(value)])),
    (BaseException, _error),
    (Mapping, _mapping),
    (Sequence, _sequence),
    (Set, _view),
    (ValuesView, _view),
]
