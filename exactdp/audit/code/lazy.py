"""LazyNumber: a uniform integer, or a monotone function of one, that is revealed when looked at.

Branching over all 2^53 values of random(), or over a range of a million, would make foreign code
impossible to enumerate. Such code mostly compares: so a comparison branches into the two sides,
with their exact probabilities, and nothing else is decided. Arithmetic with constants is kept as a
function and evaluated with Python's own numbers, so that floating-point rounding is reproduced; it
is monotone, and a boundary is found by bisection.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.audit.code.revealed import Revealed
from exactdp.audit.code.uniform import NotEnumerable
from exactdp.audit.code.unwatched import unwatched
from exactdp.audit.code.where import at

__all__ = ["LazyNumber"]

#: Constants whose arithmetic with an integer or float is monotone and depends on nothing else.
#: numpy's numbers wrap, decimals are rounded in the context of the moment, subclasses do anything.
_CONSTANTS = frozenset({bool, int, float, Fraction, np.float64})
_NUMPY_CONSTANTS = frozenset({bool, int, float, np.float64})
_COMPARABLE = _CONSTANTS | {Decimal}

#: What a number is never equal to, and never compared with.
_STRANGERS = frozenset({str, bytes, tuple, list, dict, set, frozenset, type(None)})


class LazyNumber(Revealed):
    """A number that is revealed when it is looked at.

    Comparisons, modulo and conversions to int branch over what can happen; other uses settle the
    value where it has at most 65536 possible ones, and raise NotEnumerable otherwise.
    """

    __slots__ = ()

    __array_ufunc__ = None  # numpy leaves an operation to the methods below

    @property
    def _numpy(self) -> bool:
        return isinstance(self._at(self._base.low), np.generic)

    def _combine(self, other: Any, function: Callable[[Any, Any], Any], rising: bool) -> Any:
        if isinstance(other, LazyNumber):
            other = other.settle()
        known = _NUMPY_CONSTANTS if self._numpy else _CONSTANTS
        if type(other) not in known:
            return function(self.settle(), other)
        return self._map(lambda value: function(value, other), rising)

    # -- comparisons -----------------------------------------------------------------------------

    def _compare(self, other: Any, test: Callable[[Any, Any], bool]) -> Any:
        if isinstance(other, LazyNumber):
            return self._truth(other._at(other._base.low), self._versus(other, test))
        if type(other) in _STRANGERS:
            return NotImplemented
        if type(other) not in (_NUMPY_CONSTANTS if self._numpy else _COMPARABLE):
            return test(self.settle(), other)
        return self._truth(other, self._decide(lambda value: test(value, other)))

    def _truth(self, other: Any, known: bool) -> Any:
        """What a comparison returns: numpy's numbers answer with numpy's booleans."""
        return np.bool_(known) if self._numpy or isinstance(other, np.generic) else known

    @unwatched
    def _versus(self, other: LazyNumber, test: Callable[[Any, Any], bool]) -> bool:
        """Reveal both numbers bit by bit until they differ: about 1 / residual branches."""
        while True:
            mine, theirs = self._ends(), other._ends()
            answers = {bool(test(a, b)) for a in mine for b in theirs}
            if len(answers) == 1:
                return answers.pop()
            wider = max((self._base, other._base), key=lambda base: base.size)
            wider.split([(wider.low + wider.high) // 2])

    def _ends(self) -> tuple[Any, Any]:
        return self._at(self._base.low), self._at(self._base.high - 1)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, LazyNumber):
            apart = self._versus(other, operator.lt) or self._versus(other, operator.gt)
            return self._truth(other._at(other._base.low), not apart)
        if type(other) in _STRANGERS:
            return NotImplemented
        if type(other) not in (_NUMPY_CONSTANTS if self._numpy else _COMPARABLE):
            return self.settle() == other
        return self._truth(other, self._equals(other))

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else type(equal)(not equal)

    @unwatched
    def _equals(self, other: Any) -> bool:
        reached = operator.ge if self._rising else operator.le
        beyond = operator.gt if self._rising else operator.lt
        cuts = [self._first(lambda v: reached(v, other)), self._first(lambda v: beyond(v, other))]
        return cuts[0] < cuts[1] and self._base.split(cuts) == 1

    def __bool__(self) -> bool:
        return not self._equals(0)

    def __hash__(self) -> int:
        return hash(self.settle())

    # -- arithmetic that stays lazy --------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a + b, True)

    def __radd__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b + a, True)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a - b, True)

    def __rsub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b - a, False)

    def __mul__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: a / b)

    def __floordiv__(self, other: Any) -> Any:
        whole = type(other) is int and self.__class__ is int
        return self._scaled(other, lambda a, b: a // b) if whole else self.settle() // other

    def __rtruediv__(self, other: Any) -> Any:
        if self._numpy or type(other) not in _CONSTANTS:
            return other / self.settle()
        negative = self._decide(lambda value: value < 0)
        if not negative and self._equals(0):
            return other / self.settle()
        return self._map(lambda value: other / value, other < 0)

    def _scaled(self, other: Any, function: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, LazyNumber):
            other = other.settle()
        if type(other) not in _CONSTANTS or abs(other) == math.inf or (self._numpy and other == 0):
            return function(self.settle(), other)
        return self._combine(other, function, not other < 0)

    def __neg__(self) -> Any:
        return self._map(operator.neg, False)

    def __pos__(self) -> Any:
        return self._map(operator.pos, True)

    def __invert__(self) -> Any:
        return self._map(operator.invert, False)

    def __abs__(self) -> Any:
        return self._map(abs, not self._decide(lambda value: value < 0))

    def __lshift__(self, other: Any) -> Any:
        return self._combine(other, operator.lshift, True)

    def __rshift__(self, other: Any) -> Any:
        return self._combine(other, operator.rshift, True)

    def __floor__(self) -> Any:
        return self._map(math.floor, True)

    def __ceil__(self) -> Any:
        return self._map(math.ceil, True)

    def __trunc__(self) -> Any:
        return self._map(math.trunc, True)

    def __round__(self, digits: int | None = None) -> Any:
        return self._map(lambda value: round(value, digits), True)

    # -- arithmetic that branches ----------------------------------------------------------------

    def __mod__(self, other: Any) -> Any:
        if self._apply is None and type(other) is int and other > 0:
            return self._base.residue(other)
        return self.settle() % other

    def __and__(self, other: Any) -> Any:
        if isinstance(other, LazyNumber):
            other = other.settle()
        if self._apply is None and type(other) is int and other >= 0 and not other & (other + 1):
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

    def __index__(self) -> int:
        return operator.index(self.settle())

    def __float__(self) -> float:
        value = self.settle()
        try:
            return float(value)
        except OverflowError:  # where functions of math take a large int as it is
            reason = f"a drawn number {at()} is too large for a float; draw it from a smaller range"
            self._base.source.stop(NotEnumerable(reason))

    def __complex__(self) -> complex:
        return complex(self.settle())

    def __str__(self) -> str:
        return str(self.settle())

    def __repr__(self) -> str:
        return repr(self.settle())

    def __format__(self, form: str) -> str:
        return format(self.settle(), form)

    # -- passing for a number --------------------------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """int or float, or numpy's: what isinstance is told."""
        return type(self._at(self._base.low))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self.__class__, name):
            return getattr(self.settle(), name)
        raise AttributeError(name)

    def __copy__(self) -> LazyNumber:
        return self  # a copy is the same number

    def __deepcopy__(self, memo: Any) -> LazyNumber:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        value = self.settle()
        return type(value), (value,)


def _settling(function: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        value = self.settle()
        return function(other, value) if swapped else function(value, other)

    return method


for _name in ("or", "xor"):
    for _swapped in (False, True):
        _method = _settling(getattr(operator, f"__{_name}__"), _swapped)
        setattr(LazyNumber, f"__{'r' * _swapped}{_name}__", _method)
for _name, _function in {
    "pow": operator.pow,
    "mod": operator.mod,
    "floordiv": operator.floordiv,
    "divmod": divmod,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}.items():
    setattr(LazyNumber, f"__r{_name}__", _settling(_function, True))

LazyNumber._root = LazyNumber
