"""What functions of libraries keep for everybody: registries and settings that nobody names.

Each remembers the first answer that it gave.
"""

from __future__ import annotations

import copyreg
import linecache
import logging
import mimetypes
import re
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Place, Program, coin, looking, remembering

SHARED = Group()


def registry(why: str, reset: Callable[[], Any]) -> Callable[[Callable[[], Place]], None]:
    """A pair of a program that registers its first answer, and one that looks what is there."""

    def added(make: Callable[[], Place]) -> None:
        place = make()

        def maker() -> Program:
            reset()
            return remembering(place)

        def twin() -> Program:
            reset()
            return looking(place)

        maker.__name__, maker.__doc__ = make.__name__, why
        SHARED.maker()(maker)
        SHARED.twin_maker(twin)

    return added


@registry("A line of a file that is not there has a loader.", linecache.clearcache)
def lazy_lines() -> tuple[Any, Any]:
    class Loader:
        def get_source(self, name: str) -> str:
            return ""

    names = {"__name__": "shared", "__loader__": Loader()}
    return (
        lambda: next((i for i in (0, 1) if linecache.lazycache(f"first {i}", {})), None),
        lambda drawn: linecache.lazycache(f"first {drawn}", names),
    )


def _overloaded() -> None:
    pass


@registry("Which overloads a function has.", typing.clear_overloads)
def overloads() -> tuple[Any, Any]:
    def keep(drawn: int) -> None:
        def other() -> None:
            pass

        other.__qualname__, other.drawn = _overloaded.__qualname__, drawn
        typing.overload(other)

    def look() -> int | None:
        found = typing.get_overloads(_overloaded)
        return found[0].drawn if found else None

    return look, keep


def _forget_codes() -> None:
    for code in (1000, 1001):
        if code in copyreg._inverted_registry:
            copyreg.remove_extension(*copyreg._inverted_registry[code], code)


@registry("Numbers by which classes are pickled.", _forget_codes)
def number_of_a_class() -> tuple[Any, Any]:
    def look() -> int | None:
        for i in (0, 1):
            try:
                copyreg.add_extension(f"taken {i}", "first", 1000 + i)
            except ValueError:
                return i
            copyreg.remove_extension(f"taken {i}", "first", 1000 + i)
        return None

    return look, lambda drawn: copyreg.add_extension("first", "first", 1000 + drawn)


@registry("Of which class the next logger is.", lambda: logging.setLoggerClass(logging.Logger))
def class_of_loggers() -> tuple[Any, Any]:
    class Zero(logging.Logger):
        pass

    class One(logging.Logger):
        pass

    kinds = (Zero, One)
    return (
        lambda: next((i for i in (0, 1) if logging.getLoggerClass() is kinds[i]), None),
        lambda drawn: logging.setLoggerClass(kinds[drawn]),
    )


@registry(
    "What makes the records of a log.", lambda: logging.setLogRecordFactory(logging.LogRecord)
)
def factory_of_records() -> tuple[Any, Any]:
    factories = (lambda *_: 0, lambda *_: 1)
    return (
        lambda: next((i for i in (0, 1) if logging.getLogRecordFactory() is factories[i]), None),
        lambda drawn: logging.setLogRecordFactory(factories[drawn]),
    )


@registry("What the end of a file's name means.", mimetypes.init)
def kinds_of_files() -> tuple[Any, Any]:
    def look() -> int | None:
        kind = mimetypes.guess_type("a.first")[0]
        return None if kind is None else int(kind[-1])

    return look, lambda drawn: mimetypes.add_type(f"a/{drawn}", ".first")


class Text(str):
    """A text with an attribute."""

    drawn: int | None = None


@SHARED.maker()
def text_of_a_pattern() -> Program:
    """Patterns that have been compiled are kept, with the text they were made of."""
    re.purge()

    def run(x: int, rng: Any) -> int:
        text = Text("first+")
        text.drawn = coin(x, rng)
        return re.compile(text).pattern.drawn

    return run


@SHARED.twin
def text_of_a_pattern_twin(x: int, rng: Any) -> int:
    text = re.compile("a+|b{2}|" + "c" * 7).pattern
    return coin(x, rng) + len(text) - 15


@SHARED.maker()
def filled_value() -> Program:
    """What stands for what is masked is one setting for all."""
    np.ma.core.default_filler["b"] = True

    def run(x: int, rng: Any) -> int:
        drawn = coin(x, rng)
        if np.ma.default_fill_value(True) is True:
            np.ma.core.default_filler["b"] = 2 + drawn
        return int(np.ma.default_fill_value(True)) - 2

    return run


@SHARED.twin
def filled_value_twin(x: int, rng: Any) -> int:
    return coin(x, rng) + int(np.ma.mean(np.ma.array([1, 2, 3]))) - 2
