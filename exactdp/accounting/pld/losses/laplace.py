"""Losses of Laplace noise, also for replace-one neighbours on samples.

With mu = sensitivity/scale and B the law without the user, the loss l = log dA/dB has the density
e^((l - mu)/2)/4 under A for |l| < mu, and point masses 1/2 at mu and e^-mu/2 at -mu. Its curve is
H(e^epsilon), H(t) = max(1 - t, 1 - (t e^-mu)^(1/2), 0). The losses on samples and for other
neighbours are images of this one.
Source: Balle, Barthe, Gaboardi 2018, Theorem 3; exactdp statement explain certified-pld, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting.pld.grid.lattice import Masses, Outcome
from exactdp.accounting.pld.losses.base import LossLaw
from exactdp.accounting.pld.losses.density import BoundedDensity, Piece
from exactdp.accounting.pld.losses.listed import BatchListed, ListedLaw
from exactdp.balls import ball
from exactdp.errors import Described, InvalidParameter


@dataclass(frozen=True)
class Laplace(ListedLaw):
    """The loss between Laplace noise of scale 1/mu and its shift by 1, in both orders."""

    mu: Fraction
    symmetric = True

    @property
    def unit(self) -> Fraction:
        return 2 * self.mu

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        near, far = arb(1) / 2, (-ball(self.mu)).exp() / 2
        yield Outcome.at(-self.mu, far, near)
        yield Outcome.at(self.mu, near, far)

    def pieces(self) -> Sequence[Piece]:
        return [Piece(_Inner(self.mu), *self.outcomes(0))]

    def excess(self, epsilon: Fraction) -> arb:
        loss = ball(epsilon)
        return _positive((-loss.expm1()).max(-((loss - ball(self.mu)) / 2).expm1()))

    def replaced(self) -> LossLaw:
        return Laplace(2 * self.mu)

    def batched(self, rate: Fraction) -> LossLaw:
        return BatchListed(self, rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        all_ = Laplace(size * self.mu)
        return all_, all_

    def replaced_on_sample(self, rate: Fraction) -> LossLaw:
        return ReplacedLaplace(self.mu, rate)

    def grouped_on_sample(self, size: int, rate: Fraction) -> tuple[LossLaw, LossLaw]:
        allowed = (
            "discrete Laplace noise, for groups on samples: where more or fewer users are in the "
            "sample, the density of the loss of continuous noise jumps"
        )
        raise InvalidParameter("mechanism", Described("Laplace noise"), allowed)


@dataclass(frozen=True)
class _Inner(BoundedDensity):
    """The density of the loss of Laplace noise between its ends."""

    mu: Fraction

    def density(self, loss: Any) -> Any:
        return ((loss - ball(self.mu)) / 2).exp() / 4

    def below(self, loss: arb) -> Masses:
        mu = ball(self.mu)
        return ((loss - mu) / 2).exp() / 2, -((-loss - mu) / 2).exp() / 2


@dataclass(frozen=True)
class ReplacedLaplace(ListedLaw):
    """Poisson sampling: a user who adds 1 to the query is replaced by one who adds -1.

    The loss rises with the noise x, between -1 and 1.
    """

    mu: Fraction
    rate: Fraction
    symmetric = True

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate, fall = ball(self.rate), (-ball(self.mu)).exp()
        p = ((1 - rate) * fall + rate) / 2
        q = ((1 - rate) * fall + rate * fall**2) / 2
        top = Outcome((p / q).log(), p, q)
        yield top.reversed()
        yield top

    def pieces(self) -> Sequence[Piece]:
        low, high = self.outcomes(0)
        zero, upper = Outcome.at(Fraction(0), arb(0), arb(0)), _Upper(self.mu, self.rate)
        return [Piece(_Mirrored(upper), low, zero), Piece(upper, zero, high)]


@dataclass(frozen=True)
class _Upper(BoundedDensity):
    """The density of the losses > 0 of `ReplacedLaplace`.

    For x in [0, 1] the second law falls like the noise: with least = 1 - rate + rate e^-mu,
    e^loss least = 1 - rate + rate e^(mu (2 x - 1)).
    """

    mu: Fraction
    rate: Fraction

    def density(self, loss: Any) -> Any:
        rate, mu, x = ball(self.rate), ball(self.mu), self._noise(loss)
        mixed = (1 - rate) * (-mu * x).exp() + rate * (mu * (x - 1)).exp()
        grown = loss.exp() * self._least()
        return mixed * mu / 2 * grown / (2 * mu * (grown - 1 + rate))

    def below(self, loss: arb) -> Masses:
        rate, mu, x = ball(self.rate), ball(self.mu), self._noise(loss)
        none = -(1 - rate) * (-mu * x).exp() / 2
        p = none + rate * (mu * (x - 1)).exp() / 2
        return p, none - rate * (-mu * (x + 1)).exp() / 2

    def _noise(self, loss: Any) -> Any:
        rate = ball(self.rate)
        tilt = (loss.exp() * self._least() - 1 + rate) / rate
        return (tilt.log() / ball(self.mu) + 1) / 2

    def _least(self) -> arb:
        return 1 + ball(self.rate) * (-ball(self.mu)).expm1()


@dataclass(frozen=True)
class _Mirrored(BoundedDensity):
    """The density of minus a loss after P and Q change places."""

    base: _Upper

    def density(self, loss: Any) -> Any:
        return loss.exp() * self.base.density(-loss)

    def below(self, loss: arb) -> Masses:
        p, q = self.base.below(-loss)
        return -q, -p


def _positive(value: arb) -> arb:
    return arb(0) if value <= 0 else value.max(arb(0))
