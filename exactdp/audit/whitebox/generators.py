"""Random number generators for foreign code, with an exact law behind every method.

The idealised generator has independent uniform bits. Everything built on them is taken from the
running Python's own random.Random, so that choices, sample or shuffle have the law they ship with:
randrange is exactly uniform (CPython draws bits again until they fit), random() is a multiple of
2^-53, and choices inherits the rounding of random() * total.
"""

from __future__ import annotations

import operator
import random
from typing import Any, NoReturn

import numpy as np

from exactdp.audit.whitebox.draws import Draws
from exactdp.audit.whitebox.veil import Veil, keeping, showing, untold

__all__ = ["ExactGenerator", "ExactRandom"]

_INTEGERS = "have the code draw integers (randrange, getrandbits) or compare random() with numbers"

_REFUSED = {
    "betavariate": _INTEGERS,
    "expovariate": _INTEGERS,
    "gammavariate": _INTEGERS,
    "gauss": _INTEGERS,
    "lognormvariate": _INTEGERS,
    "normalvariate": _INTEGERS,
    "paretovariate": _INTEGERS,
    "triangular": _INTEGERS,
    "vonmisesvariate": _INTEGERS,
    "weibullvariate": _INTEGERS,
    "seed": "remove the seeding: a law over all seeds is what is computed here",
    "getstate": "draw again instead of rewinding: this generator has no state",
    "setstate": "draw again instead of rewinding: this generator has no state",
}

#: What a module has that stands in place of a generator: random, or secrets.
_OF_MODULES = frozenset({"Random", "SystemRandom", "randbelow", "randbits", "token_bytes"})
_COPY = "a copy of the generator would repeat its randomness; pass it along"


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
        return self.randrange(exclusive_upper_bound)

    def randbits(self, k: int) -> Any:
        """secrets.randbits."""
        return self.getrandbits(k)

    def token_bytes(self, nbytes: int) -> bytes:
        """secrets.token_bytes, for the few bytes that can be enumerated."""
        return self.randbytes(nbytes)

    def _itself(self) -> ExactRandom:
        """This generator, for code that asks the random module for one."""
        return self

    Random = SystemRandom = _itself

    @property
    def gauss_next(self) -> NoReturn:
        """Refused: what random.Random keeps of its last gauss()."""
        self.draws.refuse("gauss_next has no exact law here; " + _INTEGERS)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(_COPY)


class ExactGenerator(metaclass=Veil):
    """The part of numpy.random.Generator that has an exact law here.

    integers, random, choice without p, permutation and shuffle. Numbers are int64 and float64,
    one at a time or as arrays of int64.
    """

    __getattribute__ = showing(np.random.Generator, "__reduce_ex__")
    __setattr__ = keeping

    def __init__(self, draws: Draws) -> None:
        self.draws = draws
        self._random = ExactRandom(draws)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What isinstance is told."""
        return np.random.Generator

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Uniform integers in [low, high), or [0, low); up to and with high if endpoint."""
        if np.dtype(dtype) != np.dtype(np.int64):
            self.draws.refuse(f"integers(dtype={dtype!r}) is not modelled; leave the dtype out")
        if not all(
            isinstance(end, (int, np.integer)) for end in (low, low if high is None else high)
        ):
            self.draws.refuse("integers() between anything but two integers is not modelled")
        start, stop = (0, low) if high is None else (low, high)
        first, last = operator.index(start), operator.index(stop) - (not endpoint)
        if last < first:
            raise ValueError("low > high" if endpoint else "low >= high")
        if first < -(2**63):
            raise ValueError("low is out of bounds for int64")
        if last >= 2**63:
            raise ValueError("high is out of bounds for int64")

        def drawn() -> Any:
            n, origin = last - first + 1, f"integers({first}, {last + 1})"
            return self.draws.below(n, origin, np.int64) + first

        return self._filled(drawn, size)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: numpy's law for doubles; one at a time."""
        if size is not None or out is not None:
            self.draws.refuse("random(size) fills an array; draw one number at a time instead")
        if np.dtype(dtype) != np.dtype(np.float64):
            self.draws.refuse(f"random(dtype={dtype!r}) is not modelled; leave the dtype out")
        return self.draws.unit("random()", float)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **other: Any
    ) -> Any:
        """Uniform elements of a sequence or of range(a)."""
        self._only_known(other)
        if p is not None:
            self.draws.refuse("choice(p=...) is not modelled; " + _INTEGERS)
        if not isinstance(a, (int, np.integer, list, tuple, np.ndarray)):
            self.draws.refuse("choice() is modelled for an integer, a list, a tuple or an array")
        items = np.arange(operator.index(a)) if isinstance(a, (int, np.integer)) else np.array(a)
        if items.ndim != 1:
            self.draws.refuse("choice of rows is not modelled; choose an index instead")
        if size is None:
            place = self._place(len(items))
            return place if isinstance(a, (int, np.integer)) else items[place]
        if replace:
            return items[self._filled(lambda: self._place(len(items)), size)]
        count = int(np.prod(size))
        if count > len(items):
            raise ValueError("cannot take a larger sample than population when replace is False")
        self._random.shuffle(places := list(range(len(items))))
        return items[places[:count]].reshape(size)

    def shuffle(self, x: Any, **other: Any) -> None:
        """Fisher and Yates, in place, along the first axis of a sequence."""
        self._only_known(other)
        order = list(range(len(x)))
        self._random.shuffle(order)
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]

    def permutation(self, x: Any, **other: Any) -> Any:
        """A shuffled copy, or a permutation of range(x)."""
        self._only_known(other)
        items = np.arange(operator.index(x)) if isinstance(x, (int, np.integer)) else np.array(x)
        self.shuffle(items)
        return items

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(name)
        self.draws.refuse(f"{name} has no exact law here; {_INTEGERS}")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(_COPY)

    __repr__ = untold

    def _only_known(self, other: dict[str, Any]) -> None:
        if other:
            self.draws.refuse(f"{', '.join(other)}= is not modelled; leave it out")

    def _place(self, n: int) -> int:
        return operator.index(self._random.randrange(n))

    def _filled(self, draw: Any, size: Any) -> Any:
        if size is None:
            return draw()
        shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
            self.draws.refuse(f"size={size!r} is not modelled; give integers >= 0")
        values = [operator.index(draw()) for _ in range(int(np.prod(shape)))]
        return np.array(values, dtype=np.int64).reshape(shape)


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
