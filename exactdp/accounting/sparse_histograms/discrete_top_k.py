"""Top-k counts with the (k + 1)-th largest count released too, with discrete noise.

That count gets Z'/2, Z' ~ N_Z(0, 4 sigma^2/sqrt k), and costs 4 sqrt(k) more in k + sqrt(k): the
noise part is (k + 5 sqrt k)/(8 sigma^2)-zCDP. Its noise is no part of the threshold's, which is
that of the correlated histogram: a union over its shared and its independent noise. Top-k without
the base has the delta of discrete_csh.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

from flint import arb

from exactdp.accounting import zcdp
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.sparse_histograms.least_threshold import calibrated, likely_threshold
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, counters, delta_target, non_negative, positive

__all__ = ["DEFAULT_ANALYSIS", "SOURCE", "calibrate", "check", "delta", "roots"]

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 4 and Theorem 7.7, zCDP with k + 5 sqrt k"

_NEIGHBOURS = (
    "add-remove neighbours: one user added or removed, changing any number of counters by one"
)

#: Shares of the target given to the noise; the one with the smallest threshold is taken.
_SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(97, 100))
_SIGMA_DIGITS = 6


def delta(*, k: int, sigma: Real, tau: Real, epsilon: Real) -> Enclosure:
    """An upper bound on delta of top-k with its base.

    k: counters released, >= 1. sigma: > 0; a counter gets half of N_Z(0, 4 sigma^2), and half of
    one shared N_Z(0, 4 sigma^2/sqrt k). tau: >= 0. epsilon: >= 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: CSH, Section 4 (after Corollary 4.2), Theorem 7.7.

    >>> from exactdp.accounting import discrete_top_k
    >>> print(discrete_top_k.delta(k=10, sigma=32, tau=190, epsilon="0.35"))
    [0.000784502725, 0.0007845027251]
    """
    number, variance = counters(k), 4 * positive("sigma", sigma) ** 2
    reach = non_negative("tau", tau)
    rho = (number + 5 * roots(number)[1]) / (2 * variance)
    noise = zcdp.delta(rho=rho, epsilon=epsilon)
    shows = refine(lambda: _shows(number, variance, reach))
    return Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)


def check(*, k: int, sigma: Real, tau: Real, epsilon: Real, delta: Real) -> Check:
    """Whether the bound shows (epsilon, delta)-DP; parameters as in :func:`delta`."""
    target = delta_target("delta", delta)
    found = _delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon)
    if found.upper <= target:
        return Check("proved", found, target, tight=False)
    return Check("refuted" if found.lower > target else "undecided", found, target, tight=False)


def calibrate(*, k: int, epsilon: Real, delta: Real) -> Calibration:
    """Noise, and the smallest threshold for it in steps of one half, for (epsilon, delta).

    k: >= 1. epsilon: > 0. delta: target, > 0 and < 1. The returned tau provably satisfies the
    target, and tau - 1/2 provably does not, by this bound. Raises InvalidParameter, Undecided.
    """
    number, target = counters(k), delta_target("delta", delta)
    loss = positive("epsilon", epsilon)

    def least(sigma: Fraction) -> Calibration:
        fixed: dict[str, Any] = {"k": number, "sigma": sigma, "epsilon": loss}
        return calibrated(
            "discrete-top-k-with-base",
            DEFAULT_ANALYSIS,
            lambda tau: check(**fixed, tau=tau, delta=target),
            lambda tau: Guarantee(loss, _delta(**fixed, tau=tau), _NEIGHBOURS, SOURCE),
            sigma=sigma,
            start=likely_threshold(sigma, number, target),
            step=Fraction(1, 2),
            given={"k": Fraction(number)},
            epsilon=loss,
            target=target,
        )

    choices = [_least_sigma(number, loss, share * target) for share in _SHARES]
    return min(map(least, choices), key=lambda found: found.tau or 0)


def roots(k: int) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above sqrt(k), or equal to it."""
    low = Fraction(isqrt(k << 128), 1 << 64)
    return low, low if low * low == k else low + Fraction(1, 1 << 64)


def _shows(k: int, variance: Fraction, tau: Fraction) -> arb:
    """P(some of k new counters passes): a union over shared and independent noise."""
    share = 1 / (1 + Fraction(isqrt(isqrt(k << 256)), 1 << 64))
    one = above(int(2 * tau * (1 - share)), variance)
    # a larger variance than the shared one only makes it pass more often
    together = above(int(2 * tau * share), variance / roots(k)[0])
    return together - ((-one).log1p() * k).expm1()


def _least_sigma(k: int, epsilon: Fraction, target: Fraction) -> Fraction:
    """A short decimal sigma whose noise keeps the target; only a choice."""
    budget = zcdp.rho(epsilon=epsilon, delta=target).lower
    cost = (k + 5 * roots(k)[1]) / 8
    least = refine(lambda: (ball(cost) / ball(budget)).sqrt()).upper
    up = Context(prec=_SIGMA_DIGITS, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(least.numerator), Decimal(least.denominator)))


_delta = delta  # the parameter of check has its name
