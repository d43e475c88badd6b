"""Sums of f(k) = exp(-k^2/(2 sigma^2)) over integers k, as balls, for any sigma > 0.

Small sigma: term by term, with a geometric bound on the rest. Large sigma: Euler-Maclaurin at the
midpoint, whose remainder after m terms is at most
4 (2 pi)^(-2m) sigma^(1-2m) sqrt(2 pi (2m)!),
as |B_2m|/(2m)! <= 4/(2 pi)^(2m) and E|He_n(Z)| <= sqrt(n!) for a standard normal Z. For
x = z/sigma beyond all zeros of He_2m (x^2 >= 8m + 2), the last factor is He_(2m-1)(x) exp(-x^2/2)
instead: small even beside the sum itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache

from flint import arb, ctx

from exactdp.balls import ball

#: Approximate largest number of terms that are summed one by one.
_MOST_TERMS = 1 << 16

_ONE, _HALF, _ZERO_ONE = arb(1), arb(0.5), arb(0, 1)


def sum_all(sigma2: Fraction) -> arb:
    """The sum of f over all integers."""
    return _sum_all(sigma2, ctx.prec)


@lru_cache(256)
def _sum_all(sigma2: Fraction, bits: int) -> arb:
    """The sum of f over all integers. bits: the working precision, which must already be set."""
    if sigma2 < 1:
        return 1 + 2 * _term_by_term(0, sigma2)
    # Poisson summation; terms beyond the last are less than twice the first one dropped
    rate, total, m = 2 * arb.pi() ** 2 * ball(sigma2), arb(1), 0
    while True:
        m += 1
        term = 2 * (-rate * m * m).exp()
        total += term
        if term < arb(2) ** -(bits + 8):
            break
    rest = 2 * (-rate * (m + 1) ** 2).exp()
    return (2 * arb.pi() * ball(sigma2)).sqrt() * (total + arb(0, 2 * rest.upper()))


def sum_above(z: int, sigma2: Fraction) -> arb:
    """The sum of f(k) over k > z, for z >= 0."""
    return tails(sigma2).sum_above(z)


def tails(sigma2: Fraction) -> Tails:
    """The cached Tails for sigma^2 at the working precision."""
    return _tails(sigma2, ctx.prec)


@lru_cache(256)
def _tails(sigma2: Fraction, _bits: int) -> Tails:
    return Tails(sigma2)


class Tails:
    """Sums of f beyond many points, at the working precision when the object was made."""

    def __init__(self, sigma2: Fraction) -> None:
        self._sigma2, self._bits = sigma2, ctx.prec
        self._wide = math.floor(sigma2 * ctx.prec)
        self._orders = _orders(sigma2, ctx.prec) if sigma2 > 1 else None
        self._rules: dict[int, _Rule] = {}

    @cached_property
    def _every(self) -> arb:
        return sum_all(self._sigma2)

    def chance(self, z: int) -> arb:
        """P(X > z) for a discrete Gaussian X, any integer z."""
        if z < 0:
            return 1 - self.sum_above(-z - 1) / self._every
        return self.sum_above(z) / self._every

    def chances(self, low: int, high: int) -> list[arb]:
        """P(X > z) for low <= z <= high, low >= 0, summed from the far end."""
        rate, total = 1 / (2 * ball(self._sigma2)), self.sum_above(high)
        sums = [total]
        for z in range(high, low, -1):
            total += (-rate * z * z).exp()
            sums.append(total)
        return [value / self._every for value in reversed(sums)]

    def sum_above(self, z: int) -> arb:
        """The sum of f(k) over k > z, for z >= 0."""
        # an absolute error bound says nothing where the sum itself is smaller
        orders = self._orders
        if z * z > self._wide and z * _MOST_TERMS > self._wide:
            orders = _orders_beyond(z, self._sigma2, self._bits) if self._sigma2 > 1 else None
        if orders is None:
            return _term_by_term(z, self._sigma2)
        if orders not in self._rules:
            self._rules[orders] = _Rule(self._sigma2, orders)
        return self._rules[orders](z)


class _Rule:
    """Euler-Maclaurin at the midpoint with `orders` terms; holds the factors that are free of z."""

    def __init__(self, sigma2: Fraction, orders: int) -> None:
        variance, pi = ball(sigma2), arb.pi()
        self._sigma = sigma = variance.sqrt()
        self._scale, self._root = sigma * (pi / 2).sqrt(), arb(2).sqrt()
        # f^(n) at the midpoint is -He_n(x) exp(-x^2/2)/sigma^n for odd n
        self._coefficients = [
            (arb(2) ** (1 - 2 * j) - 1)
            * arb.bernoulli(2 * j)
            / (arb.fac_ui(2 * j) * sigma * variance ** (j - 1))
            for j in range(1, orders + 1)
        ]
        self._rest = 4 * (2 * pi) ** (-2 * orders) * sigma ** (1 - 2 * orders)
        self._derivatives = (2 * pi * arb.fac_ui(2 * orders)).sqrt()
        self._beyond_zeros = math.ceil((8 * orders + 2) * sigma2)

    def __call__(self, z: int) -> arb:
        x = (z + _HALF) / self._sigma
        value = (-x * x / 2).exp()
        before, here, last, corrections = _ONE, x, x, arb(0)  # He_0, He_1, the last of odd degree
        for j, coefficient in enumerate(self._coefficients):
            corrections += coefficient * here
            last = here
            for order in (2 * j + 1, 2 * j + 2):
                before, here = here, x * here - order * before
        derivatives = self._derivatives
        if z * z >= self._beyond_zeros:
            derivatives = derivatives.min(last * value)
        total = self._scale * (x / self._root).erfc() + corrections * value
        return total + _ZERO_ONE * (self._rest * derivatives)


@lru_cache(256)
def _orders(sigma2: Fraction, bits: int) -> int | None:
    """Estimated number of Euler-Maclaurin terms for an error of 2^-bits; None if too many."""
    log_variance = _log(sigma2)
    for m in range(1, 200):
        log_rest = math.log(4) - 2 * m * math.log(2 * math.pi) - m * log_variance
        log_rest += math.lgamma(2 * m + 1) / 2
        if log_rest < -(bits + 8) * math.log(2):
            return m
    return None


def _orders_beyond(z: int, sigma2: Fraction, bits: int) -> int | None:
    """Estimated number of terms for a relative error of 2^-bits in the sum beyond z.

    None if z is not beyond the zeros of the Hermite polynomial.
    """
    log_gain = math.log(2 * math.pi) + _log(sigma2) - math.log(z)
    if log_gain <= 0:
        return None
    m = math.ceil((bits + 10) * math.log(2) / (2 * log_gain))
    return m if (8 * m + 2) * sigma2 <= z * z else None


def _log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def _term_by_term(z: int, sigma2: Fraction) -> arb:
    rate = 1 / (2 * ball(sigma2))
    k, total = z, arb(0)
    negligible = (-rate * (z + 1) ** 2).exp() * arb(2) ** -(ctx.prec + 8)
    while True:
        k += 1
        term = (-rate * k * k).exp()
        total += term
        if not term > negligible:
            break
    # f(k + 1 + i) <= f(k + 1) exp(-(k + 1) i / sigma^2)
    first, ratio = (-rate * (k + 1) ** 2).exp(), (-2 * rate * (k + 1)).exp()
    rest = first / (1 - ratio)
    return total + rest * arb(0.5, 0.5)


def variance(sigma2: Fraction) -> arb:
    """The sum of k^2 f(k) over the sum of f(k).

    Poisson summation gives v(s) = s - 4 pi^2 s^2 v(1/(4 pi^2 s)), which is used where it converges
    faster.
    """
    if sigma2 < Fraction(1, 6):
        return _spread(1 / (2 * ball(sigma2)))
    dual = 2 * arb.pi() ** 2 * ball(sigma2)
    return ball(sigma2) - dual**2 * _spread(dual) / arb.pi() ** 2


def _spread(rate: arb) -> arb:
    """The mean of k^2 under weights exp(-rate k^2), rate >= 3.

    From k = 1 on, each term k^2 exp(-rate k^2) is less than 1/1000 of the previous term: the ratio
    is at most ((k + 1)/k)^2 exp(-rate (2k + 1)) <= 4 exp(-9) = 0.0005.
    """
    first = (-rate).exp()
    squares, total, k, term = first, first, 1, first
    while term > first * arb(2) ** -(ctx.prec + 8):
        k += 1
        term = k * k * (-rate * k * k).exp()
        squares += term
        total += term / (k * k)
    rest = arb(0, 1) * term / 100
    return 2 * (squares + rest) / (1 + 2 * (total + rest))
