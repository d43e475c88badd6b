"""Curves that need no grid: Gaussian queries, few finite losses, and one step of any mechanism.

n_i queries with sensitivity mu_i over noise are one query with mu^2 = sum n_i mu_i^2: the sum of
normal losses N(mu^2/2, mu^2) is another (Dong, Roth, Su 2022, Corollary 3.3). The same holds for
wide discrete noise, up to a factor near 1. A sum of losses with few outcomes has few outcomes.
One step has delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon) by definition. From the
largest finite loss on, delta is the mass of infinite losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.ask.atoms import are_few, atoms
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.question import Line
from exactdp.accounting.pld.losses.base import Curve, Ends, LossLaw, Order
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.normal import hockey_stick, tail

#: The lengths in epsilon of chords that bound a slope.
_NEAR = Fraction(1, 1 << 20), Fraction(1, 1 << 50)

#: The relative width of delta that is asked for, where balls can be as narrow as that.
_PRECISE = Fraction(1, 10**12)

_BITS = 128

#: Probabilities with more bits are enclosed instead of written down exactly.
_MOST_BITS = 1 << 14


class ClosedCurve(ABC):
    """delta(epsilon) as a ball at the working precision, with the methods of a composition."""

    @property
    def width(self) -> Fraction:
        """The relative width of delta."""
        return _PRECISE

    @property
    def infinite_low(self) -> arb:
        """A lower bound of the mass at infinity."""
        return arb(0)

    @abstractmethod
    def delta(self, epsilon: Fraction) -> arb:
        """delta at any epsilon >= 0."""

    def below(self, epsilon: arb) -> arb:
        """A lower bound of delta(epsilon); for epsilon < 0, the bound at 0."""
        return self.delta(_exactly(epsilon.upper().max(arb(0)))).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound of delta(epsilon); for epsilon < 0, 1."""
        low = epsilon.lower()
        return arb(1) if low < 0 else self.delta(_exactly(low)).upper()

    def line(self, epsilon: arb) -> Line:
        """A line below the curve, near the curve at epsilon (or a little above, next to 0).

        The slope of a convex curve at a place lies between the slopes of two chords. Short chords
        are the better ones next to a kink, long ones where delta is less accurate.
        """
        middle = max(_exactly(epsilon.mid()), 2 * _NEAR[0])
        x = ball(middle).exp()
        chords = _NEAR if self.width <= _PRECISE else _NEAR[:1]
        lines = [self._line(middle, near) for near in chords]
        return max(lines, key=lambda line: (line[0] - line[1] * x).lower())

    def _line(self, middle: Fraction, near: Fraction) -> Line:
        places = [middle - near, middle, middle + near]
        x = [ball(place).exp() for place in places]
        y = [self.delta(place) for place in places]
        falls = (y[0] - y[1]) / (x[1] - x[0]), (y[1] - y[2]) / (x[2] - x[1])
        fall = falls[0].union(falls[1])
        return (y[1] + fall * x[1]).lower(), fall.upper()


@dataclass(frozen=True)
class GaussianCurve(ClosedCurve):
    """The curve of N(mu, 1) against N(0, 1), with mu^2 = square."""

    square: Fraction

    def delta(self, epsilon: Fraction) -> arb:
        return hockey_stick(ball(epsilon), self.mu)

    @property
    def mu(self) -> arb:
        """The distance, at the working precision."""
        return ball(self.square).sqrt()

    def line(self, epsilon: arb) -> Line:
        """The event that the loss is above epsilon."""
        far = epsilon / self.mu
        return tail(far - self.mu / 2).lower(), tail(far + self.mu / 2).upper()


@dataclass(frozen=True)
class LawCurve(ClosedCurve):
    """The curve of some runs of a law that needs no grid for them."""

    law: LossLaw
    curve: Curve

    def delta(self, epsilon: Fraction) -> arb:
        return self.curve(epsilon)

    @property
    def width(self) -> Fraction:
        return self.law.accuracy

    @property
    def infinite_low(self) -> arb:
        return self.law.mass_at_infinity()


@dataclass(frozen=True)
class AtomsCurve(ClosedCurve):
    """The curve of laws with few outcomes."""

    order: Order

    @property
    def infinite_low(self) -> arb:
        with precision(_BITS):
            return atoms(self.order).above[0][0].lower()

    def delta(self, epsilon: Fraction) -> arb:
        return atoms(self.order).delta(epsilon)

    def line(self, epsilon: arb) -> Line:
        """The event that the loss is above epsilon, or one with about the same sums of losses."""
        p, q = atoms(self.order).beyond(epsilon)
        return p.lower(), q.upper()


def closed_curve(order: Order) -> ClosedCurve | None:
    """The curve of the composed laws, each with its number of runs; None if it needs a grid."""
    distances = [law.distance for law, _ in order]
    if None not in distances:
        square = sum(n * mu**2 for mu, (_, n) in zip(distances, order, strict=True) if mu)
        return GaussianCurve(Fraction(square))
    if len(order) == 1:
        ((law, times),) = order
        curve = law.curve(times)
        if curve is not None:
            return LawCurve(law, curve)
    return AtomsCurve(order) if are_few(order) else None


def _exactly(value: arb) -> Fraction:
    """An exact ball as a fraction. Raises Undecided for balls that are not finite."""
    if not value.is_finite():
        raise Undecided("the computation of epsilon lost all accuracy")
    mantissa, exponent = value.man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


@followed
def ends(order: Order) -> Ends:
    """The ends of the sum of all losses, in one order of the neighbours."""
    largest, bounded, mass = Enclosure.exact(0), True, Enclosure.exact(0)
    for law, times in order:
        one = _ends(law)
        if one.largest is None:
            bounded = False
        else:
            largest += one.largest * times
        lower = 1 - (1 - mass.lower) * (1 - _any_of(one.mass.lower, times).lower)
        upper = 1 - (1 - mass.upper) * (1 - _any_of(one.mass.upper, times).upper)
        mass = Enclosure(lower, upper)
    return Ends(largest if bounded else None, mass)


def _any_of(mass: Fraction, times: int) -> Enclosure:
    """The probability that an event of probability `mass` happens in at least one of the runs."""
    if mass.denominator.bit_length() * times <= _MOST_BITS:
        return Enclosure.exact(1 - (1 - mass) ** times)
    probability = refine(lambda: 1 - (1 - ball(mass)) ** times)
    return Enclosure(probability.lower, min(probability.upper, Fraction(1)))


@lru_cache(maxsize=64)
def _ends(law: LossLaw) -> Ends:
    return law.ends()
