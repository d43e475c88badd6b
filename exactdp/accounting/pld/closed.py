"""Curves that need no grid: Gaussian noise however often, and one step of any loss with a density.

n_i queries with sensitivity mu_i over noise are one with the root of the sum of n_i mu_i^2: the sum
of normal losses N(mu^2/2, mu^2) is another (Dong, Roth, Su 2022, Corollary 3.3). One step has
delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon), by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from exactdp.accounting.gaussian import hockey_stick
from exactdp.accounting.pld.atoms import AtomicLoss
from exactdp.accounting.pld.laplace import EndedLoss
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
    if [times for _, times in order] == [1] and not isinstance(laws[0], AtomicLoss | EndedLoss):
        return ClosedCurve(lambda epsilon: _excess(laws[0], epsilon))
    return None


def _excess(law: LossLaw, epsilon: arb) -> arb:
    p, q = law.above(epsilon)
    return p - epsilon.exp() * q
