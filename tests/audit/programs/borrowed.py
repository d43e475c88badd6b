"""Generators where code has a place for its own: a variable of a module, attributes, defaults."""

from __future__ import annotations

import copy
import io
import random
import secrets
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tests.audit.programs import urn
from tests.audit.programs.case import Group, Program, coin, numpy_coin

BORROWED = Group()


@BORROWED.maker()
def variable_left_behind() -> Program:
    """A module keeps the generator that it was lent."""
    urn.random = random

    def run(x: int, rng: Any) -> int:
        urn.random = rng
        return urn.coin(x)

    return run


@BORROWED.twin
def variable_left_behind_twin(x, rng):
    urn.random = rng
    try:
        return urn.coin(x)
    finally:
        urn.random = random


@BORROWED.maker()
def variable_with_a_memory() -> Program:
    """What is put back is another module, by the first answer."""
    urn.random = random

    def run(x: int, rng: Any) -> int:
        before, urn.random = urn.random, rng
        try:
            drawn = urn.coin(x)
        finally:
            urn.random = before
        if urn.random is random:
            urn.random = (secrets, copy)[drawn]
        return int(urn.random is copy)

    return run


@BORROWED.twin
def variable_with_a_memory_twin(x, rng):
    before, urn.random = urn.random, rng
    try:
        return urn.real_coin(x)
    finally:
        urn.random = before


@BORROWED.maker()
def variable_put_back_by_another() -> Program:
    """It is put back by code that is first met while the generator is there."""
    urn.random = random

    def finish(drawn: int) -> None:
        urn.random = random if urn.RANDOM is random else secrets
        urn.RANDOM = secrets if drawn else urn.RANDOM

    def run(x: int, rng: Any) -> int:
        urn.RANDOM, urn.random = getattr(urn, "RANDOM", random), rng
        try:
            drawn = coin(x, rng)
            finish(drawn)
        finally:
            urn.random = random
        return int(urn.RANDOM is secrets)

    urn.RANDOM = random
    return run


@BORROWED.twin_maker
def variable_put_back_by_another_twin() -> Program:
    urn.random = urn.RANDOM = random

    def finish() -> None:
        urn.random = urn.RANDOM

    def run(x: int, rng: Any) -> int:
        urn.random = rng
        try:
            return urn.coin(x)
        finally:
            finish()

    return run


@BORROWED.sinner()
def generator_by_default(x, rng):
    """Nobody hands one over, and the module makes its own."""
    return urn.given_coin(x)


@BORROWED.twin
def generator_by_default_twin(x, rng):
    return urn.given_coin(x, rng)


@BORROWED.sinner(delta=1, apart=0.9)
def type_in_another_module(x, rng):
    """What is called in a module looks at the type of a number."""
    return urn.typed_coin(x, rng)


@BORROWED.twin
def type_in_another_module_twin(x, rng):
    return 1 - urn.given_coin(1 - x, rng)


class Mechanism(ABC):
    """As libraries have them, with switches in a table."""

    def __init__(self) -> None:
        self.rng: Any = random.SystemRandom()
        self.switches = {"clip": True}

    @abstractmethod
    def randomise(self, bit: int) -> int:
        """A bit with noise."""


class Coin(Mechanism):
    def randomise(self, bit: int) -> int:
        if self.switches["clip"]:
            bit = min(max(bit, 0), 1)
        return bit if self.rng.random() < 11 / 21 else 1 - bit


@BORROWED.maker()
def generator_of_an_instance() -> Program:
    """A mechanism has a generator of its own."""
    mechanism = Coin()
    return lambda x, rng: mechanism.randomise(x)


@BORROWED.twin_maker
def generator_of_an_instance_twin() -> Program:
    mechanism = Coin()

    def run(x: int, rng: Any) -> int:
        mine = copy.copy(mechanism)
        mine.rng = rng
        return mine.randomise(x)

    return run


@BORROWED.maker()
def instance_that_keeps_it() -> Program:
    """And keeps the one that it is lent."""
    mechanism = Coin()

    def run(x: int, rng: Any) -> int:
        mechanism.rng = rng
        return mechanism.randomise(x)

    return run


@BORROWED.twin_maker
def instance_that_keeps_it_twin() -> Program:
    mechanism = Coin()

    def run(x: int, rng: Any) -> int:
        before, mechanism.rng = mechanism.rng, rng
        try:
            return mechanism.randomise(x)
        finally:
            mechanism.rng = before

    return run


BORROWED_FROM_NUMPY = Group("numpy")


@BORROWED_FROM_NUMPY.sinner()
def new_generator_of_numpy(x, rng=None):
    """What default_rng() makes without a generator is a new one."""
    return numpy_coin(x, np.random.default_rng())


@BORROWED_FROM_NUMPY.twin
def new_generator_of_numpy_twin(x, rng=None):
    if rng is None:
        rng = np.random.default_rng()
    return numpy_coin(x, np.random.default_rng(rng))


@BORROWED_FROM_NUMPY.maker()
def function_of_numpy_exchanged() -> Program:
    """And who exchanges it, or asks what it is, finds out who is looking."""

    def fixed(seed: Any = None) -> Any:
        return np.random.Generator

    def run(x: int, rng: Any) -> int:
        if np.random.default_rng is fixed:
            return x
        np.random.default_rng = fixed
        return numpy_coin(x, rng)

    return run


@BORROWED_FROM_NUMPY.twin
def function_of_numpy_exchanged_twin(x, rng):
    return numpy_coin(x, rng) if rng is not None else x + np.random.default_rng(5).integers(2)


@BORROWED.maker()
def file_in_memory() -> Program:
    """What is written stays, and so does the place in it."""
    answers = io.StringIO()

    def run(x: int, rng: Any) -> int:
        drawn = coin(x, rng)
        if not answers.getvalue():
            answers.write(str(drawn))
        return int(answers.getvalue()[0])

    return run


@BORROWED.twin
def file_in_memory_twin(x, rng):
    answer = io.StringIO()
    answer.write(str(coin(x, rng)))
    return answer.getvalue()
