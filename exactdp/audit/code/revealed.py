"""A number that is known as far as the program has looked at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np

from exactdp.audit.code.lines import at
from exactdp.audit.code.monotone import Chain, Step, Unordered, changes, has_few_values
from exactdp.audit.code.uniform import Uniform
from exactdp.errors import NotEnumerable
from exactdp.samplers.enumeration import MAX_WIDTH

#: Largest number of distinct values that is tried where nothing bounds it.
_FEW = 1 << 10
#: Largest number of values of a number that is settled for the sake of another one.
_FEWEST = 1 << 7

_SHOWN = (
    "the output is a float from {} itself, and its low bits, which this audit does not compare, "
    "commonly tell two data sets apart with certainty (Mironov, On significance of the least "
    "significant bits for differential privacy, 2012); round the output to a grid that does not "
    "depend on the data, have the code draw integers by randrange, or audit the outputs "
    "(exactdp.audit.audit)"
)


class Revealed:
    """A monotone function of one uniform integer, evaluated with the program's own arithmetic.

    base: the integer, as far as it is known. chain: the function. origin: the call that drew the
    number, for messages.
    """

    __slots__ = ("_base", "_chain", "_origin")

    def __init__(self, base: Uniform, chain: Chain, origin: str) -> None:
        self._base, self._chain, self._origin = base, chain, origin

    def _at(self, j: int) -> Any:
        return self._chain(self._base.value(j))

    def _values(self) -> tuple[Chain, int, int]:
        """The function of the place j, the least place that is left, and the last and one more."""
        base = self._base
        base.run.require_open()
        return self._chain.along(base.start, base.step), base.low, base.high

    def _ends(self) -> tuple[Any, Any]:
        """The first and the last value, or, where values are not rounded correctly, bounds."""
        chain, low, high = self._values()
        return chain.bounds(low, high)

    def _first(self, test: Callable[[Any], bool]) -> int:
        """The least j that passes a test, which every larger j then passes too.

        test: a comparison with a bound.
        """
        chain, low, high = self._values()
        try:
            return chain.first_pass(test, low, high)
        except Unordered:
            self._refuse_rounding()

    def _decide(self, test: Callable[[Any], bool]) -> bool:
        """Branch over a test that changes at most once along the values."""
        chain, low, high = self._values()
        first, last = bool(test(chain(low))), bool(test(chain(high - 1)))
        if first != last:
            cut = self._first(lambda value: bool(test(value)) == last)
            return last if self._base.split([cut]) else first
        try:
            chain.require_agreement(test, low, high)
        except Unordered:
            self._refuse_rounding()
        return first

    def is_known(self) -> bool:
        """Whether one value alone is left."""
        return self._base.size == 1

    def settle(self) -> Any:
        """The number itself: branches over the values that are left."""
        chain, low, high = self._values()
        if high - low > 1:
            most = self._most(chain, low, high)
            if most is None:  # perhaps all different: no need to look
                self._base.reveal()
            else:
                try:
                    cuts = changes(chain, low, high, most)
                except Unordered:
                    self._refuse_rounding()
                if cuts is None:
                    self._refuse_values(most)
                self._base.split(list(cuts))
        return self._at(self._base.low)

    def shown(self) -> Any:
        """The number itself, as an output."""
        if not self.is_known() and isinstance(self._ends()[0], float) and not self.has_few_values():
            self._base.run.stop(NotEnumerable(_SHOWN.format(self._origin)))
        return self.settle()

    def has_few_values(self) -> bool:
        """Whether settling the number leads to few branches."""
        return has_few_values(*self._values(), _FEWEST)

    def _most(self, chain: Chain, low: int, high: int) -> int | None:
        """The most values that are tried; None for those of a small range of integers."""
        least, greatest = sorted((chain(low), chain(high - 1)))
        whole = isinstance(greatest, (int, np.integer))
        steps = int(greatest) - int(least) + 1 if whole else high - low
        if high - low <= min(steps, MAX_WIDTH):
            return None
        return MAX_WIDTH if min(steps, high - low) <= MAX_WIDTH else _FEW

    def _refuse_values(self, most: int) -> NoReturn:
        reason = (
            f"a number from {self._origin} was used as a value {at()}, and it has more than {most} "
            "of them; compare it (u < p), round it to an integer, or have the code draw integers "
            "by randrange"
        )
        self._base.run.stop(NotEnumerable(reason))

    def _refuse_rounding(self) -> NoReturn:
        reason = (
            f"a number from {self._origin} was compared {at()} where the rounding of a logarithm "
            "or an exponential decides; compare it with a bound that is not one of its values"
        )
        self._base.run.stop(NotEnumerable(reason))

    def _map(self, function: Callable[[Any], Any], rising: bool, errs: bool = False) -> Any:
        """A non-decreasing (or non-increasing) function of this number, without branching.

        Exact arithmetic with a constant is monotone. So what is exact at both ends of the range is
        so between them. errs: whether it is not rounded correctly.
        """
        if self._base.size > 1 and all(_is_exact(function, value) for value in self._ends()):
            return self._like(self._chain.then(Step(function, rising, errs)))
        return function(self.settle())

    def _like(self, chain: Chain) -> Self:
        return type(self)(self._base, chain, self._origin)


def _is_exact(function: Callable[[Any], Any], value: Any) -> bool:
    """Whether a result is that of exact numbers: no error, no NaN, no int64 that wrapped."""
    try:
        result = function(value)
    except (Exception, Unordered):  # the program meets it where it settles the number
        return False
    if isinstance(value, np.integer) and isinstance(result, np.integer):
        return bool(int(result) == function(int(value)))
    return bool(result == result)
