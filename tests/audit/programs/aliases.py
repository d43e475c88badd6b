"""State in a module that code reaches by another name than the module's own, or beside it.

Each remembers the first answer that it gave. Its twin goes the same way and reads only.
"""

from __future__ import annotations

import functools
import inspect
import json
import statistics
from collections.abc import Callable
from typing import Any

from tests.audit.programs import labels, shelves
from tests.audit.programs.case import Group, Program, coin

ALIASES = Group()

Draw = Callable[[], int]


def remembered(program: Callable[[int, Any, Draw, bool], int]) -> None:
    """A pair of a program that keeps what it drew and one that does not."""

    def made(keeps: bool) -> Program:
        vars(shelves).update(memo=None, first=None, __package__="tests.audit.programs")
        for owner in (statistics, statistics.median, statistics.NormalDist, json.encoder):
            if hasattr(owner, "memo"):
                del owner.memo

        def run(x: int, rng: Any) -> int:
            drawn = coin(x, rng)  # in every run, so that it makes as many choices
            return program(x, rng, lambda: drawn, keeps)

        return run

    def maker() -> Program:
        return made(True)

    maker.__name__, maker.__doc__ = program.__name__, program.__doc__
    ALIASES.maker()(maker)
    ALIASES.twin_maker(lambda: made(False))


def kept(module: Any, drawn: int, keeps: bool) -> int:
    if keeps and module.memo is None:
        module.memo = drawn
    return drawn if module.memo is None else module.memo


@remembered
def beside_another(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A name that another module has as well."""
    if keeps and shelves.memo is None:
        shelves.memo = draw()
    answer = draw() if shelves.memo is None else shelves.memo
    return answer if labels.memo is None else 0


@remembered
def beside_a_global(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A name that is a global as well."""
    if keeps and shelves.first is None:
        shelves.first = draw()
    return (draw() if shelves.first is None else shelves.first) + 0 * len(first)


first = "a global"


@remembered
def variable(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A variable that stands for the module."""
    shelf = shelves
    if keeps and shelf.memo is None:
        shelf.memo = draw()
    return draw() if shelf.memo is None else shelf.memo


@remembered
def either(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """One of two modules."""
    shelf = shelves if x < 2 else labels
    if keeps and shelf.memo is None:
        shelf.memo = draw()
    return draw() if shelf.memo is None else shelf.memo


@remembered
def assigned_on_the_way(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A variable that is assigned inside of an expression."""
    if (shelf := shelves).memo is None and keeps:
        shelf.memo = draw()
    return draw() if shelf.memo is None else shelf.memo


@remembered
def in_a_loop(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """One of a list that is made on the spot."""
    answers = [kept(shelf, draw(), keeps) for shelf in [shelves]]
    return answers[0]


@remembered
def handed_over(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A parameter of another function."""
    return kept(shelves, draw(), keeps)


@remembered
def imported_and_handed_over(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """Imported where it is used, under another name."""
    from tests.audit.programs import shelves as here

    there = here
    return kept(there, draw(), keeps)


@remembered
def imported_for_a_function_inside(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """Imported where it is used, by a function inside of that."""
    from tests.audit.programs import shelves as here

    def inner() -> int:
        if keeps and here.memo is None:
            here.memo = draw()
        return draw() if here.memo is None else here.memo

    return inner()


@remembered
def imported_by_a_class(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """Imported where a class is made."""

    class Here:
        from tests.audit.programs import shelves as shelf

        if keeps and shelf.memo is None:
            shelf.memo = draw()
        answer = draw() if shelf.memo is None else shelf.memo

    return Here.answer


@remembered
def imported_for_the_function_around(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """Imported by a function inside of the one that uses it."""
    shelf: Any = None

    def fetch() -> None:
        nonlocal shelf
        from tests.audit.programs import shelves as shelf

    fetch()
    return kept(shelf, draw(), keeps)


@remembered
def in_a_text_of_the_module(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """An attribute that every module has."""
    shelf = shelves
    if keeps and shelf.__package__ != "0" and shelf.__package__ != "1":
        shelf.__package__ = str(draw())
    return int(shelf.__package__) if shelf.__package__ in ("0", "1") else draw()


@remembered
def on_a_function_of_python(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A function in a module of Python's own."""
    shelf = statistics
    if keeps and not hasattr(shelf.median, "memo"):
        shelf.median.memo = draw()
    return shelf.median.memo if hasattr(shelf.median, "memo") else draw()


@remembered
def on_a_class_of_python(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A class in a module of Python's own."""
    shelf = statistics
    if keeps and not hasattr(shelf.NormalDist, "memo"):
        shelf.NormalDist.memo = draw()
    return shelf.NormalDist.memo if hasattr(shelf.NormalDist, "memo") else draw()


@remembered
def in_a_part_of_a_package_of_python(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A module inside of a package of Python's own."""
    shelf = json
    if keeps and not hasattr(shelf.encoder, "memo"):
        shelf.encoder.memo = draw()
    return shelf.encoder.memo if hasattr(shelf.encoder, "memo") else draw()


@remembered
def imported_by_its_whole_path(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """An import that names the package."""
    import tests.audit.programs.shelves

    if keeps and tests.audit.programs.shelves.memo is None:
        tests.audit.programs.shelves.memo = draw()
    found = tests.audit.programs.shelves.memo
    return draw() if found is None else found


@ALIASES.maker()
def found_by_inspect() -> Program:
    """Python's own code gets at the module."""
    shelves.memo = None

    def run(x: int, rng: Any) -> int:
        drawn, shelf = coin(x, rng), inspect.getmodule(shelves.Thing)
        if shelf.memo is None:
            shelf.memo = drawn
        return shelf.memo

    return run


@ALIASES.twin
def found_by_inspect_twin(x: int, rng: Any) -> int:
    return coin(x, rng) if inspect.getdoc(shelves.Thing) else 0


@remembered
def part_of_a_package(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """The package by its name, the module as what is found there."""
    import tests.audit.programs as package

    shelf = package.shelves
    return kept(shelf, draw(), keeps)


@remembered
def held_by_a_default(x: int, rng: Any, draw: Draw, keeps: bool, shelf: Any = shelves) -> int:
    """A default."""
    return kept(shelf, draw(), keeps)


@remembered
def held_by_a_partial(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """An argument that is set beforehand."""
    return functools.partial(kept, shelves)(draw(), keeps)


@remembered
def set_by_its_text(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """Written and read by texts."""
    shelf = shelves
    if keeps and getattr(shelf, "me" + "mo") is None:
        set_in(shelf, "me" + "mo", draw())
    found = getattr(shelf, "me" + "mo")
    return draw() if found is None else found


def set_in(module: Any, name: str, value: int) -> None:
    setattr(module, name, value)


@remembered
def in_a_module_of_python(x: int, rng: Any, draw: Draw, keeps: bool) -> int:
    """A new name in a module of Python's own."""
    shelf = statistics
    if keeps and not hasattr(shelf, "memo"):
        shelf.memo = draw()
    return shelf.memo if hasattr(shelf, "memo") else draw()
