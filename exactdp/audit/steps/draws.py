"""What the generator returns: pieces of a uniform integer, each with one value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from exactdp.audit.code.numpy_floats import geometric_sums, is_numpys_geometric
from exactdp.audit.steps.values import Held, items_of, number, refuse
from exactdp.bisection import least

_GRID = 1 << 53
#: The most values of one draw.
_WIDEST = 1 << 12


class Drawn(NamedTuple):
    """A draw. width: of the uniform integer below it. pieces: value, first integer, the one after
    the last."""

    width: int
    pieces: list[tuple[Any, int, int]]

    def options(self) -> list[tuple[Any, Fraction]]:
        """The values with their probabilities."""
        return [(value, Fraction(high - low, self.width)) for value, low, high in self.pieces]


def _below(n: Any, start: int = 0) -> Drawn:
    if not 1 <= _whole(n) <= _WIDEST:
        refuse("a draw of thousands of values")
    return Drawn(n, [(start + k, k, k + 1) for k in range(n)])


def _whole(value: Any) -> int:
    if type(value) is not int:
        refuse("a range whose ends are no integers")
    return value


def _between(low: Any, high: Any) -> Drawn:
    return _below(_whole(high) - _whole(low), low)


def _range(first: Any, *last: Any) -> Drawn:
    return _between(first, *last) if last else _below(first)


def _integers(first: Any, *last: Any) -> Drawn:
    low, high = (first, *last) if last else (0, first)
    if _whole(low) < -(1 << 63) or _whole(high) > 1 << 63:
        refuse("integers of more than 64 bits")
    return _between(low, high)


def _bits(k: Any) -> Drawn:
    if not 0 <= _whole(k) <= 12:
        refuse("a draw of thousands of values")
    return _below(1 << k)


def _choice(sequence: Any) -> Drawn:
    if type(sequence) is not tuple and not (type(sequence) is Held and sequence.kind is list):
        refuse("a choice from something else than a list or tuple")
    items = items_of(sequence)
    places = _below(len(items))
    return Drawn(places.width, [(items[k], low, high) for k, low, high in places.pieces])


#: Methods of random.Random, and of the module secrets.
METHODS: dict[str, Callable[..., Drawn]] = {
    "randrange": _range,
    "randint": lambda low, high: _between(low, _whole(high) + 1),
    "getrandbits": _bits,
    "randbits": _bits,
    "randbelow": lambda n: _below(n),
    "choice": _choice,
}
#: Methods of numpy's generator of which a program takes int(...).
NUMPY_METHODS: dict[str, Callable[..., Drawn]] = {"integers": _integers}


def _geometric(p: Any) -> Drawn:
    """numpy's geometric(p): the place of a uniform double among sums of probabilities."""
    if type(p) is not float or not 0 < p <= 1 or not is_numpys_geometric(p):
        refuse("geometric() of something else than a probability of at least 1/3")
    ends = [min(int(each * _GRID) + 1, _GRID) for each in geometric_sums(p) or ()]
    if ends[-1] < _GRID:
        refuse("geometric() that does not end for some draws")
    places = enumerate(pairwise([0, *ends]), 1)
    return Drawn(_GRID, [(k, low, high) for k, (low, high) in places if low < high])


#: Methods of numpy's generator that return integers of Python.
NUMPY_INTEGERS: dict[str, Callable[..., Drawn]] = {"geometric": _geometric}


def coin(test: Callable[[Any, Any], bool], bound: Any) -> Drawn:
    """A comparison of random() with a number: two pieces, by their truth."""
    cut, first = _cut(test, type(number(bound)).__name__, bound)
    pieces = [(first, 0, cut), (not first, cut, _GRID)]
    return Drawn(_GRID, [piece for piece in pieces if piece[1] < piece[2]])


@lru_cache(maxsize=1 << 10)
def _cut(test: Callable[[Any, Any], bool], kind: str, bound: Any) -> tuple[int, bool]:
    first = bool(test(0.0, bound))
    return least(0, _GRID, lambda k: bool(test(k * 2.0**-53, bound)) != first), first
