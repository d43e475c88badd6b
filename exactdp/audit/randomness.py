"""The generators that exist in this process, and whether they were drawn from."""

from __future__ import annotations

import gc
import json
import random
from itertools import compress
from typing import Any

import numpy as np

_KINDS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)


def generators() -> list[Any]:
    """All generators of numpy and of random that exist."""
    kinds, todo = set[type](), list[type](_KINDS)
    while todo:
        kinds.add(kind := todo.pop())
        todo += kind.__subclasses__()
    objects = gc.get_objects()
    chosen = compress(objects, map(kinds.__contains__, map(type, objects)))  # of a million, quickly
    return [*chosen, np.random.mtrand._rand]


def state(generator: Any) -> str:
    """The state of a generator, which every draw changes; "" for the system's randomness."""
    if isinstance(generator, random.SystemRandom):
        return ""
    if isinstance(generator, random.Random):
        return repr(generator.getstate())
    held = getattr(generator, "_bit_generator", generator).state
    return json.dumps(held, default=lambda array: array.tolist())
