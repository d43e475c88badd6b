"""What one event costs: the least privacy parameter that allows probabilities p and q.

An event of probability p on one data set and q < p on its neighbour is a test of one bit, and
every notion of privacy bounds what one bit may show (data processing). Each measure here is a lower
bound, rounded down, on the parameter needed for such a pair; it rises with p and falls with q, so
its value at the corner of a confidence region holds for the whole region. The event's complement
(1 - q against 1 - p, the data sets swapped) is taken into account: a promise is about both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.balls import ball, refine

#: (p, q) -> a lower bound on the parameter that allows them
Measure: TypeAlias = Callable[[Fraction, Fraction], Fraction]

_ENDLESS = Fraction(10) ** 400  # where no finite parameter is enough, any number is a lower bound
_ORDERS = 1 + 2.0 ** np.linspace(-20, 24, 353)  # alpha: where D_alpha/alpha is looked for
_GRIDS, _POINTS = 5, 17  # grids in the search for the best alpha, and points of each grid


def delta_at(epsilon: Fraction) -> Measure:
    """delta at this epsilon: p - e^epsilon q."""
    factor = exp_upper(epsilon)
    return lambda p, q: p - factor * q


def epsilon_at(delta: Fraction) -> Measure:
    """epsilon at this delta: ln((p - delta)/q)."""

    def least(p: Fraction, q: Fraction) -> Fraction:
        if p - delta <= q:
            return Fraction(0)
        return _lower(lambda: (ball(p - delta) / ball(q)).log()) if q else _ENDLESS

    return least


def excess_over(points: Sequence[tuple[Fraction, Fraction]]) -> Measure:
    """By how much delta(epsilon) exceeds a curve given at some points (epsilon, delta)."""
    curve = [(exp_upper(epsilon), delta) for epsilon, delta in points]

    def least(p: Fraction, q: Fraction) -> Fraction:
        return max(
            max(p - factor * q, (1 - q) - factor * (1 - p)) - delta for factor, delta in curve
        )

    return least


def renyi_at(alpha: Fraction) -> Measure:
    """The Renyi divergence of order alpha > 1, the larger of both orders."""

    def least(p: Fraction, q: Fraction) -> Fraction:
        return _divergence(p, q, alpha) if p > q else Fraction(0)

    return least


def rho(p: Fraction, q: Fraction) -> Fraction:
    """rho of zero-concentrated privacy: the supremum of D_alpha/alpha over alpha > 1.

    Every alpha yields a lower bound; floats propose the best one. Source: Bun and Steinke,
    Concentrated Differential Privacy (TCC 2016), Definition 1.1.
    """
    if p <= q:
        return Fraction(0)
    alpha = Fraction(_best_order(float(p), float(q)))
    return _divergence(p, q, alpha) / alpha


def mu(p: Fraction, q: Fraction) -> Fraction:
    """mu of Gaussian differential privacy: Phi^-1(p) - Phi^-1(q).

    Source: Dong, Roth, Su, Gaussian Differential Privacy (JRSS-B 2022), Definition 2.6.
    """
    if p <= q:
        return Fraction(0)
    if not q or p == 1:
        return _ENDLESS
    return _lower(lambda: _probit(p) - _probit(q))


@lru_cache(maxsize=256)
def exp_upper(epsilon: Fraction) -> Fraction:
    """e^epsilon, rounded up."""
    return refine(lambda: ball(epsilon).exp(), relative_width=Fraction(1, 10**20)).upper


def float_renyi(p: float, q: float, alpha: Any) -> NDArray[np.float64]:
    """Approximate D_alpha of two coins, the larger of both orders; alpha may be an array."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        hit, miss = np.log(p / q), np.log1p(-p) - np.log1p(-q)
        one = np.logaddexp(alpha * hit + np.log(q), alpha * miss + np.log1p(-q))
        two = np.logaddexp(np.log(p) - alpha * hit, np.log1p(-p) - alpha * miss)
        return np.asarray(np.fmax(one, two) / (alpha - 1))


def float_rho(p: float, q: float) -> float:
    """Approximate rho of two coins."""
    return float(np.nanmax(float_renyi(p, q, _ORDERS) / _ORDERS))


def float_mu(p: float, q: float) -> float:
    """Approximate mu of two coins."""
    return float(-(arb(2 * p).erfcinv() - arb(2 * q).erfcinv()) * arb(2).sqrt())


def _best_order(p: float, q: float) -> float:
    """About the alpha with the largest D_alpha/alpha: the best point of ever narrower grids."""
    orders = _ORDERS
    for _ in range(_GRIDS):
        values = np.nan_to_num(float_renyi(p, q, orders) / orders, nan=-1.0, posinf=-1.0)
        best = int(np.argmax(values))
        low, high = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
        orders = np.linspace(low, high, _POINTS)
    return float(orders[_POINTS // 2])


@lru_cache(maxsize=4096)
def _divergence(p: Fraction, q: Fraction, alpha: Fraction) -> Fraction:
    """max(D_alpha(p || q), D_alpha(q || p)) for two coins with p > q, rounded down."""
    if not q or p == 1:
        return _ENDLESS
    return max(
        _lower(lambda: _order(p, q, alpha)),
        _lower(lambda: _order(q, p, alpha)),
    )


def _order(p: Fraction, q: Fraction, alpha: Fraction) -> arb:
    a, rest = ball(alpha), ball(1 - alpha)
    hit = a * ball(p).log() + rest * ball(q).log()
    miss = a * ball(1 - p).log() + rest * ball(1 - q).log()
    return (hit.exp() + miss.exp()).log() / ball(alpha - 1)


def _probit(p: Fraction) -> arb:
    return -arb(2).sqrt() * ball(2 * p).erfcinv()


def _lower(compute: Callable[[], arb]) -> Fraction:
    """A lower bound of a positive number, at most one part in 10^12 below it."""
    return refine(compute, relative_width=Fraction(1, 10**12)).lower
