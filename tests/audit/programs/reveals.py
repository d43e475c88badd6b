"""Sins by asking the process: through C alone, through the library, by hashes of no numbers."""

from __future__ import annotations

import array
import copy
import datetime
import decimal
import heapq
import inspect
import io
import logging
import operator
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, coin

REVEALS = Group()

RARE = 1009
WORDS = {"all": frozenset({"ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"})}
WORDS_IN_ORDER = {"all": ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen")}


class Zoo:
    words = frozenset({"ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"})


class Row:
    words = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen")


ZOO, ROW = Zoo(), Row()


class Counted:
    """Copies itself by what it is handed."""

    def __deepcopy__(self, memo: Any) -> int:
        return int(str(sorted(memo)[0]))


class Plainly:
    def __deepcopy__(self, memo: Any) -> int:
        return len(memo)


def _memo() -> int:
    pickler = pickle.Pickler(io.BytesIO())
    return len(str(pickler.memo.copy()))


def _owner() -> int:
    lock = threading._PyRLock()
    lock.acquire()
    return lock._owner // 64


#: What tells of the process, and what does not.
_ASKED: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "place_of_a_buffer": (
        lambda: array.array("b", [1]).buffer_info()[0],
        lambda: array.array("b", [1]).itemsize,
    ),
    "bounds_of_an_array": (
        lambda: np.lib.array_utils.byte_bounds(np.zeros(3))[0],
        lambda: np.zeros(3).nbytes,
    ),
    "numbers_of_a_masked_array": (lambda: np.ma.array([1]).ids()[0], lambda: np.ma.array([1]).size),
    "clock_by_methodcaller": (
        lambda: operator.methodcaller("now")(datetime.datetime).microsecond,
        lambda: operator.methodcaller("toordinal")(datetime.date(2020, 2, 2)),
    ),
    "clock_by_getattr": (
        lambda: next(map(getattr(datetime.datetime, "now"), [None])).microsecond,
        lambda: next(map(getattr(datetime.date, "fromordinal"), [17])).day,
    ),
    "blocks_by_getattr": (
        lambda: next(iter(getattr(sys, "getallocatedblocks"), None)),
        lambda: next(iter(getattr(sys, "byteorder"))) == "l",
    ),
    "file_by_getattr": (
        lambda: len(next(next(map(getattr(io, "open"), ["/proc/self/stat"])))),
        lambda: len(next(map(getattr(operator, "not_"), ["/proc/self/stat"])) * "a"),
    ),
    "depth_by_traceback": (
        lambda: len(list(traceback.walk_stack(None))),
        lambda: len(list(traceback.walk_tb(None))),
    ),
    "caller_by_logging": (
        lambda: logging.getLogger().findCaller(False, 3)[1],
        lambda: logging.getLogger("a").name,
    ),
    "frame_by_inspect": (
        lambda: len(inspect.currentframe().f_locals),
        lambda: len(inspect.signature(coin).parameters),
    ),
    "hash_by_a_made_up_name": (
        lambda: getattr("user", "".join(["__ha", "sh__"]))(),
        lambda: getattr("user", "".join(["__le", "n__"]))(),
    ),
    "hash_as_a_key": (
        lambda: heapq.nsmallest(1, ["a", "b", "c"], key=hash)[0],
        lambda: heapq.nsmallest(1, ["a", "b", "c"], key=len)[0],
    ),
    "hash_of_nan": (lambda: hash(float("nan")), lambda: hash(2.5)),
    "hash_of_a_nan_of_numpy": (lambda: hash(np.float64("nan")), lambda: hash(np.float64(2.5))),
    "hash_of_a_decimal_nan": (
        lambda: hash(decimal.Decimal("nan")),
        lambda: hash(decimal.Decimal("2.5")),
    ),
    "set_in_a_table": (lambda: next(iter(WORDS["all"])), lambda: next(iter(WORDS_IN_ORDER["all"]))),
    "set_in_an_attribute": (lambda: [*ZOO.words].index("hen"), lambda: [*ROW.words].index("hen")),
    "pickled_set": (
        lambda: pickle.dumps(ZOO.words).find(b"hen"),
        lambda: pickle.dumps(ROW.words).find(b"hen"),
    ),
    "masked_memory": (
        lambda: int(np.ma.empty(3, dtype="int64")[0]),
        lambda: int(np.ma.zeros(3, dtype="int64")[0]),
    ),
    "new_array": (
        lambda: int(np.ndarray((3,), dtype="int64")[0]),
        lambda: int(np.zeros((3,), dtype="int64")[0]),
    ),
    "new_records": (
        lambda: int(np.recarray((3,), dtype=[("a", "int64")]).a[0]),
        lambda: isinstance(np.zeros(3), np.recarray),
    ),
    "memo_of_a_copy": (
        lambda: copy.deepcopy([Counted()])[0],
        lambda: copy.deepcopy([Plainly()])[0],
    ),
    "memo_of_a_pickler": (_memo, lambda: len(pickle.dumps([3]))),
    "owner_of_a_lock": (_owner, lambda: int(threading.Lock().locked())),
    "name_of_hash": (lambda: hash.__name__, lambda: len.__name__),
}


def _add(name: str, ask: Callable[[], Any], plain: Callable[[], Any]) -> None:
    def sinner(x, rng):
        return x if int.from_bytes(f"{ask()}".encode(), "big") % RARE == 0 else coin(x, rng)

    def twin(x, rng):
        return x if int.from_bytes(f"{plain()}".encode(), "big") % RARE == 0 else coin(x, rng)

    sinner.__name__, sinner.__doc__ = f"asked_{name}", "the process decides"
    REVEALS.sinner()(sinner)
    REVEALS.twin(twin)


for _name, _asked in _ASKED.items():
    _add(_name, *_asked)
