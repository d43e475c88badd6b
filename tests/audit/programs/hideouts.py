"""Randomness looked up at run time, and state in corners that no walk over values enters."""

from __future__ import annotations

import logging
import weakref
from abc import ABC
from collections.abc import Iterator
from fractions import Fraction

from tests.audit.programs.case import Group, Program, coin

HIDEOUTS = Group()

RARE = 1000


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


@HIDEOUTS.sinner(delta=Fraction(1, 196))
def length_of_a_number(x, rng):
    """The message about a number that has no length names its type, in one of many branches."""
    first, second, r = int(rng.randrange(14)), int(rng.randrange(14)), rng.randrange(10**6)
    if first != 11 or second != 5:
        return 0
    try:
        return len(r)
    except TypeError as error:
        return x if "'int'" in str(error) else 0


@HIDEOUTS.twin
def length_of_a_number_twin(x, rng):
    first, second = int(rng.randrange(4)), int(rng.randrange(4))
    if first != 3 or second != 2:
        return coin(x, rng)
    try:
        return len(x)
    except TypeError as error:
        return coin(x, rng) if "'int'" in str(error) else x


@HIDEOUTS.maker()
def registered_classes() -> Program:
    """An abstract base class remembers who registered."""

    class Seen(ABC):
        pass

    classes = [type(f"Kind{i}", (), {}) for i in range(400)]

    def program(x, rng):
        for kind in classes:
            if not issubclass(kind, Seen):
                Seen.register(kind)
                return coin(x, rng)
        return x

    return program


@HIDEOUTS.twin_maker
def registered_classes_twin() -> Program:
    class Seen(ABC):
        pass

    def program(x, rng):
        return x if issubclass(int, Seen) else coin(x, rng)

    return program


@HIDEOUTS.maker()
def subclasses() -> Program:
    """A base class remembers its subclasses."""

    class Plugin:
        pass

    def program(x, rng):
        class Answer(Plugin):
            pass

        Plugin.last = Answer
        return x if len(Plugin.__subclasses__()) > 400 else coin(x, rng)

    return program


@HIDEOUTS.twin_maker
def subclasses_twin() -> Program:
    class Plugin:
        pass

    def program(x, rng):
        return x if len(Plugin.__subclasses__()) > 400 else coin(x, rng)

    return program


@HIDEOUTS.maker()
def level_of_a_logger() -> Program:
    """A logger keeps its level."""
    logger = logging.Logger("answers")

    def program(x, rng):
        logger.level += 1
        return x if logger.level > 10**5 else coin(x, rng)

    return program


@HIDEOUTS.twin_maker
def level_of_a_logger_twin() -> Program:
    logger = logging.getLogger("answers")

    def program(x, rng):
        logger.debug("asked")
        return coin(x, rng)

    return program


@HIDEOUTS.maker()
def class_of_the_generator() -> Program:
    """The class of the generator outlives the generator."""

    def program(x, rng):
        kind = type(rng)
        kind.calls = getattr(kind, "calls", 0) + 1
        return x if kind.calls > 10**5 else coin(x, rng)

    return program


@HIDEOUTS.twin_maker
def class_of_the_generator_twin() -> Program:
    def program(x, rng):
        class Kind:
            calls = 0

        Kind.calls += 1
        return x if Kind.calls > 10**5 else coin(x, rng)

    return program


@HIDEOUTS.maker()
def toggled_beside_much() -> Program:
    """Much memory, and a bit of it that matters only where two rare runs follow each other."""
    table = list(range(50_000))
    streak = [0]

    def program(x, rng):
        rare = rng.randrange(5) == 3
        streak[0] = streak[0] + 1 if rare else 0
        return x if streak[0] >= 2 else coin(x, rng) + 0 * table[7]

    return program


@HIDEOUTS.twin_maker
def toggled_beside_much_twin() -> Program:
    table = list(range(5000))

    def program(x, rng):
        streak = [rng.randrange(5) == 3]
        return x if streak[0] >= 2 else coin(x, rng) + 0 * table[7]

    return program


@HIDEOUTS.maker()
def weak_dictionary() -> Program:
    """Answers kept in a WeakKeyDictionary as long as their data set lives."""

    class User:
        pass

    users = [User(), User()]
    answers: weakref.WeakKeyDictionary[User, int] = weakref.WeakKeyDictionary()

    def program(x, rng):
        if users[0] not in answers:
            answers[users[0]] = x if rng.randrange(100) else 1 - x
        return answers[users[0]]

    return program


@HIDEOUTS.twin_maker
def weak_dictionary_twin() -> Program:
    class User:
        pass

    user = User()

    def program(x, rng):
        answers: weakref.WeakKeyDictionary[User, int] = weakref.WeakKeyDictionary()
        answers[user] = coin(x, rng)
        return answers[user]

    return program


@HIDEOUTS.maker()
def function_attribute() -> Program:
    """The function itself keeps the count."""

    def program(x, rng):
        program.calls += 1
        return x if program.calls > 3000 else coin(x, rng)

    program.calls = 0
    return program


@HIDEOUTS.twin_maker
def function_attribute_twin() -> Program:
    def program(x, rng):
        return coin(x, rng) * program.scale

    program.scale = 1
    return program
