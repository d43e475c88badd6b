"""Randomness looked up at run time, and state in corners that no walk over values enters."""

from __future__ import annotations

import operator
import time
from collections.abc import Iterator

from tests.audit.programs.case import Group, Program, coin

HIDEOUTS = Group()

RARE = 1000


@HIDEOUTS.sinner()
def called_by_name(x, rng):
    """methodcaller looks up and calls."""
    return x if operator.methodcaller("time_ns")(time) // 1000 % RARE == 0 else coin(x, rng)


@HIDEOUTS.twin
def called_by_name_twin(x, rng):
    return x if operator.methodcaller("bit_length")(17) % RARE == 0 else coin(x, rng)


@HIDEOUTS.maker()
def iterator_on_the_stack() -> Program:
    """A suspended generator keeps the iterator of its loop where no local variable shows it."""

    def stream() -> Iterator[bool]:
        for spent in [False] * 5000 + [True] * 5000:
            yield spent or False

    spent = stream()
    return lambda x, rng: x if next(spent) else coin(x, rng)


@HIDEOUTS.twin_maker
def iterator_on_the_stack_twin() -> Program:
    def stream() -> Iterator[bool]:
        yield from [False] * 5

    return lambda x, rng: x if next(stream()) else coin(x, rng)


@HIDEOUTS.maker()
def delegated_generator() -> Program:
    """And one that delegates keeps all of the other's state out of its own."""

    def inner() -> Iterator[bool]:
        for i in range(10**6):
            yield i > 10**5

    def outer() -> Iterator[bool]:
        yield from inner()

    spent = outer()
    return lambda x, rng: x if next(spent) else coin(x, rng)


@HIDEOUTS.twin_maker
def delegated_generator_twin() -> Program:
    def inner() -> Iterator[bool]:
        yield False

    def outer() -> Iterator[bool]:
        yield from inner()

    return lambda x, rng: x if next(outer()) else coin(x, rng)


@HIDEOUTS.sinner()
def length_of_a_number(x, rng):
    """The message about a number that has no length names its type, in one of many branches."""
    first, second, r = int(rng.randrange(14)), int(rng.randrange(14)), rng.randrange(10**6)
    if first != 11 or second != 5:
        return coin(x, rng)
    try:
        return len(r)
    except TypeError as error:
        return x if "'int'" in str(error) else coin(x, rng)


@HIDEOUTS.twin
def length_of_a_number_twin(x, rng):
    first, second = int(rng.randrange(4)), int(rng.randrange(4))
    if first != 3 or second != 2:
        return coin(x, rng)
    try:
        return len(x)
    except TypeError as error:
        return coin(x, rng) if "'int'" in str(error) else x
