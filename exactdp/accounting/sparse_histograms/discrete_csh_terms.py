"""The two exact parts of the delta of the discrete correlated sparse histogram (CSH).

`noise` is the part of the shared counters, and `Showing` the part of the threshold. The notation is
that of :mod:`discrete_csh`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from flint import arb, ctx

from exactdp.accounting.certify.gaussian_sums import is_smooth, reach_of, smoothing, sum_of_copies
from exactdp.balls import FLOOR_BITS, ball
from exactdp.errors import Undecided
from exactdp.normal_sums import tails

#: Largest number of values of the shared noise that are summed; a calibration then takes ten
#: seconds.
_MOST_SHARED = 1 << 15


def zcdp_bound(rho: arb, epsilon: arb) -> arb:
    """The delta of rho zero-concentrated differential privacy (zCDP), by CSH Lemma 7.3."""
    room = (epsilon - rho).max(arb(0))
    return (-room * room / (4 * rho)).exp()


@dataclass(frozen=True)
class Shared:
    """P(Z = z) for -reach <= z <= reach + 1, and an upper bound on P(|Z| > reach)."""

    reach: int
    values: tuple[arb, ...]
    missing: arb


@lru_cache(16)
def shared_law(k: int, variance: Fraction, bits: int) -> Shared:
    """The law of the shared noise, whose parameter V/sqrt k need not be rational."""
    reach = reach_of(variance / max(math.isqrt(k), 1))
    if reach > _MOST_SHARED:
        raise Undecided(f"the shared noise has more than {_MOST_SHARED} likely values")
    rate = arb(k).sqrt() / (2 * ball(variance))
    half = [(-rate * z * z).exp() for z in range(reach + 2)]
    # exp(-rate z^2) falls by more than exp(-2 rate reach) with every step beyond reach + 1
    rest = 2 * half[-1] / (1 - (-2 * rate * (reach + 1)).exp())
    total = 2 * sum(half[1:-1], arb(0)) + half[0] + rest * arb(0.5, 0.5)
    values = [w / total for w in half]
    return Shared(reach, (*values[-2:0:-1], *values), (rest / total).upper())


@lru_cache(512)
def noise(j: int, k: int, variance: Fraction, epsilon: Fraction, bits: int) -> arb:
    """delta of j + 1 coordinates that move by one: P(loss > epsilon) - e^epsilon
    P'(loss > epsilon).

    Where e^epsilon magnifies the errors too much, the bound through zCDP is returned, which is
    narrower.
    """
    rho = (j + arb(k).sqrt()) / (2 * ball(variance))
    most = zcdp_bound(rho, ball(epsilon)).upper()
    if most < arb(2) ** -FLOOR_BITS:
        return most * arb(0.5, 0.5)
    shared, tail, spread = shared_law(k, variance, bits), sum_tail(j, variance), arb(0)
    if is_smooth(j, variance):
        spread = smoothing(j, variance) if j > 1 else spread
    limit = variance * epsilon - Fraction(j, 2)
    factor, total = ball(epsilon).exp(), arb(0)
    for index, here in enumerate(shared.values[:-1]):
        t = _floor_minus_root(limit, 2 * (index - shared.reach) + 1, k)
        total += here * tail(t) - factor * shared.values[index + 1] * tail(t + j)
    total = total * (spread * arb(0, 1)).exp() + shared.missing * arb(0.5, 0.5)
    return most * arb(0.5, 0.5) if most < total.rad() else total


def _floor_minus_root(limit: Fraction, times: int, k: int) -> int:
    """floor(limit - times sqrt(k)/2), exactly; only an integer sqrt k can give an integer."""
    d = limit.denominator
    square = d * d * times * times * k
    root = math.isqrt(square)
    if times > 0:
        root = -root if root * root == square else -root - 1
    return (2 * limit.numerator + root) // (2 * d)


class _Tail:
    """P(A > z) for a sum of copies, from a list of probabilities."""

    def __init__(self, copies: int, variance: Fraction) -> None:
        masses, _ = sum_of_copies(copies, variance)
        self.low, self.values = masses.low, masses.values
        self.tails = list(accumulate(reversed(masses.values), initial=arb(0)))[::-1]
        self.rest = masses.missing() * arb(0.5, 0.5)

    def __call__(self, z: int) -> arb:
        index = min(max(z + 1 - self.low, 0), len(self.values))
        return self.tails[index] + self.rest


def sum_tail(copies: int, variance: Fraction) -> Callable[[int], arb]:
    """P(A > z), up to a factor within exp(+-smoothing) where the sum is smooth."""
    if is_smooth(copies, variance):
        return tails(copies * variance).chance
    return _Tail(copies, variance)


@dataclass(frozen=True)
class Showing:
    """For each value of the shared noise: its probability, and log P(a counter is not released)."""

    shared: Shared
    logs: tuple[arb, ...]

    @classmethod
    def of(cls, k: int, variance: Fraction, tau: Fraction) -> Showing:
        shared = shared_law(k, variance, ctx.prec)
        most = math.floor(2 * tau) + shared.reach
        return cls(shared, tuple(_log_cdfs(most, len(shared.values) - 1, variance)))

    def any_of(self, r: int) -> arb:
        """P(at least one of r counters is released)."""
        pairs = zip(self.shared.values, self.logs, strict=False)
        total = sum((p * -(r * log).expm1() for p, log in pairs), arb(0))
        return total + self.shared.missing * arb(0.5, 0.5)


def _log_cdfs(most: int, count: int, variance: Fraction) -> list[arb]:
    """log P(Z_i <= z) for z = most, most - 1, ..., most - count + 1."""
    least, noise_tails = most - count + 1, tails(variance)
    logs = []
    if most >= 0:
        logs += [(-p).log1p() for p in reversed(noise_tails.chances(max(least, 0), most))]
    if least < 0:  # the law is symmetric
        logs += [p.log() for p in noise_tails.chances(max(-most - 1, 0), -least - 1)]
    return logs
