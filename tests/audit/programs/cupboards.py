"""State in things that hold more than attributes: of libraries, of C, of classes that hide it.

Each counts its calls there, and answers without noise when there have been very many.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import json
import logging
import operator
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import gmpy2
import numpy as np

from exactdp.samplers.enumeration_tally import Tally
from tests.audit.programs.case import Group, Program, coin

CUPBOARDS = Group()

_MANY = 10**5


def counted(name: str, why: str) -> Callable[[Callable[[], tuple[Any, Any]]], None]:
    """A pair of a function that counts and tells the number, and one that only tells."""

    def added(make: Callable[[], tuple[Any, Any]]) -> None:
        def made(which: int) -> Program:
            calls = make()[which]
            return lambda x, rng: x if calls() > _MANY else coin(x, rng)

        def maker() -> Program:
            return made(0)

        maker.__name__, maker.__doc__ = name, why
        CUPBOARDS.maker()(maker)
        CUPBOARDS.twin_maker(lambda: made(1))

    return added


@counted("number_of_gmpy2", "A number that is neither int nor float.")
def _() -> tuple[Any, Any]:
    calls = gmpy2.mpz(0)

    def count() -> int:
        nonlocal calls
        calls += 1
        return int(calls)

    return count, lambda: int(calls)


@counted("changing_number_of_gmpy2", "One that changes in place.")
def _() -> tuple[Any, Any]:
    calls = gmpy2.xmpz(0)

    def count() -> int:
        operator.iadd(calls, 1)
        return int(calls)

    return count, lambda: int(calls)


@counted("matrix_of_flint", "Nor has a matrix attributes.")
def _() -> tuple[Any, Any]:
    calls = flint.fmpz_mat(1, 1)

    def count() -> int:
        calls[0, 0] += 1
        return int(calls[0, 0])

    return count, lambda: int(calls[0, 0])


@counted("ball_of_flint", "Of which what is written is not all.")
def _() -> tuple[Any, Any]:
    calls = flint.arb(2) ** 50

    def count() -> int:
        nonlocal calls
        calls += 1
        return int(calls.mid().floor().unique_fmpz()) - 2**50

    return count, lambda: int(calls.mid().floor().unique_fmpz()) - 2**50


@counted("coefficients", "A polynomial of numpy.")
def _() -> tuple[Any, Any]:
    calls = np.poly1d([1, 0])

    def count() -> int:
        calls[0] += 1
        return int(calls[0])

    return count, lambda: int(calls[0])


@counted("flat_iterator", "Where an iterator of numpy stands.")
def _() -> tuple[Any, Any]:
    calls = np.arange(10**6).flat
    return lambda: int(next(calls)), lambda: calls.index


@counted("pairs_of_numpy", "Another one.")
def _() -> tuple[Any, Any]:
    calls = np.broadcast(np.arange(10**6), 1)
    return lambda: int(next(calls)[0]), lambda: calls.index


@counted("children_of_a_seed", "A seed counts those it has spawned.")
def _() -> tuple[Any, Any]:
    seed = np.random.SeedSequence(5)

    def count() -> int:
        seed.spawn(1)
        return int(seed.n_children_spawned)

    return count, lambda: int(seed.n_children_spawned)


@counted("description_of_a_dtype", "A dtype may carry what nobody writes.")
def _() -> tuple[Any, Any]:
    kind = np.dtype("i8", metadata={"calls": [0]})

    def count() -> int:
        kind.metadata["calls"][0] += 1
        return kind.metadata["calls"][0]

    return count, lambda: kind.metadata["calls"][0]


@counted("attribute_of_an_array", "An array whose class has room for more.")
def _() -> tuple[Any, Any]:
    class Counted(np.ndarray):
        pass

    array = np.zeros(1).view(Counted)
    array.calls = 0

    def count() -> int:
        array.calls += 1
        return array.calls

    return count, lambda: array.calls


def _counter() -> tuple[Any, Any]:
    calls = [0]

    def count(*_: Any) -> int:
        calls[0] += 1
        return calls[0]

    return count, lambda *_: calls[0]


@counted("vectorized", "A function that numpy keeps for us.")
def _() -> tuple[Any, Any]:
    count, told = (np.vectorize(each, otypes=[int]) for each in _counter())
    return lambda: int(count(1)), lambda: int(told(1))


@counted("in_a_ufunc", "And one that it keeps in C.")
def _() -> tuple[Any, Any]:
    count, told = (np.frompyfunc(each, 1, 1) for each in _counter())
    return lambda: count(1), lambda: told(1)


@counted("made_by_default", "And one that a dictionary calls for what is missing.")
def _() -> tuple[Any, Any]:
    count, told = (defaultdict(each) for each in _counter())
    return lambda: (count["calls"], count.clear())[0], lambda: (told["calls"], told.clear())[0]


@counted("context_manager", "A function that a decorator of the library wraps.")
def _() -> tuple[Any, Any]:
    def session(number: Any) -> Any:
        @contextlib.contextmanager
        def begun() -> Iterator[int]:
            yield number()

        def calls() -> int:
            with begun() as found:
                return found

        return calls

    count, told = _counter()
    return session(count), session(told)


@counted("methods_in_c", "A list that is reached by its methods alone.")
def _() -> tuple[Any, Any]:
    calls: list[int] = []
    grow, size = calls.__iadd__, calls.__len__

    def count() -> int:
        grow([0])
        return size()

    return count, lambda: size()


@counted("kept_argument", "An argument that is kept for a method.")
def _() -> tuple[Any, Any]:
    class Counting:
        def count(self, calls: list[int]) -> int:
            calls.append(0)
            return len(calls)

        def told(self, calls: list[int]) -> int:
            return len(calls)

    count, told = operator.methodcaller("count", []), operator.methodcaller("told", [])
    return lambda: count(Counting()), lambda: told(Counting())


@counted("value_before", "A token keeps the value that a variable had.")
def _() -> tuple[Any, Any]:
    variable = contextvars.ContextVar("calls")
    variable.set([0])
    token = variable.set(None)

    def count() -> int:
        token.old_value[0] += 1
        return token.old_value[0]

    return count, lambda: token.old_value[0]


@counted("value_of_an_error", "An exception has attributes in C.")
def _() -> tuple[Any, Any]:
    end = StopIteration(0)

    def count() -> int:
        end.value += 1
        return end.value

    return count, lambda: end.value


class Tallied:
    """Whose text is always the same."""

    calls = 0

    def __init__(self) -> None:
        self.calls = 0

    def __repr__(self) -> str:
        return "Tallied"


@counted("end_of_a_slice", "What a slice is made of is anything.")
def _() -> tuple[Any, Any]:
    part = slice(Tallied())

    def count() -> int:
        part.stop.calls += 1
        return part.stop.calls

    return count, lambda: part.stop.calls


def _of_slots(kind: Any, *arguments: Any) -> tuple[Any, Any]:
    class Slotted(kind):
        __slots__ = ("__calls",)

        def __init__(self, *_: Any) -> None:
            self.__calls = 0

        def count(self) -> int:
            self.__calls += 1
            return self.__calls

        def told(self) -> int:
            return self.__calls

    thing = Slotted(*arguments)
    return lambda: thing.count(), lambda: thing.told()


@counted("slot_of_a_text", "A text has room in slots as well.")
def _() -> tuple[Any, Any]:
    return _of_slots(str, "calls")


@counted("slot_of_a_fraction", "So has a fraction.")
def _() -> tuple[Any, Any]:
    return _of_slots(Fraction, 1, 2)


@counted("private_slot", "A slot with two underscores has another name.")
def _() -> tuple[Any, Any]:
    return _of_slots(object)


@counted("module_in_an_object", "A module that is held by an object.")
def _() -> tuple[Any, Any]:
    settings = types.ModuleType("settings")
    settings.calls = 0
    held = {"settings": settings}

    def count() -> int:
        held["settings"].calls += 1
        return held["settings"].calls

    return count, lambda: held["settings"].calls


@counted("table_on_a_class_of_the_library", "A list put on a class of the standard library.")
def _() -> tuple[Any, Any]:
    Fraction.calls = []

    def count() -> int:
        Fraction.calls.append(0)
        return len(Fraction.calls)

    return count, lambda: len(Fraction.calls)


@counted("attribute_of_a_library_function", "Functions of the library have attributes, too.")
def _() -> tuple[Any, Any]:
    json.dumps.calls = 0

    def count() -> int:
        json.dumps.calls += 1
        return json.dumps.calls

    return count, lambda: json.dumps.calls


@counted("attribute_of_a_logger", "And loggers.")
def _() -> tuple[Any, Any]:
    log = logging.getLogger("tests.cupboards")
    log.calls = 0

    def count() -> int:
        log.calls += 1
        return log.calls

    return count, lambda: log.calls


@counted("object_of_ours", "And objects of this library.")
def _() -> tuple[Any, Any]:
    tally = Tally(Fraction(1, 2), 5)
    tally.calls = 0

    def count() -> int:
        tally.calls += 1
        return tally.calls

    return count, lambda: tally.calls


@counted("table_without_items", "A dictionary that shows nothing of what is in it.")
def _() -> tuple[Any, Any]:
    class Empty(dict):
        def items(self) -> list[Any]:
            return []

    calls = Empty(calls=0)

    def count() -> int:
        calls["calls"] += 1
        return calls["calls"]

    return count, lambda: calls["calls"]


def _pretending(kind: type) -> tuple[Any, Any]:
    class Pretending:
        calls = 0
        __class__ = kind

    thing = Pretending()

    def count() -> int:
        thing.calls += 1
        return thing.calls

    return count, lambda: thing.calls


@counted("pretended_ufunc", "An object that says it is of a class without state.")
def _() -> tuple[Any, Any]:
    return _pretending(type(str.join))


@counted("pretended_module", "Or a module.")
def _() -> tuple[Any, Any]:
    return _pretending(types.ModuleType)


@counted("answers_for_all", "A stand-in for something else, which passes questions on.")
def _() -> tuple[Any, Any]:
    class PassingOn:
        def __init__(self) -> None:
            self.held = {"calls": 0}

        def __getattr__(self, name: str) -> Any:
            return self.held[name]

    thing = PassingOn()

    def count() -> int:
        thing.held["calls"] += 1
        return thing.calls

    return count, lambda: thing.calls


@counted("cached_without_room", "A cache of no results calls the function each time.")
def _() -> tuple[Any, Any]:
    count, told = (functools.lru_cache(maxsize=0)(each) for each in _counter())
    return lambda: count(), lambda: told()
