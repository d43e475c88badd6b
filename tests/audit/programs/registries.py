"""State where everybody in a process may find it: loggers, codecs, the process itself; results that
functools keeps, and memory behind a view of an array.

Each remembers the first answer that it gave.
"""

from __future__ import annotations

import codecs
import functools
import logging
import multiprocessing
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Program, coin

REGISTRIES = Group()


def remembered(name: str, why: str, find: Callable[[], Any], twin: Callable[[], Any]) -> None:
    """A pair of a program that keeps what it drew on what it finds, and one that looks there."""

    def maker() -> Program:
        vars(find()).pop("memo", None)

        def run(x: int, rng: Any) -> int:
            drawn, place = coin(x, rng), find()
            if not hasattr(place, "memo"):
                place.memo = drawn
            return place.memo

        return run

    def honest(x: int, rng: Any) -> int:
        return coin(x, rng) if twin() else 0

    maker.__name__, maker.__doc__ = name, why
    REGISTRIES.maker()(maker)
    REGISTRIES.twin(honest)


remembered(
    "logger",
    "A logger, by its name.",
    lambda: logging.getLogger("registries"),
    lambda: logging.getLogger("registries").name,
)
remembered(
    "process",
    "What stands for the process.",
    lambda: multiprocessing.current_process(),
    lambda: multiprocessing.__name__,
)
remembered(
    "codec", "A codec, by its name.", lambda: codecs.lookup("utf-8"), lambda: "a".encode("latin-1")
)


@REGISTRIES.maker()
def result_that_is_kept() -> Program:
    """A function's result is that of the first call, whatever its variable is now."""
    now: dict[str, int] = {}

    @functools.cache
    def answer() -> int:
        return now["drawn"]

    def run(x: int, rng: Any) -> int:
        now["drawn"] = coin(x, rng)
        found = answer()
        now.clear()
        return found

    return run


@REGISTRIES.twin_maker
def result_that_is_kept_twin() -> Program:
    @functools.cache
    def answer(drawn: int) -> int:
        return drawn**2

    return lambda x, rng: answer(coin(x, rng))


@REGISTRIES.maker()
def behind_a_view() -> Program:
    """An array is a view of another, where there is more."""
    view = np.zeros(4)[:1]

    def run(x: int, rng: Any) -> int:
        drawn, whole = coin(x, rng), view.base
        if whole[3] == 0:
            whole[3] = 1 + drawn
        return int(whole[3]) - 1

    return run


@REGISTRIES.twin_maker
def behind_a_view_twin() -> Program:
    view = np.zeros(4)[:1]
    return lambda x, rng: coin(x, rng) + int(view.base[3])


@REGISTRIES.maker()
def names_of_loggers() -> Program:
    """Which names are taken: asking for a logger takes one."""
    for bit in (0, 1):
        logging.Logger.manager.loggerDict.pop(f"registries.{bit}", None)

    def run(x: int, rng: Any) -> int:
        drawn, taken = coin(x, rng), logging.Logger.manager.loggerDict
        found = [bit for bit in (0, 1) if f"registries.{bit}" in taken]
        if not found:
            logging.getLogger(f"registries.{drawn}")
        return found[0] if found else drawn

    return run


@REGISTRIES.twin
def names_of_loggers_twin(x: int, rng: Any) -> int:
    return coin(x, rng) if logging.getLogger("registries").name else x
