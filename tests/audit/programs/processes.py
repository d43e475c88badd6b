"""Answers that are the same in every run, and others in the next process."""

from __future__ import annotations

import os
import threading

import numpy as np

from tests.audit.programs.case import Group, coin

PROCESSES = Group()

RARE = 1000


@PROCESSES.sinner()
def first_among_equals(x, rng):
    """min() of words of one length takes the one that comes first, by their hashes."""
    return x if min({"elk", "fox", "gnu", "hen", "ant"}, key=len) == "ant" else coin(x, rng)


@PROCESSES.twin
def first_among_equals_twin(x, rng):
    return x if min({"elk", "fox", "gnu", "hen", "ant"}) == "hen" else coin(x, rng)


@PROCESSES.sinner()
def sorted_equals(x, rng):
    """So does sorted() by a key."""
    return x if sorted({"elk", "fox", "gnu", "hen"}, key=len)[0] == "gnu" else coin(x, rng)


@PROCESSES.twin
def sorted_equals_twin(x, rng):
    return x if sorted({"elk", "fox", "gnu", "hen"})[0] == "gnu" else coin(x, rng)


@PROCESSES.sinner()
def set_of_another_function(x, rng):
    """What a helper returns is no outcome yet."""

    def animals():
        return {"elk", "fox", "gnu", "hen"}

    return x if next(iter(animals())) == "gnu" else coin(x, rng)


@PROCESSES.twin
def set_of_another_function_twin(x, rng):
    def animals():
        return ["elk", "fox", "gnu", "hen"]

    return x if animals()[0] == "gnu" else coin(x, rng)


ANIMALS = frozenset({"elk", "fox", "gnu", "hen"})


@PROCESSES.sinner()
def global_set_of_another_function(x, rng):
    """The helper did not make the set itself."""

    def animals():
        return ANIMALS

    return x if next(iter(animals())) == "gnu" else coin(x, rng)


@PROCESSES.twin
def global_set_of_another_function_twin(x, rng):
    def animals():
        return ANIMALS

    return x if "ant" in animals() else coin(x, rng)


@PROCESSES.sinner()
def set_of_its_own(x, rng, inner=False):
    """A program may call itself for the set."""
    if inner:
        return {"elk", "fox", "gnu", "hen"}
    return x if next(iter(set_of_its_own(x, rng, True))) == "gnu" else coin(x, rng)


@PROCESSES.twin
def set_of_its_own_twin(x, rng, inner=False):
    if inner:
        return ["elk", "fox", "gnu", "hen"]
    return x if set_of_its_own_twin(x, rng, True)[0] == "gnu" else coin(x, rng)


@PROCESSES.sinner()
def memory_not_set(x, rng):
    """What numpy.empty holds was left by others."""
    return x if np.empty(1000).sum() == 7 else coin(x, rng)


@PROCESSES.twin
def memory_not_set_twin(x, rng):
    return x if np.zeros(1000).sum() == 7 else coin(x, rng)


@PROCESSES.sinner()
def numpy_clock(x, rng):
    """numpy reads the clock when it reads "now"."""
    return x if int(np.datetime64("now", "s").astype("int64")) % RARE == 0 else coin(x, rng)


@PROCESSES.twin
def numpy_clock_twin(x, rng):
    return x if int(np.datetime64("2020-02-02", "s").astype("int64")) % 7 == 9 else coin(x, rng)


@PROCESSES.sinner()
def number_of_the_thread(x, rng):
    """An address of the process, about."""
    return x if threading.current_thread().ident % 4096 == 64 else coin(x, rng)


@PROCESSES.twin
def number_of_the_thread_twin(x, rng):
    with threading.Lock():
        return coin(x, rng)


@PROCESSES.sinner()
def place_of_an_array(x, rng):
    """Where numpy put an array."""
    return x if np.zeros(3).ctypes.data % 65536 == 32 else coin(x, rng)


@PROCESSES.twin
def place_of_an_array_twin(x, rng):
    return x if np.zeros(3).nbytes % 65536 == 32 else coin(x, rng)


def _deep(n):
    try:
        return _deep(n + 1)
    except RecursionError:
        return n


def _down(n):
    return _down(n - 1) + 1 if n else 0


@PROCESSES.sinner()
def depth_of_the_stack(x, rng):
    """How deep a function may call itself depends on who called the program."""
    return x if _deep(0) % 97 == 0 else coin(x, rng)


@PROCESSES.twin
def depth_of_the_stack_twin(x, rng):
    return x if _down(50) % 97 == 0 else coin(x, rng)


@PROCESSES.sinner()
def unwatched_at_the_bottom(x, rng):
    """Where the stack is full nobody can watch, and Python gives up watching."""
    _deep(0)
    return x if os.stat("/proc/self").st_mtime_ns % RARE == 0 else coin(x, rng)


@PROCESSES.twin
def unwatched_at_the_bottom_twin(x, rng):
    return x if os.fspath("a") == "b" else coin(x, rng)
