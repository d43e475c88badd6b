"""The least parameter whose certified delta meets a target, as an enclosure."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp import bisection
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

#: Relative width of delta, where it has a closed form, and of every search.
WIDTH = Fraction(1, 10**12)


def least(at: Callable[[Fraction], Enclosure], target: Fraction, zero: bool) -> Enclosure:
    """The least value whose delta is at most the target; delta does not rise with the value."""
    if zero and at(Fraction(0)).upper <= target:
        return Enclosure.exact(0)
    low = high = Fraction(1)
    step = 2
    while at(low).lower <= target:
        low, step = low / step, min(step * step, 2**64)
        if low < Fraction(1, 2**4000):
            return Enclosure(Fraction(0), low * step)
    step = 2
    while at(high).upper > target:
        high, step = high * step, min(step * step, 2**64)
        if high > 2**4000:
            raise InvalidParameter("delta", target, "one that can be reached")
    while high - low > high * WIDTH:
        middle = _between(low, high)
        here = at(middle)
        if here.upper <= target:
            high = middle
        elif here.lower > target:
            low = middle
        else:  # as close to the boundary as delta is known
            return _around(at, target, low, middle, high)
    return Enclosure(low, high)


def _around(
    at: Callable[[Fraction], Enclosure],
    target: Fraction,
    low: Fraction,
    middle: Fraction,
    high: Fraction,
) -> Enclosure:
    """The nearest decided values on both sides of an undecided one."""
    gap = middle * WIDTH / 2
    while middle - gap > low and at(middle - gap).lower <= target:
        gap *= 2
    left = max(low, middle - gap)
    gap = middle * WIDTH / 2
    while middle + gap < high and at(middle + gap).upper > target:
        gap *= 2
    return Enclosure(left, min(high, middle + gap))


def _between(low: Fraction, high: Fraction) -> Fraction:
    """A short number about half way, by ratio while the ends are far apart."""
    if high > 4 * low:
        up = (high.numerator * low.denominator) // (high.denominator * low.numerator)
        return low * (1 << (up.bit_length() // 2))
    return (low + high) / 2


def least_multiple(
    at: Callable[[Fraction], Enclosure], target: Fraction, step: Fraction
) -> Enclosure:
    """The least multiple of step whose delta is at most the target."""
    low, high, stride = -1, 1, 2
    while at(high * step).upper > target:
        low, high, stride = high, high * stride, min(stride * stride, 2**64)
        if high > 2**4000:
            raise InvalidParameter("delta", target, "one that can be reached")
    return Enclosure.exact(bisection.least(low + 1, high, lambda n: at(n * step) <= target) * step)
