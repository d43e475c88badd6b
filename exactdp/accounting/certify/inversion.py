"""The least parameter whose certified delta meets a target, as an enclosure."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from exactdp import bisection
from exactdp.accounting.certify.hints import log
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

#: Relative width of delta, where it has a closed form, and of every search.
WIDTH = Fraction(1, 10**12)

#: A guess takes this many bits more than the ends of the search have.
_GUESS_BITS = 24

#: Values from 2^-_MOST_BITS to 2^_MOST_BITS are searched.
_MOST_BITS = 4000

_At = Callable[[Fraction], Enclosure]


def least(at: _At, target: Fraction, zero: bool) -> Enclosure:
    """The least value whose delta is at most the target; delta does not rise with the value.

    at: an enclosure of delta, which may be wide where it does not contain the target. zero: whether
    the value 0 is allowed. Raises InvalidParameter where no value below 2^4000 is enough.
    """
    if zero and at(Fraction(0)).upper <= target:
        return Enclosure.exact(0)
    low = high = Fraction(1)
    step = 2
    while (below := at(low)).lower <= target:
        low, step = low / step, min(step * step, 2**64)
        if low < Fraction(1, 2**_MOST_BITS):
            return Enclosure(Fraction(0), _least_power(at, target))
    step = 2
    while (above := at(high)).upper > target:
        high, step = high * step, min(step * step, 2**64)
        if high > 2**_MOST_BITS:
            raise _never(target)
    halve = False
    while (width := high - low) > high * WIDTH:
        middle = _between(low, high) if halve else _guess(low, below, high, above, target)
        here = at(middle)
        if here.upper <= target:
            high, above = middle, here
        elif here.lower > target:
            low, below = middle, here
        else:  # as close to the boundary as delta is known
            return _around(at, target, low, middle, high)
        halve = 2 * (high - low) > width  # the guess did worse than halving
    return Enclosure(low, high)


def _least_power(at: _At, target: Fraction) -> Fraction:
    """The least power of 2 whose delta provably meets the target."""
    most = _MOST_BITS

    def keeps(exponent: int) -> bool:
        return at(Fraction(2) ** exponent).upper <= target

    exponent = bisection.least(-most, most + 1, keeps)
    if exponent > most:
        raise _never(target)
    return Fraction(2) ** exponent


def _never(target: Fraction) -> InvalidParameter:
    return InvalidParameter(
        "delta", target, f"a delta that some value up to 2^{_MOST_BITS} provably keeps"
    )


def _guess(
    low: Fraction, below: Enclosure, high: Fraction, above: Enclosure, target: Fraction
) -> Fraction:
    """Where the logarithm of delta meets the target on a line through both ends.

    The guess moves towards the farther end, by the square of the relative width, so that both ends
    approach.
    """
    if high > 4 * low or not above.upper:
        return _between(low, high)
    one, other = (log(end / target) for end in (below.lower, above.upper))
    share = one / (one - other) if one > other else 0.5
    move = float((high - low) / high) / 8
    share += max(move, 2.0 ** (2 - _GUESS_BITS)) * (1 if share < 0.5 else -1)
    grain = 1 << _GUESS_BITS
    return low + (high - low) * Fraction(min(max(round(share * grain), 1), grain - 1), grain)


def _around(
    at: _At, target: Fraction, low: Fraction, middle: Fraction, high: Fraction
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


def least_multiple(at: _At, target: Fraction, step: Fraction) -> Enclosure:
    """The least multiple of step whose delta is at most the target."""
    low, high, stride = -1, 1, 2
    while at(high * step).upper > target:
        low, high, stride = high, high * stride, min(stride * stride, 2**64)
        if high > 2**_MOST_BITS:
            raise _never(target)
    return Enclosure.exact(bisection.least(low + 1, high, lambda n: at(n * step) <= target) * step)
