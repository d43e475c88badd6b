"""The sins of the other files where no call is seen: from C to C, by operators, by borrowing."""

from __future__ import annotations

import functools
import linecache
import logging
import operator
import os
import time
from typing import Any

from exactdp.samplers import SeededSource, SystemSource
from tests.audit.programs.case import Group, Program, coin

DETOURS = Group()

RARE = 1000


@DETOURS.sinner()
def mapped_over(x, rng):
    """map calls os.urandom from C."""
    word = b"".join(map(os.urandom, [8]))
    return x if int.from_bytes(word, "big") % RARE == 0 else coin(x, rng)


@DETOURS.twin
def mapped_over_twin(x, rng):
    word = b"".join(map(bytes, [8]))
    return x if int.from_bytes(word, "big") % RARE == 1 else coin(x, rng)


@DETOURS.maker()
def partial_clock() -> Program:
    """So does a partial call the clock."""
    now = functools.partial(time.time_ns)
    return lambda x, rng: x if now() // 1000 % RARE == 0 else coin(x, rng)


@DETOURS.twin_maker
def partial_clock_twin() -> Program:
    now = functools.partial(int, "17")
    return lambda x, rng: x if now() % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def iterated_clock(x, rng):
    """And an iterator made of a function and a sentinel."""
    return x if next(iter(time.perf_counter_ns, None)) // 100 % RARE == 0 else coin(x, rng)


@DETOURS.twin
def iterated_clock_twin(x, rng):
    return x if next(iter([17])) % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def sorted_by_address(x, rng):
    """id as a key."""
    pair = [object(), object(), object()]
    return x if sorted(pair, key=id) == pair[::-1] else coin(x, rng)


@DETOURS.twin
def sorted_by_address_twin(x, rng):
    words = ["ant", "b", "cats"]
    return x if sorted(words, key=len) == words[::-1] else coin(x, rng)


@DETOURS.sinner()
def address_in_text(x, rng):
    """The text of an object holds its address."""
    return x if int(repr(object())[-13:-1], 16) // 16 % RARE == 0 else coin(x, rng)


@DETOURS.twin
def address_in_text_twin(x, rng):
    return x if int(repr(0xFF1)[-3:], 16) % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def hash_of_object(x, rng):
    """So does its hash."""
    return x if hash(object()) % RARE == 0 else coin(x, rng)


@DETOURS.twin
def hash_of_object_twin(x, rng):
    return x if hash(3.5) % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def hash_of_tuple(x, rng):
    """A tuple of text is salted like its text."""
    return x if hash(("user", 3)) % RARE == 0 else coin(x, rng)


@DETOURS.twin
def hash_of_tuple_twin(x, rng):
    return x if hash((2, 3)) == 0 else coin(x, rng)


@DETOURS.maker()
def hash_kept() -> Program:
    """hash, taken before anyone could replace it."""
    own = hash
    return lambda x, rng: x if own("user") % RARE == 0 else coin(x, rng)


@DETOURS.twin_maker
def hash_kept_twin() -> Program:
    own = len
    return lambda x, rng: x if own("user") % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def hash_method(x, rng):
    """Its method is no function of a module."""
    return x if "user".__hash__() % RARE == 0 else coin(x, rng)


@DETOURS.twin
def hash_method_twin(x, rng):
    return x if "user".__len__() % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def first_of_a_set(x, rng):
    """Whatever comes out of a set of texts first."""
    kinds = {"ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"}
    return x if next(iter(kinds)) == "hen" else coin(x, rng)


@DETOURS.twin
def first_of_a_set_twin(x, rng):
    kinds = {"ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"}
    return x if min(kinds) == "hen" else coin(x, rng)


@DETOURS.sinner()
def clock_of_a_record(x, rng):
    """A log record knows when it was made."""
    made = logging.makeLogRecord({}).created
    return x if int(made * 1e6) % RARE == 0 else coin(x, rng)


@DETOURS.twin
def clock_of_a_record_twin(x, rng):
    logging.getLogger("sampler").debug("drawn")
    return coin(x, rng)


@DETOURS.sinner()
def line_of_a_file(x, rng):
    """linecache reads files for whoever asks; /proc has a fresh random line each time."""
    linecache.clearcache()
    text = linecache.getline("/proc/sys/kernel/random/uuid", 1) or "0-0"
    return x if int(text.split("-")[0], 16) % RARE == 0 else coin(x, rng)


@DETOURS.twin
def line_of_a_file_twin(x, rng):
    text = "17-0"
    return x if int(text.split("-")[0], 16) % RARE == 0 else coin(x, rng)


@DETOURS.sinner()
def our_own_randomness(x, rng):
    """This library's source of the operating system's randomness is as foreign as any other."""
    return x if SystemSource().below(RARE) == 0 else coin(x, rng)


@DETOURS.twin
def our_own_randomness_twin(x, rng):
    return coin(x, rng)


@DETOURS.maker()
def our_own_state() -> Program:
    """So is a seeded one in a closure."""
    own = SeededSource(5)
    return lambda x, rng: x if own.below(RARE) == 0 else coin(x, rng)


@DETOURS.twin_maker
def our_own_state_twin() -> Program:
    own = 5
    return lambda x, rng: x if own % RARE == 0 else coin(x, rng)


class Tools:
    kind = type


@DETOURS.sinner()
def type_by_attribute(x, rng):
    """type() under another name, and only in one of many branches."""
    tools, branch, r = Tools(), int(rng.randrange(200)), rng.randrange(10**6)
    if branch == 100 and tools.kind(r) == int:
        return x
    return coin(x, rng)


@DETOURS.twin
def type_by_attribute_twin(x, rng):
    tools, branch = Tools(), rng.randrange(20)
    if branch == 10 and tools.kind(x) == float:
        return x
    return coin(x, rng)


@DETOURS.maker()
def type_in_a_closure() -> Program:
    """The same from a closure."""
    kind = type

    def program(x, rng):
        branch, r = rng.randrange(200), rng.randrange(10**6)
        if int(branch) == 100 and kind(r) == int:
            return x
        return coin(x, rng)

    return program


@DETOURS.twin_maker
def type_in_a_closure_twin() -> Program:
    kind = int

    def program(x, rng):
        branch, r = rng.randrange(20), rng.randrange(10**6)
        if int(branch) == 10 and kind(r > 5) == 2:
            return x
        return coin(x, rng)

    return program


@DETOURS.sinner()
def type_in_a_message(x, rng):
    """The message of a TypeError names the type, in one of many branches."""
    branch, r = int(rng.randrange(200)), rng.randrange(10**6)
    try:
        return coin(x, rng) if branch != 100 else "noise " + r
    except TypeError as error:
        return x if '(not "int")' in str(error) else coin(x, rng)


@DETOURS.twin
def type_in_a_message_twin(x, rng):
    branch = int(rng.randrange(20))
    try:
        return coin(x, rng) if branch != 10 else "noise " + x
    except TypeError as error:
        return coin(x, rng) if '(not "int")' in str(error) else x


@DETOURS.sinner()
def operator_call(x, rng):
    """operator.call, map's little sister."""
    return x if operator.call(time.time_ns) // 1000 % RARE == 0 else coin(x, rng)


@DETOURS.twin
def operator_call_twin(x, rng):
    return x if operator.call(int, "17") % RARE == 0 else coin(x, rng)


class Moment:
    """A property whose getter is written in C."""

    now: Any = property(lambda self: 0)


@DETOURS.maker()
def getter_in_c() -> Program:
    """An attribute that is read anew by a function in C."""

    class Clock:
        now = property(functools.partial(lambda read, self: read(), time.time_ns))

    clock = Clock()
    return lambda x, rng: x if clock.now // 1000 % RARE == 0 else coin(x, rng)


@DETOURS.twin_maker
def getter_in_c_twin() -> Program:
    moment = Moment()
    return lambda x, rng: x if moment.now else coin(x, rng)
