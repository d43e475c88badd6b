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

from exactdp.audit.code.disguise import SeenAs
from exactdp.audit.code.lines import at
from exactdp.audit.code.monotone import Chain, Joint, Step, With
from exactdp.audit.code.revealed import Revealed
from exactdp.errors import NotEnumerable

#: Constants whose arithmetic with an integer or float is monotone and depends on nothing else.
#: numpy's integers wrap, and decimals are rounded as the context of the moment says.
_CONSTANTS = frozenset({bool, int, float, Fraction, np.float64})
_NUMPY_CONSTANTS = frozenset({bool, int, float, np.float64})
#: numpy's integers, which beside a float are one.
_NUMPY_INTEGERS = frozenset(
    {np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64}
)
#: What no number is equal to, and what no number is compared with.
_OTHERS = frozenset({str, bytes, tuple, list, dict, set, frozenset, type(None)})


_SUMS, _DIFFERENCES = (operator.add, np.add), (operator.sub, np.subtract)


class LazyNumber(Revealed):
    """A number that is drawn as far as the program looks at it.

    Comparisons, % and conversions to integers branch over what can happen. Other uses branch over
    all values that are left; more than 65536 of them are refused (NotEnumerable).
    """

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        from exactdp.audit.code.lazy_arrays import applied  # which builds on this module

        return applied(ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        from exactdp.audit.code.lazy_arrays import called  # which builds on this module

        return called(function, arguments, named)

    @property
    def _numpy(self) -> bool:
        return isinstance(self._at(self._base.low), np.generic)

    def _is_constant(self, other: Any) -> bool:
        """Whether arithmetic with another number is monotone and depends on nothing else."""
        if type(other) in _NUMPY_INTEGERS:
            return isinstance(self._at(self._base.low), float)
        return type(other) in (_NUMPY_CONSTANTS if self._numpy else _CONSTANTS)

    # -- comparisons -----------------------------------------------------------------------------

    def _compare(self, other: Any, test: Callable[[Any, Any], bool]) -> Any:
        if isinstance(other, LazyNumber):
            return self._truth(other._at(other._base.low), self._versus(other, test))
        if type(other) in _OTHERS or isinstance(other, np.ndarray):
            return NotImplemented
        if not (self._is_constant(other) or (type(other) is Decimal and not self._numpy)):
            return test(self.settle(), other)
        equal = test is operator.eq
        known = self._equals(other) if equal else self._decide(lambda value: test(value, other))
        return self._truth(other, known)

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
        reached = operator.ge if self._chain.rising else operator.le
        beyond = operator.gt if self._chain.rising else operator.lt
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

    def combine(self, other: Any, function: Callable[[Any, Any], Any], rising: bool) -> Any:
        if isinstance(other, LazyNumber):
            joint = self._joint(other, function)
            return self._together(other, function) if joint is None else joint
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not self._is_constant(other):
            return function(self.settle(), other)
        return self._map(With(function, other), rising)

    def scaled(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, LazyNumber):
            return self._together(other, function)
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not self._is_constant(other) or abs(other) == math.inf or (self._numpy and other == 0):
            return function(self.settle(), other)
        falls = other < 0 or (other == 0 and math.copysign(1, other) < 0)
        return self.combine(other, function, not falls)

    def _joint(self, other: LazyNumber, function: Callable[[Any, Any], Any]) -> Any:
        """A sum or difference of floats that rise and fall with one draw, or None."""
        one, second = self._chain, other._chain
        if function in _DIFFERENCES:
            second = second.then(Step(operator.neg, False, False))
        elif function not in _SUMS:
            return None
        ends = (*self._ends(), *other._ends())
        floats = all(isinstance(each, float) and math.isfinite(each) for each in ends)
        if not floats or other._base is not self._base or one.rising != second.rising:
            return None
        add = np.add if isinstance(function, np.ufunc) else operator.add
        return self._like(Chain(Joint(one, second, add)))

    def _together(self, other: LazyNumber, function: Callable[[Any, Any], Any]) -> Any:
        """A function of two lazy numbers: the number with fewer values is settled first."""
        if self.has_few_values() and not other.has_few_values():
            return function(self.settle(), other)
        return function(self, other.settle())

    def through(
        self, function: Callable[[Any], Any], rising: bool, errs: bool, above: float | None
    ) -> Any:
        """A monotone function of this number. errs: whether it is not rounded correctly.

        above: None, or below which it has no value.
        """
        if above is not None and not self._decide(lambda value: value > above):
            return function(self.settle())
        return self._map(function, rising, errs)

    def decides(self, test: Callable[[Any], bool]) -> bool:
        """Branch over a monotone test."""
        return self._decide(test)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """The method of numpy's numbers."""
        if type(decimals) is not int or out is not None:
            return self.__getattr__("round")(decimals, out)
        return self._map(With(_rounded, decimals), True)

    def astype(self, dtype: Any, **named: Any) -> Any:
        """The method of numpy's numbers."""
        if self._numpy and not named and np.dtype(dtype) == np.int64:
            whole = self._map(_whole, True)
            return whole.settle() if isinstance(whole, LazyNumber) else whole
        return self.__getattr__("astype")(dtype, **named)

    def __floordiv__(self, other: Any) -> Any:
        whole = type(other) is int and self.__class__ is int
        return self.scaled(other, operator.floordiv) if whole else self.settle() // other

    def __abs__(self) -> Any:
        return self._map(abs, not self._decide(lambda value: value < 0))

    def __round__(self, digits: int | None = None) -> Any:
        return self._map(With(round, digits), True)

    # -- what branches over remainders or over all values ----------------------------------------

    def _is_drawn_integer(self) -> bool:
        return self._chain.first is int and not self._chain.steps

    def __mod__(self, other: Any) -> Any:
        if self._is_drawn_integer() and type(other) is int and other > 0:
            return self._base.residue(other)
        return self.settle() % other

    def __and__(self, other: Any) -> Any:
        if (
            self._is_drawn_integer()
            and type(other) is int
            and other >= 0
            and not other & (other + 1)
        ):
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

    __class__ = SeenAs(lambda number: type(number._at(number._base.low)))

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


def _whole(value: Any) -> Any:
    """A float of numpy as an integer of numpy."""
    if not abs(value) < 2.0**62:
        raise OverflowError("a float beyond the integers of numpy")
    return value.astype(np.int64)


def _rounded(value: Any, decimals: int) -> Any:
    return np.float64(value).round(decimals)


def _comparing(test: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    return lambda self, other: self._compare(other, test)


def _combining(function: Callable[[Any, Any], Any], rising: bool) -> Callable[..., Any]:
    return lambda self, other: self.combine(other, function, rising)


def _scaling(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: self.scaled(other, function)


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
