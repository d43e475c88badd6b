"""Curves that need no grid: Gaussian noise however often, and one step of anything.

n_i queries with sensitivity mu_i over noise are one with the root of the sum of n_i mu_i^2: the sum
of normal losses N(mu^2/2, mu^2) is another (Dong, Roth, Su 2022, Corollary 3.3). So is discrete
noise, up to a factor next to 1 where it is wide. Losses 0 and infinity add up to such. One step has
delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon), by definition. For Laplace noise it is
H(e^epsilon), H(t) = max(1 - t, 1 - (t e^-mu)^(1/2), 0); on a sample q H((e^epsilon - 1 + q)/q) with
the user against without, and c H(q e^epsilon/c), c = 1 - (1 - q) e^epsilon, without against with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx

from exactdp.accounting.certify.lattice import excess, is_smooth, smoothing
from exactdp.accounting.pld.atoms import AtomicLoss, LawLoss, ResponseLoss, SampledAtoms
from exactdp.accounting.pld.integers import DiscreteGaussianLoss
from exactdp.accounting.pld.known_curves import ExactLoss
from exactdp.accounting.pld.laplace import (
    BatchedLaplace,
    EndedLoss,
    LaplaceLoss,
    ReplacedLaplace,
    SampledLaplace,
)
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw
from exactdp.accounting.pld.one_step import excess_of_atoms
from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick

__all__ = ["ClosedCurve", "closed_curve"]

_BITS = 128

_NONE = arb(0)

#: Exact curves of thresholded histograms have a relative width of 1e-9.
_OF_CURVES = Fraction(1, 10**8)


@dataclass(frozen=True)
class ClosedCurve:
    """delta(epsilon) as a ball at the working precision, asked like a composition.

    delta: of any rational epsilon. width: relative, of what it reaches.
    """

    delta: Callable[[Fraction], arb]
    width: Fraction = Fraction(1, 10**12)
    infinite: arb = _NONE

    @property
    def infinite_low(self) -> arb:
        """A lower bound on the mass at infinity."""
        return self.infinite.lower().max(arb(0))

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""
        return self.delta(_exactly(epsilon.upper())).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""
        return self.delta(_exactly(epsilon.lower())).upper()


def closed_curve(order: Sequence[tuple[Any, int]]) -> ClosedCurve | None:
    """The curve of these laws, each run so often; None where it takes a grid."""
    laws = [law for law, _ in order]
    if all(isinstance(law, GaussianLoss) for law in laws):
        squares = sum(times * law.mu**2 for law, times in order)
        return ClosedCurve(lambda epsilon: hockey_stick(ball(epsilon), ball(squares).sqrt()))
    if [times for _, times in order] == [1]:
        return _one_step(laws[0])
    if all(_is_flat(law) for law in laws):
        return ClosedCurve(lambda epsilon: _flat(order, epsilon))
    if len(order) == 1 and isinstance(laws[0], DiscreteGaussianLoss):
        return _wide_noise(laws[0], order[0][1])
    return None


def _one_step(law: Any) -> ClosedCurve:
    if isinstance(law, AtomicLoss):
        width = _OF_CURVES if isinstance(_base(law), ExactLoss) else ClosedCurve.width
        return ClosedCurve(
            lambda epsilon: _for_any(excess_of_atoms, law, epsilon), width, _infinite(law)
        )
    excess = _ended_excess if isinstance(law, EndedLoss) else _excess
    return ClosedCurve(lambda epsilon: excess(law, ball(epsilon)))


def _base(law: AtomicLoss) -> object:
    return law.base if isinstance(law, SampledAtoms) else law


def _infinite(law: AtomicLoss) -> arb:
    """About the mass at infinity, or less."""
    base = _base(law)
    if isinstance(base, ExactLoss):
        part = (law.rate if law.removed else Fraction(0)) if isinstance(law, SampledAtoms) else 1
        return ball(base.curve.shown * part)
    if not isinstance(base, ResponseLoss | LawLoss):
        return _NONE
    with precision(_BITS):
        return sum((p for loss, p, _ in law.outcomes(_BITS) if loss == math.inf), arb(0))


def _for_any(
    excess: Callable[[AtomicLoss, Fraction], arb], law: AtomicLoss, epsilon: Fraction
) -> arb:
    """Below 0 delta is not asked for: it lies between that at 0 and 1."""
    return excess(law, epsilon) if epsilon >= 0 else excess(law, Fraction(0)).union(arb(1))


@lru_cache(maxsize=64)
def _is_flat(law: Hashable) -> bool:
    """Whether all finite losses are 0."""
    if not isinstance(law, AtomicLoss) or isinstance(law, DiscreteGaussianLoss):
        return False
    with precision(_BITS):
        losses = (loss for loss, p, _ in law.outcomes(_BITS) if not p.upper() <= 0)
        return all(isinstance(loss, float) or loss == 0 for loss in losses)


def _flat(order: Sequence[tuple[AtomicLoss, int]], epsilon: Fraction) -> arb:
    none = arb(1)
    for law, times in order:
        infinite = (p for loss, p, _ in law.outcomes(ctx.prec) if loss == math.inf)
        none *= (1 - sum(infinite, arb(0))) ** times
    return 1 - none * ball(epsilon).exp().min(arb(1))


def _wide_noise(law: DiscreteGaussianLoss, times: int) -> ClosedCurve | None:
    """The sum of so many noises is one, up to a factor."""
    with precision(_BITS):
        if not is_smooth(times, law.sigma2):
            return None
        near = (smoothing(times, law.sigma2) * arb(0, 1)).exp()
    shift, sigma2 = times * law.shift, times * law.sigma2
    return ClosedCurve(lambda epsilon: near * excess(epsilon, sigma2, shift))


def _exactly(value: arb) -> Fraction:
    """An exact ball as a fraction."""
    mantissa, exponent = value.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def _excess(law: LossLaw, epsilon: arb) -> arb:
    p, q = law.above(epsilon)
    return p - epsilon.exp() * q


def _ended_excess(law: EndedLoss, epsilon: arb) -> arb:
    if epsilon >= 0:
        return _laplace_excess(law, epsilon)
    if epsilon < 0:
        # by the pair in reverse, which is its own mirror image but for the order of a sample
        other = replace(law, removed=not law.removed) if isinstance(law, SampledLaplace) else law
        return -epsilon.expm1() + epsilon.exp() * _laplace_excess(other, -epsilon)
    return arb("nan")


def _laplace_excess(law: EndedLoss, epsilon: arb) -> arb:
    """For epsilon >= 0."""
    ratio = epsilon.exp()
    if isinstance(law, LaplaceLoss):
        return _hockey(law.mu, ratio)
    if isinstance(law, ReplacedLaplace):
        return _replaced_excess(law, ratio)
    assert isinstance(law, SampledLaplace | BatchedLaplace)
    rate = ball(law.rate)
    if isinstance(law, BatchedLaplace) or law.removed:
        return rate * _hockey(law.mu, (ratio - 1 + rate) / rate)
    left = 1 - (1 - rate) * ratio
    if left <= 0:
        return arb(0)
    return left * _hockey(law.mu, rate * ratio / left) if left > 0 else arb("nan")


def _hockey(mu: Fraction, ratio: arb) -> arb:
    """H(ratio), for a ratio > 0."""
    inner = 1 - (ratio * (-ball(mu)).exp()).sqrt()
    return _positive((1 - ratio).max(inner))


def _replaced_excess(law: ReplacedLaplace, ratio: arb) -> arb:
    """The loss is log ratio at the noise x in [0, 1] with e^(mu (2 x - 1)) as follows."""
    mu, rate = ball(law.mu), ball(law.rate)
    least = 1 - rate + rate * (-mu).exp()
    tilt = (ratio * least - 1 + rate) / rate
    if tilt >= mu.exp():
        return arb(0)
    if not tilt > 0:
        return arb("nan")
    x = (tilt.log() / mu + 1) / 2
    none = (1 - rate) * (-mu * x).exp() / 2
    p = none + rate * (1 - (mu * (x - 1)).exp() / 2)
    q = none + rate * (-mu * (x + 1)).exp() / 2
    return _positive(p - ratio * q)


def _positive(value: arb) -> arb:
    return arb(0) if value <= 0 else value.max(arb(0))
