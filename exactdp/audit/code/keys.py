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

__all__ = ["Age", "is_plain", "key_here", "key_of_content", "lasts"]

_ATOMS = (
    *(type(None), bool, int, float, complex, str, bytes, Fraction),
    *(np.int64, np.float64, np.bool_),
)
#: Told apart by which object they are: they stay what they are while nothing changes.
_LASTING = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType, type)
_GENERATORS = (ExactRandom, ExactGenerator, Run)
_GENERATOR = ("generator",)
#: Largest number of values in the key of one call; longer keys would cost more than they save.
_MOST = 128


def is_plain(value: Any) -> bool:
    """Whether a value is a number, text, or a tuple of them: nothing in it can be changed."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in _ATOMS


def lasts(value: Any) -> bool:
    """Whether only code that is known to change things can change a value."""
    return (
        isinstance(value, LazyNumber)
        or is_plain(value)
        or isinstance(value, _LASTING)
        or type(value) in _GENERATORS
        or _is_object(value)
        or (type(value) is dict and not value)
    )


def key_here(value: Any) -> Hashable:
    """A key within one run, objects told apart by which they are; None if there is none."""
    if isinstance(value, LazyNumber):
        known, value = value.known()
        if not known:
            return None
    if type(value) in _GENERATORS:
        return _GENERATOR
    if is_plain(value):
        return _plain_key(value)
    if type(value) is tuple:
        keys = tuple(map(key_here, value))
        return None if None in keys else keys
    if _is_object(value) or isinstance(value, _LASTING):
        return "object", id(value)
    return ("empty",) if type(value) is dict and not value else None


class Age:
    """Which objects were made inside the runs of this process, a child that froze its memory.

    An object from before the runs may be known to all code; one that a run has made is known only
    to code that it was handed to, unless something older was changed.
    """

    def __init__(self) -> None:
        self._new: set[int] = set()  # an address that is new once is never that of an old object
        self._old: dict[int, Any] = {}  # kept alive, so that their addresses stay theirs

    def is_new(self, thing: Any) -> bool:
        """Whether an object was made after the memory was frozen; False if that is unknown."""
        place = id(thing)
        if place not in self._new and place not in self._old:
            # the youngest objects first: there are few of them
            young = any(each is thing for each in gc.get_objects(generation=0))
            if young or any(each is thing for each in gc.get_objects()):
                self._new.add(place)
            else:
                self._old[place] = thing
        return place in self._new


def key_of_content(values: list[Any], age: Age) -> Hashable:
    """A key that is equal in all runs for arguments of equal content; None if there is none.

    Old objects are told apart by which they are, new ones by what they hold.
    """
    seen: dict[int, int] = {}

    def key(value: Any) -> Hashable:
        if isinstance(value, LazyNumber) or type(value) in _GENERATORS or is_plain(value):
            return key_here(value)
        if type(value) is types.MethodType:
            return _all("method", key(value.__self__), key(value.__func__))
        if id(value) in seen:
            return "seen", seen[id(value)]
        if len(seen) > _MOST:
            return None
        seen[id(value)] = len(seen)
        if (held := _content(value)) is not None:
            return _all(type(value), *map(key, held))
        if not (_is_object(value) or isinstance(value, _LASTING)):
            return None
        if not age.is_new(value):
            return "object", id(value)
        if not isinstance(value, _LASTING) and _holds_attributes_only(type(value)):
            names = vars(value)
            return _all(type(value), *names, *map(key, names.values()))
        if type(value) is types.FunctionType and not age.is_new(value.__globals__):
            cells = [_cell(cell) for cell in value.__closure__ or ()]
            held = [value.__defaults__, value.__kwdefaults__, vars(value), *cells]
            return _all(value.__code__, id(value.__globals__), *map(key, held))
        return None

    return _all(*map(key, values))


def _all(*keys: Any) -> Hashable:
    return None if None in keys else keys


def _content(value: Any) -> list[Any] | None:
    """What a container of Python's or an array of numbers holds."""
    if type(value) in (list, tuple):
        return list(value)
    if type(value) is dict:
        return [len(value), *value.keys(), *value.values()]
    if type(value) is np.ndarray and value.dtype.kind in "biuf" and value.nbytes <= _MOST:
        return [value.dtype.str, value.shape, value.flags.c_contiguous, value.tobytes()]
    return None


def _cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return object()


def _plain_key(value: Any) -> Hashable:
    kind = type(value)
    if kind is tuple:
        return kind, tuple(map(_plain_key, value))
    if kind in (float, complex, np.float64):
        return kind, repr(value)  # -0.0 is another number than 0.0, and NaN equals itself
    return kind, value


def _is_object(value: Any) -> bool:
    """Whether a value is an instance of a class that is written in Python."""
    line = type(value).__mro__[:-1]
    return bool(line) and all("__dict__" in vars(k) or "__slots__" in vars(k) for k in line)


def _holds_attributes_only(kind: type) -> bool:
    """Whether an object has no room for slots or values of C code beside its attributes."""
    pointers = (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__basicsize__ <= object.__basicsize__ + pointers * tuple.__itemsize__
