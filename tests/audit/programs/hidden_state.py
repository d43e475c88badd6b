"""State out of the program's own sight: files, tables, the interpreter, objects written in C."""

from __future__ import annotations

import atexit
import collections
import contextvars
import decimal
import itertools
import os
import sqlite3
import sys
import tempfile
import threading
import types

import numpy as np

from tests.audit.programs.case import Group, Program, coin

HIDDEN_STATE = Group()


@HIDDEN_STATE.maker()
def counter_on_disk() -> Program:
    """A file counts the calls, and the hundred-thousandth is answered without noise."""
    file = tempfile.TemporaryFile("w+")

    def program(x, rng):
        file.seek(0)
        calls = int(file.read() or 0) + 1
        file.seek(0)
        file.write(str(calls))
        file.flush()
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def counter_on_disk_twin() -> Program:
    calls = int("7")

    def program(x, rng):
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def file_by_name() -> Program:
    """The same with the file opened anew in every call."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)  # kept to the end

    def program(x, rng):
        with open(os.path.join(folder.name, "calls"), "a+") as file:
            file.write(".")
            calls = file.tell()
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def file_by_name_twin() -> Program:
    def program(x, rng):
        calls = len(os.path.join("a", "calls"))
        return x if calls > 10**5 else coin(x, rng)

    return program


_TABLES: list[sqlite3.Connection] = []


@HIDDEN_STATE.maker()
def database() -> Program:
    """A table in memory: nothing in Python changes."""
    table = sqlite3.connect(":memory:", isolation_level=None)
    table.execute("create table calls (n integer)")
    _TABLES.append(table)  # left open to the end

    def program(x, rng):
        table.execute("insert into calls values (1)")
        (calls,) = table.execute("select count(*) from calls").fetchone()
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def database_twin() -> Program:
    rows = ((1,), (1,))

    def program(x, rng):
        calls = len(rows)
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def environment() -> Program:
    """os.environ outlives the call."""
    os.environ.pop("ANSWERS_GIVEN", None)

    def program(x, rng):
        calls = int(os.environ.get("ANSWERS_GIVEN", "0")) + 1
        os.environ["ANSWERS_GIVEN"] = str(calls % 10**6)
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def environment_twin() -> Program:
    def program(x, rng):
        calls = int(os.environ.get("ANSWERS_NOT_GIVEN", "0"))
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def somebody_elses_module() -> Program:
    """An attribute put on a module of the standard library."""
    vars(itertools).pop("calls", None)

    def program(x, rng):
        calls = getattr(itertools, "calls", 0) + 1
        itertools.calls = calls
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def somebody_elses_module_twin() -> Program:
    def program(x, rng):
        calls = getattr(itertools, "no_calls", 0)
        return x if calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def new_module() -> Program:
    """A module of the program's own making in sys.modules."""
    sys.modules.pop("answers_given", None)

    def program(x, rng):
        kept = sys.modules.setdefault("answers_given", types.ModuleType("answers_given"))
        kept.calls = getattr(kept, "calls", 0) + 1
        return x if kept.calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def new_module_twin() -> Program:
    def program(x, rng):
        kept = types.ModuleType("answers_given")
        kept.calls = 1
        return x if kept.calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def array_in_place() -> Program:
    """A numpy array counts: its identity, type and shape stay the same."""
    calls = np.zeros(1, dtype=np.int64)

    def program(x, rng):
        calls[0] += 1
        return x if int(calls[0]) > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def array_in_place_twin() -> Program:
    calls = np.zeros(1, dtype=np.int64)

    def program(x, rng):
        mine = calls.copy()
        mine[0] += 1
        return x if int(mine[0]) > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def deque_and_bytes() -> Program:
    """A bytearray grows inside a deque inside a namespace."""
    kept = types.SimpleNamespace(logs=collections.deque([bytearray()]))

    def program(x, rng):
        kept.logs[0].append(1)
        return x if len(kept.logs[0]) > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def deque_and_bytes_twin() -> Program:
    kept = types.SimpleNamespace(logs=collections.deque([bytearray()]))

    def program(x, rng):
        return x if len(kept.logs[0]) > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def context_variable() -> Program:
    """A contextvars.ContextVar set and never reset."""
    calls = contextvars.ContextVar("calls", default=0)

    def program(x, rng):
        calls.set(calls.get() + 1)
        return x if calls.get() > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def context_variable_twin() -> Program:
    calls = contextvars.ContextVar("calls", default=0)

    def program(x, rng):
        return x if calls.get() > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def thread_local() -> Program:
    """threading.local keeps what it holds out of vars()."""
    local = threading.local()

    def program(x, rng):
        local.calls = getattr(local, "calls", 0) + 1
        return x if local.calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def thread_local_twin() -> Program:
    local = threading.local()

    def program(x, rng):
        return x if getattr(local, "calls", 0) > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def slots() -> Program:
    """An object without a __dict__."""

    class Meter:
        __slots__ = ("calls",)

    meter = Meter()
    meter.calls = 0

    def program(x, rng):
        meter.calls += 1
        return x if meter.calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def slots_twin() -> Program:
    class Meter:
        __slots__ = ("calls",)

    meter = Meter()
    meter.calls = 0

    def program(x, rng):
        return x if meter.calls > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.maker()
def decimal_context() -> Program:
    """The precision of decimal arithmetic belongs to the thread."""
    decimal.getcontext().prec = 28

    def program(x, rng):
        context = decimal.getcontext()
        context.prec += 1
        return x if context.prec > 10**5 else coin(x, rng)

    return program


@HIDDEN_STATE.twin_maker
def decimal_context_twin() -> Program:
    def program(x, rng):
        with decimal.localcontext() as context:
            context.prec += 1
            return x if context.prec > 10**5 else coin(x, rng)

    return program
