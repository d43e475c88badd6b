"""Curves that need no grid: Gaussian noise however often, and one step of most other noise.

n_i queries with sensitivity mu_i over noise are one with the root of the sum of n_i mu_i^2: the sum
of normal losses N(mu^2/2, mu^2) is another (Dong, Roth, Su 2022, Corollary 3.3). One step has
delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon), by definition. For Laplace noise it is
H(e^epsilon), H(t) = max(1 - t, 1 - (t e^-mu)^(1/2), 0); on a sample q H((e^epsilon - 1 + q)/q) with
the user against without, and c H(q e^epsilon/c), c = 1 - (1 - q) e^epsilon, without against with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting.gaussian import hockey_stick
from exactdp.accounting.pld.atoms import AtomicLoss
from exactdp.accounting.pld.laplace import (
    BatchedLaplace,
    EndedLoss,
    LaplaceLoss,
    ReplacedLaplace,
    SampledLaplace,
)
from exactdp.accounting.pld.laws import GaussianLoss, LossLaw
from exactdp.balls import ball

__all__ = ["ClosedCurve", "closed_curve"]


@dataclass(frozen=True)
class ClosedCurve:
    """delta(epsilon) as a ball at the working precision, asked like a composition."""

    delta: Callable[[arb], arb]

    @property
    def infinite_low(self) -> arb:
        """Mass at infinity: none."""
        return arb(0)

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""
        return self.delta(epsilon).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""
        return self.delta(epsilon).upper()


def closed_curve(order: Sequence[tuple[Any, int]]) -> ClosedCurve | None:
    """The curve of these laws, each run so often; None where it takes a grid."""
    laws = [law for law, _ in order]
    if all(isinstance(law, GaussianLoss) for law in laws):
        squares = sum(times * law.mu**2 for law, times in order)
        return ClosedCurve(lambda epsilon: hockey_stick(epsilon, ball(squares).sqrt()))
    if [times for _, times in order] != [1] or isinstance(laws[0], AtomicLoss):
        return None
    excess = _ended_excess if isinstance(laws[0], EndedLoss) else _excess
    return ClosedCurve(lambda epsilon: excess(laws[0], epsilon))


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
