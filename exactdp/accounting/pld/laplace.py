"""Laws of the loss between two ends: Laplace noise, sampled or not, and other neighbours.

With mu = sensitivity/scale and B the law without the user, the loss l = log dA/dB has the density
e^((l - mu)/2)/4 under A for |l| < mu, atoms of 1/2 at mu and e^-mu/2 at -mu. All other laws are
made of its images: pieces with an analytic density between marks, which may be atoms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from flint import arb

from exactdp.accounting.pld.laws import LossLaw, Masses, SampledLoss
from exactdp.accounting.pld.wide import floor
from exactdp.balls import ball, precision

__all__ = ["OFF", "BatchedLaplace", "EndedLoss", "LaplaceLoss", "ReplacedLaplace", "SampledLaplace"]

_BITS = 192

#: Marks are known to so many binary places, and moved down so that none is below its node.
_FINE = 120
_SLACK = Fraction(1, 1 << (_FINE - 2))

#: How far a mark may be above its node.
OFF = 2 * _SLACK


@runtime_checkable
class EndedLoss(Hashable, Protocol):
    """The law of a privacy loss between two ends.

    The marks are at the losses anchor + i unit, or at most OFF above, i as in `marks`.
    """

    @property
    def exact(self) -> bool:
        """Whether the marks are where they are said to be."""

    @property
    def unit(self) -> Fraction:
        """The distance of the marks."""

    @property
    def anchor(self) -> Fraction:
        """Where mark 0 is."""

    def marks(self) -> list[tuple[int, arb]]:
        """The marks by rising loss, and the P-mass of the atom at each."""

    def parts(self) -> list[LossLaw]:
        """Laws whose densities are the law's between one mark and the next."""

    def scale(self) -> arb:
        """About the width of the law."""

    def with_unit(self, unit: Fraction) -> EndedLoss:
        """For less sensitivity, of which the marks are so far apart: the curve is below."""


@dataclass(frozen=True)
class _Piece(ABC):
    """A density between two marks. Its masses are integrals, up to one constant."""

    mu: Fraction
    steep = 0

    @abstractmethod
    def below(self, loss: arb) -> Masses:
        """Masses up to a loss, less those at a place of its own."""

    def above(self, loss: arb) -> Masses:
        p, q = self.below(loss)
        return -p, -q

    def centre(self) -> arb:
        return arb(0)

    def scale(self) -> arb:
        return ball(self.mu)


@dataclass(frozen=True)
class _Inner(_Piece):
    """The density between the ends."""

    def density(self, loss: Any) -> Any:
        return ((loss - ball(self.mu)) / 2).exp() / 4

    def below(self, loss: arb) -> Masses:
        mu = ball(self.mu)
        return ((loss - mu) / 2).exp() / 2, -((-loss - mu) / 2).exp() / 2


@dataclass(frozen=True)
class LaplaceLoss:
    """The loss between Laplace noise of scale 1/mu and its shift by 1, in both orders."""

    mu: Fraction
    exact = True

    @property
    def unit(self) -> Fraction:
        return 2 * self.mu

    @property
    def anchor(self) -> Fraction:
        return -self.mu

    def marks(self) -> list[tuple[int, arb]]:
        return [(0, (-ball(self.mu)).exp() / 2), (1, arb(1) / 2)]

    def parts(self) -> list[LossLaw]:
        return [_Inner(self.mu)]

    def scale(self) -> arb:
        return ball(min(self.mu, Fraction(1)))

    def with_unit(self, unit: Fraction) -> LaplaceLoss:
        return LaplaceLoss(unit / 2)


@dataclass(frozen=True)
class SampledLaplace:
    """The same on a Poisson sample, as for `laws.SampledLoss`."""

    mu: Fraction
    rate: Fraction
    removed: bool
    exact = False

    @property
    def unit(self) -> Fraction:
        return _above(lambda: _mixed(self.rate, self.mu).log() - _mixed(self.rate, -self.mu).log())

    @property
    def anchor(self) -> Fraction:
        sign = 1 if self.removed else -1
        return _below(lambda: sign * _mixed(self.rate, -sign * self.mu).log()) - _SLACK

    def marks(self) -> list[tuple[int, arb]]:
        rate, far, near = ball(self.rate), (-ball(self.mu)).exp() / 2, arb(1) / 2
        if self.removed:
            return [(0, (1 - rate) * near + rate * far), (1, (1 - rate) * far + rate * near)]
        return [(0, far), (1, near)]

    def parts(self) -> list[LossLaw]:
        return [SampledLoss(_Inner(self.mu), self.rate, self.removed)]

    def scale(self) -> arb:
        return _mixed(self.rate, self.mu).log().min(arb(1))

    def with_unit(self, unit: Fraction) -> SampledLaplace:
        return replace(self, mu=_apart(self.rate, unit))


@dataclass(frozen=True)
class ReplacedLaplace:
    """Poisson sampling: a user who adds 1 to the query is replaced by one who adds -1.

    Between 0 and 1 the second law falls like the noise itself: there the loss is that of
    `SampledLaplace`, less its least value. By symmetry the same holds below 0, mirrored.
    """

    mu: Fraction
    rate: Fraction
    exact = False

    @property
    def unit(self) -> Fraction:
        return SampledLaplace(self.mu, self.rate, removed=True).unit

    @property
    def anchor(self) -> Fraction:
        return -_SLACK

    def marks(self) -> list[tuple[int, arb]]:
        rate, fall = ball(self.rate), (-ball(self.mu)).exp()
        return [
            (-1, ((1 - rate) * fall + rate * fall**2) / 2),
            (0, arb(0)),
            (1, ((1 - rate) * fall + rate) / 2),
        ]

    def parts(self) -> list[LossLaw]:
        upper = _Raised(self.mu, self.rate)
        return [_Mirrored(upper), upper]

    def scale(self) -> arb:
        return SampledLaplace(self.mu, self.rate, removed=True).scale()

    def with_unit(self, unit: Fraction) -> ReplacedLaplace:
        return replace(self, mu=_apart(self.rate, unit))


@dataclass(frozen=True)
class BatchedLaplace:
    """The worst of a batch without replacement, as for `replacement.BatchLoss`."""

    mu: Fraction
    rate: Fraction
    exact = False

    @property
    def unit(self) -> Fraction:
        return _above(lambda: _mixed(self.rate, self.mu).log())

    @property
    def anchor(self) -> Fraction:
        return -_SLACK

    def marks(self) -> list[tuple[int, arb]]:
        rate, half = ball(self.rate), (-ball(self.mu) / 2).exp()
        far = half * half / 2
        return [(-1, far), (0, (1 - rate) * (1 - half)), (1, (1 - rate) * far + rate / 2)]

    def parts(self) -> list[LossLaw]:
        inner = _Inner(self.mu)
        return [SampledLoss(inner, self.rate, removed=r) for r in (False, True)]

    def scale(self) -> arb:
        return _mixed(self.rate, self.mu).log().min(arb(1))

    def with_unit(self, unit: Fraction) -> BatchedLaplace:
        return replace(self, mu=_above(lambda: (ball(unit).expm1() / ball(self.rate)).log1p()))


@dataclass(frozen=True)
class _Raised(_Piece):
    """A sampled Laplace loss less its least value; e^-loss times P-mass is Q-mass still."""

    rate: Fraction

    @property
    def _base(self) -> SampledLoss:
        return SampledLoss(_Inner(self.mu), self.rate, removed=True)

    def density(self, loss: Any) -> Any:
        return self._base.density(loss + self._least())

    def below(self, loss: arb) -> Masses:
        p, q = self._base.below(loss + self._least())
        return p, q * self._least().exp()

    def _least(self) -> arb:
        return _mixed(self.rate, -self.mu).log()


@dataclass(frozen=True)
class _Mirrored:
    """The law of minus the loss under Q, where it is the law of the loss under P."""

    base: _Raised
    steep = 0

    def density(self, loss: Any) -> Any:
        return loss.exp() * self.base.density(-loss)

    def below(self, loss: arb) -> Masses:
        p, q = self.base.below(-loss)
        return -q, -p

    def above(self, loss: arb) -> Masses:
        p, q = self.base.below(-loss)
        return q, p

    def centre(self) -> arb:
        return arb(0)

    def scale(self) -> arb:
        return self.base.scale()


def _mixed(rate: Fraction, loss: Fraction) -> arb:
    """1 - rate + rate e^loss."""
    return 1 + ball(rate) * ball(loss).expm1()


def _apart(rate: Fraction, unit: Fraction) -> Fraction:
    """The mu whose unit is at least this and at most _SLACK more.

    (1 - rate + rate e^mu)/(1 - rate + rate e^-mu) = e^unit is a quadratic equation for e^mu.
    """

    def solved() -> arb:
        share, grown = ball(rate), ball(unit).expm1()
        none = (1 - share) * grown
        root = (none * none + 4 * share * share * (1 + grown)).sqrt()
        return ((none + root) / (2 * share)).log()

    return _above(solved)


def _below(value: Callable[[], arb]) -> Fraction:
    """A number below by less than 2^-FINE."""
    with precision(_BITS):
        return Fraction(floor(value() * 2**_FINE), 2**_FINE)


def _above(value: Callable[[], arb]) -> Fraction:
    """A number above, by at most 2^(1-FINE)."""
    return _below(value) + Fraction(2, 2**_FINE)
