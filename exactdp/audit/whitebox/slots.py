"""Where types keep the C functions that write their instances as text, in memory.

Python code cannot exchange these; they are found by the layout of CPython's structures, which is
compared with what its interface says before anything is made of it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import types
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = [
    "IN_TYPE",
    "METHODS",
    "UNSEEN",
    "WRAPPED",
    "below",
    "line",
    "memory",
    "methods_in_c",
    "places",
    "writer",
]

#: The methods behind which these functions are, and their number for PyType_GetSlot.
METHODS = {"__repr__": 66, "__str__": 70}

_POINTER = struct.calcsize("P")
_HEAD = object.__basicsize__ // _POINTER
_POINTERS: Any = ctypes.c_void_p * (sys.maxsize // _POINTER - 1)

#: How many pointers after a type begins (PyTypeObject) it has the address of such a function.
IN_TYPE = {"__repr__": _HEAD + 9, "__str__": _HEAD + 15}
#: And how many after a method begins that stands for one (d_wrapped in PyWrapperDescrObject).
WRAPPED = _HEAD + 4

UNSEEN = (
    "with this build of Python, or of numpy, it cannot be seen whether a program makes a text of "
    "where an object is in memory; audit it with CPython 3.11 to 3.13, with its global lock"
)

_own: Callable[[type], dict[str, Any]] = vars(type)["__dict__"].__get__  # asks no metaclass
_derived: Callable[[type], list[type]] = type.__subclasses__
_line: Callable[[type], tuple[type, ...]] = vars(type)["__mro__"].__get__


def writer(kind: type, method: str) -> int:
    """The address of the function that C calls to write an instance of a type as text.

    Raises NotEnumerable where memory is not laid out as it is read here.
    """
    if not _is_as_expected():
        raise NotEnumerable(UNSEEN)
    return int(_get_slot()(kind, METHODS[method]) or 0)


def memory() -> NDArray[np.uintp]:
    """What this process has in memory, by places; it is laid out as it is read here."""
    if not _is_as_expected():
        raise NotEnumerable(UNSEEN)
    return _all_memory()


def places(things: Iterable[Any]) -> NDArray[np.intp]:
    """Where objects begin, among all that is in memory."""
    return np.fromiter(map(number_of, things), np.intp) // _POINTER - 1


def methods_in_c(kinds: Iterable[type], method: str) -> list[Any]:
    """The methods of these classes themselves that stand for functions in C."""
    found = [own.get(method) for own in map(_own, kinds)]
    return [own for own in found if type(own) is types.WrapperDescriptorType]


def line(kind: type) -> tuple[type, ...]:
    """A type and what it derives from, in order."""
    return _line(kind)


def below(*kinds: type) -> list[type]:
    """These types and all that derive from them."""
    found: dict[int, type] = {}  # by number: a metaclass may say what is equal
    latest = dict(zip(map(number_of, kinds), kinds, strict=True))
    while latest:
        found |= latest
        derived: list[type] = [*chain.from_iterable(map(_derived, latest.values()))]
        latest = dict(zip(map(number_of, derived), derived, strict=True))
        for number in latest.keys() & found.keys():
            del latest[number]
    return list(found.values())


def _all_memory() -> NDArray[np.uintp]:
    """Pointers from the second on: there is none at 0. Only what is asked for is touched."""
    return np.frombuffer(_POINTERS.from_address(_POINTER), np.uintp)


@cache
def _get_slot() -> Any:
    function = ctypes.pythonapi.PyType_GetSlot
    function.restype, function.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return function


@cache
def _is_as_expected() -> bool:
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.implementation.name != "cpython" or not locked:
        return False
    kinds: tuple[type, ...] = (object, type, int, str, types.FunctionType, KeyError)
    for kind in kinds:
        for method, number in METHODS.items():
            expected = _get_slot()(kind, number)
            found = [*(places([kind]) + IN_TYPE[method])]
            found += [*(places(methods_in_c([kind], method)) + WRAPPED)]
            if any(_all_memory()[place] != expected for place in found):
                return False
    return True
