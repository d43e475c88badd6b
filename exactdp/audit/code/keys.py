"""Keys of values: equal only for values that no code can tell apart while nothing else changes."""

from __future__ import annotations

import gc
import types
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.code.generators import ExactRandom
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.numpy_generators import ExactGenerator
from exactdp.audit.code.runs import Run

__all__ = ["Ages", "is_plain", "key_of"]

_SCALARS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction),
    *(np.int64, np.float64, np.bool_),
)
#: Told apart by which object they are: they stay what they are while nothing changes.
_NAMED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_GENERATORS = (ExactRandom, ExactGenerator, Run)
#: Largest number of values in one key; longer keys would cost more than they save.
_MOST = 128


def is_plain(value: Any) -> bool:
    """Whether a value is a number, text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in _SCALARS


class Ages:
    """Which objects were there before the runs of this process.

    Such an object may be known to all code. One that a run has made is known only to code that it
    was handed to, unless something older was changed.
    """

    def __init__(self) -> None:
        gc.unfreeze()
        self._old = {id(each): each for each in gc.get_objects()}  # kept, with their addresses
        gc.freeze()

    def is_new(self, thing: Any) -> bool:
        """Whether an object was made in a run."""
        return id(thing) not in self._old


def key_of(values: list[Any], ages: Ages) -> Hashable:
    """A key of values and of what they hold; None if there is none.

    Old objects are told apart by which they are, new ones by what they hold.
    """
    seen: dict[int, int] = {}

    def of(value: Any) -> Hashable:
        if isinstance(value, LazyNumber):
            return of(value.settle()) if value.is_known() else None
        if type(value) in _GENERATORS:
            return ("generator",)
        if is_plain(value):
            return _of_plain(value)
        if id(value) in seen:
            return "seen", seen[id(value)]
        seen[id(value)] = len(seen)
        held = _held(value, ages) if len(seen) <= _MOST else None
        if held is None:
            return None
        keys = (type(value), *map(of, held))
        return None if None in keys else keys

    keys = tuple(map(of, values))
    return None if None in keys else keys


def _of_plain(value: Any) -> Hashable:
    kind = type(value)
    if kind is tuple:
        return kind, tuple(map(_of_plain, value))
    if kind in (float, complex, np.float64):
        return kind, repr(value)  # -0.0 is another number than 0.0, and NaN equals itself
    return kind, value


def _held(value: Any, ages: Ages) -> list[Any] | None:
    """What makes up a value; None if that is unknown."""
    if type(value) in (list, tuple):
        return list(value)
    if type(value) is dict:
        return [len(value), *value.keys(), *value.values()]
    if type(value) is types.MethodType:
        return [value.__self__, value.__func__]
    function = type(value) is types.FunctionType
    if function and ages.is_new(value) and not ages.is_new(value.__globals__):
        cells = [_cell(cell) for cell in value.__closure__ or ()]
        held = [value.__defaults__, value.__kwdefaults__, vars(value), *cells]
        return [id(value.__code__), id(value.__globals__), *held]
    if isinstance(value, _NAMED) or (_is_of_python(type(value)) and not ages.is_new(value)):
        return None if ages.is_new(value) else [id(value)]
    if _is_of_python(type(value)) and _holds_attributes_only(type(value)):
        return [*vars(value), *vars(value).values()]
    return None


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return object()


def _is_of_python(kind: type) -> bool:
    """Whether a class and its bases are written in Python."""
    line = kind.__mro__[:-1]
    return bool(line) and all("__dict__" in vars(k) or "__slots__" in vars(k) for k in line)


def _holds_attributes_only(kind: type) -> bool:
    """Whether an object has no room for slots or values of C code beside its attributes."""
    pointers = (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ <= object.__basicsize__ + pointers * tuple.__itemsize__
