"""A random.Random for foreign code, with an exact law behind every method.

The idealised generator has independent uniform bits. Everything built on them is taken from the
running Python's own random.Random, so that choices, sample or shuffle have the law they ship with:
randrange is exactly uniform (CPython draws bits again until they fit), random() is a multiple of
2^-53, and choices inherits the rounding of random() * total.
"""

from __future__ import annotations

import operator
import random
import secrets
from base64 import urlsafe_b64encode
from typing import Any, NoReturn

from exactdp.audit.whitebox.draws import Draws
from exactdp.audit.whitebox.veil import Veil, keeping, showing, untold

__all__ = ["COPY", "INTEGERS", "ExactRandom"]

#: What to do instead of drawing real numbers, and of copying.
INTEGERS = "have the code draw integers (randrange, getrandbits) or compare random() with numbers"

_REFUSED = {
    "betavariate": INTEGERS,
    "expovariate": INTEGERS,
    "gammavariate": INTEGERS,
    "gauss": INTEGERS,
    "lognormvariate": INTEGERS,
    "normalvariate": INTEGERS,
    "paretovariate": INTEGERS,
    "triangular": INTEGERS,
    "vonmisesvariate": INTEGERS,
    "weibullvariate": INTEGERS,
    "seed": "remove the seeding: a law over all seeds is what is computed here",
    "getstate": "draw again instead of rewinding: this generator has no state",
    "setstate": "draw again instead of rewinding: this generator has no state",
}

#: What a module has that stands in place of a generator: random, or secrets.
_OF_SECRETS = frozenset({"randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe"})
_OF_MODULES = _OF_SECRETS | {"Random", "SystemRandom"}
COPY = "a copy of the generator would repeat its randomness; pass it along"


class ExactRandom(random.SystemRandom, metaclass=Veil):
    """A random.SystemRandom whose choices are enumerated.

    gauss, expovariate and the like are refused, because their law depends on the rounding of a
    foreign logarithm, and so is seeding. randbelow, randbits and token_bytes are there for code
    written for the secrets module.

    draws: where its numbers come from. A program that makes another one of this type is refused.
    """

    __getattribute__ = showing(random.SystemRandom, "__reduce_ex__", "gauss_next", *_OF_MODULES)
    __setattr__ = keeping

    def __init__(self, draws: Draws | None = None) -> None:
        # not calling the parent: there is no generator to seed
        self.draws = draws if isinstance(draws, Draws) else _foreign()

    def getrandbits(self, k: int, /) -> Any:
        """A uniform integer of k bits."""
        width = operator.index(k)
        if width < 0:
            raise ValueError("number of bits must be non-negative")
        return _draws(self).below(1 << width, f"getrandbits({width})")

    def random(self) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: the law of CPython's random()."""
        return _draws(self).unit("random()")

    def randbytes(self, n: int) -> bytes:
        """n uniform bytes, for the few that can be enumerated."""
        value: bytes = operator.index(self.getrandbits(8 * n)).to_bytes(n, "little")
        return value

    def _randbelow(self, n: int) -> Any:
        return _draws(self).below(operator.index(n), f"a range of {n}")

    __repr__ = untold

    # the names of secrets and random that hand out a generator's methods
    def randbelow(self, exclusive_upper_bound: int) -> Any:
        """secrets.randbelow."""
        if exclusive_upper_bound <= 0:
            raise ValueError("Upper bound must be positive.")
        exclusive_upper_bound.bit_length()  # which no float has
        return self._randbelow(exclusive_upper_bound)

    def randbits(self, k: int) -> Any:
        """secrets.randbits."""
        return self.getrandbits(k)

    def token_bytes(self, nbytes: int | None = None) -> bytes:
        """secrets.token_bytes, for the few bytes that can be enumerated."""
        return self.randbytes(secrets.DEFAULT_ENTROPY if nbytes is None else nbytes)

    def token_hex(self, nbytes: int | None = None) -> str:
        """secrets.token_hex."""
        return self.token_bytes(nbytes).hex()

    def token_urlsafe(self, nbytes: int | None = None) -> str:
        """secrets.token_urlsafe."""
        return urlsafe_b64encode(self.token_bytes(nbytes)).rstrip(b"=").decode("ascii")

    def _itself(self) -> ExactRandom:
        """This generator, for code that asks the random module for one."""
        return self

    Random = SystemRandom = _itself

    @property
    def gauss_next(self) -> NoReturn:
        """Refused: what random.Random keeps of its last gauss()."""
        self.draws.refuse("gauss_next has no exact law here; " + INTEGERS)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(COPY)


def _draws(generator: ExactRandom) -> Draws:
    """Without asking whether it may be seen: numbers are drawn often."""
    draws: Draws = object.__getattribute__(generator, "draws")
    return draws


def _foreign() -> NoReturn:
    raise TypeError("this type of generator is made for one run; use the one that was handed over")


for _name in ("getrandbits", "random", "randbytes"):
    _theirs, _mine = getattr(random.SystemRandom, _name), vars(ExactRandom)[_name]
    _mine.__qualname__, _mine.__module__ = _theirs.__qualname__, _theirs.__module__


def _refusing(name: str, advice: str) -> Any:
    def method(self: ExactRandom, *arguments: Any, **named: Any) -> NoReturn:
        self.draws.refuse(f"{name} has no exact law here; {advice}")

    method.__name__ = name
    method.__doc__ = f"Refused: {advice}."
    return method


for _name, _advice in _REFUSED.items():
    setattr(ExactRandom, _name, _refusing(_name, _advice))
