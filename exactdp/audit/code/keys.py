"""Keys of values: equal only for values of equal content, whatever can be told apart."""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.runs import Run
from exactdp.audit.plain import plain_text

_SCALARS = frozenset(
    map(
        id,
        (
            *(type(None), bool, int, float, complex, str, bytes, Fraction),
            *(np.int64, np.float64, np.bool_),
        ),
    )
)
_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
#: Largest number of values in one key; longer keys would cost more than they save.
_MOST = 128


def is_immutable(value: Any) -> bool:
    """Whether a value is a number, a text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(is_immutable, value))
    return id(type(value)) in _SCALARS


def is_generator(value: Any) -> bool:
    """Whether a value is the generator that the program is handed."""
    kind = type(value)
    return kind is ExactRandom or kind is ExactGenerator or kind is Run


class Key:
    """The key of some values, with what they hold.

    key: None if there is none. kinds, functions: classes of the objects, and the functions, in
    them. changeable: whether a list or dict is among them.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.kinds: set[type] = set()
        self.functions: list[types.FunctionType] = []
        self.changeable = False
        self._seen: dict[int, tuple[int, Any]] = {}  # with the objects, so that ids stay theirs
        self.key = self._all(values)

    def _all(self, values: Iterable[Any]) -> Hashable:
        keys = tuple(map(self._of, values))
        return None if None in keys else keys

    def _of(self, value: Any) -> Hashable:
        if isinstance(value, LazyNumber):
            return self._of(value.settle()) if value.is_known() else None
        if is_generator(value):
            return ("generator",)
        if is_immutable(value):
            return plain_text(value)
        if _is_named(value):
            return type(value), value
        if id(value) in self._seen:
            return "seen", self._seen[id(value)][0]
        self._seen[id(value)] = len(self._seen), value
        held = self._held(value) if len(self._seen) <= _MOST else None
        keys = None if held is None else self._all(held)
        return None if keys is None else (type(value), keys)

    def _held(self, value: Any) -> list[Any] | None:
        """What makes up a value; None if that is unknown."""
        kind = type(value)
        if kind in (list, tuple, dict):
            self.changeable = self.changeable or kind is not tuple
            return [*value, *value.values()] if kind is dict else list(value)
        if kind is types.MethodType:
            return [value.__self__, value.__func__]
        if kind is types.FunctionType:
            self.functions.append(value)
            cells = [_cell(cell) for cell in value.__closure__ or ()]
            named = tuple((value.__kwdefaults__ or {}).items()), tuple(vars(value).items())
            return [value.__code__, value.__module__, value.__defaults__, *named, *cells]
        if _holds_attributes_only(kind) and hasattr(value, "__dict__"):
            self.kinds.add(kind)
            return [*vars(value), *vars(value).values()]
        return None


def _is_named(value: Any) -> bool:
    """Whether a value is a class, code, a module, or a function that a module of C holds."""
    kind = type(value)
    if kind is types.BuiltinFunctionType:  # or the method of an object, which may change
        return value.__self__ is None or type(value.__self__) is types.ModuleType
    return issubclass(kind, type) or kind is types.ModuleType or kind is types.CodeType


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return object()


def _holds_attributes_only(kind: type) -> bool:
    """Whether a class is written in Python, and its objects have attributes and nothing else."""
    pointers = (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    size = object.__basicsize__ + pointers * tuple.__itemsize__
    return kind.__basicsize__ <= size and all(k.__flags__ & _OF_PYTHON for k in kind.__mro__[:-1])
