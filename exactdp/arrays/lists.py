"""The part of numpy that the accountant needs, over lists of Python's numbers.

Every function and operator is numpy's of the same name for arrays of one dimension, with the same
rounding of every element: Python's floats are doubles, rounded to nearest. Sums are rounded in
another order, which every error bound of the accountant allows for. Slices are copies. Any other
function of numpy raises MissingExtra.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import accumulate, repeat
from typing import Any, NoReturn

from exactdp.errors import MissingExtra

inf, nan = math.inf, math.nan
float64, int64, int32, bool_ = float, int, int, bool


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingExtra("this question needs numpy: pip install numpy", name="numpy")


_missing = __getattr__


class Array:
    """An array of one dimension."""

    __slots__ = ("values",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __getattr__(self, name: str) -> NoReturn:
        _missing(name)

    def __repr__(self) -> str:
        return f"Array({self.values})"

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __bool__(self) -> NoReturn:
        raise TypeError("an array is neither true nor false")

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Array(self.values[place])
        if isinstance(place, Array):
            pairs = zip(self.values, place, strict=True)
            return Array([value for value, is_chosen in pairs if is_chosen is True])
        return self.values[place]

    def __setitem__(self, place: int | slice, value: Any) -> None:
        if isinstance(place, slice):
            size = len(range(*place.indices(len(self.values))))
            self.values[place] = [*_elements(value, size)]
        else:
            self.values[place] = value

    @property
    def nbytes(self) -> int:
        """The bytes of the numbers: a pointer and an object each."""
        return 32 * len(self.values)

    def copy(self) -> Array:
        return Array(self.values.copy())

    def tolist(self) -> list[Any]:
        return self.values.copy()

    def astype(self, kind: type) -> Array:
        return Array([kind(value) for value in self.values])

    def sum(self) -> float:
        """The sum, rounded once; numpy adds pairs, and errs by a few roundings."""
        return math.fsum(self.values)

    def max(self) -> Any:
        return max(self.values)

    def min(self) -> Any:
        return min(self.values)

    def all(self) -> bool:
        return all(self.values)

    def argmin(self) -> int:
        return self.values.index(min(self.values))

    def _with(self, other: Any, function: Callable[..., Any]) -> Array:
        return Array(list(map(function, self.values, _elements(other, len(self)))))

    def _after(self, other: Any, function: Callable[..., Any]) -> Array:
        return Array(list(map(function, _elements(other, len(self)), self.values)))

    def __add__(self, other: Any) -> Array:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Array:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Array:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Array:
        try:
            return self._with(other, operator.truediv)
        except ZeroDivisionError:
            return self._with(other, _quotient)

    def __pow__(self, other: Any) -> Array:
        return self._with(other, operator.pow)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Array:
        return self._after(other, operator.sub)

    def __neg__(self) -> Array:
        return Array(list(map(operator.neg, self.values)))

    def __lt__(self, other: Any) -> Array:
        return self._with(other, operator.lt)

    def __le__(self, other: Any) -> Array:
        return self._with(other, operator.le)

    def __gt__(self, other: Any) -> Array:
        return self._with(other, operator.gt)

    def __ge__(self, other: Any) -> Array:
        return self._with(other, operator.ge)

    def __and__(self, other: Array) -> Array:
        return self._with(other, operator.and_)

    def __or__(self, other: Array) -> Array:
        return self._with(other, operator.or_)

    def __invert__(self) -> Array:
        return Array(list(map(operator.not_, self.values)))


def _elements(value: Any, size: int) -> Iterable[Any]:
    """The elements of an array or a sequence of this length, or one number again and again."""
    values = value.values if isinstance(value, Array) else value
    if not isinstance(values, list | tuple):
        return repeat(value, size)
    if len(values) != size:
        raise ValueError(f"{len(values)} elements beside {size}")
    return values


def _quotient(one: float, other: float) -> float:
    if other:
        return one / other
    return nan if one == 0 or math.isnan(one) else math.copysign(inf, one)


def array(values: Sequence[Any], dtype: type | None = None) -> Array:
    return Array(list(values) if dtype is None else [dtype(value) for value in values])


def zeros(size: int, dtype: type = float) -> Array:
    return Array([dtype(0)] * size)


empty = zeros


def ones(size: int, dtype: type = float) -> Array:
    return Array([dtype(1)] * size)


def full(size: int, value: Any) -> Array:
    return Array([value] * size)


def arange(*ends: int) -> Array:
    return Array(list(range(*ends)))


def append(one: Array, other: Array) -> Array:
    return concatenate([one, other])


def concatenate(arrays: Iterable[Array]) -> Array:
    return Array([value for one in arrays for value in one])


def where(condition: Array, one: Any, other: Any) -> Array:
    size = len(condition)
    triples = zip(condition, _elements(one, size), _elements(other, size), strict=True)
    return Array([a if is_true else b for is_true, a, b in triples])


def flatnonzero(condition: Array) -> Array:
    return Array([place for place, is_true in enumerate(condition) if is_true])


def maximum(one: Array, other: Any) -> Array:
    return one._with(other, lambda a, b: a if a >= b or a != a else b)


def minimum(one: Array, other: Any) -> Array:
    return one._with(other, lambda a, b: a if a <= b or a != a else b)


def clip(values: Array, least: float, most: float) -> Array:
    return minimum(maximum(values, least), most)


def einsum(subscripts: str, *arrays: Array) -> Any:
    if set(subscripts.split(",")) != {"i"}:
        return _missing("einsum")
    *_, products = accumulate(arrays, operator.mul)
    return products.sum()


def polyval(coefficients: Array, places: Array) -> Array:
    first, *others = coefficients
    values = [first] * len(places)
    for coefficient in others:
        values = [value * x + coefficient for value, x in zip(values, places, strict=True)]
    return Array(values)


def _each(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    return lambda values: Array(list(map(function, values)))


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return inf


exp, sqrt = _each(_exp), _each(math.sqrt)
isnan, isfinite = _each(math.isnan), _each(math.isfinite)
abs = _each(abs)
log2 = _each(lambda x: math.log2(x) if x else -inf)


def ldexp(mantissa: Any, exponent: Any) -> Any:
    if not isinstance(exponent, Array):
        return math.ldexp(mantissa, exponent)
    try:
        return exponent._after(mantissa, math.ldexp)
    except OverflowError:
        return exponent._after(mantissa, _scaled)


def _scaled(mantissa: float, exponent: int) -> float:
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.copysign(inf, mantissa)


def errstate(**_: str) -> nullcontext[None]:
    """Nothing here prints a warning."""
    return nullcontext()
