"""Objects that hold each other, given up whenever Python's garbage collector comes by."""

from __future__ import annotations

import weakref
from typing import Any

from exactdp.audit import shortcut
from tests.audit.programs.case import Group, Program, coin

CYCLES = Group()


def _of_three(rng: Any) -> int:
    drawn: int = rng.randrange(3)
    return drawn


class Ring:
    """An object that may hold itself."""

    def __init__(self, itself: bool = True) -> None:
        self.held = self if itself else None


class Last:
    """Says in a list that it is given up."""

    def __init__(self, said: list[int], itself: bool = True) -> None:
        self.said, self.held = said, self if itself else None

    def __del__(self) -> None:
        self.said.append(1)


@CYCLES.maker()
def seen_weakly_while_it_lasts() -> Program:
    def program(x, rng):
        ring = weakref.ref(Ring())
        found = coin(x, rng)
        return x if ring() is None else found

    return program


@CYCLES.twin_maker
def seen_weakly_while_it_lasts_twin() -> Program:
    def program(x, rng):
        ring = weakref.ref(Ring(itself=False))
        found = coin(x, rng)
        return found if ring() is None else x

    return program


@CYCLES.maker()
def seen_weakly_around_a_sampler_with_a_law_of_its_own() -> Program:
    """The ring is there while the sampler is followed, in the middle of the run."""
    of_three = shortcut(_of_three)

    def program(x, rng):
        ring = weakref.ref(Ring())
        of_three(rng)
        found = coin(x, rng)
        return x if ring() is None else found

    return program


@CYCLES.twin_maker
def seen_weakly_around_a_sampler_with_a_law_of_its_own_twin() -> Program:
    of_three = shortcut(_of_three)

    def program(x, rng):
        ring = weakref.ref(Ring(itself=False))
        of_three(rng)
        found = coin(x, rng)
        return found if ring() is None else x

    return program


@CYCLES.maker()
def last_words_of_a_ring() -> Program:
    def program(x, rng):
        said: list[int] = []
        Last(said)
        found = coin(x, rng)
        return x if said else found

    return program


@CYCLES.twin_maker
def last_words_of_a_ring_twin() -> Program:
    def program(x, rng):
        said: list[int] = []
        Last(said, itself=False)
        found = coin(x, rng)
        return found if said else x

    return program
