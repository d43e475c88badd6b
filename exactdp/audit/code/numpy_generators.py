"""A numpy.random.Generator for the program, with an exact law behind the part that has one.

Every call is first made to numpy itself, which refuses bad arguments in its own words and shows the
type and shape of the answer. Only the values are ours.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.code import numpy_floats
from exactdp.audit.code.disguise import SeenAs
from exactdp.audit.code.draws import Draws
from exactdp.audit.code.functions import through
from exactdp.audit.code.generators import COPY, INTEGERS, ExactRandom
from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lazy_arrays import LazyArray
from exactdp.audit.code.monotone import With
from exactdp.audit.code.numpy_laws import binomial_weights, choice_weights
from exactdp.audit.code.runs import NeverEnds

#: numpy's generator whose answers show types and shapes.
SHOWING = np.random.Generator(np.random.PCG64(0))


class ExactGenerator:
    """The part of numpy.random.Generator that has an exact law here.

    integers, random, choice, binomial, multinomial, permutation and shuffle; what numpy computes
    from one double: uniform, laplace, gumbel, logistic and geometric. Numbers are int64 (or int,
    where that is the dtype) and float64, one at a time or as arrays.
    """

    def __init__(self, draws: Draws) -> None:
        self.draws, self._random = draws, ExactRandom(draws)

    __class__ = SeenAs(lambda _: np.random.Generator)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Uniform integers in [low, high), or [0, low); up to and with high if endpoint."""
        low, high, size = _settled(low), _settled(high), _settled(size)
        template = SHOWING.integers(low, high, size=size, dtype=dtype, endpoint=endpoint)
        start, stop = (0, low) if high is None else (low, high)
        if not all(isinstance(end, (int, np.integer)) for end in (start, stop)):
            self.draws.refuse("integers() between anything but two integers has no exact law here")
        if type(template) is not int and getattr(template, "dtype", None) != np.int64:
            self.draws.refuse(
                f"integers(dtype={dtype!r}) has no exact law here; leave the dtype out"
            )
        first, last = operator.index(start), operator.index(stop) - (not endpoint)
        whole: Any = np.int64 if type(template) is np.int64 else int
        n, origin = last - first + 1, f"integers({first}, {last + 1})"

        def draw_number() -> Any:
            return self.draws.below(n, origin, With(_shifted, whole, first) if first else whole)

        return (
            self._filled(draw_number, template)
            if isinstance(template, np.ndarray)
            else draw_number()
        )

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: numpy's law for doubles."""
        template = SHOWING.random(_settled(size), dtype)
        if np.dtype(dtype) != np.dtype(np.float64) or out is not None:
            self.draws.refuse(
                "random(dtype=, out=) has no exact law here; leave these arguments out"
            )
        if not isinstance(template, np.ndarray):
            return self.draws.unit()
        return self._array(lambda: self.draws.unit(np.float64), template)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **other: Any
    ) -> Any:
        """Elements of a sequence or of range(a), uniform or with the probabilities p."""
        self._only_known(other)
        a, size, replace, p = _settled(a), _settled(size), bool(replace), _settled(p)
        template = SHOWING.choice(a, size, replace, p)
        if p is not None and not replace:
            self.draws.refuse(
                "choice(p=..., replace=False) has no exact law here; choose one at a time"
            )
        whole = isinstance(a, (int, np.integer))
        if not whole and type(a) not in (list, tuple, range, np.ndarray):
            self.draws.refuse(
                "choice() has an exact law for an integer, a list, tuple, range or array"
            )
        items = np.arange(operator.index(a)) if whole else np.array(a)
        if items.ndim != 1:
            self.draws.refuse("choice of rows has no exact law here; choose an index instead")
        weights = None if p is None else choice_weights(p)

        def place() -> int:
            if weights is not None:
                return self.draws.choose(weights)
            return operator.index(self._random.randrange(len(items)))

        if size is None:
            return type(template)(place()) if whole else items[place()]
        if replace:
            return self._alike(template, items[self._filled(place, template)])
        self._random.shuffle(places := list(range(len(items))))
        return self._alike(template, items[np.reshape(places[: template.size], template.shape)])

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """numpy's law, by its inversion: for min(p, 1 - p) n <= 30."""
        n, p, size = _settled(n), _settled(p), _settled(size)
        template = SHOWING.binomial(n, p, size)
        if np.ndim(n) or np.ndim(p):
            self.draws.refuse("binomial() of arrays has no exact law here; pass numbers")
        weights = binomial_weights(operator.index(n), float(p))
        if weights is None:
            self.draws.refuse(f"binomial({n}, {p}) has a mean above 30, where numpy rejects")
        if isinstance(template, np.ndarray):
            return self._filled(lambda: self.draws.choose(weights), template)
        return type(template)(self.draws.choose(weights))

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """numpy's law: a binomial draw for each category, of the trials that are left."""
        n, pvals = _settled(n), np.asarray(_settled(pvals), np.float64)
        template = SHOWING.multinomial(n, pvals, size)
        if size is not None or template.ndim != 1:
            self.draws.refuse("multinomial() has an exact law for one draw; draw in a loop")
        left, rest, counts = operator.index(n), 1.0, np.zeros_like(template)
        for place, p in enumerate(map(float, pvals[:-1])):
            if left > 0 and rest <= 0:
                self.draws.refuse("multinomial() with probabilities above 1 has no exact law here")
            if left > 0:
                counts[place] = self.binomial(left, min(p / rest, 1.0)) if p > 0 else 0
                left -= int(counts[place])
                rest -= p
        counts[-1] = left
        return self._alike(template, counts)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """low + (high - low) u for a double u."""
        return self._floats("uniform", numpy_floats.uniform, 0, low, high, size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """The inverse of the distribution function, in numpy's own rounding."""
        return self._floats("laplace", numpy_floats.laplace, 1, loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """The inverse of the distribution function, in numpy's own rounding."""
        return self._floats("gumbel", numpy_floats.gumbel, 1, loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """The inverse of the distribution function, in numpy's own rounding."""
        return self._floats("logistic", numpy_floats.logistic, 1, loc, scale, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """numpy's search for a uniform double among sums of probabilities, for p >= 1/3.

        The search has no end if the last sum is less than the double.
        """
        p, size = _settled(p), _settled(size)
        template = SHOWING.geometric(p, size)
        sums = None if np.ndim(p) else numpy_floats.geometric_sums(float(p))
        if sums is None or not numpy_floats.is_numpys_geometric(float(p)):
            self.draws.refuse(
                "geometric(p) has an exact law here for one p >= 1/3; below, numpy draws an "
                "exponential number by rejection"
            )
        whole: Any = np.int64 if type(template) is np.int64 else int
        ends = min(int(sums[-1] * 2.0**53) + 1, 1 << 53)

        def draw_number() -> Any:
            share = Fraction(ends, 1 << 53)
            if share < 1 and self.draws.choose([share, 1 - share]):
                self.draws.run.stop(NeverEnds())
            return self.draws.below(
                ends, f"geometric({p})", With(numpy_floats.trials, whole, float(p))
            )

        return (
            self._filled(draw_number, template)
            if isinstance(template, np.ndarray)
            else draw_number()
        )

    def _floats(
        self, name: str, formula: Callable[..., Any], first: int, a: Any, b: Any, size: Any
    ) -> Any:
        """Floats that are a formula of a uniform double k 2^-53, k >= first, and two parameters."""
        a, b, size = _settled(a), _settled(b), _settled(size)
        template = getattr(SHOWING, name)(a, b, size)
        if np.ndim(a) or np.ndim(b):
            self.draws.refuse(f"{name}() of arrays has no exact law here; pass numbers")
        a, b = float(a), float(b)
        if not numpy_floats.is_numpys(lambda u: formula(u, a, b), name, SHOWING, a, b):
            self.draws.refuse(f"{name}() is computed in another way on this machine")

        def draw(kind: Callable[[float], Any]) -> Any:
            number = self.draws.below((1 << 53) - first, f"{name}()", With(_double, first))
            return through(formula(number, a, b), kind)

        if isinstance(template, np.ndarray):
            return self._array(lambda: draw(np.float64), template)
        return draw(type(template))

    def shuffle(self, x: Any, **other: Any) -> None:
        """Fisher and Yates, in place, along the first axis of a list or an array."""
        self._only_known(other)
        if type(x) not in (list, np.ndarray):
            self.draws.refuse("shuffle() has an exact law for a list or an array")
        if isinstance(x, np.ndarray) and not (x.ndim and x.flags.writeable):
            SHOWING.shuffle(x)
            return
        order = list(range(len(x)))
        self._random.shuffle(order)
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]

    def permutation(self, x: Any, **other: Any) -> Any:
        """A shuffled copy, or a permutation of range(x)."""
        self._only_known(other)
        x = _settled(x)
        template = SHOWING.permutation(x)
        whole = isinstance(x, (int, np.integer))
        if not whole and type(x) not in (list, tuple, range, np.ndarray):
            self.draws.refuse(
                "permutation() has an exact law for an integer, list, tuple, range or array"
            )
        items = np.arange(operator.index(x)) if whole else np.array(x, order="C")
        self.shuffle(items)
        return self._alike(template, items)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(name)
        self.draws.refuse(f"{name} has no exact law here; {INTEGERS}")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(COPY)

    def _only_known(self, other: dict[str, Any]) -> None:
        if other:
            self.draws.refuse(f"{', '.join(other)}= has no exact law here; leave it out")

    def _filled(self, draw: Callable[[], Any], template: NDArray[Any]) -> NDArray[np.int64]:
        """Draws in an array of the template's shape, copied: the array is no view of another."""
        values = [operator.index(draw()) for _ in range(template.size)]
        return np.array(values, dtype=np.int64).reshape(template.shape).copy()

    def _array(self, draw: Callable[[], Any], template: NDArray[Any]) -> Any:
        """Floats in an array of the template's shape."""
        items = np.empty(template.shape, object)
        for place in np.ndindex(template.shape):
            items[place] = draw()
        ordinary = all(type(each) is not LazyNumber for each in items.flat)
        return items.astype(np.float64) if ordinary else LazyArray(items)

    def _alike(self, template: Any, array: Any) -> Any:
        """The array, if its type, dtype, shape and layout are those of numpy's template."""
        here, there = (
            (type(x), x.dtype, x.shape, x.strides, x.base is None) for x in (array, template)
        )
        if here != there:
            self.draws.refuse(f"an array such as {template!r} has no exact law here")
        return array


def _shifted(k: int, whole: Any, first: int) -> Any:
    return whole(first + k)


def _double(k: int, first: int) -> float:
    return (k + first) * 2.0**-53


def _settled(value: Any) -> Any:
    """Arguments for numpy, which does not know lazy numbers."""
    if isinstance(value, LazyNumber):
        return value.settle()
    if type(value) in (list, tuple):
        return type(value)(map(_settled, value))
    return value
