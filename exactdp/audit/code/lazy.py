"""Numbers that are drawn as far as the program looks at them.

Branching over all 2^53 values of random() is impossible, and mostly not needed: a comparison
branches into its two sides, with their exact probabilities, and leaves the rest open. Arithmetic
with constants is kept as a function and evaluated with Python's own numbers, so that it is rounded
as in production; it is monotone, and the value where it crosses a bound is found by bisection.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.code.lines import at
from exactdp.audit.code.revealed import Revealed
from exactdp.errors import NotEnumerable

#: Constants whose arithmetic with an integer or float is monotone and depends on nothing else.
#: numpy's integers wrap, and decimals are rounded as the context of the moment says.
_CONSTANTS = frozenset({bool, int, float, Fraction, np.float64})
_NUMPY_CONSTANTS = frozenset({bool, int, float, np.float64})
_COMPARABLE = _CONSTANTS | {Decimal}
#: What no number is equal to, and what no number is compared with.
_OTHERS = frozenset({str, bytes, tuple, list, dict, set, frozenset, type(None)})


class LazyNumber(Revealed):
    """A number that is drawn as far as the program looks at it.

    Comparisons, % and conversions to integers branch over what can happen. Other uses branch over
    all values that are left; more than 65536 of them are refused (NotEnumerable).
    """

    __slots__ = ()

    __array_ufunc__ = None  # numpy leaves an operation to the methods below

    @property
    def _numpy(self) -> bool:
        return isinstance(self._at(self._base.low), np.generic)

    # -- comparisons -----------------------------------------------------------------------------

    def _compare(self, other: Any, test: Callable[[Any, Any], bool]) -> Any:
        if isinstance(other, LazyNumber):
            return self._truth(other._at(other._base.low), self._versus(other, test))
        if type(other) in _OTHERS:
            return NotImplemented
        numpy = self._numpy
        if type(other) not in (_NUMPY_CONSTANTS if numpy else _COMPARABLE):
            return test(self.settle(), other)
        equal = test is operator.eq
        known = self._equals(other) if equal else self._decide(lambda value: test(value, other))
        return np.bool_(known) if numpy or type(other) is np.float64 else known

    def _truth(self, other: Any, known: bool) -> Any:
        """What a comparison returns: numpy's numbers answer with numpy's booleans."""
        return np.bool_(known) if self._numpy or isinstance(other, np.generic) else known

    def _versus(self, other: LazyNumber, test: Callable[[Any, Any], bool]) -> bool:
        """Reveal both numbers bit by bit until they differ."""
        while True:
            answers = {bool(test(a, b)) for a in self._ends() for b in other._ends()}
            if len(answers) == 1:
                return answers.pop()
            wider = max((self._base, other._base), key=lambda base: base.size)
            wider.split([(wider.low + wider.high) // 2])

    def _equals(self, other: Any) -> bool:
        if isinstance(other, LazyNumber):
            return not (self._versus(other, operator.lt) or self._versus(other, operator.gt))
        reached = operator.ge if self._rising else operator.le
        beyond = operator.gt if self._rising else operator.lt
        cuts = [self._first(lambda v: reached(v, other)), self._first(lambda v: beyond(v, other))]
        return cuts[0] < cuts[1] and self._base.split(cuts) == 1

    def __eq__(self, other: object) -> Any:
        if isinstance(other, LazyNumber):
            return self._truth(other._at(other._base.low), self._equals(other))
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else type(equal)(not equal)

    def __bool__(self) -> bool:
        return not self._equals(0)

    def __hash__(self) -> int:
        return hash(self.settle())

    # -- arithmetic that stays lazy --------------------------------------------------------------

    def _combine(self, other: Any, function: Callable[[Any, Any], Any], rising: bool) -> Any:
        if isinstance(other, LazyNumber):
            other = other.settle()
        if type(other) not in (_NUMPY_CONSTANTS if self._numpy else _CONSTANTS):
            return function(self.settle(), other)
        return self._map(lambda value: function(value, other), rising)

    def _scaled(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, LazyNumber):
            other = other.settle()
        if type(other) not in _CONSTANTS or abs(other) == math.inf or (self._numpy and other == 0):
            return function(self.settle(), other)
        return self._combine(other, function, not other < 0)

    def __floordiv__(self, other: Any) -> Any:
        whole = type(other) is int and self.__class__ is int
        return self._scaled(other, operator.floordiv) if whole else self.settle() // other

    def __abs__(self) -> Any:
        return self._map(abs, not self._decide(lambda value: value < 0))

    def __round__(self, digits: int | None = None) -> Any:
        return self._map(lambda value: round(value, digits), True)

    # -- what branches over remainders or over all values ----------------------------------------

    def __mod__(self, other: Any) -> Any:
        if self._apply is int and type(other) is int and other > 0:
            return self._base.residue(other)
        return self.settle() % other

    def __and__(self, other: Any) -> Any:
        if self._apply is int and type(other) is int and other >= 0 and not other & (other + 1):
            return self._base.residue(other + 1)
        return self.settle() & other

    __rand__ = __and__

    def __divmod__(self, other: Any) -> Any:
        rest = self % other
        return self // other, rest

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return pow(self.settle(), other, modulus)

    def __int__(self) -> int:
        whole = self._map(int, True)
        return int(whole.settle() if isinstance(whole, LazyNumber) else whole)

    def __float__(self) -> float:
        value = self.settle()
        try:
            return float(value)
        except OverflowError:  # where functions of math take a large int as it is
            reason = f"a drawn number {at()} is too large for a float; draw it from a smaller range"
            self._base.run.stop(NotEnumerable(reason))

    # -- passing for a number --------------------------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The type that isinstance sees: int or float, or numpy's."""
        return type(self._at(self._base.low))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self.__class__, name):
            return getattr(self.settle(), name)
        raise AttributeError(name)

    def __format__(self, form: str) -> str:
        return format(self.settle(), form)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.settle()

    def __reduce_ex__(self, protocol: Any) -> Any:
        value = self.settle()
        return type(value), (value,)


def _comparing(test: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    return lambda self, other: self._compare(other, test)


def _combining(function: Callable[[Any, Any], Any], rising: bool) -> Callable[..., Any]:
    return lambda self, other: self._combine(other, function, rising)


def _scaling(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: self._scaled(other, function)


def _mapping(function: Callable[[Any], Any], rising: bool) -> Callable[..., Any]:
    return lambda self: self._map(function, rising)


def _settling(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: function(self.settle(), *others)


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: function(other, one)


_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _comparing(getattr(operator, name)) for name in ("lt", "le", "gt", "ge")},
    "add": _combining(operator.add, True),
    "radd": _combining(_swapped(operator.add), True),
    "sub": _combining(operator.sub, True),
    "rsub": _combining(_swapped(operator.sub), False),
    "rshift": _combining(operator.rshift, True),
    "mul": _scaling(operator.mul),
    "rmul": _scaling(_swapped(operator.mul)),
    "truediv": _scaling(operator.truediv),
    "neg": _mapping(operator.neg, False),
    "floor": _mapping(math.floor, True),
    "ceil": _mapping(math.ceil, True),
    "trunc": _mapping(math.trunc, True),
    **{name: _settling(getattr(operator, name)) for name in ("invert", "index", "pos", "lshift")},
    **{"or": _settling(operator.or_), "xor": _settling(operator.xor)},
    **{"complex": _settling(complex), "str": _settling(str), "repr": _settling(repr)},
    **{
        f"r{name}": _settling(_swapped(getattr(operator, f"__{name}__")))
        for name in ("pow", "mod", "truediv", "floordiv", "lshift", "rshift", "or", "xor")
    },
    "rdivmod": _settling(_swapped(divmod)),
}
for _name, _method in _METHODS.items():
    setattr(LazyNumber, f"__{_name}__", _method)
