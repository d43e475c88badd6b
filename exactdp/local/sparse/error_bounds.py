"""How far an estimated mean is off, but with probability beta: certified, for any vectors.

Chebyshev: from the variance alone. Chernoff, for the sum of a clipped bin and noise: with C and N
what one report adds, over its mean, and any x > 0,

    P(mean of n of them > t) <= exp(n (log E e^(x C) + log E e^(x N) - x t)).

N is a two-sided geometric over the grid, and E e^(x C) <= exp(v/w^2 (e^(x w) - 1 - x w)) where
C <= w has variance at most v (Bennett). Doubles choose x, balls confirm what it proves. Reports
are cut off where noise gets to with probability 2^-64: that some report is, is left to beta.
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
    """What bounds the error of a mean."""

    @property
    def variance(self) -> Fraction:
        """An upper bound of n times the variance of an estimated mean, for any vectors."""

    def within(self, n: int, beta: Fraction) -> Fraction:
        """The error from n reports is at most this, but with probability beta."""


@dataclass(frozen=True)
class Chebyshev:
    """variance: of one report's estimate, at most. bias: at most."""

    variance: Fraction
    bias: Fraction

    def within(self, n: int, beta: Fraction) -> Fraction:
        square = self.variance / n / beta
        return self.bias + refine(lambda: ball(square).sqrt()).upper


@dataclass(frozen=True)
class Chernoff:
    """The tail of a plan. bias: at most."""

    plan: ReportPlan
    bias: Fraction

    @property
    def variance(self) -> Fraction:
        return self.plan.variance

    def within(self, n: int, beta: Fraction) -> Fraction:
        left = beta - n * _CUT
        if left <= 0:
            raise InvalidParameter("beta", beta, f"more than {n}/2^63, as reports are cut off")
        rate = self._likely_rate(n, float(left))
        return self.bias + refine(lambda: self._bound(rate, n, left)).upper

    @property
    def _largest(self) -> Fraction:
        """What the clipped bin may add, over its mean, which is at most 1 and the bias."""
        return Fraction(self.plan.most, self.plan.grid) + 1 + self.bias

    def _bound(self, rate: Fraction, n: int, beta: Fraction) -> arb:
        """(log E e^(x C) + log E e^(x N) + log(2/beta)/n)/x."""
        x, w, q = ball(rate), ball(self._largest), ball(self.plan.q)
        tilt = (x / self.plan.grid).exp()
        noise = 2 * (1 - q).log() - (1 - q * tilt).log() - (1 - q / tilt).log()
        bennett = ball(self.plan.collisions) / w**2 * ((x * w).expm1() - x * w)
        return (noise + bennett + ball(2 / beta).log() / n) / x

    def _likely_rate(self, n: int, beta: float) -> Fraction:
        """Nearly the x with the least bound, in doubles; any x up to -grid log q has one."""
        q, v, w = float(self.plan.q), float(self.plan.collisions), float(self._largest)
        most = -log(q) * self.plan.grid

        def bound(share: float) -> float:
            x, u = share * most, -share * log(q)
            # E e^(x N) = 1/(1 + spread), without cancellation
            spread = -q / (1 - q) ** 2 * expm1(u) * -expm1(-u)
            bennett = v / w**2 * (expm1(x * w) - x * w) if x * w < 700 else inf
            return (-log1p(spread) + bennett + log(2 / beta) / n) / x

        # the bound is flat at its lowest point: a rate off by 1e-5 of itself costs about 1e-10
        z = minimum(lambda z: bound(exp(z)), -30, -1e-6, width=1e-5)
        return Fraction(exp(z) * most)
