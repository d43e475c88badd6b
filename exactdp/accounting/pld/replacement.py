"""Laws of the loss between neighbours of whom one user's data was replaced by other data.

Poisson sampling at rate q: what the other users add is the same on both sides, and the user is in
the sample with probability q. So the pair is (1 - q) N(0) + q N(u) against (1 - q) N(0) + q N(v),
and the worst is u = mu, v = -mu (docs, section 4). With z = (1 - q) e^(mu^2/2) sinh(l/2)/q its
loss is l at x = (l/2 + asinh z)/mu: q e^(mu x) against q e^(-mu x) is a quadratic equation.

Batches of fixed size, drawn without replacement: the user's place is taken by one of the others, so
there are three vectors instead of two and 0. For l >= 0 the worst pair is that of a Poisson
sample without the user against one with her, moved by 2 mu; for l < 0 the same in the other order.
Their curves meet at l = 0 with a kink, an atom of loss 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from exactdp.accounting.pld.laws import LossLaw, Masses
from exactdp.balls import ball
from exactdp.normal import cdf, tail

__all__ = ["BatchLoss", "ReplacedLoss"]


@dataclass(frozen=True)
class ReplacedLoss:
    """Poisson sampling at a rate in (0, 1): a user who adds mu is replaced by one who adds -mu."""

    mu: Fraction
    rate: Fraction
    steep = 0

    def density(self, loss: Any) -> Any:
        # P and Q are mirror images, so f(-l) = e^-l f(l); asinh is accurate for l >= 0 only
        if _middle(loss) < 0:
            return loss.exp() * self.density(-loss)
        mu, rate = ball(self.mu), ball(self.rate)
        z = self._ratio() * _sinh(loss)
        square = 1 + z * z
        if isinstance(square, acb) and not square.real > 0:
            return acb("nan", "nan")  # the root has a cut there
        root = square.sqrt()
        x = (loss / 2 + (z + root).log()) / mu
        slope = (1 + self._ratio() * _cosh(loss) / root) / (2 * mu)
        mixed = 1 - rate + rate * (x * mu - mu * mu / 2).exp()
        return mixed * (x * x * arb(-0.5)).exp() / (2 * arb.pi()).sqrt() * slope

    def below(self, loss: arb) -> Masses:
        return self._masses(loss, cdf)

    def above(self, loss: arb) -> Masses:
        return self._masses(loss, tail)

    def centre(self) -> arb:
        return arb(0)

    def scale(self) -> arb:
        return 2 * ball(self.rate * self.mu)

    def _ratio(self) -> arb:
        return ball((1 - self.rate) / self.rate) * (ball(self.mu) ** 2 / 2).exp()

    def _masses(self, loss: arb, side: Callable[[arb], arb]) -> Masses:
        mu, rate = ball(self.mu), ball(self.rate)
        x = (loss / 2 + (self._ratio() * (loss / 2).sinh()).asinh()) / mu
        rest = (1 - rate) * side(x)
        return rest + rate * side(x - mu), rest + rate * side(x + mu)


@dataclass(frozen=True)
class BatchLoss:
    """The pair whose curve is that of one law for losses >= 0 and of its reverse for losses < 0.

    removed: loss log P/Q under P, where Q(log P/Q > 0) is at most P(log Q/P > 0). added: loss
    log Q/P under Q.
    """

    removed: LossLaw
    added: LossLaw
    steep = 0

    @property
    def parts(self) -> tuple[LossLaw, LossLaw]:
        """The laws of the losses below 0 and above."""
        return self.added, self.removed

    def atom(self) -> arb:
        """The mass of loss 0."""
        return self.added.above(arb(0))[1] - self.removed.above(arb(0))[1]

    def density(self, loss: Any) -> Any:
        return self.parts[_middle(loss) > 0].density(loss)

    def below(self, loss: arb) -> Masses:
        if loss < 0:
            return self.added.below(loss)
        p, q = self.removed.above(loss)
        return 1 - p, 1 - q

    def above(self, loss: arb) -> Masses:
        if loss >= 0:
            return self.removed.above(loss)
        p, q = self.added.below(loss)
        return 1 - p, 1 - q

    def centre(self) -> arb:
        return arb(0)

    def scale(self) -> arb:
        return self.removed.scale()


def _middle(loss: Any) -> arb:
    if isinstance(loss, acb):
        return loss.real.mid()
    return loss.mid() if isinstance(loss, arb) else loss.coeffs()[0].mid()


def _sinh(loss: Any) -> Any:
    return ((loss / 2).exp() - (-loss / 2).exp()) / 2


def _cosh(loss: Any) -> Any:
    return ((loss / 2).exp() + (-loss / 2).exp()) / 2
