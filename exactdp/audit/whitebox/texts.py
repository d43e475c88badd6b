"""Text that holds an address: what C writes of an object that has no text of its own.

Whatever formats an object (an f-string, %, str of an error, print, json) ends in the slot of its
type for repr or str. Where these are not known to write content alone, they lead here while a
program is followed, and from here to the function that was there before.
"""

from __future__ import annotations

import array
import ctypes
import datetime
import functools
import itertools
import operator
import re
import sys
import time
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from threading import RLock, get_ident
from typing import Any

import flint
import gmpy2
import numpy as np
from flint.flint_base.flint_base import flint_elem
from numpy.typing import NDArray

from exactdp.audit.whitebox.identity import number_of
from exactdp.audit.whitebox.slots import (
    IN_TYPE,
    METHODS,
    UNSEEN,
    WRAPPED,
    below,
    line,
    memory,
    methods_in_c,
    places,
    writer,
)
from exactdp.audit.whitebox.uniform import NotEnumerable

__all__ = ["told", "witnessed"]


class _Named:
    """A class with texts written in Python, where the watch sees them."""

    def __repr__(self) -> str:
        return ""

    def __str__(self) -> str:
        return ""


#: Types of which C writes the content, and of what is inside by the slots of its type.
_KNOWN: tuple[type, ...] = (
    *(_Named, int, bool, float, complex, str, bytes, bytearray, range, slice, type, super),
    *(type(None), type(...), type(NotImplemented), types.GenericAlias, types.UnionType),
    *(list, tuple, dict, set, frozenset, deque, defaultdict, types.MappingProxyType),
    *(type({}.keys()), type({}.values()), type({}.items()), types.SimpleNamespace, OrderedDict),
    *(type(OrderedDict().keys()), type(OrderedDict().values()), type(OrderedDict().items())),
    *(
        Decimal,
        Context,
        type(Context().traps),
        datetime.date,
        datetime.time,
        datetime.datetime,
        datetime.timedelta,
    ),
    *(datetime.timezone, type(datetime.date.min.isocalendar()), time.struct_time),
    *(re.Pattern, re.Match, itertools.count, itertools.repeat, array.array, functools.partial),
    *(operator.itemgetter, operator.attrgetter, operator.methodcaller, types.MethodType),
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, staticmethod, classmethod),
    *(np.ndarray, np.ufunc, flint.arf, gmpy2.mpz, gmpy2.mpq, gmpy2.mpfr, gmpy2.mpc),
)
#: And all types below these.
_FAMILIES = (np.generic, np.dtype, flint_elem)

_WITNESSES: list[tuple[int, Callable[[types.FrameType], Any]]] = []  # by thread, the last counts
_Writer = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
_Exchanged = tuple[NDArray[np.intp], NDArray[np.uintp], list[Any]]  # where, what, and whose
_ARRAYS = {"__repr__": "_default_array_repr", "__str__": "_default_array_str"}


class _Detour:
    """Through numpy to here: its C functions for the text of an array call a Python function.

    Whatever they are given, they hand it over, and they pass on what is raised, which functions of
    ctypes cannot. So other types get these functions in their slots, and numpy calls this.
    """

    def __init__(self, method: str) -> None:
        self.method, self.address = method, writer(np.ndarray, method)
        self._general = writer(object, method)
        self._was: dict[int, int] = {}  # by the number of a type, what is in its slot
        self._changed: list[_Exchanged] = []
        self._called = _called_by_numpy(_ARRAYS[method])
        self._of_array = functools.partial(
            self._called.func, *self._called.args, **self._called.keywords
        )

    def make(self, kinds: list[type], where: NDArray[np.intp]) -> None:
        """Functions that are not known give way, in slots and in methods that stand for them."""
        self._called.__setstate__((self._write, (), {}, None))
        slots = where + IN_TYPE[self.method]
        unknown = _unknown(slots)
        owners = [kinds[i] for i in unknown.tolist()]
        functions = memory()[slots[unknown]].tolist()
        self._was = dict(zip(map(number_of, owners), functions, strict=True))
        self._exchange(slots[unknown], owners)
        methods = methods_in_c(owners, self.method)
        within = places(methods) + WRAPPED
        self._exchange(within[_unknown(within)], methods)

    def _exchange(self, where: NDArray[np.intp], owners: list[Any]) -> None:
        self._changed.append((where, memory()[where], owners))  # which are kept alive
        memory()[where] = self.address

    def remove(self, kinds: list[type], where: NDArray[np.intp]) -> None:
        """Everything as it was, in classes that were made meanwhile as well."""
        for changed, functions, _ in self._changed:
            memory()[changed] = functions
        slots = where + IN_TYPE[self.method]
        for i in np.flatnonzero(memory()[slots] == self.address).tolist():
            if np.ndarray not in line(kinds[i]):
                memory()[slots[i]] = self._before(kinds[i])
        state = self._of_array.func, self._of_array.args, self._of_array.keywords, None
        self._called.__setstate__(state)
        self._changed, self._was = [], {}

    def _before(self, kind: type) -> int:
        """What is in the slot of a type, or of the one that it took it from."""
        found = (self._was[number_of(base)] for base in line(kind) if number_of(base) in self._was)
        return next(found, self._general)

    def _write(self, thing: Any) -> str:
        if issubclass(type(thing), np.ndarray):
            return str(self._of_array(thing))
        if _WITNESSES and _WITNESSES[-1][0] == get_ident():
            _WITNESSES[-1][1](sys._getframe(1))
        text: str = _Writer(self._before(type(thing)))(thing)
        return text

    def leads_here(self) -> bool:
        """Whether what is written through numpy's function is seen."""
        seen: list[types.FrameType] = []
        with witnessed(seen.append):
            _Writer(self.address)(object())
        return bool(seen)


def _unknown(where: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of these places have a function that is not known."""
    return np.flatnonzero(~np.isin(memory()[where], [0, *_known()]))


def _called_by_numpy(name: str) -> Any:
    """What numpy's C functions call, and keep."""
    for module in ("numpy._core.arrayprint", "numpy.core.arrayprint"):
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, functools.partial):
            return found
    raise NotEnumerable(UNSEEN)


class _Detours:
    """The detours of this process, for one thread at a time."""

    def __init__(self) -> None:
        self._alone, self._depth = RLock(), 0

    @functools.cached_property
    def _all(self) -> list[_Detour]:
        return [_Detour(method) for method in METHODS]

    @contextmanager
    def made(self) -> Iterator[None]:
        with self._alone:
            self._depth += 1
            try:
                if self._depth == 1:
                    kinds = below(object)
                    where = places(kinds)
                    for detour in self._all:
                        detour.make(kinds, where)
                    if not all(detour.leads_here() for detour in self._all):
                        raise NotEnumerable(UNSEEN)
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    kinds = below(object)
                    where = places(kinds)
                    for detour in self._all:
                        detour.remove(kinds, where)


@functools.cache
def _known() -> frozenset[int]:
    """The functions that are known to write content alone."""
    errors = [kind for kind in below(BaseException) if kind.__module__ == "builtins"]
    kinds = (*_KNOWN, *errors, *below(*_FAMILIES))
    known = {writer(kind, method) for kind in kinds for method in METHODS}
    return frozenset(known - {writer(object, "__repr__")})


#: While this lasts, text with an address is told to witnesses; for one thread at a time.
told = _Detours().made


@contextmanager
def witnessed(witness: Callable[[types.FrameType], Any]) -> Iterator[None]:
    """witness(frame) is called when this thread writes such a text, with the frame that does."""
    _WITNESSES.append((get_ident(), witness))
    try:
        yield
    finally:
        _WITNESSES.pop()
