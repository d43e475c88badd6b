"""The least threshold of a mechanism whose noisy counters are multiples of a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Instance
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration, Refuted
from exactdp.balls import ball, precision, refine
from exactdp.errors import Undecided
from exactdp.parameters import as_decimal, decimal_text

#: Shares of the target that are tried for the noise; the rest is left to the threshold.
_SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(97, 100))
#: Significant digits of a sigma that is chosen here.
_SIGMA_DIGITS = 6


def calibrated(
    mechanism: str,
    analysis: str,
    at: Callable[[Fraction], Instance],
    *,
    sigma: Fraction,
    start: Fraction,
    step: Fraction,
    given: dict[str, Fraction],
    target: Fraction,
) -> Calibration:
    """The least threshold for a target, by :func:`least_threshold`.

    at: the mechanism with this sigma and a threshold; some threshold must be enough.
    mechanism, analysis, given: only for the record.
    """
    tau, refuted = least_threshold(lambda tau: at(tau).check(target), start, step)
    guarantee = at(tau).kept(target)
    return Calibration(
        mechanism=mechanism,
        analysis=analysis,
        given=given,
        epsilon=guarantee.epsilon,
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
    """The least multiple of step that check proves, and the one below it, which check refutes.

    check: decides a threshold. Larger thresholds have a smaller delta, and some are proved.
    start: about where to look, >= 0.
    """
    search = _Search(check, step)
    low, high = search.bracket(math.ceil(start / step))
    halve = False
    while high - low > 1:
        width, middle = high - low, (low + high) // 2
        if low >= 0 and not halve:
            middle = min(max(search.meeting(low, high), low + 1), high - 1)
        low, high = (low, middle) if search.proved(middle) else (middle, high)
        halve = 2 * (high - low) > width  # the guess did worse than halving
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
        """A threshold that is refuted (-1: counters of any size are shown), and one that is proved.

        The search moves away from `first` in strides that double. Where the last two values of
        delta suggest a larger stride, it takes that one, but not more than 64 times its own.
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
        """A guess at where delta meets the target: the logarithm of delta is almost linear."""
        one, other = self.seen[a], self.seen[b]
        with precision(64):
            logs = [_log(d, one.target) for d in (one.delta.upper, other.delta.upper, one.target)]
        share = (logs[0] - logs[2]) / (logs[0] - logs[1]) if logs[0] != logs[1] else 0.5
        return a + round(Fraction(min(max(share, -64.0), 64.0)) * (b - a))


def _log(value: Fraction, instead: Fraction) -> float:
    return float(ball(value or instead).log().mid())


def likely_threshold(sigma: Fraction, k: int, target: Fraction) -> Fraction:
    """A guess at the threshold that one of k normal variables passes with probability `target`."""
    log = math.log(k) + math.log(target.denominator) - math.log(target.numerator)
    # P(X > t) is about exp(-t^2/2)/(t sqrt(2 pi))
    square = 2 * log - math.log(4 * math.pi * log) if log > 1 else log
    return sigma * Fraction(math.sqrt(max(square, 0)))


def sigmas_by_zcdp(weight: Fraction, *, epsilon: Fraction, target: Fraction) -> list[Fraction]:
    """Short decimals sigma for which noise of (weight/sigma^2)-zCDP uses a share of the target.

    One sigma for each of several shares; only choices, of which the caller takes the best.
    """
    return [_sigma_by_zcdp(weight, epsilon, share * target) for share in _SHARES]


def _sigma_by_zcdp(weight: Fraction, epsilon: Fraction, target: Fraction) -> Fraction:
    budget = zcdp.rho(epsilon=epsilon, delta=target).lower
    least = refine(lambda: (ball(weight) / ball(budget)).sqrt()).upper
    up = Context(prec=_SIGMA_DIGITS, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(least.numerator), Decimal(least.denominator)))
