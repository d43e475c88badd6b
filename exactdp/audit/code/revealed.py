"""How far a number has been revealed: a monotone function of a uniform integer, and its cuts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from exactdp.audit.code.uniform import NotEnumerable, Uniform
from exactdp.audit.code.unwatched import unwatched
from exactdp.audit.code.where import at
from exactdp.samplers.enumeration import MAX_WIDTH

__all__ = ["Revealed"]

#: Distinct values looked for where neither the range nor the integers in it bound their number.
_FEW = 1 << 10


class Revealed:
    """A number computed monotonically from one uniform integer.

    base: the integer, as far as it is known. apply: the function; None for the integer itself.
    rising: whether it is non-decreasing. origin: the call the number came from, for messages.
    """

    __slots__ = ("_apply", "_base", "_origin", "_rising")

    #: The class with the operators; instances are of subclasses with other names.
    _root: ClassVar[type[Revealed]]

    def __new__(cls, base: Uniform, apply: Any, rising: bool, origin: str) -> Revealed:
        """An instance named like the type it stands for, as error messages name it."""
        try:
            value = base.value(base.low) if apply is None else apply(base.value(base.low))
        except Exception:  # met again where the step is looked at
            value = 0
        kind: type = type(value)
        found = _NAMED.get(kind) or _NAMED.setdefault(kind, _named_like(kind, cls._root))
        return object.__new__(found)

    def __init__(
        self,
        base: Uniform,
        apply: Callable[[int], Any] | None,
        rising: bool,
        origin: str,
    ) -> None:
        self._base = base
        self._apply = None if apply is int else apply  # None: the integer itself
        self._rising = rising
        self._origin = origin

    def _at(self, j: int) -> Any:
        value = self._base.value(j)
        return value if self._apply is None else self._apply(value)

    def _first(self, test: Callable[[Any], bool]) -> int:
        """The least j that passes a test, which every larger j then passes too."""
        return _least(self._base.low, self._base.high, lambda j: test(self._at(j)))

    @unwatched
    def _decide(self, test: Callable[[Any], bool]) -> bool:
        """Branch over a test that changes at most once along the range."""
        base = self._base
        first, last = bool(test(self._at(base.low))), bool(test(self._at(base.high - 1)))
        if first == last:
            return first
        return last if base.split([self._first(lambda v: bool(test(v)) == last)]) else first

    def known(self) -> tuple[bool, Any]:
        """Whether there is but one value left, and that value."""
        return (True, self._at(self._base.low)) if self._base.size == 1 else (False, None)

    @unwatched
    def settle(self) -> Any:
        """The number itself: branches over the values that are still possible."""
        base = self._base
        if base.size > 1:
            low, high = sorted((self._at(base.low), self._at(base.high - 1)))
            whole = isinstance(high, (int, np.integer))
            steps = int(high) - int(low) + 1 if whole else base.size
            known = min(steps, base.size) <= MAX_WIDTH
            if base.size <= min(steps, MAX_WIDTH):  # perhaps all different: no need to look
                base.reveal()
            else:
                base.split(self._cuts(MAX_WIDTH if known else _FEW))
        return self._at(base.low)

    def _is_other(self, value: Any, j: int) -> bool:
        here = self._at(j)  # -0.0 equals 0.0 and is another value
        return bool(here != value) or (here == 0 and str(here) != str(value))

    def _cuts(self, most: int) -> list[int]:
        base = self._base
        cuts: list[int] = []
        where = base.low
        while True:
            here = self._at(where)
            where = _least(where, base.high, partial(self._is_other, here))
            if where == base.high:
                return cuts
            cuts.append(where)
            if len(cuts) >= most:
                reason = (
                    f"a number from {self._origin} was used as a value {at()}, and it has more "
                    f"than {most} of them; compare it (u < p), round it to an integer, or have the "
                    "code draw integers by randrange"
                )
                base.source.stop(NotEnumerable(reason))

    @unwatched
    def _map(self, function: Callable[[Any], Any], rising: bool) -> Any:
        """A non-decreasing (or non-increasing) function of this number, without branching."""
        base, inner = self._base, self._apply
        apply = function if inner is None else lambda k: function(inner(k))
        mapped = self._root(base, apply, self._rising == rising, self._origin)
        ends = (base.low, base.high - 1)
        if base.size > 1 and all(mapped._is_step(function, self._at(j), j) for j in ends):
            return mapped
        return function(self.settle())

    def _is_step(self, function: Callable[[Any], Any], value: Any, j: int) -> bool:
        """Whether function(value) is, at one end j, what it is for exact numbers: no error, no NaN,
        no int64 that wrapped.

        Exact arithmetic with a constant is monotone, so what stays exact at both ends does between.
        """
        try:
            result = self._at(j)
        except Exception:  # the program meets it where it settles the number
            return False
        if result != result:
            return False
        if isinstance(value, np.integer) and isinstance(result, np.integer):
            return bool(int(result) == function(int(value)))
        return True


def _named_like(kind: type, root: type[Revealed]) -> type[Revealed]:
    names = {"__slots__": (), "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (root,), names)


_NAMED: dict[type, type[Revealed]] = {}


def _least(low: int, high: int, test: Callable[[int], bool]) -> int:
    """The least j in [low, high) that passes a test, which every larger j then passes; or high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if test(middle) else (middle + 1, high)
    return low
