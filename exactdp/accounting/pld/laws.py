"""Laws of the privacy loss of one step: densities on the line, in one order of the neighbours.

A law is that of L = log dP/dQ under P. The loss must be stated with the masses it has under both
P and Q, and with its density under P as an analytic function, so that a disc can be asked for a
bound and a point for a power series.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from flint import acb, arb

from exactdp.balls import ball
from exactdp.normal import cdf, tail

__all__ = ["GaussianLoss", "LossLaw", "SampledLoss"]

#: Masses under P and under Q.
Masses = tuple[arb, arb]


class LossLaw(Hashable, Protocol):
    """The law of a privacy loss with a density: what the grid asks of it.

    Methods are evaluated at the working precision. An argument that the law has no answer for gives
    balls that are not finite.
    """

    @property
    def steep(self) -> int:
        """-1 or 1 where the density breaks off steeply at the least or the largest loss, else 0."""

    def density(self, loss: Any) -> Any:
        """The density under P, for a ball, a complex ball or a power series."""

    def below(self, loss: arb) -> Masses:
        """The masses of losses <= loss."""

    def above(self, loss: arb) -> Masses:
        """The masses of losses > loss."""

    def centre(self) -> arb:
        """A loss in the middle of the law."""

    def scale(self) -> arb:
        """About the width of the law."""


@dataclass(frozen=True)
class GaussianLoss:
    """The loss between N(mu, 1) and N(0, 1): N(mu^2/2, mu^2), in both orders."""

    mu: Fraction
    steep = 0

    def density(self, loss: Any) -> Any:
        mu = ball(self.mu)
        offset = loss - mu * mu / 2
        return (offset * offset * (-1 / (2 * mu * mu))).exp() / ((2 * arb.pi()).sqrt() * mu)

    def below(self, loss: arb) -> Masses:
        mu = ball(self.mu)
        return cdf(loss / mu - mu / 2), cdf(loss / mu + mu / 2)

    def above(self, loss: arb) -> Masses:
        mu = ball(self.mu)
        return tail(loss / mu - mu / 2), tail(loss / mu + mu / 2)

    def centre(self) -> arb:
        return ball(self.mu) ** 2 / 2

    def scale(self) -> arb:
        return ball(self.mu)


@dataclass(frozen=True)
class SampledLoss:
    """The loss when the user takes part with probability rate, independently of all others.

    With A the law with the user and B the one without, the pair is (1 - rate) B + rate A and B
    (removed), or the other way round. Its loss is +-log(1 - rate + rate e^l), l = log dA/dB.
    base: the law of l under A. rate: in (0, 1). removed: whether the first law is the mixture.
    """

    base: LossLaw
    rate: Fraction
    removed: bool

    @property
    def steep(self) -> int:
        return -1 if self.removed else 1

    def density(self, loss: Any) -> Any:
        rate = ball(self.rate)
        grown = (loss if self.removed else -loss).exp()
        part = grown - (1 - rate)
        if isinstance(part, acb) and not part.real > 0:
            return acb("nan", "nan")  # the logarithm has a cut there
        inner = (part / rate).log()
        # under B the density of l is e^-l times that under A; the mixture's is e^loss times B's
        under_b = self.base.density(inner) * rate / part
        return under_b * (grown * grown if self.removed else grown) / part

    def below(self, loss: arb) -> Masses:
        return self._masses(loss, under=self.removed)

    def above(self, loss: arb) -> Masses:
        return self._masses(loss, under=not self.removed)

    def centre(self) -> arb:
        return arb(0)

    def scale(self) -> arb:
        return ball(self.rate) * self.base.scale()

    def _masses(self, loss: arb, *, under: bool) -> Masses:
        rate = ball(self.rate)
        part = (loss if self.removed else -loss).exp() - (1 - rate)
        if part < 0:
            a, b = (arb(0), arb(0)) if under else (arb(1), arb(1))
        else:
            inner = (part / rate).log()
            a, b = self.base.below(inner) if under else self.base.above(inner)
        mixed = (1 - rate) * b + rate * a
        return (mixed, b) if self.removed else (b, mixed)
