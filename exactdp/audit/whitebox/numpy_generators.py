"""A numpy.random.Generator for foreign code, with an exact law behind what is modelled of it.

Every call is made to numpy first: what numpy refuses, it refuses in its own words, and of what
type and shape an answer is, its own answer shows. Only the values are ours.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.whitebox.draws import Draws
from exactdp.audit.whitebox.generators import COPY, INTEGERS, ExactRandom
from exactdp.audit.whitebox.lazy import LazyNumber
from exactdp.audit.whitebox.veil import Veil, keeping, showing, untold

__all__ = ["ExactGenerator"]

#: Whose answers are looked at for their type and shape.
_NUMPY = np.random.Generator(np.random.PCG64(0))


class ExactGenerator(metaclass=Veil):
    """The part of numpy.random.Generator that has an exact law here.

    integers, random, choice without p, permutation and shuffle. Numbers are int64 (or int, where
    that is the dtype) and float64, one at a time or as arrays of int64.
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
        low, high, size = _settled(low), _settled(high), _settled(size)
        shown = _NUMPY.integers(low, high, size=size, dtype=dtype, endpoint=endpoint)
        start, stop = (0, low) if high is None else (low, high)
        if not all(isinstance(end, (int, np.integer)) for end in (start, stop)):
            self.draws.refuse("integers() between anything but two integers is not modelled")
        if type(shown) is not int and getattr(shown, "dtype", None) != np.int64:
            self.draws.refuse(f"integers(dtype={dtype!r}) is not modelled; leave the dtype out")
        first, last = operator.index(start), operator.index(stop) - (not endpoint)

        def drawn() -> Any:
            n, origin = last - first + 1, f"integers({first}, {last + 1})"
            return self.draws.below(n, origin, np.int64 if type(shown) is np.int64 else int) + first

        return self._filled(drawn, shown) if isinstance(shown, np.ndarray) else drawn()

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """k * 2^-53, uniform over 0 <= k < 2^53: numpy's law for doubles; one at a time."""
        shown = _NUMPY.random(_settled(size), dtype)
        if type(shown) is not float or out is not None:
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
            self.draws.refuse("choice(p=...) is not modelled; " + INTEGERS)
        a, size, replace = _settled(a), _settled(size), bool(replace)
        shown = _NUMPY.choice(a, size, replace)
        whole = isinstance(a, (int, np.integer))
        if not whole and type(a) not in (list, tuple, range, np.ndarray):
            self.draws.refuse("choice() is modelled for an integer, a list, tuple, range or array")
        items = np.arange(operator.index(a)) if whole else np.array(a)
        if items.ndim != 1:
            self.draws.refuse("choice of rows is not modelled; choose an index instead")
        if size is None:
            place = self._place(len(items))
            return type(shown)(place) if whole else items[place]
        if replace:
            return self._alike(shown, items[self._filled(lambda: self._place(len(items)), shown)])
        self._random.shuffle(places := list(range(len(items))))
        return self._alike(shown, items[places[: shown.size]].reshape(shown.shape))

    def shuffle(self, x: Any, **other: Any) -> None:
        """Fisher and Yates, in place, along the first axis of a list or an array."""
        self._only_known(other)
        if type(x) not in (list, np.ndarray):
            self.draws.refuse("shuffle() is modelled for a list or an array")
        if isinstance(x, np.ndarray) and not (x.ndim and x.flags.writeable):
            _NUMPY.shuffle(x)
            return
        order = list(range(len(x)))
        self._random.shuffle(order)
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[i] for i in order]

    def permutation(self, x: Any, **other: Any) -> Any:
        """A shuffled copy, or a permutation of range(x)."""
        self._only_known(other)
        x = _settled(x)
        shown = _NUMPY.permutation(x)
        whole = isinstance(x, (int, np.integer))
        if not whole and type(x) not in (list, tuple, range, np.ndarray):
            self.draws.refuse(
                "permutation() is modelled for an integer, list, tuple, range or array"
            )
        self.shuffle(items := np.arange(operator.index(x)) if whole else np.array(x))
        return self._alike(shown, items)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(name)
        self.draws.refuse(f"{name} has no exact law here; {INTEGERS}")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.draws.refuse(COPY)

    __repr__ = untold

    def _only_known(self, other: dict[str, Any]) -> None:
        if other:
            self.draws.refuse(f"{', '.join(other)}= is not modelled; leave it out")

    def _place(self, n: int) -> int:
        return operator.index(self._random.randrange(n))

    def _filled(self, draw: Callable[[], Any], shown: NDArray[Any]) -> NDArray[np.int64]:
        """An array of draws, as large as numpy's."""
        values = [operator.index(draw()) for _ in range(shown.size)]
        return np.array(values, dtype=np.int64).reshape(shown.shape)

    def _alike(self, shown: Any, found: Any) -> Any:
        """An array that was found, if it is such as numpy shows."""
        here, there = ((type(x), x.dtype, x.shape) for x in (found, shown))
        if here != there:
            self.draws.refuse(f"an array such as {shown!r} is not modelled")
        return found


def _settled(value: Any) -> Any:
    """Arguments for numpy, which does not know lazy numbers."""
    if isinstance(value, LazyNumber):
        return value.settle()
    if type(value) in (list, tuple):
        return type(value)(map(_settled, value))
    return value
