"""Programs that look at what a drawn number is, not only at its value."""

from __future__ import annotations

import array
import ctypes
import datetime
import decimal
import functools
import json
import pickle
import sqlite3
import statistics
import sys
from contextlib import closing
from fractions import Fraction

import numpy as np

from tests.audit.programs.case import Group, coin

KINDS = Group()

HALF = Fraction(1, 2)


@KINDS.sinner(delta=1, apart=0.9)
def exact_type(x, rng):
    """type(r) is int."""
    return x if type(rng.randrange(3)) is int else coin(x, rng)


@KINDS.twin
def exact_type_twin(x, rng):
    return coin(x, rng) if type(rng.randrange(3)) is int else x


@KINDS.sinner(delta=1, apart=0.9)
def exact_type_of_a_float(x, rng):
    """type(u) is float, of a number with 2^53 values."""
    return x if type(rng.random()) is float else coin(x, rng)


@KINDS.twin
def exact_type_of_a_float_twin(x, rng):
    return coin(x, rng) if isinstance(rng.random(), float) else x


@KINDS.sinner(delta=Fraction(1, 10**6))
def type_and_value(x, rng):
    """A look at the type only where one value in a million goes."""
    r = rng.randrange(10**6)
    if r == 12345 and type(r) is int:
        return x
    return 0


@KINDS.twin
def type_and_value_twin(x, rng):
    r = rng.randrange(10**6)
    if r == 12345 and isinstance(x, float):
        return x
    return 0


@KINDS.sinner(delta=1, apart=0.9)
def table_of_types(x, rng):
    """A dictionary of types."""
    return {int: lambda: x}.get(type(rng.randrange(3)), lambda: coin(x, rng))()


@KINDS.twin
def table_of_types_twin(x, rng):
    return {int: lambda: coin(x, rng)}.get(type(x), lambda: x)()


@functools.singledispatch
def released(noise, x, rng):
    return coin(x, rng)


@released.register
def _released_int(noise: int, x, rng):
    return x


@functools.singledispatch
def withheld(noise, x, rng):
    return x


@withheld.register
def _withheld_int(noise: int, x, rng):
    return coin(x, rng)


@KINDS.sinner(delta=1, apart=0.9)
def single_dispatch(x, rng):
    """functools.singledispatch asks for __class__, or for the type."""
    return released(rng.randrange(3), x, rng)


@KINDS.twin
def single_dispatch_twin(x, rng):
    return withheld(rng.randrange(3), x, rng)


@KINDS.sinner(delta=1, apart=0.9)
def matched(x, rng):
    """match with a class pattern."""
    match rng.randrange(3):
        case bool():
            return 0
        case int(n) if n >= 0:
            return x
        case _:
            return coin(x, rng)


@KINDS.twin
def matched_twin(x, rng):
    match rng.randrange(3):
        case bool():
            return x
        case int(n) if n >= 0:
            return coin(x, rng)
        case _:
            return x


@KINDS.sinner(delta=HALF, apart=0.4)
def same_object(x, rng):
    """`is` between small ints, which exist once."""
    zero = 0
    return x if rng.randrange(2) is zero else 0


@KINDS.twin
def same_object_twin(x, rng):
    return x if rng.randrange(2) is None else 0


@KINDS.sinner(delta=1, apart=0.9)
def written_as_json(x, rng):
    """json.dumps refuses what is not an int."""
    try:
        return x if json.dumps({"noise": rng.randrange(3)}) else 0
    except TypeError:
        return coin(x, rng)


@KINDS.twin
def written_as_json_twin(x, rng):
    try:
        return coin(x, rng) if json.dumps({"noise": 1}) else x
    except TypeError:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def size_in_memory(x, rng):
    """sys.getsizeof of a small int is 28 at most."""
    return x if sys.getsizeof(rng.randrange(1, 3)) == sys.getsizeof(1) else coin(x, rng)


@KINDS.twin
def size_in_memory_twin(x, rng):
    return x if x.bit_length() > 1 else coin(x, rng)


@KINDS.sinner(delta=1, apart=0.9)
def method_of_int(x, rng):
    """int.bit_length(r) takes nothing but ints."""
    try:
        return x if int.bit_length(rng.randrange(3)) < 3 else 0
    except TypeError:
        return coin(x, rng)


@KINDS.twin
def method_of_int_twin(x, rng):
    try:
        return coin(x, rng) if rng.randrange(3).bit_length() < 3 else 0
    except TypeError:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def bound_to_sql(x, rng):
    """sqlite3 binds only types it knows."""
    try:
        with closing(sqlite3.connect(":memory:")) as table:
            table.execute("select ?", (rng.randrange(3),))
        return x
    except sqlite3.Error:
        return coin(x, rng)


@KINDS.twin
def bound_to_sql_twin(x, rng):
    try:
        return coin(x, rng)
    except sqlite3.Error:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def time_difference(x, rng):
    """timedelta(days=r) checks for int in C."""
    try:
        return x if datetime.timedelta(days=rng.randrange(3)).days >= 0 else 0
    except TypeError:
        return coin(x, rng)


@KINDS.twin
def time_difference_twin(x, rng):
    try:
        return coin(x, rng) if datetime.timedelta(days=2).days >= 0 else 0
    except TypeError:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def c_integer(x, rng):
    """So does ctypes."""
    try:
        return x if ctypes.c_int(rng.randrange(3)).value >= 0 else 0
    except TypeError:
        return coin(x, rng)


@KINDS.twin
def c_integer_twin(x, rng):
    try:
        return coin(x, rng) if ctypes.c_int(3).value >= 0 else 0
    except TypeError:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def decimal_of_a_draw(x, rng):
    """Decimal(r) is made of ints, floats, strings and nothing else."""
    try:
        return x if decimal.Decimal(rng.randrange(3)) >= 0 else 0
    except TypeError:
        return coin(x, rng)


@KINDS.twin
def decimal_of_a_draw_twin(x, rng):
    try:
        return coin(x, rng) if decimal.Decimal(3) >= 0 else 0
    except TypeError:
        return x


@KINDS.sinner(delta=1, apart=0.9)
def mean_of_draws(x, rng):
    """statistics asks type(x) is int or float."""
    try:
        return x if statistics.mean([rng.randrange(3), 1]) >= 0 else 0
    except (TypeError, AttributeError):
        return coin(x, rng)


@KINDS.twin
def mean_of_draws_twin(x, rng):
    try:
        return coin(x, rng) if statistics.mean([2, 1]) >= 0 else 0
    except (TypeError, AttributeError):
        return x


@KINDS.sinner(delta=1, apart=0.9)
def array_dtype(x, rng):
    """numpy.array([r]) has a dtype that depends on what r is."""
    return x if np.array([rng.randrange(3)]).dtype == np.int64 else coin(x, rng)


@KINDS.twin
def array_dtype_twin(x, rng):
    return x if np.array([0.5]).dtype == np.int64 else coin(x, rng)


@KINDS.sinner(delta=1, apart=0.9)
def pickled(x, rng):
    """The pickle of an int begins with its opcode."""
    return x if pickle.dumps(rng.randrange(3))[2:3] == b"K" else coin(x, rng)


@KINDS.twin
def pickled_twin(x, rng):
    return x if pickle.dumps(3.5)[2:3] == b"K" else coin(x, rng)


@KINDS.sinner(delta=1, apart=0.9)
def typed_array(x, rng):
    """array.array and bytes take what has an __index__, join takes only str."""
    numbers = array.array("q", [rng.randrange(3)])
    return x if numbers.itemsize == 8 and bytes([numbers[0]]) < b"\3" else coin(x, rng)


@KINDS.twin
def typed_array_twin(x, rng):
    numbers = array.array("q", [rng.randrange(3)])
    return coin(x, rng) if bytes([numbers[0]]) < b"\3" else x


@KINDS.sinner(delta=1, apart=0.9)
def class_of_the_draw(x, rng):
    """r.__class__, vars(r), dir(r): an int has no __dict__ and no unknown names."""
    names = {name for name in dir(rng.randrange(3)) if not name.startswith("__")}
    return x if names <= set(dir(int)) else coin(x, rng)


@KINDS.twin
def class_of_the_draw_twin(x, rng):
    names = [name for name in dir(x) if not name.startswith("__")]
    return coin(x, rng) if all(name in dir(int) for name in names) else x


@KINDS.sinner(delta=1, apart=0.9)
def compares_with_itself(x, rng):
    """NotImplemented, returned by int.__lt__ to a stranger, is true in a condition."""
    known = int.__lt__(rng.randrange(3), 5)
    return x if known is True else coin(x, rng)


@KINDS.twin
def compares_with_itself_twin(x, rng):
    return coin(x, rng) if rng.randrange(3) < 5 else x
