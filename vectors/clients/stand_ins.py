"""Stand-ins for the random modules of local clients: every choice is followed, none is drawn.

A client that imports random or numpy for itself is run with these names replaced. Uniform reals are
real here, where the library has doubles: probabilities differ by 2^-53 at most. Laplace noise is
real, too, and known by comparisons alone: what its doubles tell is not seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from exactdp.balls import ball, refine
from exactdp.samplers import Source

#: Hash functions to choose from, instead of sys.maxsize: they are public, and all alike.
_SEEDS = 8


class Unit:
    """A uniform real in [0, 1) that is known only by its comparisons."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._low, self._high = Fraction(0), Fraction(1)

    def __lt__(self, limit: Any) -> bool:
        number = limit if isinstance(limit, Fraction) else Fraction(float(limit))
        level = min(max(number, self._low), self._high)
        less = self._source.bernoulli((level - self._low) / (self._high - self._low))
        if less:
            self._high = level
        else:
            self._low = level
        return less

    def __le__(self, limit: Any) -> bool:
        return self.__lt__(limit)

    def __gt__(self, limit: Any) -> bool:
        return not self.__lt__(limit)

    def __ge__(self, limit: Any) -> bool:
        return not self.__lt__(limit)


class LaplaceReal:
    """A shifted Laplace variable that is known only by its comparisons with numbers."""

    def __init__(self, unit: Unit, scale: Fraction, shift: Fraction = Fraction(0)) -> None:
        self._unit, self._scale, self._shift = unit, scale, shift

    def __add__(self, more: Any) -> LaplaceReal:
        return LaplaceReal(self._unit, self._scale, self._shift + Fraction(float(more)))

    __radd__ = __add__

    def __gt__(self, limit: Any) -> bool:
        return self._unit.__lt__(self._tail((Fraction(float(limit)) - self._shift) / self._scale))

    @staticmethod
    def _tail(t: Fraction) -> Fraction:
        """P(X > t) for scale 1, to a relative 2^-99."""
        half = refine(lambda: ball(-abs(t)).exp() / 2, relative_width=Fraction(1, 2**100)).lower
        return half if t > 0 else 1 - half


class RandomStandIn:
    """The functions of the random module that clients use."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def random(self) -> Unit:
        """A uniform real."""
        return Unit(self._source)

    def randint(self, low: float, high: float) -> int:
        """A uniform integer, both ends included."""
        return int(low) + self._source.below(int(high) - int(low) + 1)

    def choice(self, items: Sequence[Any]) -> Any:
        """A uniform element."""
        return items[self._source.below(len(items))]

    def choices(self, items: Sequence[Any], weights: Sequence[float], k: int = 1) -> list[Any]:
        """k elements by weights, as a list."""
        exact = [Fraction(w) for w in weights]
        return [items[_index(exact, self._source)] for _ in range(k)]


class NumpyStandIn:
    """numpy with another numpy.random, whose functions follow every choice."""

    def __init__(self, source: Source) -> None:
        self.random = _NumpyRandom(source)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class _NumpyRandom:
    def __init__(self, source: Source) -> None:
        self._source = source

    def random(self) -> Unit:
        return Unit(self._source)

    def random_sample(self) -> Unit:
        return Unit(self._source)

    def rand(self, *shape: int) -> Any:
        return np.frompyfunc(lambda _: Unit(self._source), 1, 1)(np.zeros(shape))

    def randint(self, low: int, high: int | None = None, dtype: Any = None) -> int:
        start, stop = (0, low) if high is None else (low, high)
        return int(start) + self._source.below(int(stop) - int(start))

    def binomial(self, n: int, p: float, size: Any = None) -> Any:
        chance = Fraction(float(p))

        def one() -> int:
            return sum(self._source.bernoulli(chance) for _ in range(n))

        return one() if size is None else np.array([one() for _ in range(size)])

    def laplace(self, loc: float, scale: float, size: int) -> Any:
        """Laplace noise on real numbers, where the library has doubles."""
        start, width = Fraction(float(loc)), Fraction(float(scale))
        noise = np.empty(size, object)
        noise[:] = [LaplaceReal(Unit(self._source), width, start) for _ in range(size)]
        return noise

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        items = np.arange(a) if isinstance(a, int | np.integer) else np.asarray(a)
        if size is None:
            return items[self._place(len(items), p)]
        if replace:
            return items[[self._place(len(items), p) for _ in range(size)]]
        left = list(range(len(items)))
        places = [left.pop(self._source.below(len(left))) for _ in range(size)]
        return items[places]

    def shuffle(self, x: Any) -> None:
        x[:] = self.choice(x, len(x), replace=False)

    def _place(self, n: int, p: Any) -> int:
        if p is None:
            return self._source.below(n)
        return _index([Fraction(float(w)) for w in p], self._source)


def _index(weights: Sequence[Fraction], source: Source) -> int:
    """An index with these weights, from a uniform real, as random.choices and numpy's choice do."""
    total, uniform = sum(weights), Unit(source)
    sums = [level / total for level in accumulate(weights)]
    return next(i for i, level in enumerate(sums) if i == len(sums) - 1 or uniform < level)


class _TextHashes:
    """xxhash as before version 4, when it accepted str."""

    @staticmethod
    def xxh32(text: Any, seed: int = 0) -> Any:
        import xxhash

        data = text.encode() if isinstance(text, str) else text
        return xxhash.xxh32(data, seed=int(seed))


#: Name in a client's module -> what takes its place, made with a source.
STAND_INS: dict[str, Callable[[Source], Any]] = {
    "random": RandomStandIn,
    "np": NumpyStandIn,
    "numpy": NumpyStandIn,
    "xxhash": lambda _: _TextHashes,
    "maxsize": lambda _: _SEEDS,
}
