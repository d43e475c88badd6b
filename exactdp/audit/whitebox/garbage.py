"""When objects that hold each other are given up: never while a program is followed, and at once
while it is repeated. What it makes of that (by weak references, by finalizers) differs then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["apart", "at_once", "never", "tidy"]


_APART: list[None] = []  # one for every repetition under way: they may be within each other


@contextmanager
def never() -> Iterator[None]:
    """No finalizers, those of others neither: they are not the program's doing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def at_once() -> Iterator[None]:
    """With every object that is made, whatever nothing leads to any more is given up; others who
    want to be told of it are not, they would be taken for the program."""
    enabled, thresholds, told = gc.isenabled(), gc.get_threshold(), gc.callbacks[:]
    gc.callbacks.clear()
    gc.set_threshold(1, 1, 1)
    gc.enable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks[:0] = told
        if not enabled:
            gc.disable()


@contextmanager
def apart() -> Iterator[None]:
    """What there is already is left alone: to be looked through with every object, it is much."""
    _APART.append(None)
    gc.freeze()
    try:
        yield
    finally:
        _APART.pop()
        if not _APART:
            gc.unfreeze()


@contextmanager
def tidy() -> Iterator[None]:
    """Work of this library in a program's run, of which nothing is left to be given up in the rest
    of it."""
    try:
        yield
    finally:
        if gc.isenabled():
            gc.collect()
