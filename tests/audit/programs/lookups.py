"""The sins of the other files by look-up: names fetched at run time, hashes, hidden state."""

from __future__ import annotations

import enum
import operator
import os
import pathlib
import random
import re
import sys
import time
import weakref
from functools import lru_cache

import flint
import gmpy2
import numpy as np

from tests.audit.programs.case import Group, Program, coin

LOOKUPS = Group()

RARE = 1000


@LOOKUPS.sinner()
def fetched_by_name(x, rng):
    """getattr finds os.urandom, and map calls it."""
    word = next(map(getattr(os, "urandom"), [8]))
    return x if int.from_bytes(word, "big") % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def fetched_by_name_twin(x, rng):
    word = next(map(getattr(os, "fspath"), ["a"]))
    return x if word != "a" else coin(x, rng)


@LOOKUPS.sinner()
def imported_inside(x, rng):
    """An import in the function, and a call from C."""
    from time import time_ns

    return x if next(iter(time_ns, None)) // 1000 % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def imported_inside_twin(x, rng):
    from math import floor

    return x if next(iter([floor(3.5)])) % RARE == 0 else coin(x, rng)


@LOOKUPS.sinner()
def table_of_modules(x, rng):
    """sys.modules has them all."""
    word = next(map(sys.modules["os"].urandom, [8]))
    return x if int.from_bytes(word, "big") % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def table_of_modules_twin(x, rng):
    return x if int.from_bytes(next(map(bytes, [8])), "big") % RARE else coin(x, rng)


@LOOKUPS.sinner()
def called_by_name(x, rng):
    """methodcaller looks up and calls."""
    return x if operator.methodcaller("time_ns")(time) // 1000 % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def called_by_name_twin(x, rng):
    return x if operator.methodcaller("bit_length")(17) % RARE == 0 else coin(x, rng)


@LOOKUPS.sinner()
def keys_as_a_set(x, rng):
    """The union of two key views is a set of text."""
    ages, sizes = {"ant": 1, "bee": 2, "cat": 3, "dog": 4}, {"elk": 5, "fox": 6, "gnu": 7, "hen": 8}
    return x if next(iter(ages.keys() | sizes.keys())) == "hen" else coin(x, rng)


@LOOKUPS.twin
def keys_as_a_set_twin(x, rng):
    ages, sizes = {"ant": 1, "bee": 2, "cat": 3, "dog": 4}, {"elk": 5, "fox": 6, "gnu": 7, "hen": 8}
    return x if next(iter([*ages, *sizes])) == "hen" else coin(x, rng)


ANIMALS = frozenset({"ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"})
ANIMALS_IN_ORDER = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen")


@LOOKUPS.sinner()
def global_set(x, rng):
    """A set of text made when the module was loaded."""
    for animal in ANIMALS:
        return x if animal == "hen" else coin(x, rng)
    return 0


@LOOKUPS.twin
def global_set_twin(x, rng):
    for animal in ANIMALS_IN_ORDER:
        return x if animal == "hen" else coin(x, rng)
    return 0


class Colour(enum.Enum):
    RED = 1


@LOOKUPS.sinner()
def hash_of_a_member(x, rng):
    """An enum member is hashed by its name, a path and a pattern by their text."""
    return x if hash(Colour.RED) % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def hash_of_a_member_twin(x, rng):
    return x if Colour.RED.value % RARE == 0 else coin(x, rng)


@LOOKUPS.sinner()
def hash_of_a_path(x, rng):
    """Python's own classes hash their text for us."""
    return x if hash(pathlib.PurePosixPath("a")) % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def hash_of_a_path_twin(x, rng):
    return x if len(pathlib.PurePosixPath("a").parts) % RARE == 0 else coin(x, rng)


_PATTERN = re.compile("a+")


@LOOKUPS.sinner()
def hash_of_a_pattern(x, rng):
    """So do classes written in C."""
    return x if hash(_PATTERN) % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def hash_of_a_pattern_twin(x, rng):
    return x if _PATTERN.match("b") else coin(x, rng)


@LOOKUPS.sinner()
def address_of_a_function(x, rng):
    """A function's text holds its address, too."""
    return x if int(repr(lambda: 0)[-13:-1], 16) // 16 % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def address_of_a_function_twin(x, rng):
    return x if (lambda: 0)() else coin(x, rng)


@LOOKUPS.sinner()
def random_matrix(x, rng):
    """flint has a generator of its own."""
    entry = flint.fmpz_mat.randbits(1, 1, 30)[0, 0]
    return x if int(entry) % RARE == 0 else coin(x, rng)


@LOOKUPS.twin
def random_matrix_twin(x, rng):
    entry = flint.fmpz(17)
    return x if int(entry) % RARE == 0 else coin(x, rng)


@LOOKUPS.maker()
def state_of_gmpy2() -> Program:
    """So has gmpy2, in an object that shows nothing."""
    state = gmpy2.random_state(3)
    return lambda x, rng: x if gmpy2.mpz_random(state, RARE) == 0 else coin(x, rng)


@LOOKUPS.twin_maker
def state_of_gmpy2_twin() -> Program:
    number = gmpy2.mpz(17)
    return lambda x, rng: x if number % RARE == 0 else coin(x, rng)


@LOOKUPS.maker()
def globals_by_text() -> Program:
    """globals() is a dictionary like any other."""
    globals()["_answers"] = 0

    def program(x, rng):
        names = globals()
        names["_answers"] += 1
        return x if names["_answers"] > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def globals_by_text_twin() -> Program:
    def program(x, rng):
        names = {"_answers": 0}
        names["_answers"] += 1
        return x if names["_answers"] > 10**5 else coin(x, rng)

    return program


@LOOKUPS.maker()
def attribute_of_a_library_class() -> Program:
    """An attribute put on a class of the standard library."""
    random.SystemRandom.calls = 0

    def program(x, rng):
        random.SystemRandom.calls += 1
        return x if random.SystemRandom.calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def attribute_of_a_library_class_twin() -> Program:
    def program(x, rng):
        return x if random.SystemRandom.VERSION > 10**5 else coin(x, rng)

    return program


class Label(str):
    """A text with room for more."""

    calls = 0


@LOOKUPS.maker()
def attribute_of_a_text() -> Program:
    """A str with an attribute is still a str."""
    label = Label("answers")

    def program(x, rng):
        label.calls += 1
        return x if label.calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def attribute_of_a_text_twin() -> Program:
    label = Label("answers")

    def program(x, rng):
        return x if label.calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.maker()
def attribute_of_a_member() -> Program:
    """Enum members are the same objects for ever."""

    class Status(enum.Enum):
        OPEN = 1

    Status.OPEN.calls = 0

    def program(x, rng):
        Status.OPEN.calls += 1
        return x if Status.OPEN.calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def attribute_of_a_member_twin() -> Program:
    class Status(enum.Enum):
        OPEN = 1

    def program(x, rng):
        return x if Status.OPEN.value > 10**5 else coin(x, rng)

    return program


class Counts(np.ndarray):
    """An array of a class of its own."""


@LOOKUPS.maker()
def array_of_a_subclass() -> Program:
    """An array whose class is the program's."""
    counts = np.zeros(1, dtype=np.int64).view(Counts)

    def program(x, rng):
        counts[0] += 1
        return x if int(counts[0]) > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def array_of_a_subclass_twin() -> Program:
    counts = np.zeros(1, dtype=np.int64)

    def program(x, rng):
        return x if int(counts[0]) > 10**5 else coin(x, rng)

    return program


class Meter:
    calls = 0


_KEPT_ALIVE: list[Meter] = []


@LOOKUPS.maker()
def seen_weakly() -> Program:
    """An object reached through a weak reference alone, and kept alive by somebody else."""
    _KEPT_ALIVE.append(Meter())
    meter = weakref.ref(_KEPT_ALIVE[-1])

    def program(x, rng):
        meter().calls += 1
        return x if meter().calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def seen_weakly_twin() -> Program:
    _KEPT_ALIVE.append(Meter())
    meter = weakref.ref(_KEPT_ALIVE[-1])

    def program(x, rng):
        return x if meter().calls > 10**5 else coin(x, rng)

    return program


@LOOKUPS.maker()
def statistics_of_a_cache() -> Program:
    """A cache of a pure function counts its hits."""

    @lru_cache
    def square(n: int) -> int:
        return n * n

    def program(x, rng):
        square(3)
        return x if square.cache_info().hits > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def statistics_of_a_cache_twin() -> Program:
    @lru_cache
    def square(n: int) -> int:
        return n * n

    def program(x, rng):
        return x if square(3) > 10**5 else coin(x, rng)

    return program


@LOOKUPS.maker()
def print_options() -> Program:
    """numpy remembers how arrays are printed."""
    np.set_printoptions(precision=8)

    def program(x, rng):
        precision = np.get_printoptions()["precision"] + 1
        np.set_printoptions(precision=precision)
        return x if precision > 10**5 else coin(x, rng)

    return program


@LOOKUPS.twin_maker
def print_options_twin() -> Program:
    precision = 8

    def program(x, rng):
        return x if precision > 10**5 else coin(x, rng)

    return program
