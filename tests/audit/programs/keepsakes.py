"""Sins by memory in places that nobody thinks of: texts, bases, caches, locks, the library."""

from __future__ import annotations

import builtins
import codecs
import csv
import ctypes
import functools
import importlib
import logging
import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Program, coin

KEEPSAKES = Group()

MANY, CALLS = 10**5, "calls"


def _noted() -> None:
    """Notes"""


def _named() -> None:
    pass


class Described:
    """Notes"""


class Called:
    pass


class Base:
    calls = 0


class Child(Base):
    pass


class Alone:
    calls = 0


ALONE = Alone()
FAULT, THROWN = ValueError(0), ValueError(0)
LOG = logging.getLogger(__name__)
NUMBER = ctypes.c_int(0)
LOCK = threading.RLock()
UNUSED = 0
LIMIT = csv.field_size_limit()
codecs.register_error("kept", lambda error: 0)


def _in_a_description() -> int:
    _noted.__doc__ = f"{_noted.__doc__}x"
    return len(_noted.__doc__)


def _in_a_name() -> int:
    _named.__name__ += "x"
    return len(_named.__name__)


def _in_the_description_of_a_class() -> int:
    Described.__doc__ = f"{Described.__doc__}x"
    return len(Described.__doc__)


def _in_the_name_of_a_class() -> int:
    Called.__name__ += "x"
    return len(Called.__name__)


def _in_an_error() -> int:
    FAULT.args = (FAULT.args[0] + 1,)
    return FAULT.args[0]


def _in_a_traceback() -> int:
    try:
        raise THROWN
    except ValueError as error:
        entry, entries = error.__traceback__, 0
        while entry := entry.tb_next:
            entries += 1
    return entries


def _in_a_base() -> int:
    Child.__mro__[1].calls += 1
    return Child.calls


def _in_the_class_of_an_instance() -> int:
    type(ALONE).calls += 1
    return ALONE.calls


def _in_filters() -> int:
    LOG.filters.append(None)
    return len(LOG.filters)


@functools.lru_cache
def _list() -> list[int]:
    return []


def _in_a_cached_list() -> int:
    _list().append(1)
    return len(_list())


def _in_a_number_of_ctypes() -> int:
    NUMBER.value += 1
    return NUMBER.value


def _in_a_lock() -> int:
    LOCK.acquire()
    state = LOCK._release_save()
    LOCK._acquire_restore(state)
    return state[0]


def _in_globals_of_a_function() -> int:
    _noted.__globals__["UNUSED"] += 1
    return UNUSED


def _in_a_module_imported_here() -> int:
    import tests.audit.programs.kept as kept

    kept.calls += 1
    return kept.calls


def _in_a_module_by_its_name() -> int:
    kept = importlib.import_module("tests.audit.programs.kept")
    kept.others += 1
    return kept.others


def _in_a_limit_of_csv() -> int:
    csv.field_size_limit(csv.field_size_limit() + 1)
    return csv.field_size_limit() - LIMIT


def _in_a_handler_of_codecs() -> int:
    calls = codecs.lookup_error("kept")(None)
    codecs.register_error("kept", lambda error: calls + 1)
    return calls


@functools.singledispatch
def _dispatched(thing: Any) -> int:
    return 0


_dispatched.register(int, lambda thing: 0)


def _in_a_dispatcher() -> int:
    calls = _dispatched(3)
    _dispatched.register(int, lambda thing: calls + 1)
    return calls


def _in_a_module_by_setattr() -> int:
    setattr(math, CALLS, getattr(math, CALLS, 0) + 1)
    return math.calls


def _in_the_table_of_a_module() -> int:
    table = vars(builtins)
    table["calls"] = table.get("calls", 0) + 1
    return table["calls"]


def _in_a_buffer_of_numpy() -> int:
    np.setbufsize(np.getbufsize() + 16)
    return np.getbufsize() // 16


def _in_annotations() -> int:
    _noted.__annotations__["calls"] = _noted.__annotations__.get("calls", 0) + 1
    return _noted.__annotations__["calls"]


def _counting(keep: Callable[[], int]) -> Program:
    return lambda x, rng: x if keep() > MANY else coin(x, rng)


_TWINS: dict[Callable[[], int], Callable[[], int]] = {
    _in_a_description: lambda: len(_noted.__doc__ or ""),
    _in_a_name: lambda: len(_named.__name__),
    _in_the_description_of_a_class: lambda: len(Described.__doc__ or ""),
    _in_the_name_of_a_class: lambda: len(Called.__name__),
    _in_an_error: lambda: len(ValueError(3).args),
    _in_a_traceback: lambda: len(str(KeyError(3))),
    _in_a_base: lambda: Child.calls,
    _in_the_class_of_an_instance: lambda: ALONE.calls,
    _in_filters: lambda: LOG.level,
    _in_a_cached_list: lambda: math.isqrt(25),
    _in_a_number_of_ctypes: lambda: len("ctypes"),
    _in_a_lock: lambda: int(threading.Lock().locked()),
    _in_globals_of_a_function: lambda: UNUSED,
    _in_a_module_imported_here: lambda: __name__.count("."),
    _in_a_module_by_its_name: lambda: len(__name__),
    _in_a_limit_of_csv: lambda: LIMIT - LIMIT,
    _in_a_handler_of_codecs: lambda: len(codecs.encode("a", "utf-8")),
    _in_a_dispatcher: lambda: _dispatched(3),
    _in_a_module_by_setattr: lambda: getattr(math, "calls", 0),
    _in_the_table_of_a_module: lambda: len(dir(3)),
    _in_a_buffer_of_numpy: lambda: np.getbufsize() // 16,
    _in_annotations: lambda: len(_noted.__annotations__),
}

for _keep, _twin in _TWINS.items():
    _sinner = _counting(_keep)
    _sinner.__name__, _sinner.__doc__ = f"kept{_keep.__name__}", "calls are counted there"
    KEEPSAKES.sinner()(_sinner)
    KEEPSAKES.twin(_counting(_twin))


def _numbers(most: int) -> Any:
    for i in range(most):
        i = 0
        yield i


@KEEPSAKES.maker()
def generator_under_way() -> Program:
    """A generator that has begun looks the same wherever its loop stands."""
    numbers = _numbers(MANY)
    next(numbers)
    return lambda x, rng: x if next(numbers, 1) else coin(x, rng)


@KEEPSAKES.twin_maker
def generator_under_way_twin() -> Program:
    return lambda x, rng: x if next(_numbers(3), 1) else coin(x, rng)


@KEEPSAKES.sinner()
def local_import_of_the_library(x, rng):
    """An attribute put on a module that is imported where it is used."""
    import string

    string.calls = getattr(string, "calls", 0) + 1
    return x if string.calls > MANY else coin(x, rng)


@KEEPSAKES.twin
def local_import_of_the_library_twin(x, rng):
    import string

    return x if len(string.digits) > MANY else coin(x, rng)


@KEEPSAKES.sinner()
def room_in_a_list(x, rng):
    """How much room a list has tells how long it has been."""
    return x if sys.getsizeof(_ROOM) % 1009 == 0 else coin(x, rng)


_ROOM = [3]


@KEEPSAKES.twin
def room_in_a_list_twin(x, rng):
    return x if len(_ROOM) % 1009 == 0 else coin(x, rng)
