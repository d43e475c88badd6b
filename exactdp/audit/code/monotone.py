"""Monotone functions of an integer, as chains of steps, and what can be proved of their values.

Arithmetic with a constant is rounded correctly, and so monotone. Logarithms and exponentials of
floats are not rounded correctly: two values may stand in the wrong order where they differ by a few
units in the last place. Of a chain with such steps this module bounds all values beyond a point,
with the errors that are documented for them; what lies nearer is evaluated one by one.

Source: GNU C library manual, Errors in Math Functions (1 ulp, for these functions); NumPy
enhancement proposal 38 and numpy's own tests (4 ulp for vector code).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

from exactdp.bisection import least
from exactdp.errors import Signal

#: The error of a step that is not rounded correctly, in units in the last place, and how many of
#: them separate bounds: from the value to the truth, to the truth elsewhere, to the value there,
#: each up to twice as much where the unit changes.
_ULPS, _APART = 4, 8
#: Numbers of values beside a crossing that are evaluated one by one.
_NEAR = (8, 64, 512)


class Unordered(Signal):
    """Rounding errors decide about a value, and nobody has looked at all values that are near."""


class Step(NamedTuple):
    """A monotone function. rising: or falling. errs: whether it is not rounded correctly."""

    function: Callable[[Any], Any]
    rising: bool
    errs: bool


class With:
    """A function with constants after its argument, equal to another one with the same constants.

    others: numbers.
    """

    __slots__ = ("_key", "function", "others")

    def __init__(self, function: Callable[..., Any], *others: Any) -> None:
        self.function, self.others = function, others
        self._key = function, tuple((type(each), str(each)) for each in others)

    def __call__(self, value: Any) -> Any:
        return self.function(value, *self.others)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, With) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@dataclass(frozen=True)
class Joint:
    """A function of two chains, which both rise, or both fall, where the function rises with both.

    function: rounded correctly.
    """

    one: Chain
    other: Chain
    function: Callable[[Any, Any], Any]

    @property
    def rising(self) -> bool:
        return self.one.rising

    @property
    def errs(self) -> bool:
        return self.one.errs or self.other.errs

    def __call__(self, k: int) -> Any:
        return self.function(self.one(k), self.other(k))

    def bound(self, k: int, after: bool) -> Any:
        """As for a chain."""
        return self.function(self.one.bound(k, after), self.other.bound(k, after))


@dataclass(frozen=True)
class Chain:
    """A monotone function of an integer: `first`, and then the steps.

    first: exact and rising, if it is not a Joint.
    """

    first: Callable[[int], Any]
    steps: tuple[Step, ...] = ()

    @cached_property
    def rising(self) -> bool:
        rises = self.first.rising if isinstance(self.first, Joint) else True
        return rises == (sum(not step.rising for step in self.steps) % 2 == 0)

    @cached_property
    def errs(self) -> bool:
        first = isinstance(self.first, Joint) and self.first.errs
        return first or any(step.errs for step in self.steps)

    def __call__(self, k: int) -> Any:
        value = self.first(k)
        for step in self.steps:
            value = step.function(value)
        return value

    def along(self, start: int, step: int) -> Chain:
        """The function of j that this one is of start + step j."""
        if (start, step) == (0, 1):
            return self
        first: Any = self.first
        if isinstance(first, Joint):
            one, other = first.one.along(start, step), first.other.along(start, step)
            return Chain(Joint(one, other, first.function), self.steps)
        return Chain(lambda j: first(start + step * j), self.steps)

    def then(self, step: Step) -> Chain:
        """This function, and then another one."""
        return Chain(self.first, (*self.steps, step))

    def bound(self, k: int, after: bool) -> Any:
        """A bound of the values at all integers >= k (if after) or <= k.

        After k, the values of a rising function are at least the bound, those of a falling one at
        most; before k, the other way round. A chain without errors has its value at k as a bound.
        """
        first = self.first
        value = first.bound(k, after) if isinstance(first, Joint) else first(k)
        rising = first.rising if isinstance(first, Joint) else True
        for step in self.steps:
            value, rising = step.function(value), rising == step.rising
            if step.errs:
                value = _moved(value, up=rising != after)
        return value

    def bounds(self, low: int, high: int) -> tuple[Any, Any]:
        """Bounds of the values from low to high - 1."""
        if high - low == 1:
            return self(low), self(low)
        return self.bound(low, True), self.bound(high - 1, False)

    def first_pass(self, test: Callable[[Any], bool], low: int, high: int) -> int:
        """The least integer from low on whose value passes a test, or high.

        test: of a value; monotone, and passed the more easily the larger the integer. Raises
        Unordered if a larger integer may fail, or a smaller one pass.
        """
        cut = least(low, high, lambda k: bool(test(self(k))))
        if not self._crosses(test, low, cut, high):
            raise Unordered
        return cut

    def require_agreement(self, test: Callable[[Any], bool], low: int, high: int) -> None:
        """Raise Unordered unless a monotone test has one answer from low to high - 1.

        The caller knows that the first value and the last one have the same answer.
        """
        if not self._agrees(test, low, high):
            raise Unordered

    def _crosses(self, test: Callable[[Any], bool], low: int, cut: int, high: int) -> bool:
        """Whether the values below a cut certainly fail a test, and those from there on pass."""
        if not self.errs:
            return True
        for near in _NEAR:
            first, last = max(low, cut - near), min(high, cut + near)
            below = first == low or self._tests(test, first - 1, False) is False
            if below and (last == high or self._tests(test, last, True)):
                return all(bool(test(self(k))) == (k >= cut) for k in range(first, last))
        return False

    def _agrees(self, test: Callable[[Any], bool], low: int, high: int) -> bool:
        if not self.errs:
            return True
        answer = bool(test(self(low)))
        for near in _NEAR:
            first, last = min(high, low + near), max(low, high - near)
            inner = first >= last or (
                self._tests(test, first, True) is self._tests(test, last - 1, False) is answer
            )
            if inner:
                outer = {*range(low, first), *range(last, high)}
                return all(bool(test(self(k))) == answer for k in outer)
        return False

    def _tests(self, test: Callable[[Any], bool], k: int, after: bool) -> bool | None:
        """The answer for a bound; None if the bound has none."""
        try:
            return bool(test(self.bound(k, after)))
        except (ArithmeticError, ValueError):
            return None


@lru_cache(maxsize=1 << 12)  # asked again by every run that draws the same
def changes(chain: Chain, low: int, high: int, most: int) -> tuple[int, ...] | None:
    """Where the value changes, from low to high - 1; None if that is in so many places.

    Raises Unordered as first_pass does.
    """
    beyond = _above if chain.rising else _below
    cuts: list[int] = []
    where = low
    while len(cuts) < most:
        where = chain.first_pass(partial(beyond, chain(where)), low, high)
        if where == high:
            return tuple(cuts)
        if chain.errs:  # no value beyond the cut is before the one there
            reaches = partial(_reaches, beyond, chain(where))
            if chain.first_pass(reaches, low, high) != where:
                raise Unordered
        cuts.append(where)
    return None


@lru_cache(maxsize=1 << 12)
def has_few_values(chain: Chain, low: int, high: int, most: int) -> bool:
    """Whether the value changes in fewer places, as far as samples tell."""
    where = low
    for _ in range(most):
        where = _next_change(chain, where, high)
        if where == high:
            return True
    return False


def _next_change(chain: Chain, where: int, high: int) -> int:
    """The first place after `where` with another value, if the values are ordered; else high."""
    beyond, value = (_above if chain.rising else _below), chain(where)
    return least(where, high, lambda k: beyond(value, chain(k)))


def _reaches(beyond: Callable[[Any, Any], bool], value: Any, other: Any) -> bool:
    """Whether a value is not beyond another one, in the direction of `beyond`."""
    return not beyond(other, value)


def _above(bound: Any, value: Any) -> bool:
    """Whether a value is greater than a bound; -0.0 is less than 0.0."""
    if value == bound == 0:
        return math.copysign(1, value) > math.copysign(1, bound)
    return bool(value > bound)


def _below(bound: Any, value: Any) -> bool:
    return _above(value, bound)


def _moved(value: Any, up: bool) -> Any:
    """A float beyond all errors, which leave a sign as it is; exp alone becomes 0 by rounding."""
    if math.isinf(value):
        inner = (value > 0) != up
        # log(0) is exact; what has overflowed may be a large number
        return math.copysign(sys.float_info.max / 2, value) if inner and value > 0 else value
    distance = _ULPS * _APART * math.ulp(value)
    moved = value + (distance if up else -distance)
    if (moved < 0) != (value < 0) and moved and value:
        return type(value)(0)
    return type(value)(moved if value or up else value)
