"""Laws of losses with countably many outcomes, and their images on samples."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting.pld.grid import outcomes
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.grid.outcomes import FINE, Outcome
from exactdp.accounting.pld.grid.ratios import Cell, outcome_cell
from exactdp.accounting.pld.grid.scaled import floor
from exactdp.accounting.pld.laws.base import Ends, LossLaw, sampled_excess
from exactdp.accounting.pld.laws.density import log_of
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter

__all__ = ["BatchDiscrete", "DiscreteLaw", "SampledDiscrete", "listed_excess"]

_BITS = 128

#: Masses below 2^-this do not count for the width of a law.
_TAIL_BITS = 96

#: Balls around 0 and around 1.
_ZERO, _ZERO_TO_ONE = arb(0), arb(0.5, 0.5)


class DiscreteLaw(LossLaw):
    """A law with countably many outcomes."""

    #: Whether the law is the same in both orders of the neighbours.
    symmetric = False

    @abstractmethod
    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        """The finite losses, but for outcomes with a total mass below 2^-tail_bits."""

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        """The P-mass of loss infinity and the Q-mass of loss -infinity, with what is left out."""
        return _ZERO, _ZERO

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        """A bound of the part of E e^(s L) that `outcomes` leaves out, and the bits for that."""
        return _ZERO, bits

    @property
    def unit(self) -> Fraction | None:
        return self._distance

    @property
    def _distance(self) -> Fraction | None:
        """For two losses, or three with 0 in the middle: a number just above their distance."""
        with precision(_BITS):
            losses = [outcome.loss for outcome in self.outcomes(1)]
            apart = [abs(x) for x in losses if not x.contains(0)]
            if len(losses) == 2:
                distance = abs(losses[0] - losses[1])
            elif len(losses) == 3 and len(apart) == 2 and apart[0].overlaps(apart[1]):
                distance = apart[0].union(apart[1])
            else:
                return None
            return Fraction(floor(distance * 2**FINE) + 2, 2**FINE)

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        with precision(_BITS):
            listed, infinity = list(self.outcomes(tail_bits)), self.infinite(tail_bits)[0]
            return outcomes.bounds(listed, infinity, step, lattice=self.unit is not None)

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        for outcome in self.outcomes(bits):
            if outcome.p.mid() > 0:
                yield float(outcome.loss.mid()), log_of(outcome.p)

    def width(self) -> float:
        losses = (float(outcome.loss.mid()) for outcome in self.outcomes(_TAIL_BITS))
        return max(losses, default=1.0)

    def excess(self, epsilon: Fraction) -> arb:
        return listed_excess(self, epsilon)

    def mass_at_infinity(self) -> arb:
        with precision(_BITS):
            return self.infinite(_BITS)[0].lower().max(arb(0))

    def is_bounded(self) -> bool:
        """Whether `outcomes` leaves out no outcome."""
        return self.left_out(Fraction(1), _BITS)[0].is_zero()

    @property
    def exact_infinity(self) -> Fraction | None:
        """The mass of infinite losses, where it is known exactly."""
        return None

    def ends(self) -> Ends:
        with precision(_BITS):
            exact = self.exact_infinity
            mass = enclosure(self.infinite(_BITS)[0]) if exact is None else Enclosure.exact(exact)
            if not self.is_bounded():
                return Ends(None, mass)
            places = [
                Enclosure.exact(x.exact) if x.exact is not None else _signed(x.loss)
                for x in self.outcomes(_BITS)
            ] or [Enclosure.exact(0)]
            largest = Enclosure(max(x.lower for x in places), max(x.upper for x in places))
            return Ends(largest, mass)

    def ratio_cells(
        self, unit: Fraction, growth: float, tail_bits: int, *, removed: bool
    ) -> Iterator[Cell]:
        never = self.infinite(tail_bits)[1]
        yield Cell(arb(0), never, 0, 1)
        for outcome in self.outcomes(tail_bits):
            yield outcome_cell(outcome, unit)

    def is_flat(self) -> bool:
        with precision(_BITS):
            return all(x.exact == 0 for x in self.outcomes(_BITS) if not x.p.upper() <= 0)

    def log_moment(self, s: Fraction) -> arb:
        if self.infinite(_BITS)[0] > 0:
            raise InvalidParameter(
                "delta", Described("mass at infinity"), "0 for Renyi divergences"
            )
        return self.finite_log_moment(s)

    def finite_log_moment(self, s: Fraction) -> arb:
        rest, bits = self.left_out(s, _BITS)
        total = sum((x.p * (ball(s) * x.loss).exp() for x in self.outcomes(bits)), arb(0))
        return (total + _ZERO_TO_ONE * rest).log()

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledDiscrete(self, rate, removed)

    def replaced_on_sample(self, rate: Fraction) -> LossLaw:
        """The law for replace-one neighbours on a Poisson sample."""
        return super().replaced()

    def grouped_on_sample(self, size: int, rate: Fraction) -> tuple[LossLaw, LossLaw]:
        """The laws for a group of users on a Poisson sample, in both orders."""
        return super().grouped(size)


@dataclass(frozen=True)
class SampledDiscrete(DiscreteLaw):
    """The loss on a Poisson sample, as in `density.SampledDensity`."""

    base: DiscreteLaw
    rate: Fraction
    removed: bool

    @property
    def accuracy(self) -> Fraction:
        return self.base.accuracy

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate = ball(self.rate)
        for outcome in self.base.outcomes(tail_bits):
            mixed = (1 - rate) * outcome.q + rate * outcome.p
            exact = outcome.exact if outcome.exact == 0 else None
            growth = outcome.loss if exact == 0 else (1 + rate * outcome.loss.expm1()).log()
            yield self._oriented(Outcome(growth, mixed, outcome.q, exact))
        never = self.base.infinite(tail_bits)[1]
        if never.upper() > 0:  # what cannot happen with the user in the sample
            yield self._oriented(Outcome((1 - rate).log(), (1 - rate) * never, never))

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        only = ball(self.rate) * self.base.infinite(tail_bits)[0]
        return (only, arb(0)) if self.removed else (arb(0), only)

    def mass_at_infinity(self) -> arb:
        return ball(self.rate) * self.base.mass_at_infinity() if self.removed else arb(0)

    @property
    def exact_infinity(self) -> Fraction | None:
        exact = self.base.exact_infinity if self.removed else Fraction(0)
        return None if exact is None else self.rate * exact

    def excess(self, epsilon: Fraction) -> arb:
        if not self.base.symmetric:
            return listed_excess(self, epsilon)
        return _on_sample(self.base, self.rate, epsilon, removed=self.removed)

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        if self.removed:  # mixtures leave out no more than the laws that are mixed
            return self.base.left_out(s, bits)
        # all losses are at most -log(1 - rate)
        largest = -ball(1 - self.rate).log()
        bits += math.ceil(float(s) * float(largest.upper()) * 1.5)
        return (ball(s) * largest).exp() * arb(2) ** -bits, bits

    def is_bounded(self) -> bool:
        return self.base.is_bounded()

    def sampled(self, rate: Fraction, *, removed: bool) -> LossLaw:
        return SampledDiscrete(self.base, rate * self.rate, removed)

    def replaced(self) -> LossLaw:
        return self.base.replaced_on_sample(self.rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        return self.base.grouped_on_sample(size, self.rate)

    def _oriented(self, outcome: Outcome) -> Outcome:
        return outcome if self.removed else outcome.reversed()


@dataclass(frozen=True)
class BatchDiscrete(DiscreteLaw):
    """The worst loss on a batch without replacement, for a base that is the same in both orders.

    The curve at losses below 0 follows from that above 0: the masses under P and Q change places.
    The rest of the mass has loss 0.
    """

    base: DiscreteLaw
    rate: Fraction

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate, left = ball(self.rate), arb(1)
        for outcome in self.base.outcomes(tail_bits):
            if not outcome.loss > 0:
                continue
            p, q = (1 - rate) * outcome.q + rate * outcome.p, outcome.q
            left -= p + q
            grown = Outcome((rate * outcome.loss.expm1()).log1p(), p, q)
            yield grown
            yield grown.reversed()
        left -= ball(self.rate) * self.base.infinite(tail_bits)[0]
        yield Outcome.at(Fraction(0), left, left)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        only = ball(self.rate) * self.base.infinite(tail_bits)[0]
        return only, only

    @property
    def exact_infinity(self) -> Fraction | None:
        exact = self.base.exact_infinity
        return None if exact is None else self.rate * exact

    def excess(self, epsilon: Fraction) -> arb:
        return _on_sample(self.base, self.rate, epsilon, removed=True)

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        return self.base.left_out(s, bits)


def listed_excess(law: DiscreteLaw, epsilon: Fraction) -> arb:
    """delta at epsilon >= 0, as a sum over all outcomes."""
    ratio, total = ball(epsilon).exp(), law.infinite(ctx.prec)[0]
    for outcome in law.outcomes(ctx.prec):
        if outcome.exact is None:
            total += (outcome.p - ratio * outcome.q).max(arb(0))
        elif outcome.exact > epsilon:
            total += outcome.p - ratio * outcome.q
    return total


def _signed(value: arb) -> Enclosure:
    """The ends of a ball of any sign; `enclosure` takes no numbers below 0."""
    return -enclosure(-value) if value < 0 else enclosure(value)


def _on_sample(base: DiscreteLaw, rate: Fraction, epsilon: Fraction, *, removed: bool) -> arb:
    def curve(loss: arb) -> arb:
        # delta falls, so both ends of the ball enclose it
        ends = enclosure(loss.max(arb(0)))
        return base.excess(ends.lower).union(base.excess(ends.upper))

    return sampled_excess(curve, rate, ball(epsilon), removed=removed)
