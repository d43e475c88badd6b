"""Losses between two mixtures of normal laws: Gaussian noise, for all samples and neighbours.

Replace-one neighbours on a Poisson sample at rate q: the other users add the same value on both
sides, and the user is in the sample with probability q. The pair is (1 - q) N(0) + q N(u) against
(1 - q) N(0) + q N(v), and u = mu, v = -mu is the worst case. With z = (1 - q) e^(mu^2/2)
sinh(l/2)/q the loss is l at x = (l/2 + asinh z)/mu, from a quadratic equation for e^(mu x).

Batches of fixed size, drawn without replacement: another user takes the user's place. For l >= 0
the worst pair is a Poisson sample with the user, who moves the sum by 2 mu, against one without;
for l < 0, this pair in the other order. Both curves meet at l = 0 with a kink: a mass of loss 0.
Source: exactdp statement explain certified-pld, section 4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any

from flint import arb

from exactdp.accounting.pld.grid.cells import Density
from exactdp.accounting.pld.grid.lattice import Masses
from exactdp.accounting.pld.losses.base import Ends, Family, LossLaw
from exactdp.accounting.pld.losses.batches import BatchFamily
from exactdp.accounting.pld.losses.density import DensityLaw, SampledDensity, middle, off_cut
from exactdp.accounting.pld.losses.mixtures import Mixture, Ratio, RatioLaw, Weights, integral
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.normal import cdf, hockey_stick, tail

_NONE: Weights = ((Fraction(0), Fraction(1)),)

#: A group of more users on samples is a mixture of too many shifts.
_MOST_SAMPLED = 1000

#: An integral over mixtures of at most this many normal laws in all is quick.
_FEW_SHIFTS = 4


class NormalLaw(DensityLaw):
    """The loss between two mixtures of normal laws of variance 1."""

    @abstractmethod
    def mixtures(self) -> tuple[Weights, Weights]:
        """The shifts of both laws."""

    def ends(self) -> Ends:
        return Ends(None, Enclosure.exact(0))  # the first law reaches further than the second

    def log_moment(self, s: Fraction) -> arb:
        return integral(*self.mixtures(), s).log()

    @property
    def has_quick_moments(self) -> bool:
        return sum(map(len, self.mixtures())) <= _FEW_SHIFTS

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledNormal(self, rate, removed)


class ShiftedNormal(DensityLaw):
    """The loss between N(mu, 1) and N(0, 1) is N(mu^2/2, mu^2), in both orders."""

    @property
    @abstractmethod
    def shift(self) -> arb:
        """mu > 0, at the working precision."""

    def density(self, loss: Any) -> Any:
        mu = self.shift
        offset = loss - mu * mu / 2
        return (offset * offset * (-1 / (2 * mu * mu))).exp() / ((2 * arb.pi()).sqrt() * mu)

    def below(self, loss: arb) -> Masses:
        mu = self.shift
        return cdf(loss / mu - mu / 2), cdf(loss / mu + mu / 2)

    def above(self, loss: arb) -> Masses:
        mu = self.shift
        return tail(loss / mu - mu / 2), tail(loss / mu + mu / 2)

    def centre(self) -> arb:
        return self.shift**2 / 2

    def scale(self) -> arb:
        return self.shift

    def excess(self, epsilon: Fraction) -> arb:
        return hockey_stick(ball(epsilon), self.shift)

    def ends(self) -> Ends:
        return Ends(None, Enclosure.exact(0))


@dataclass(frozen=True)
class GaussianSum(ShiftedNormal):
    """The loss of Gaussian queries together, whose distance may be irrational; square: mu^2."""

    square: Fraction

    @property
    def shift(self) -> arb:
        return ball(self.square).sqrt()

    def log_moment(self, s: Fraction) -> arb:
        return ball(s * (s + 1) * self.square / 2)


@dataclass(frozen=True)
class Gaussian(ShiftedNormal, NormalLaw):
    """The loss of one Gaussian query."""

    mu: Fraction

    @property
    def shift(self) -> arb:
        return ball(self.mu)

    @property
    def distance(self) -> Fraction:
        return self.mu

    def mixtures(self) -> tuple[Weights, Weights]:
        return ((self.mu, Fraction(1)),), _NONE

    def log_moment(self, s: Fraction) -> arb:
        return ball(s * (s + 1) * self.mu**2 / 2)

    def replaced(self) -> LossLaw:
        return Gaussian(2 * self.mu)

    def batched(self, rate: Fraction) -> LossLaw:
        return BatchNormal(self, rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        all_ = Gaussian(size * self.mu)
        return all_, all_


@dataclass(frozen=True)
class SampledNormal(SampledDensity, NormalLaw):
    """The loss of normal laws on a Poisson sample."""

    base: NormalLaw

    def scale(self) -> arb:
        return ball(self.rate) * self.base.scale()

    def mixtures(self) -> tuple[Weights, Weights]:
        with_, without = self.base.mixtures()
        moved = tuple((shift, self.rate * weight) for shift, weight in with_)
        mixed = ((Fraction(0), 1 - self.rate), *moved)
        return (mixed, without) if self.removed else (without, mixed)

    def ends(self) -> Ends:
        if self.removed:
            return super().ends()
        # without the user, the mixture has at least 1 - rate times any density
        return Ends(refine(lambda: -ball(1 - self.rate).log()), Enclosure.exact(0))

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledNormal(self.base, rate * self.rate, removed)

    def replaced(self) -> LossLaw:
        if self.base.distance is None:
            return super().replaced()
        return ReplacedNormal(self.base.distance, self.rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        mu, rate = self.base.distance, self.rate
        if mu is None:
            return super().grouped(size)
        if size > _MOST_SAMPLED:
            raise InvalidParameter("size", size, f"at most {_MOST_SAMPLED} users on samples")
        members = range(size + 1)
        chances = [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in members]
        return mixture([(j * mu, chance) for j, chance in zip(members, chances, strict=True)])


@dataclass(frozen=True)
class NormalMixture(RatioLaw, NormalLaw):
    """The loss between two mixtures of normal laws with separate shifts; see `Ratio`."""

    p: Weights
    q: Weights

    def mixtures(self) -> tuple[Weights, Weights]:
        return self.p, self.q

    def centre(self) -> arb:
        return arb(self.ratio.at(arb(0)))

    def scale(self) -> arb:
        return arb(self.ratio.slope(arb(0)))

    @cached_property
    def ratio(self) -> Ratio:
        return Ratio(Mixture(self.p), Mixture(self.q))


def mixture(shifts: Sequence[tuple[Fraction, Fraction]]) -> tuple[LossLaw, LossLaw]:
    """The losses of Gaussian noise of variance 1 around a random shift >= 0, against no shift.

    shifts: (shift, weight). Returns the laws in both orders, the shifted law first.
    """
    weights: dict[Fraction, Fraction] = {}
    for shift, weight in shifts:
        if weight:
            weights[shift] = weights.get(shift, Fraction(0)) + weight
    rate = 1 - weights.pop(Fraction(0), Fraction(0))
    moved = tuple((s, w / rate) for s, w in sorted(weights.items()))
    mirrored = tuple((-s, w) for s, w in reversed(moved))
    one = len(moved) == 1
    law: NormalLaw = Gaussian(moved[0][0]) if one else NormalMixture(moved, _NONE)
    if rate < 1:
        # the base is the law of log A/B under A, in both orders
        return SampledNormal(law, rate, True), SampledNormal(law, rate, False)
    return law, law if one else NormalMixture(_NONE, mirrored)


@dataclass(frozen=True)
class ReplacedNormal(NormalLaw):
    """Poisson sampling at a rate in (0, 1): a user who adds mu is replaced by one who adds -mu."""

    mu: Fraction
    rate: Fraction

    def density(self, loss: Any) -> Any:
        # P and Q are mirror images, so f(-l) = e^-l f(l); asinh is accurate for l >= 0 only
        if middle(loss) < 0:
            return loss.exp() * self.density(-loss)
        mu, rate = ball(self.mu), ball(self.rate)
        z = self._ratio() * _sinh(loss)
        square = 1 + z * z
        if not off_cut(square):
            return loss * arb("nan")
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

    def mixtures(self) -> tuple[Weights, Weights]:
        none = (Fraction(0), 1 - self.rate)
        return (none, (self.mu, self.rate)), ((-self.mu, self.rate), none)

    def _ratio(self) -> arb:
        return ball((1 - self.rate) / self.rate) * (ball(self.mu) ** 2 / 2).exp()

    def _masses(self, loss: arb, side: Callable[[arb], arb]) -> Masses:
        mu, rate = ball(self.mu), ball(self.rate)
        x = (loss / 2 + (self._ratio() * (loss / 2).sinh()).asinh()) / mu
        rest = (1 - rate) * side(x)
        return rest + rate * side(x - mu), rest + rate * side(x + mu)


@dataclass(frozen=True)
class BatchNormal(NormalLaw):
    """The pair whose curve is a sampled law's for losses >= 0 and its reverse's for losses < 0.

    whole: the law for replace-one neighbours without sampling.
    """

    whole: Gaussian
    rate: Fraction

    @cached_property
    def removed(self) -> SampledNormal:
        return SampledNormal(self.whole, self.rate, True)

    @cached_property
    def added(self) -> SampledNormal:
        return SampledNormal(self.whole, self.rate, False)

    @property
    def family(self) -> Family:
        return BatchFamily(self.whole.mu, self.rate)

    def halves(self) -> tuple[Density, ...]:
        return self.added, self.removed

    def mass_at_zero(self) -> arb:
        return self.added.above(arb(0))[1] - self.removed.above(arb(0))[1]

    def mixtures(self) -> tuple[Weights, Weights]:
        return self.removed.mixtures()

    def log_moment(self, s: Fraction) -> arb:
        # losses above 0 of one law, below 0 of its reverse: both lie beyond half the shift
        p, q = self.mixtures()
        half = max(shift for shift, _ in p) / 2
        both = integral(p, q, s, start=half) + integral(q, p, s, start=half)
        return (both + self.mass_at_zero()).log()

    def density(self, loss: Any) -> Any:
        return self.halves()[middle(loss) > 0].density(loss)

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


def _sinh(loss: Any) -> Any:
    return ((loss / 2).exp() - (-loss / 2).exp()) / 2


def _cosh(loss: Any) -> Any:
    return ((loss / 2).exp() + (-loss / 2).exp()) / 2
