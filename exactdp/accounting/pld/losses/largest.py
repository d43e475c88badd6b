"""The largest of n standard normal numbers against the same moved by a shift; two-outcome laws.

The largest number M has the density n Phi(x)^(n - 1) phi(x), which is log-concave. So the loss of
M + shift against M rises with the output, without an end on either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import acb, arb, ctx

from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.base import Ends
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.accounting.pld.losses.mixtures import Ratio, RatioLaw
from exactdp.balls import ball, precision
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.normal import cdf, pdf, tail

_BITS = 160

#: Normal numbers are followed to this; beyond lies a mass below 2^-190.
_FAR = 16


@dataclass(frozen=True)
class _Largest:
    """The law of the largest of n normal numbers N(shift, 1), over the density of N(0, 1)."""

    n: int
    shift: Fraction

    def at(self, x: Any) -> Any:
        s = ball(self.shift)
        return (s * x - s * s / 2).exp() * _power(cdf(x - s), self.n - 1) * self.n

    def mean(self, x: Any) -> Any:
        moved = x - ball(self.shift)
        return pdf(moved) / cdf(moved) * (self.n - 1) + ball(self.shift)

    def mass(self, side: Callable[[arb], arb], x: arb) -> arb:
        moved = x - ball(self.shift)
        if side is cdf:
            return (cdf(moved).log() * self.n).exp()
        return -((-tail(moved)).log1p() * self.n).expm1()

    def guess(self, x: float) -> float:
        s = float(self.shift)
        return (self.n - 1) * _log_cdf(x - s) + s * x - s * s / 2


@dataclass(frozen=True)
class LargestNormal(RatioLaw):
    """The loss of M + shift against M; shift > 0, n >= 1 numbers."""

    n: int
    shift: Fraction

    def centre(self) -> arb:
        return arb(self.ratio.at(self._middle))

    def scale(self) -> arb:
        # about the deviation of M, times the slope of the loss
        return arb(self.ratio.slope(self._middle)) / math.sqrt(1 + 2 * math.log(self.n))

    def ends(self) -> Ends:
        return Ends(None, Enclosure.exact(0))

    def log_moment(self, s: Fraction) -> arb:
        raise self._unknown("one whose Renyi divergences are known")

    @cached_property
    def ratio(self) -> Ratio:
        return Ratio(_Largest(self.n, self.shift), _Largest(self.n, Fraction(0)))

    @cached_property
    def _middle(self) -> arb:
        """About the median of M + shift."""
        return arb(median_of_largest(self.n)) + ball(self.shift)


@dataclass(frozen=True)
class Chance:
    """factor E Phi(a Z + b)^m over the given (a, b, m), Z standard normal; or 1 minus that."""

    factor: int
    terms: tuple[tuple[Fraction, Fraction, int], ...]
    otherwise: bool = False

    def value(self) -> arb:
        known = [(ball(a), ball(b), m) for a, b, m in self.terms if m]

        def integrand(z: acb, _: bool) -> acb:
            density = pdf(z)
            for a, b, m in known:
                density *= cdf(z * a + b) ** m
            return density

        tolerance = arb(2) ** (8 - ctx.prec)
        inside = acb.integral(integrand, -_FAR, _FAR, abs_tol=tolerance).real
        probability = self.factor * (inside + 2 * tail(arb(_FAR)) * arb(0.5, 0.5))
        return 1 - probability if self.otherwise else arb(probability)


@dataclass(frozen=True)
class Trial(ListedLaw):
    """Whether an event happens: with one probability under P and with another under Q."""

    p: Chance
    q: Chance

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        p, q = self._chances
        for a, b in ((p, q), (1 - p, 1 - q)):
            yield Outcome((a / b).log(), a, b)

    @cached_property
    def _chances(self) -> tuple[arb, arb]:
        with precision(_BITS):
            return self.p.value(), self.q.value()


def median_of_largest(n: int) -> float:
    """About the median of the largest of n standard normal numbers."""
    low, _ = halved(-1.0, 40.0, lambda x: n * _log_cdf(x) >= -math.log(2), width=1e-3)
    return low


def _power(value: Any, exponent: int) -> Any:
    """value^exponent by squaring, for power series, too."""
    if exponent == 0:
        return 0 * value + 1
    half = _power(value, exponent // 2)
    return half * half * value if exponent % 2 else half * half


def _log_cdf(x: float) -> float:
    """About log Phi(x)."""
    if x < -30:
        return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi))
    return math.log1p(-math.erfc(x / math.sqrt(2)) / 2) if x > 0 else _log_small(x)


def _log_small(x: float) -> float:
    return math.log(math.erfc(-x / math.sqrt(2)) / 2)
