"""Certified bounds of the error of an estimated mean that fail with probability beta at most.

Chebyshev uses the variance only. Chernoff is for the sum of a clipped bin and noise: let C be the
centred contribution of a report's bin and N its noise. For any x > 0,

    P(mean of n reports - expectation > t) <= exp(n (log E e^(x C) + log E e^(x N) - x t)).

N is two-sided geometric noise divided by the grid. E e^(x C) <= exp(v/w^2 (e^(x w) - 1 - x w)) if
C <= w has variance at most v (Bennett). Doubles choose x, and balls certify the bound. Reports are
truncated where the noise reaches with probability 2^-64; beta includes the truncation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, inf, log, log1p
from typing import Protocol

from flint import arb

from exactdp.accounting.certify.hints import minimum
from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.local.sparse.report_plan import ReportPlan

_CUT = Fraction(1, 1 << 63)


class Tail(Protocol):
    """A bound of the error of an estimated mean."""

    @property
    def variance(self) -> Fraction:
        """Upper bound of n times the variance of the mean estimated from n users, for any data."""

    def within(self, n: int, beta: Fraction) -> Fraction:
        """A bound that the error from n reports exceeds with probability at most beta."""


@dataclass(frozen=True)
class Chebyshev:
    """A bound from upper bounds of the variance of one report's estimate, and of the bias."""

    variance: Fraction
    bias: Fraction

    def within(self, n: int, beta: Fraction) -> Fraction:
        square = self.variance / n / beta
        return self.bias + refine(lambda: ball(square).sqrt()).upper


@dataclass(frozen=True)
class Chernoff:
    """A bound for the reports of a plan. bias: upper bound of the bias."""

    plan: ReportPlan
    bias: Fraction

    @property
    def variance(self) -> Fraction:
        return self.plan.variance

    def within(self, n: int, beta: Fraction) -> Fraction:
        left = beta - n * _CUT
        if left <= 0:
            raise InvalidParameter(
                "beta", beta, f"> {n}/2^63, the probability that a report is truncated"
            )
        rate = self._likely_rate(n, float(left))
        return self.bias + refine(lambda: self._bound(rate, n, left)).upper

    @property
    def _largest(self) -> Fraction:
        """w: the largest centred contribution of a clipped bin; |mean| <= 1 + bias."""
        return Fraction(self.plan.most, self.plan.grid) + 1 + self.bias

    def _bound(self, rate: Fraction, n: int, beta: Fraction) -> arb:
        """(log E e^(x C) + log E e^(x N) + log(2/beta)/n)/x."""
        x, w, q = ball(rate), ball(self._largest), ball(self.plan.q)
        tilt = (x / self.plan.grid).exp()
        noise = 2 * (1 - q).log() - (1 - q * tilt).log() - (1 - q / tilt).log()
        bennett = ball(self.plan.collisions) / w**2 * ((x * w).expm1() - x * w)
        return (noise + bennett + ball(2 / beta).log() / n) / x

    def _likely_rate(self, n: int, beta: float) -> Fraction:
        """Approximately the best x, in doubles; every 0 < x < -grid log q gives a valid bound."""
        q, v, w = float(self.plan.q), float(self.plan.collisions), float(self._largest)
        most = -log(q) * self.plan.grid

        def bound(share: float) -> float:
            x, u = share * most, -share * log(q)
            # E e^(x N) = 1/(1 + spread), without cancellation
            spread = -q / (1 - q) ** 2 * expm1(u) * -expm1(-u)
            bennett = v / w**2 * (expm1(x * w) - x * w) if x * w < 700 else inf
            return (-log1p(spread) + bennett + log(2 / beta) / n) / x

        # the bound is flat at its minimum: a relative error 1e-5 of x costs about 1e-10
        z = minimum(lambda z: bound(exp(z)), -30, -1e-6, width=1e-5)
        return Fraction(exp(z) * most)
