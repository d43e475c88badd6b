"""Laws of integer combinations of discrete Gaussians, with bounds on everything neglected.

A sum of discrete Gaussians is a discrete Gaussian up to a factor that is close to 1 everywhere: for
X ~ N_Z(0, a) and Y ~ N_Z(0, b), P(X + Y = s)/N_Z(0, a + b)(s) is proportional to the sum of
exp(-(x - mu)^2/(2 c)) over integers x, c = a b/(a + b), mu = s a/(a + b). By Poisson summation that
is sqrt(2 pi c) (1 + h) with |h| <= eta = 2 sum_{m >= 1} exp(-2 pi^2 c m^2). Both laws sum to 1, so
the ratio lies in [(1 - eta)/(1 + eta), (1 + eta)/(1 - eta)]. :func:`smoothing` adds the logarithms
of these bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_poly, ctx

from exactdp.balls import FLOOR_BITS, ball
from exactdp.errors import Undecided
from exactdp.normal_sums import sum_above, sum_all, tails

#: Longest list of probabilities.
MOST_TERMS = 1 << 20

#: A factor within exp(+-2^-50) of 1 does not spoil an answer of relative width 1e-12.
_NEGLIGIBLE_BITS = 50

#: Summing up to this many terms costs less than another infinite sum.
_FEW = 32


def above(z: int, sigma2: Fraction) -> arb:
    """P(X > z) for a discrete Gaussian, any integer z."""
    return tails(sigma2).chance(z)


def excess(epsilon: Fraction, sigma2: Fraction, shift: int) -> arb:
    """The hockey-stick divergence of a discrete Gaussian from its own shift >= 1.

    The loss at x + shift is (2 x shift + shift^2)/(2 sigma2); it exceeds epsilon exactly where
    x > t = floor(epsilon sigma2/shift - shift/2), decided in rationals.
    """
    t = math.floor(epsilon * sigma2 / shift - Fraction(shift, 2))
    if t >= 0:
        # E exp(a X) <= exp(a^2 sigma2/2), so P(X >= z) <= exp(-z^2/(2 sigma2)) for z >= 0
        most = (-ball(Fraction((t + 1) ** 2) / (2 * sigma2))).exp().upper()
        if most < arb(2) ** -FLOOR_BITS:
            return most * arb(0.5, 0.5)
    factor = ball(epsilon).exp()
    if t < 0 or shift > _FEW:
        return above(t, sigma2) - factor * above(t + shift, sigma2)
    beyond, rate = sum_above(t + shift, sigma2), -1 / (2 * ball(sigma2))
    between = sum(((rate * z * z).exp() for z in range(t + 1, t + shift + 1)), arb(0))
    return (between - (factor - 1) * beyond) / sum_all(sigma2)


@lru_cache(256)
def is_smooth(count: int, sigma2: Fraction) -> bool:
    """Whether a sum of `count` copies may be replaced by one discrete Gaussian."""
    return count == 1 or bool(smoothing(count, sigma2) < arb(2) ** -_NEGLIGIBLE_BITS)


def smoothing(count: int, sigma2: Fraction) -> arb:
    """An upper bound on |log P(X_1 + .. + X_count = s)/N_Z(0, count sigma2)(s)| over all s."""
    rate, total = 2 * arb.pi() ** 2 * ball(sigma2), arb(0)
    steps = min(count - 1, 64)
    for j in range(1, steps + 1):
        q = (-rate * j / (j + 1)).exp()
        eta = 2 * q / (1 - q)
        if not eta < 1:
            return arb("inf")
        # c increases with j: the last step stands for all later ones
        times = 1 if j < steps else count - steps
        total += times * ((1 + eta) / (1 - eta)).log()
    return total.upper()


@dataclass(frozen=True)
class Masses:
    """Balls around P(T = low + i) for some of the values of T; 1 minus their sum is missing."""

    low: int
    values: tuple[arb, ...]

    def missing(self) -> arb:
        """An upper bound on the probability of all values that are not listed."""
        return (1 - sum(self.values, arb(0))).upper().max(arb(0))

    def stretched(self, factor: int) -> Masses:
        """The law of factor * T."""
        _small(factor * len(self.values))
        values = [arb(0)] * (factor * (len(self.values) - 1) + 1)
        values[::factor] = self.values
        return Masses(factor * self.low, tuple(values))

    def plus(self, other: Masses, reach: int) -> Masses:
        """The law of a sum of independent variables, kept within [-reach, reach]."""
        _small(len(self.values) + len(other.values))
        product = (arb_poly(list(self.values)) * arb_poly(list(other.values))).coeffs()
        low = self.low + other.low
        first = max(-reach - low, 0)
        return Masses(low + first, tuple(product[first : reach - low + 1]))


def sum_of_copies(count: int, sigma2: Fraction) -> tuple[Masses, arb]:
    """The law of X_1 + .. + X_count, up to a factor within exp(+-the second result)."""
    if is_smooth(count, sigma2):
        return _one(count * sigma2), smoothing(count, sigma2)
    return _power(count, sigma2), arb(0)


def combination(parts: Sequence[tuple[int, int, Fraction]]) -> tuple[Masses, arb]:
    """The law of sum_g n_g (sum of count_g copies of variance parameter sigma2_g).

    parts: (n_g, count_g, sigma2_g), n_g >= 1. Precise up to a factor within exp(+-second result).
    """
    total, spread = Masses(0, (arb(1),)), arb(0)
    variance = Fraction(0)
    for factor, count, sigma2 in sorted(parts):
        _small(factor * reach_of(count * sigma2))
        masses, extra = sum_of_copies(count, sigma2)
        spread += extra
        variance += factor**2 * count * sigma2
        total = total.plus(masses.stretched(factor), reach_of(variance))
    return total, spread


def reach_of(variance: Fraction) -> int:
    """A guess at where the tails fall below 2^-prec; the tails beyond are bounded elsewhere."""
    log = math.log(variance.numerator) - math.log(variance.denominator)
    if log > 2 * math.log(2 * MOST_TERMS):
        raise Undecided("the law of the losses has too many values to be listed")
    return int(math.exp(log / 2) * math.sqrt(2 * math.log(2) * (ctx.prec + 16))) + 2


def _small(size: int) -> None:
    if size > MOST_TERMS:
        raise Undecided(
            f"the law of the losses has {size} values, more than {MOST_TERMS}; "
            "exactdp.accounting.pld encloses such compositions less narrowly"
        )


def _one(sigma2: Fraction) -> Masses:
    reach = reach_of(sigma2)
    _small(2 * reach + 1)
    rate, total = 1 / (2 * ball(sigma2)), sum_all(sigma2)
    half = [(-rate * z * z).exp() / total for z in range(reach + 1)]
    return Masses(-reach, (*half[:0:-1], *half))


def _power(count: int, sigma2: Fraction) -> Masses:
    """By repeated squaring, each partial sum kept within its own reach."""
    result, done = Masses(0, (arb(1),)), 0
    square, copies = _one(sigma2), 1
    while True:
        if count & copies:
            done += copies
            result = result.plus(square, reach_of(done * sigma2))
        if done == count:
            return result
        copies *= 2
        square = square.plus(square, reach_of(copies * sigma2))
