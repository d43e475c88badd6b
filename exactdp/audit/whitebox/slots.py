"""Where types keep the C functions that write their instances as text, in memory.

Python code cannot exchange these; they are found by the layout of CPython's structures, which is
compared with what its interface says before anything is made of it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["METHODS", "UNSEEN", "below", "line", "place_in_method", "place_in_type", "writer"]

#: The methods behind which these functions are, and their number for PyType_GetSlot.
METHODS = {"__repr__": 66, "__str__": 70}

_POINTER = struct.calcsize("P")
_HEAD = object.__basicsize__
_IN_TYPE = {"__repr__": _HEAD + 9 * _POINTER, "__str__": _HEAD + 15 * _POINTER}  # PyTypeObject
_WRAPPED = _HEAD + 4 * _POINTER  # d_wrapped in a PyWrapperDescrObject

UNSEEN = (
    "with this build of Python, or of numpy, it cannot be seen whether a program makes a text of "
    "where an object is in memory; audit it with CPython 3.11 to 3.13, with its global lock"
)

Place = ctypes.c_void_p
_own: Callable[[type], dict[str, Any]] = vars(type)["__dict__"].__get__  # asks no metaclass
_line: Callable[[type], tuple[type, ...]] = vars(type)["__mro__"].__get__


def writer(kind: type, method: str) -> int:
    """The address of the function that C calls to write an instance of a type as text.

    Raises NotEnumerable where memory is not laid out as it is read here.
    """
    if not _is_as_expected():
        raise NotEnumerable(UNSEEN)
    return int(_get_slot()(kind, METHODS[method]) or 0)


def place_in_type(kind: type, method: str) -> Place:
    """Where a type has that address."""
    return Place.from_address(number_of(kind) + _IN_TYPE[method])


def place_in_method(kind: type, method: str) -> tuple[Any, Place] | None:
    """The method of a class itself that stands for a function in C, and where it has the address;
    None if it has no such method."""
    own = _own(kind).get(method)
    if type(own) is not types.WrapperDescriptorType:
        return None
    return own, Place.from_address(number_of(own) + _WRAPPED)


def line(kind: type) -> tuple[type, ...]:
    """A type and what it derives from, in order."""
    return _line(kind)


def below(*kinds: type) -> list[type]:
    """These types and all that derive from them."""
    found = list(kinds)
    numbers = set(map(number_of, found))  # a metaclass may say what is equal
    for kind in found:  # which grows
        subclasses: list[type] = type.__subclasses__(kind)
        for derived in subclasses:
            if (number := number_of(derived)) not in numbers:
                numbers.add(number)
                found.append(derived)
    return found


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
            own = place_in_method(kind, method)
            found = [place_in_type(kind, method), *([own[1]] if own else [])]
            if any(place.value != expected for place in found):
                return False
    return True
