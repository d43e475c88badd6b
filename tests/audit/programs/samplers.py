"""Samplers inside of a program, enumerated by themselves where the whole has too many branches."""

from __future__ import annotations

import contextlib
import decimal
from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from exactdp.audit import shortcut
from tests.audit.programs.case import Group, Program, coin

SAMPLERS = Group()

#: Of each sampler: 2^7; two of them are too many.
_FEW = 1000
_THRESHOLD = [3]


def heads(rng):
    return sum(rng.randrange(2) for _ in range(7))


def in_a_list(rng):
    return [heads(rng) % 2]


def in_an_array(rng):
    return np.array([heads(rng) % 2])


def above(rng):
    return heads(rng) > _THRESHOLD[0]


def rounded(rng):
    return Decimal(heads(rng)) / 30 > Decimal("0.11")


@contextlib.contextmanager
def threshold(count: int) -> Iterator[None]:
    before, _THRESHOLD[0] = _THRESHOLD[0], count
    try:
        yield
    finally:
        _THRESHOLD[0] = before


@SAMPLERS.sinner(delta=1, apart=0.9, max_runs=_FEW)
def list_of_draws(x, rng):
    """A sampler that returns a list does not return a tuple."""
    drawn, _ = in_a_list(rng), in_a_list(rng)
    return x if isinstance(drawn, list) else 0


@SAMPLERS.twin
def list_of_draws_twin(x, rng):
    return in_a_list(rng)[0]


@SAMPLERS.sinner(delta=1, apart=0.9, max_runs=_FEW)
def drawn_array(x, rng):
    """Twice an array is another array, twice a tuple is longer."""
    drawn, _ = in_an_array(rng), in_an_array(rng)
    return x if len(drawn * 2) == 1 else 0


@SAMPLERS.twin
def drawn_array_twin(x, rng):
    return int(in_an_array(rng)[0])


@SAMPLERS.sinner(apart=0.3, max_runs=_FEW)
def scale_between_calls(x, rng):
    """A scale is changed between two calls with the same arguments, and back again."""
    first = above(rng)
    with threshold(6 if x else 3):
        return first, above(rng)


@SAMPLERS.twin
def scale_between_calls_twin(x, rng):
    with threshold(_THRESHOLD[0]):
        return above(rng), above(rng)


@SAMPLERS.sinner(apart=0.1, max_runs=_FEW)
def context_between_calls(x, rng):
    """So is the precision that a sampler calculates with."""
    first = rounded(rng)
    with decimal.localcontext() as context:
        context.prec = 1 if x else 28
        return first, rounded(rng)


@SAMPLERS.twin
def context_between_calls_twin(x, rng):
    with decimal.localcontext() as context:
        context.prec = 5
        return rounded(rng), rounded(rng)


def level(rng):
    rng.randrange(2)
    return _THRESHOLD[0]


@SAMPLERS.maker()
def scale_changed_for_one_of_many_calls() -> Program:
    """No first call, and none of those that are looked at now and then."""
    of_level = shortcut(level)

    def program(x, rng):
        found = 0
        for i in range(208):
            with threshold(4) if x and i == 205 else contextlib.nullcontext():
                found += of_level(rng) - 3
        return coin(x, rng), found

    return program


@SAMPLERS.twin_maker
def scale_changed_for_one_of_many_calls_twin() -> Program:
    of_level = shortcut(level)

    def program(x, rng):
        found = sum(of_level(rng) - 3 for _ in range(208))
        return coin(x, rng), found

    return program
