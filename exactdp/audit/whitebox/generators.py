"""Random number generators for foreign code, with an exact law behind every method.

The idealised generator has independent uniform bits. Everything built on them is taken from the
running Python's own random.Random, so that choices, sample or shuffle have the law they ship with:
randrange is exactly uniform (CPython draws bits again until they fit), random() is a multiple of
2^-53, and choices inherits the rounding of random() * total.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from exactdp.audit.whitebox.lazy import LazyNumber, NotEnumerable
from exactdp.samplers.enumeration import EnumeratingSource

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


class ExactRandom(random.SystemRandom):
    """A random.Random, and SystemRandom, whose choices are enumerated.

    Integers, random() and uniform() arrive as LazyNumber: comparisons branch with exact
    probabilities, other uses branch over the values. gauss, expovariate and the like are refused,
    because their law depends on the rounding of a foreign logarithm, and so is seeding.
    randbelow, randbits and token_bytes are there for code written for the secrets module.

    source: the enumerating source of :func:`~exactdp.samplers.exact_law`.
    """

    def __init__(self, source: EnumeratingSource) -> None:
        self.source = source  # not calling the parent: there is no generator to seed

    def getrandbits(self, k: int) -> Any:
        """A uniform integer of k bits."""
        width = operator.index(k)
        if width < 0:
            raise ValueError("number of bits must be non-negative")
        return LazyNumber.below(self.source, 1 << width, f"getrandbits({width})")

    def random(self) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: the law of CPython's random()."""
        return LazyNumber.unit(self.source, "random()")

    def randbytes(self, n: int) -> bytes:
        """n uniform bytes, for the few that can be enumerated."""
        value: bytes = self.getrandbits(8 * n).to_bytes(n, "little")
        return value

    def _randbelow(self, n: int) -> Any:
        return LazyNumber.below(self.source, operator.index(n), f"a range of {n}")

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

    def SystemRandom(self) -> ExactRandom:  # noqa: N802 (the name it stands for)
        """This generator, for code that asks the random module for one."""
        return self

    Random = SystemRandom

    def __reduce__(self) -> NoReturn:
        raise NotEnumerable("a copy of the generator would repeat its randomness; pass it along")


class ExactGenerator:
    """The part of numpy.random.Generator that has an exact law here.

    integers, random, choice without p, permutation and shuffle. Single integers and floats arrive
    as LazyNumber (Python's arithmetic, not numpy's), arrays as arrays of settled int64.
    """

    def __init__(self, source: EnumeratingSource) -> None:
        self.source = source
        self._random = ExactRandom(source)

    def integers(
        self, low: int, high: int | None = None, size: Any = None, *, endpoint: bool = False
    ) -> Any:
        """Uniform integers in [low, high), or [0, low); up to and with high if endpoint."""
        start, stop = (0, low) if high is None else (low, high)
        stop = stop + 1 if endpoint else stop
        if stop <= start:
            raise ValueError("low >= high")
        return self._filled(lambda: self._random.randrange(int(start), int(stop)), size, np.int64)

    def random(self, size: None = None) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: numpy's law for doubles; one at a time."""
        if size is not None:
            raise NotEnumerable("random(size) fills an array; draw one number at a time instead")
        return self._random.random()

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: None = None) -> Any:
        """Uniform elements of a sequence or of range(a)."""
        if p is not None:
            raise NotEnumerable("choice(p=...) is not modelled; " + _INTEGERS)
        items = list(range(a)) if np.ndim(a) == 0 else list(a)
        if size is None:
            return items[self._random.randrange(len(items))]
        if replace:
            places = self._filled(lambda: self._random.randrange(len(items)), size, np.int64)
            return np.array(items)[places]
        count = int(np.prod(size))
        if count > len(items):
            raise ValueError("cannot take a larger sample than population when replace is False")
        self._random.shuffle(places := list(range(len(items))))
        return np.array(items)[places[:count]].reshape(size)

    def shuffle(self, x: Any) -> None:
        """Fisher and Yates, in place, along the first axis of a sequence."""
        order = list(range(len(x)))
        self._random.shuffle(order)
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]

    def permutation(self, x: int | Sequence[Any]) -> Any:
        """A shuffled copy, or a permutation of range(x)."""
        items = np.arange(x) if isinstance(x, int) else np.array(x)
        self.shuffle(items)
        return items

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(name)
        raise NotEnumerable(f"{name} has no exact law here; {_INTEGERS}")

    @staticmethod
    def _filled(draw: Any, size: Any, dtype: Any) -> Any:
        if size is None:
            return draw()
        shape = (size,) if isinstance(size, int) else tuple(size)
        values = [int(draw()) for _ in range(int(np.prod(shape)))]
        return np.array(values, dtype=dtype).reshape(shape)


def _refusing(name: str, advice: str) -> Any:
    def method(self: Any, *arguments: Any, **named: Any) -> NoReturn:
        raise NotEnumerable(f"{name} has no exact law here; {advice}")

    method.__name__ = name
    method.__doc__ = f"Refused: {advice}."
    return method


for _name, _advice in _REFUSED.items():
    setattr(ExactRandom, _name, _refusing(_name, _advice))
