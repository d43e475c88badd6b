"""When objects that hold each other in a ring are given up: never while a program is followed, at
once while it is repeated. What it makes of that (by weak references, by finalizers) differs then.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

__all__ = ["Rings", "tidy"]


#: The rings of so many runs are left together.
_PILE = 32


class Rings:
    """The rings of objects that the runs of one program leave, or may have left."""

    _runs: ClassVar[int] = 0  # of all programs: one may be followed in the middle of another
    _apart: ClassVar[int] = 0

    def __init__(self) -> None:
        self.any = False
        self._piled = 0

    @contextmanager
    def kept(self, repeated: bool) -> Iterator[None]:
        """No finalizers, those of others neither: they are not the program's doing.

        Once a run has left rings, those of some runs are there together, as they are elsewhere.
        What a run left in whose middle there was another is seen when it is repeated; one that has
        another in its middle even then counts as one that left some.
        """
        enabled = gc.isenabled()
        gc.disable()
        Rings._runs += 1
        before = Rings._runs
        try:
            yield
        finally:
            alone = before == Rings._runs  # then what is young now has been made in this run
            self._piled += 1
            if not self.any or self._piled == _PILE:
                left, self._piled = gc.collect(0), 0
                self.any = self.any or (left > 0 if alone else repeated)
            if enabled:
                gc.enable()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """With every object that is made, what nothing leads to any more is given up.

        Others who want to be told of it are not, they would be taken for the program.
        """
        enabled, thresholds, told = gc.isenabled(), gc.get_threshold(), gc.callbacks[:]
        gc.callbacks.clear()
        gc.set_threshold(1, 1, 1)
        gc.enable()
        Rings._runs += 1
        try:
            yield
        finally:
            gc.set_threshold(*thresholds)
            gc.callbacks[:0] = told
            if not enabled:
                gc.disable()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What there is already is left alone: it is much to look through with every object."""
        Rings._apart += 1
        gc.collect(0)  # what the last runs left
        gc.freeze()
        gc.collect()  # of nothing: else old objects wait until there are a quarter more of them
        try:
            yield
        finally:
            Rings._apart -= 1
            if not Rings._apart:
                gc.unfreeze()


@contextmanager
def tidy() -> Iterator[None]:
    """Work of this library in a program's run: neither is given up what the other left."""
    gc.collect(0)
    try:
        yield
    finally:
        if gc.isenabled():
            gc.collect()
