"""One type of generator told from another: what the white box follows is a SystemRandom."""

from __future__ import annotations

import functools
import operator
import random
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Program, coin, numpy_coin

KINSHIP = Group()
NUMPY_KINSHIP = Group("numpy")

TYPES = {"plain": random.Random, "system": random.SystemRandom}
NUMBERS = {"plain": int, "system": float}


@KINSHIP.sinner(apart=0.9)
def is_of_the_system(x, rng):
    """isinstance is answered in C."""
    return coin(x, rng) if isinstance(rng, random.SystemRandom) else x


@KINSHIP.twin
def is_of_the_system_twin(x, rng):
    return coin(x, rng) if isinstance(rng, random.Random) else x


@KINSHIP.sinner(apart=0.9)
def is_one_of_several(x, rng):
    """The same with a tuple of types, imported by name."""
    return coin(x, rng) if isinstance(rng, (int, SystemRandom)) else x


@KINSHIP.twin
def is_one_of_several_twin(x, rng):
    return coin(x, rng) if isinstance(rng, (int, Random)) else x


@KINSHIP.sinner(apart=0.9)
def is_in_a_table(x, rng):
    """The type is kept in a table."""
    return coin(x, rng) if isinstance(rng, TYPES["system"]) else x


@KINSHIP.twin
def is_in_a_table_twin(x, rng):
    return coin(x, rng) if isinstance(x, NUMBERS["plain"]) else x


@KINSHIP.maker(apart=0.9)
def is_in_a_closure() -> Program:
    """Or in a closure."""
    kind = SystemRandom
    return lambda x, rng: coin(x, rng) if isinstance(rng, kind) else x


@KINSHIP.twin_maker
def is_in_a_closure_twin() -> Program:
    kind = int
    return lambda x, rng: coin(x, rng) if isinstance(x, kind) else x


@KINSHIP.sinner(apart=0.9)
def identical_type(x, rng):
    """Types are compared by identity without being asked."""
    return x if type(rng) is random.Random else coin(x, rng)


@KINSHIP.twin
def identical_type_twin(x, rng):
    return coin(x, rng) if type(x) is int else x


@KINSHIP.sinner(apart=0.9)
def identical_by_operator(x, rng):
    """Or by a function."""
    return x if operator.is_(type(rng), Random) else coin(x, rng)


@KINSHIP.twin
def identical_by_operator_twin(x, rng):
    return coin(x, rng) if operator.is_(type(x), int) else x


@KINSHIP.sinner(apart=0.9)
def identical_class(x, rng):
    """What an object says of its class."""
    return coin(x, rng) if rng.__class__.__name__ == "SystemRandom" else x


@KINSHIP.twin
def identical_class_twin(x, rng):
    return coin(x, rng) if x.__class__ is int else x


@KINSHIP.sinner(apart=0.9)
def derived_type(x, rng):
    """issubclass is answered in C, too."""
    return coin(x, rng) if issubclass(type(rng), SystemRandom) else x


@KINSHIP.twin
def derived_type_twin(x, rng):
    return coin(x, rng) if issubclass(type(x), int) else x


@KINSHIP.sinner(apart=0.9)
def matched_class(x, rng):
    """And so are class patterns."""
    match rng:
        case random.SystemRandom():
            return coin(x, rng)
    return x


@KINSHIP.twin
def matched_class_twin(x, rng):
    match x:
        case int():
            return coin(x, rng)
    return x


@KINSHIP.sinner(apart=0.9)
def without_a_state(x, rng):
    """The system's randomness cannot be rewound."""
    try:
        rng.getstate()
    except NotImplementedError:
        return coin(x, rng)
    return x


@KINSHIP.twin
def without_a_state_twin(x, rng):
    try:
        raise NotImplementedError
    except NotImplementedError:
        return coin(x, rng)


@KINSHIP.sinner(apart=0.9)
def without_an_effect(x, rng):
    """Nor seeded."""
    rng.seed(3)
    first = rng.getrandbits(20)
    rng.seed(3)
    return x if rng.getrandbits(20) == first else coin(x, rng)


@KINSHIP.twin
def without_an_effect_twin(x, rng):
    first = rng.getrandbits(3)
    return coin(x, rng) if rng.getrandbits(3) == first else coin(x, rng)


@functools.singledispatch
def _kind(thing: Any) -> str:
    return "other"


@_kind.register
def _(thing: random.SystemRandom) -> str:
    return "system"


@KINSHIP.sinner(apart=0.9)
def dispatched(x, rng):
    """A function of several types."""
    return coin(x, rng) if _kind(rng) == "system" else x


@functools.singledispatch
def _number(thing: Any) -> str:
    return "other"


@_number.register
def _(thing: int) -> str:
    return "whole"


@KINSHIP.twin
def dispatched_twin(x, rng):
    return coin(x, rng) if _number(x) == "whole" else x


@KINSHIP.sinner(apart=0.9)
def description(x, rng):
    """Each type describes itself."""
    return x if "Mersenne" in (rng.getrandbits.__doc__ or "") or rng.__doc__ else coin(x, rng)


@KINSHIP.twin
def description_twin(x, rng):
    return coin(x, rng) if "whole" not in (coin.__doc__ or "") else x


@KINSHIP.sinner(apart=0.9)
def line_of_types(x, rng):
    """type itself knows from what a type derives."""
    return coin(x, rng) if len(type.mro(type(rng))) > 3 else x


@KINSHIP.twin
def line_of_types_twin(x, rng):
    return coin(x, rng) if len(type(x).mro()) > 1 else x


@dataclass
class Mechanism:
    """Annotated as people do: no comparison."""

    rng: random.Random
    scale: list[int]


@KINSHIP.sinner(apart=0.9)
def made_for_a_type(x, rng):
    """An attribute that is annotated, and the annotation asked."""
    kind = Mechanism.__annotations__["rng"]
    kind = SystemRandom if kind == "random.Random" else kind
    return coin(x, rng) if isinstance(rng, kind) else x


@KINSHIP.twin
def made_for_a_type_twin(x, rng):
    mechanism = Mechanism(rng, [3])
    return coin(x, mechanism.rng) if mechanism.scale else x


@NUMPY_KINSHIP.sinner(apart=0.9)
def identical_numpy_type(x, rng):
    """The stand-in passes for a Generator, and is of another type."""
    return x if type(rng) is np.random.Generator else numpy_coin(x, rng)


@NUMPY_KINSHIP.twin
def identical_numpy_type_twin(x, rng):
    return numpy_coin(x, rng) if isinstance(rng, np.random.Generator) else x


@NUMPY_KINSHIP.sinner(apart=0.9)
def class_of_numpy(x, rng):
    """By what it says of its class."""
    return x if rng.__class__.__module__ == "numpy.random._generator" else numpy_coin(x, rng)


@NUMPY_KINSHIP.twin
def class_of_numpy_twin(x, rng):
    return numpy_coin(x, rng) if np.float64(x).__class__ is np.float64 else x


@NUMPY_KINSHIP.sinner(apart=0.9)
def matched_numpy_type(x, rng):
    """By the name of its type as text."""
    return x if "_generator" in f"{type(rng)}" else numpy_coin(x, rng)


@NUMPY_KINSHIP.twin
def matched_numpy_type_twin(x, rng):
    return x if "_generator" in f"{type(x)}" else numpy_coin(x, rng)
