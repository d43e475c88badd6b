"""Functions of math and numpy that are monotone, for numbers that are drawn as far as needed."""

from __future__ import annotations

import math
import operator
import random
import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import Any, NamedTuple

import numpy as np

from exactdp.audit.code.lazy import LazyNumber
from exactdp.audit.code.lines import is_program
from exactdp.audit.code.monotone import Unordered


class Known(NamedTuple):
    """A monotone function. errs: whether it is not rounded correctly. above: None, or below which
    it has no value."""

    rising: bool = True
    errs: bool = False
    above: float | None = None


_ERRING = {
    **dict.fromkeys(("log", "log2", "log10"), Known(errs=True, above=0.0)),
    "log1p": Known(errs=True, above=-1.0),
    **dict.fromkeys(("exp", "exp2", "expm1"), Known(errs=True)),
}
_ROOT = {"sqrt": Known(above=0.0)}  # rounded correctly, as IEEE 754 demands
_MATH = {getattr(math, name): known for name, known in (_ERRING | _ROOT).items()}
_ONE: dict[Any, Known] = {
    **{getattr(np, name): known for name, known in (_ERRING | _ROOT).items()},
    **dict.fromkeys((np.floor, np.ceil, np.trunc, np.rint, np.sign, np.positive), Known()),
    np.negative: Known(rising=False),
}
_COMPARISONS: dict[Any, tuple[Any, Any]] = {
    np.less: (operator.lt, operator.gt),
    np.less_equal: (operator.le, operator.ge),
    np.greater: (operator.gt, operator.lt),
    np.greater_equal: (operator.ge, operator.le),
    np.equal: (operator.eq, operator.eq),
    np.not_equal: (operator.ne, operator.ne),
}


def through(value: Any, function: Callable[[Any], Any], rising: bool = True) -> Any:
    """A function of a number, lazy or not: one of math, or else one that is rounded correctly."""
    if type(value) is not LazyNumber:
        return function(value)
    return value.through(function, *_MATH.get(function, Known(rising)))


def _one(function: Any, known: Known) -> Callable[[Any], Any]:
    def of_one(value: Any) -> Any:
        if type(value) is LazyNumber:
            return value.through(function, *known)
        return function(value)

    return of_one


def _compared(tests: tuple[Any, Any]) -> Callable[[Any, Any], Any]:
    def compared(one: Any, other: Any) -> Any:
        if type(one) is LazyNumber:
            return np.bool_(tests[0](one, other))
        return np.bool_(tests[1](other, one))

    return compared


def _combined(ufunc: Any, name: str, rising: tuple[bool, ...]) -> Callable[[Any, Any], Any]:
    def combined(one: Any, other: Any) -> Any:
        if type(one) is LazyNumber:
            return getattr(one, name)(other, ufunc, *rising[:1])
        return getattr(other, name)(one, lambda a, b: ufunc(b, a), *rising[1:])

    return combined


def _quotient(one: Any, other: Any) -> Any:
    if type(one) is LazyNumber:
        return one.scaled(other, np.true_divide)
    return np.true_divide(one, other.settle())


def _magnitude(function: Any) -> Callable[[Any], Any]:
    def magnitude(value: Any) -> Any:
        if type(value) is LazyNumber:
            return value.through(function, not value.decides(lambda v: v < 0), False, None)
        return function(value)

    return magnitude


def _copysign(function: Any) -> Callable[[Any, Any], Any]:
    def with_sign(one: Any, other: Any) -> Any:
        if type(one) is LazyNumber or type(other) is not LazyNumber:
            return function(one.settle() if type(one) is LazyNumber else one, other)
        negative = other.decides(lambda value: math.copysign(1, value) < 0)
        return function(one, -1.0 if negative else 1.0)

    return with_sign


def _everywhere(function: Any) -> Callable[[Any], Any]:
    """A function of numpy for an element of an array: the same wherever the element stands."""

    def of_element(value: Any) -> Any:
        answers = {
            *map(float, function(np.full(5, value))),
            *map(float, function(np.full(9, value)[::3])),
        }
        if len(answers) > 1 or answers != {float(function(value))}:
            raise Unordered
        return function(value)

    return of_element


#: numpy's functions of numbers, element by element, one of which at least is lazy.
UFUNCS: dict[Any, Callable[..., Any]] = {
    **{function: _one(function, known) for function, known in _ONE.items()},
    **{function: _compared(tests) for function, tests in _COMPARISONS.items()},
    np.add: _combined(np.add, "combine", (True, True)),
    np.subtract: _combined(np.subtract, "combine", (True, False)),
    np.minimum: _combined(np.minimum, "combine", (True, True)),
    np.maximum: _combined(np.maximum, "combine", (True, True)),
    np.multiply: _combined(np.multiply, "scaled", ()),
    np.true_divide: _quotient,
    **{function: _magnitude(function) for function in (np.absolute, np.fabs)},
    np.copysign: _copysign(np.copysign),
}
#: The same for elements of arrays: vector code may round in another way.
OF_ARRAYS = {
    getattr(np, name): _one(_everywhere(getattr(np, name)), known)
    for name, known in _ERRING.items()
}
#: Those whose answer is true or false.
TRUTHS = frozenset(_COMPARISONS)


def _logarithm(function: Any) -> Callable[..., Any]:
    def logarithm(value: Any, *base: Any) -> Any:
        """math.log, with a base or without."""
        if type(value) is LazyNumber and not base:
            return value.through(function, *_MATH[function])
        return function(value, *base)

    return logarithm


_OF_MATH: dict[Any, Callable[..., Any]] = {
    **{function: _one(function, known) for function, known in _MATH.items()},
    math.log: _logarithm(math.log),
    math.fabs: _magnitude(math.fabs),
    math.copysign: _copysign(math.copysign),
}


def replace_math() -> None:
    """In a forked child: let functions of math take lazy numbers, under whatever name a module of
    the program, or random, knows them. Elsewhere they settle the number."""
    known = {id(old): update_wrapper(new, old) for old, new in _OF_MATH.items()}
    for holder in _holders():
        for name, value in list(vars(holder).items()):
            if id(value) in known:
                setattr(holder, name, known[id(value)])


def _holders() -> Iterator[Any]:
    yield from (math, random)
    for module in list(sys.modules.values()):
        if is_program(getattr(module, "__file__", None) or "<frozen "):
            yield module
