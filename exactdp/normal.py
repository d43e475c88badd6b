"""The standard normal distribution in ball arithmetic: Phi, tail, density and a divergence.

cdf, tail and pdf take real balls (arb) and complex ones (acb), whose analytic continuation they
return.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from flint import acb, arb, ctx

Number = TypeVar("Number", arb, acb)


def cdf(x: Number) -> Number:
    """Phi(x), accurate in both tails of the real line."""
    return (-x * _inverse_root_two()).erfc() / 2


def tail(x: Number) -> Number:
    """1 - Phi(x), accurate in both tails of the real line."""
    return (x * _inverse_root_two()).erfc() / 2


def pdf(x: Number) -> Number:
    """The standard normal density at x."""
    return (-x * x / 2).exp() * _inverse_root_two_pi_at(ctx.prec)


def hockey_stick(epsilon: arb, mu: arb) -> arb:
    """Ball around Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu); epsilon may be < 0.

    This is the hockey-stick divergence between N(mu, 1) and N(0, 1), mu > 0: it rises with mu and
    falls with epsilon.
    """
    if epsilon.is_zero():  # one term instead of a difference that cancels where mu is small
        return (mu * _inverse_root_two() / 2).erf()
    t = epsilon / mu
    half = mu / 2
    return cdf(half - t) - raised_tail(epsilon.exp(), half + t, lambda: pdf(half - t))


def raised_tail(factor: arb, x: arb, density: Callable[[], arb]) -> arb:
    """factor (1 - Phi(x)), even where the factor overflows Arb's exponents.

    density: returns factor times the normal density at x without computing the factor. Mills'
    inequality then gives both ends: phi(x)/x (1 - 1/x^2) < 1 - Phi(x) < phi(x)/x for x > 0.
    """
    product = factor * tail(x)
    if product > 0 or not x > 0:
        return product
    most = density() / x
    return (most * (1 - 1 / (x * x)).max(arb(0))).union(most)


def _inverse_root_two() -> arb:
    return _inverse_root_two_at(ctx.prec)


@lru_cache(64)
def _inverse_root_two_at(_bits: int) -> arb:
    return arb(2).rsqrt()


@lru_cache(64)
def _inverse_root_two_pi_at(_bits: int) -> arb:
    return (2 * arb.pi()).rsqrt()
