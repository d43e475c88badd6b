"""Bisection: where a condition begins to hold that holds from some point on and nowhere below."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

_Number = TypeVar("_Number", Fraction, float)


def least(low: int, high: int | None, holds: Callable[[int], bool]) -> int:
    """The least integer from low to high for which a condition holds.

    high: the answer if the condition holds for no smaller integer; it is not tested itself. None if
    the condition holds for all large integers, which are then tried by doubling `low` >= 0.

    >>> least(0, 10, lambda n: n * n >= 50), least(0, None, lambda n: n * n >= 50)
    (8, 8)
    """
    if high is None:
        high = low
        while not holds(high):
            low, high = high + 1, 2 * high + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def halved(
    low: _Number,
    high: _Number,
    holds: Callable[[_Number], bool],
    *,
    times: int = 1000,
    width: Fraction | float = 0,
) -> tuple[_Number, _Number]:
    """Two ends between which a condition begins to hold: the second has it, the first has not.

    low, high: such ends, in any order. times: of halving, at most; it ends early when the distance
    of the ends is at most `width`.

    >>> halved(Fraction(0), Fraction(2), lambda x: x * x >= 2, times=4)
    (Fraction(11, 8), Fraction(3, 2))
    """
    for _ in range(times):
        if abs(high - low) <= width:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
