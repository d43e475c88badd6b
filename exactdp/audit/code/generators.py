"""A random.Random for the program, with an exact law behind every method.

The ideal generator has independent uniform bits. Everything built on them is taken from the running
Python's own random.Random, so that choices, sample or shuffle have the law they ship with:
randrange is exactly uniform (CPython draws bits again until they fit), random() is a multiple of
2^-53, and choices inherits the rounding of random() * total.
"""

from __future__ import annotations

import operator
import random
from typing import Any, NoReturn

from exactdp.audit.code.draws import Draws

#: What to do instead of drawing real numbers, and of copying.
INTEGERS = "have the code draw integers (randrange, getrandbits) or compare random() with numbers"
COPY = "a copy of the generator would repeat its randomness; pass it along"

_SEEDING = "remove the seeding: a law over all seeds is what is computed here"
_REWINDING = "draw again instead of rewinding: this generator has no state"
_REFUSED = {
    **dict.fromkeys(("betavariate", "gammavariate", "gauss", "lognormvariate"), INTEGERS),
    **dict.fromkeys(("normalvariate", "paretovariate"), INTEGERS),
    **dict.fromkeys(("vonmisesvariate", "weibullvariate"), INTEGERS),
    **dict.fromkeys(("token_bytes", "token_hex", "token_urlsafe"), INTEGERS),
    **{"seed": _SEEDING, "getstate": _REWINDING, "setstate": _REWINDING},
}


class ExactRandom(random.SystemRandom):
    """A random.SystemRandom whose choices are enumerated.

    gauss and the like are refused, because they compute one float from two, and so is seeding.
    randbelow and randbits serve code that is written for the module secrets.
    """

    gauss_next = None  # as before the first gauss()

    def __init__(self, draws: Draws) -> None:
        # not calling the parent: there is no generator to seed
        self.draws = draws

    def __new__(cls, draws: Draws) -> ExactRandom:
        return super().__new__(cls)

    def getrandbits(self, k: int, /) -> Any:
        """A uniform integer of k bits."""
        width = operator.index(k)
        if width < 0:
            raise ValueError("number of bits must be non-negative")
        return self.draws.below(1 << width, f"getrandbits({width})")

    def random(self) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: the law of CPython's random()."""
        return self.draws.unit()

    def randbytes(self, n: int) -> bytes:
        """n uniform bytes; more than two have too many values."""
        value: bytes = operator.index(self.getrandbits(8 * n)).to_bytes(n, "little")
        return value

    def _randbelow(self, n: int) -> Any:
        return self.draws.below(operator.index(n), f"a range of {n}")

    # the names of secrets and random that hand out a generator's methods
    def randbelow(self, exclusive_upper_bound: int) -> Any:
        """secrets.randbelow."""
        if exclusive_upper_bound <= 0:
            raise ValueError("Upper bound must be positive.")
        return self._randbelow(exclusive_upper_bound)

    def randbits(self, k: int) -> Any:
        """secrets.randbits."""
        return self.getrandbits(k)

    def _itself(self) -> ExactRandom:
        """This generator, for code that asks the random module for one."""
        return self

    Random = SystemRandom = _itself

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(COPY)


def _refusing(name: str, advice: str) -> Any:
    def method(self: ExactRandom, *arguments: Any, **named: Any) -> NoReturn:
        self.draws.refuse(f"{name} has no exact law here; {advice}")

    return method


for _name, _advice in _REFUSED.items():
    setattr(ExactRandom, _name, _refusing(_name, _advice))
