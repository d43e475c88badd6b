"""The least threshold of a mechanism whose counters are multiples of a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration, Refuted
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.parameters import as_decimal, decimal_text


def calibrated(
    mechanism: str,
    analysis: str,
    check: Callable[[Fraction], Check],
    promise: Callable[[Fraction], Guarantee],
    *,
    sigma: Fraction,
    start: Fraction,
    step: Fraction,
    given: dict[str, Fraction],
    epsilon: Fraction,
    target: Fraction,
) -> Calibration:
    """The least threshold at a sigma at which some threshold is enough; see least_threshold.

    check, promise: the mechanism with this noise and a threshold. The rest is for the record.
    """
    tau, refuted = least_threshold(check, start, step)
    guarantee = promise(tau)
    return Calibration(
        mechanism=mechanism,
        analysis=analysis,
        given=given,
        epsilon=epsilon,
        target=target,
        sigma=as_decimal(sigma),
        tau=as_decimal(tau),
        delta=guarantee.delta,
        refuted=refuted,
        guarantee=guarantee,
    )


def least_threshold(
    check: Callable[[Fraction], Check], start: Fraction, step: Fraction
) -> tuple[Fraction, Refuted | None]:
    """The least multiple of step that check proves, beside the one below it, which it refutes.

    check: falls with tau, and some tau is proved. start: about where to look, >= 0.
    """
    search = _Search(check, step)
    low, high = search.bracket(math.ceil(start / step))
    halve = False
    while high - low > 1:
        width, middle = high - low, (low + high) // 2
        if low >= 0 and not halve:
            middle = min(max(search.meeting(low, high), low + 1), high - 1)
        low, high = (low, middle) if search.proved(middle) else (middle, high)
        halve = 2 * (high - low) > width  # the guess has not done better than a half would have
    refuted = None if low < 0 else Refuted(as_decimal(low * step), search.seen[low].delta)
    return high * step, refuted


class _Search:
    """Thresholds that were checked, as multiples of a step."""

    def __init__(self, check: Callable[[Fraction], Check], step: Fraction) -> None:
        self._check, self._step = check, step
        self.seen: dict[int, Check] = {}

    def proved(self, n: int) -> bool:
        if n not in self.seen:
            self.seen[n] = self._check(n * self._step)
        if self.seen[n].verdict == "undecided":
            tau = decimal_text(n * self._step)
            raise Undecided(f"whether tau = {tau} is enough is not decided")
        return self.seen[n].verdict == "proved"

    def bracket(self, first: int) -> tuple[int, int]:
        """A threshold that is refuted (-1: everything is shown there) and one that is proved.

        Away from the first in strides that double, or to where the last two say that delta meets
        the target, whichever is further, but not beyond 64 strides.
        """
        up, stride = not self.proved(first), max(first >> 10, 1)
        last, here = first, max(first + stride if up else first - stride, -1)
        while here >= 0 and self.proved(here) != up:
            further = self.meeting(last, here)
            if up:
                step = min(max(further + stride // 8 - here, stride), 64 * stride)
            else:
                step = -min(max(here - further + stride // 8, stride), 64 * stride)
            last, here, stride = here, max(here + step, -1), 2 * stride
        return (last, here) if up else (here, last)

    def meeting(self, a: int, b: int) -> int:
        """About where delta meets the target, its logarithm being almost linear: a hint."""
        one, other = self.seen[a], self.seen[b]
        with precision(64):
            logs = [_log(d, one.target) for d in (one.delta.upper, other.delta.upper, one.target)]
        share = (logs[0] - logs[2]) / (logs[0] - logs[1]) if logs[0] != logs[1] else 0.5
        return a + round(Fraction(min(max(share, -64.0), 64.0)) * (b - a))


def _log(value: Fraction, instead: Fraction) -> float:
    return float(ball(value or instead).log().mid())


def likely_threshold(sigma: Fraction, k: int, target: Fraction) -> Fraction:
    """About where one of k normal variables passes with the target probability: a hint."""
    log = math.log(k) + math.log(target.denominator) - math.log(target.numerator)
    # P(X > t) is about exp(-t^2/2)/(t sqrt(2 pi))
    square = 2 * log - math.log(4 * math.pi * log) if log > 1 else log
    return sigma * Fraction(math.sqrt(max(square, 0)))
