"""The least threshold of a mechanism whose counters are multiples of a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Refuted
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.parameters import as_decimal, decimal_text

__all__ = ["least_threshold", "likely_threshold"]


def least_threshold(
    check: Callable[[Fraction], Check], start: Fraction, step: Fraction
) -> tuple[Fraction, Refuted | None]:
    """The least multiple of step that check proves, beside the one below it, which it refutes.

    check: falls with tau, and some tau is proved. start: about where to look, >= 0.
    """
    seen: dict[int, Check] = {}

    def proved(n: int) -> bool:
        seen[n] = found = check(n * step)
        if found.verdict == "undecided":
            raise Undecided(f"whether tau = {decimal_text(n * step)} is enough is not decided")
        return found.verdict == "proved"

    high, stride = math.ceil(start / step), 1
    low = -1  # everything is shown there
    while not proved(high):
        low, high, stride = high, high + stride, 2 * stride
    stride = 1
    while low < 0 <= high - stride:
        if proved(high - stride):
            high, stride = high - stride, 2 * stride
        else:
            low = high - stride
    halve = False
    while high - low > 1:
        width, middle = high - low, (low + high) // 2
        if low >= 0 and not halve:
            middle = _between(low, high, seen[low].delta, seen[high].delta, seen[high].target)
        low, high = (low, middle) if proved(middle) else (middle, high)
        halve = 2 * (high - low) > width  # the guess has not done better than a half would have
    refuted = None if low < 0 else Refuted(as_decimal(low * step), seen[low].delta)
    return high * step, refuted


def _between(low: int, high: int, above: Enclosure, below: Enclosure, target: Fraction) -> int:
    """About where delta meets the target, its logarithm being almost linear: a hint."""
    with precision(64):
        logs = [float(ball(d).log().mid()) for d in (above.upper, below.upper or target, target)]
    share = (logs[0] - logs[2]) / (logs[0] - logs[1]) if logs[0] > logs[1] else 0.5
    return min(max(low + round(share * (high - low)), low + 1), high - 1)


def likely_threshold(sigma: Fraction, k: int, target: Fraction) -> Fraction:
    """About where one of k normal variables passes with the target probability: a hint."""
    log = math.log(target.numerator) - math.log(target.denominator)
    return sigma * Fraction(math.sqrt(2 * max(math.log(k) - log, 0)))
