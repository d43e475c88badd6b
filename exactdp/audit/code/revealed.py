"""A number that is known as far as the program has looked at it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from exactdp.audit.code.lines import at
from exactdp.audit.code.uniform import Uniform
from exactdp.bisection import least
from exactdp.errors import NotEnumerable
from exactdp.samplers.enumeration import MAX_WIDTH

#: Largest number of distinct values that is tried where nothing bounds it.
_FEW = 1 << 10


class Revealed:
    """A monotone function of one uniform integer, evaluated with the program's own arithmetic.

    base: the integer, as far as it is known. apply: the function. rising: whether it is
    non-decreasing. origin: the call that drew the number, for messages.
    """

    __slots__ = ("_apply", "_base", "_origin", "_rising")

    def __init__(
        self, base: Uniform, apply: Callable[[int], Any], rising: bool, origin: str
    ) -> None:
        self._base, self._apply, self._rising, self._origin = base, apply, rising, origin

    def _at(self, j: int) -> Any:
        return self._apply(self._base.value(j))

    def _ends(self) -> tuple[Any, Any]:
        self._base.run.require_open()
        return self._at(self._base.low), self._at(self._base.high - 1)

    def _first(self, test: Callable[[Any], bool]) -> int:
        """The least j that passes a test, which every larger j then passes too."""
        return least(self._base.low, self._base.high, lambda j: test(self._at(j)))

    def _decide(self, test: Callable[[Any], bool]) -> bool:
        """Branch over a test that changes at most once along the range."""
        first, last = map(bool, map(test, self._ends()))
        if first == last:
            return first
        cut = self._first(lambda value: bool(test(value)) == last)
        return last if self._base.split([cut]) else first

    def is_known(self) -> bool:
        """Whether one value alone is left."""
        return self._base.size == 1

    def settle(self) -> Any:
        """The number itself: branches over the values that are left."""
        base = self._base
        base.run.require_open()
        if base.size > 1:
            low, high = sorted(self._ends())
            whole = isinstance(high, (int, np.integer))
            steps = int(high) - int(low) + 1 if whole else base.size
            if base.size <= min(steps, MAX_WIDTH):  # perhaps all different: no need to look
                base.reveal()
            else:
                base.split(self._cuts(MAX_WIDTH if min(steps, base.size) <= MAX_WIDTH else _FEW))
        return self._at(base.low)

    def _cuts(self, most: int) -> list[int]:
        """Where the value changes."""
        cuts: list[int] = []
        where = self._base.low
        while True:
            where = least(where, self._base.high, partial(self._is_other, self._at(where)))
            if where == self._base.high:
                return cuts
            cuts.append(where)
            if len(cuts) >= most:
                reason = (
                    f"a number from {self._origin} was used as a value {at()}, and it has more "
                    f"than {most} of them; compare it (u < p), round it to an integer, or have the "
                    "code draw integers by randrange"
                )
                self._base.run.stop(NotEnumerable(reason))

    def _is_other(self, value: Any, j: int) -> bool:
        here = self._at(j)  # -0.0 equals 0.0 and is another value
        return bool(here != value) or (here == 0 and str(here) != str(value))

    def _map(self, function: Callable[[Any], Any], rising: bool) -> Any:
        """A non-decreasing (or non-increasing) function of this number, without branching.

        Exact arithmetic with a constant is monotone. So what is exact at both ends of the range is
        so between them.
        """
        base, inner = self._base, self._apply
        if base.size > 1 and all(_is_exact(function, value) for value in self._ends()):
            return self._like(lambda k: function(inner(k)), self._rising == rising)
        return function(self.settle())

    def _like(self, apply: Callable[[int], Any], rising: bool) -> Self:
        return type(self)(self._base, apply, rising, self._origin)


def _is_exact(function: Callable[[Any], Any], value: Any) -> bool:
    """Whether a result is that of exact numbers: no error, no NaN, no int64 that wrapped."""
    try:
        result = function(value)
    except Exception:  # the program meets it where it settles the number
        return False
    if isinstance(value, np.integer) and isinstance(result, np.integer):
        return bool(int(result) == function(int(value)))
    return bool(result == result)
