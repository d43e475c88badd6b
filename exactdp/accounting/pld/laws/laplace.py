"""Losses of Laplace noise: sampled or not, and for other neighbours.

With mu = sensitivity/scale and B the law without the user, the loss l = log dA/dB has the density
e^((l - mu)/2)/4 under A for |l| < mu, and point masses 1/2 at mu and e^-mu/2 at -mu. Its curve is
H(e^epsilon), H(t) = max(1 - t, 1 - (t e^-mu)^(1/2), 0). The losses on samples and for other
neighbours are images of this one.
Source: Balle, Barthe, Gaboardi 2018, Theorem 3; exactdp statement explain certified-pld, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting.pld.grid.cells import Density, Masses
from exactdp.accounting.pld.grid.outcomes import Outcome
from exactdp.accounting.pld.grid.pieces import OFF
from exactdp.accounting.pld.grid.ratios import Cell, dense_cells, outcome_cell
from exactdp.accounting.pld.grid.scaled import floor
from exactdp.accounting.pld.laws.base import LossLaw, sampled_excess
from exactdp.accounting.pld.laws.density import SampledDensity
from exactdp.accounting.pld.laws.pieces import Piece, PiecewiseLaw
from exactdp.balls import ball, precision
from exactdp.errors import Described, InvalidParameter

__all__ = ["Laplace"]

_BITS = 192

#: Marks are known to so many binary places, and moved down so that none is below its node.
_FINE = 120

#: Twice the error of an anchor (2^-120) and of a unit (2^-119) together; half of OFF.
_SLACK = OFF / 2


@dataclass(frozen=True)
class _Inner(Piece):
    """The density of the loss of Laplace noise between its ends."""

    mu: Fraction

    def density(self, loss: Any) -> Any:
        return ((loss - ball(self.mu)) / 2).exp() / 4

    def below(self, loss: arb) -> Masses:
        mu = ball(self.mu)
        return ((loss - mu) / 2).exp() / 2, -((-loss - mu) / 2).exp() / 2


@dataclass(frozen=True)
class Laplace(PiecewiseLaw):
    """The loss between Laplace noise of scale 1/mu and its shift by 1, in both orders."""

    mu: Fraction
    exact = True

    @property
    def unit(self) -> Fraction:
        return 2 * self.mu

    @property
    def anchor(self) -> Fraction:
        return -self.mu

    def marks(self) -> Sequence[tuple[int, arb]]:
        return [(0, (-ball(self.mu)).exp() / 2), (1, arb(1) / 2)]

    def pieces(self) -> Sequence[Density]:
        return [_Inner(self.mu)]

    def scale(self) -> arb:
        return ball(min(self.mu, Fraction(1)))

    def with_unit(self, unit: Fraction) -> Laplace:
        return Laplace(unit / 2)

    def ratio_cells(
        self, unit: Fraction, growth: float, tail_bits: int, *, removed: bool
    ) -> Iterator[Cell]:
        mu = ball(self.mu)
        (_, far), (_, near) = self.marks()
        yield outcome_cell(Outcome(-mu, far, near), unit)
        yield from dense_cells(_Inner(self.mu), unit, growth, (-mu, mu))
        yield outcome_cell(Outcome(mu, near, far), unit)

    def excess(self, epsilon: Fraction) -> arb:
        return _hockey_stick(self.mu, ball(epsilon))

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledLaplace(self.mu, rate, removed)

    def replaced(self) -> LossLaw:
        return Laplace(2 * self.mu)

    def batched(self, rate: Fraction) -> LossLaw:
        return BatchedLaplace(self.mu, rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        all_ = Laplace(size * self.mu)
        return all_, all_


@dataclass(frozen=True)
class SampledLaplace(PiecewiseLaw):
    """The loss of Laplace noise on a Poisson sample, as in `SampledDensity`."""

    mu: Fraction
    rate: Fraction
    removed: bool

    @property
    def unit(self) -> Fraction:
        return _above(lambda: _mixed(self.rate, self.mu).log() - _mixed(self.rate, -self.mu).log())

    @property
    def anchor(self) -> Fraction:
        sign = 1 if self.removed else -1
        return _below(lambda: sign * _mixed(self.rate, -sign * self.mu).log()) - _SLACK

    def marks(self) -> Sequence[tuple[int, arb]]:
        rate, far, near = ball(self.rate), (-ball(self.mu)).exp() / 2, arb(1) / 2
        if self.removed:
            return [(0, (1 - rate) * near + rate * far), (1, (1 - rate) * far + rate * near)]
        return [(0, far), (1, near)]

    def pieces(self) -> Sequence[Density]:
        return [SampledDensity(_Inner(self.mu), self.rate, self.removed)]

    def scale(self) -> arb:
        return _mixed(self.rate, self.mu).log().min(arb(1))

    def with_unit(self, unit: Fraction) -> SampledLaplace:
        return replace(self, mu=_apart(self.rate, unit))

    def excess(self, epsilon: Fraction) -> arb:
        return _on_sample(self.mu, self.rate, epsilon, removed=self.removed)

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledLaplace(self.mu, rate * self.rate, removed)

    def replaced(self) -> LossLaw:
        return ReplacedLaplace(self.mu, self.rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        allowed = (
            "discrete Laplace noise, for groups on samples: where more or fewer users are in the "
            "sample, the density of the loss of continuous noise jumps at losses that fit no grid"
        )
        raise InvalidParameter("mechanism", Described("Laplace noise"), allowed)


@dataclass(frozen=True)
class ReplacedLaplace(PiecewiseLaw):
    """Poisson sampling: a user who adds 1 to the query is replaced by one who adds -1.

    Where the noise is between 0 and 1, the second law falls like the noise itself: the loss is that
    of `SampledLaplace` less its least value. By symmetry the losses below 0 are their mirror image.
    """

    mu: Fraction
    rate: Fraction

    @property
    def unit(self) -> Fraction:
        return SampledLaplace(self.mu, self.rate, removed=True).unit

    @property
    def anchor(self) -> Fraction:
        return -_SLACK

    def marks(self) -> Sequence[tuple[int, arb]]:
        rate, fall = ball(self.rate), (-ball(self.mu)).exp()
        return [
            (-1, ((1 - rate) * fall + rate * fall**2) / 2),
            (0, arb(0)),
            (1, ((1 - rate) * fall + rate) / 2),
        ]

    def pieces(self) -> Sequence[Density]:
        upper = _Raised(self.mu, self.rate)
        return [_Mirrored(upper), upper]

    def scale(self) -> arb:
        return SampledLaplace(self.mu, self.rate, removed=True).scale()

    def with_unit(self, unit: Fraction) -> ReplacedLaplace:
        return replace(self, mu=_apart(self.rate, unit))

    def excess(self, epsilon: Fraction) -> arb:
        # the loss is log ratio at the noise x in [0, 1] with e^(mu (2 x - 1)) = tilt
        mu, rate, ratio = ball(self.mu), ball(self.rate), ball(epsilon).exp()
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


@dataclass(frozen=True)
class BatchedLaplace(PiecewiseLaw):
    """The worst loss on a batch without replacement, as in `normal.BatchNormal`."""

    mu: Fraction
    rate: Fraction

    @property
    def unit(self) -> Fraction:
        return _above(lambda: _mixed(self.rate, self.mu).log())

    @property
    def anchor(self) -> Fraction:
        return -_SLACK

    def marks(self) -> Sequence[tuple[int, arb]]:
        rate, half = ball(self.rate), (-ball(self.mu) / 2).exp()
        far = half * half / 2
        return [(-1, far), (0, (1 - rate) * (1 - half)), (1, (1 - rate) * far + rate / 2)]

    def pieces(self) -> Sequence[Density]:
        inner = _Inner(self.mu)
        return [SampledDensity(inner, self.rate, removed=r) for r in (False, True)]

    def scale(self) -> arb:
        return _mixed(self.rate, self.mu).log().min(arb(1))

    def with_unit(self, unit: Fraction) -> BatchedLaplace:
        return replace(self, mu=_above(lambda: (ball(unit).expm1() / ball(self.rate)).log1p()))

    def excess(self, epsilon: Fraction) -> arb:
        return _on_sample(self.mu, self.rate, epsilon, removed=True)


@dataclass(frozen=True)
class _Raised(Piece):
    """A sampled Laplace loss less its least value, with Q multiplied so that P/Q fits."""

    mu: Fraction
    rate: Fraction

    @property
    def _base(self) -> SampledDensity:
        return SampledDensity(_Inner(self.mu), self.rate, removed=True)

    def density(self, loss: Any) -> Any:
        return self._base.density(loss + self._least())

    def below(self, loss: arb) -> Masses:
        p, q = self._base.below(loss + self._least())
        return p, q * self._least().exp()

    def _least(self) -> arb:
        return _mixed(self.rate, -self.mu).log()


@dataclass(frozen=True)
class _Mirrored(Piece):
    """The law of minus the loss under Q, where it is the law of the loss under P."""

    base: _Raised

    def density(self, loss: Any) -> Any:
        return loss.exp() * self.base.density(-loss)

    def below(self, loss: arb) -> Masses:
        p, q = self.base.below(-loss)
        return -q, -p


def _mixed(rate: Fraction, loss: Fraction) -> arb:
    """1 - rate + rate e^loss."""
    return 1 + ball(rate) * ball(loss).expm1()


def _apart(rate: Fraction, unit: Fraction) -> Fraction:
    """A mu with a unit that is at least this and at most _SLACK more.

    (1 - rate + rate e^mu)/(1 - rate + rate e^-mu) = e^unit is a quadratic equation for e^mu.
    """

    def solved() -> arb:
        share, grown = ball(rate), ball(unit).expm1()
        none = (1 - share) * grown
        root = (none * none + 4 * share * share * (1 + grown)).sqrt()
        return ((none + root) / (2 * share)).log()

    return _above(solved)


def _below(value: Callable[[], arb]) -> Fraction:
    """A number at most 2^-_FINE below."""
    with precision(_BITS):
        return Fraction(floor(value() * 2**_FINE), 2**_FINE)


def _above(value: Callable[[], arb]) -> Fraction:
    """A number above by at most 2^(1 - _FINE)."""
    return _below(value) + Fraction(2, 2**_FINE)


def _on_sample(mu: Fraction, rate: Fraction, epsilon: Fraction, *, removed: bool) -> arb:
    def curve(loss: arb) -> arb:
        return _hockey_stick(mu, loss)

    return sampled_excess(curve, rate, ball(epsilon), removed=removed)


def _hockey_stick(mu: Fraction, epsilon: arb) -> arb:
    """H(e^epsilon)."""
    inner = -((epsilon - ball(mu)) / 2).expm1()
    return _positive((-epsilon.expm1()).max(inner))


def _positive(value: arb) -> arb:
    return arb(0) if value <= 0 else value.max(arb(0))
