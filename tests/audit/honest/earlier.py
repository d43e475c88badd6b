"""Noise that was drawn before the audit: in constructors, at import, in defaults.

The honest mechanisms draw the same noise in the run. The twins answer from noise that is already
there: their runs draw nothing, and mostly give the same output on both data sets.
"""

import random
from fractions import Fraction
from typing import Any

from tests.audit.honest.case import Probabilities, add

_SYSTEM = random.SystemRandom()


def above(count: int, noise: int) -> bool:
    return count + noise > 5


def _above(count: int) -> Probabilities:
    p = Fraction(sum(count + z > 5 for z in range(-50, 51)), 101)
    return {True: p, False: 1 - p}


class Count:
    """Draws its noise when it is made."""

    def __init__(self, count: int, rng: Any = _SYSTEM) -> None:
        self.noisy = count + rng.randint(-50, 50)

    def above(self) -> bool:
        return self.noisy > 5


class Remembering:
    """Draws its noise at the first question, and asked once."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._noise: int | None = None

    def above(self, rng: Any = _SYSTEM) -> bool:
        if self._noise is None:
            self._noise = rng.randint(-50, 50)
        return above(self.count, self._noise)


def asked(counter: Remembering) -> Remembering:
    counter.above()
    return counter


NOISE = _SYSTEM.randint(-50, 50)


def with_default(count: int, rng: Any, noise: int = _SYSTEM.randint(-50, 50)) -> bool:
    return above(count, noise)


class Settings:
    offset = _SYSTEM.randint(-50, 50)


def in_run(count: int, rng: Any) -> bool:
    return above(count, rng.randint(-50, 50))


_MADE = {count: Count(count) for count in (4, 5)}
_ASKED = {count: asked(Remembering(count)) for count in (4, 5)}
_CLAIM: dict[str, Any] = {
    "left": 4,
    "right": 5,
    "law": _above,
    "epsilon": "0.021",  # a little above ln(50/49)
    "honest": in_run,
}

add(
    "noise in the constructor",
    name="object made before the audit",
    bugged=lambda count, rng: _MADE[count].above(),
    **_CLAIM | {"honest": lambda count, rng: Count(count, rng).above()},
)
add(
    "memoised noise",
    name="object asked before the audit",
    bugged=lambda count, rng: _ASKED[count].above(rng),
    **_CLAIM | {"honest": lambda count, rng: Remembering(count).above(rng)},
)
add(
    "noise at import",
    name="noise of the module",
    bugged=lambda count, rng: above(count, NOISE),
    **_CLAIM,
)
add("noise at import", name="noise in a default", bugged=with_default, **_CLAIM)
add(
    "noise at import",
    name="noise in a class attribute",
    bugged=lambda count, rng: above(count, Settings.offset),
    **_CLAIM,
)
