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

_SCALARS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction),
    *(np.int64, np.float64, np.bool_),
)
_NAMED = (type, types.BuiltinFunctionType, types.ModuleType, types.CodeType)
_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
#: Largest number of values in one key; longer keys would cost more than they save.
_MOST = 128


def is_immutable(value: Any) -> bool:
    """Whether a value is a number, a text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(is_immutable, value))
    return type(value) in _SCALARS


def is_generator(value: Any) -> bool:
    """Whether a value is the generator that the program is handed."""
    return type(value) in (ExactRandom, ExactGenerator, Run)


class Key:
    """The key of some values, with what they hold.

    key: None if there is none. kinds, functions: classes of the objects, and the functions, in
    them. changeable: whether a list or dict is among them.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.kinds: set[type] = set()
        self.functions: list[types.FunctionType] = []
        self.changeable = False
        self._seen: dict[int, int] = {}
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
            return _of_immutable(value)
        if isinstance(value, _NAMED):
            return type(value), value
        if id(value) in self._seen:
            return "seen", self._seen[id(value)]
        self._seen[id(value)] = len(self._seen)
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
            return [value.__code__, value.__module__, value.__defaults__, *cells]
        if _holds_attributes_only(kind) and hasattr(value, "__dict__"):
            self.kinds.add(kind)
            return [*vars(value), *vars(value).values()]
        return None


def _of_immutable(value: Any) -> Hashable:
    kind = type(value)
    if kind is tuple:
        return kind, tuple(map(_of_immutable, value))
    if kind in (float, complex, np.float64):
        return kind, repr(value)  # -0.0 is another number than 0.0, and NaN equals itself
    return kind, value


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
