"""Curves that need no grid: any number of Gaussian queries, and one step of any mechanism.

n_i queries with sensitivity mu_i over noise are one query with mu^2 = sum n_i mu_i^2: the sum of
normal losses N(mu^2/2, mu^2) is another (Dong, Roth, Su 2022, Corollary 3.3). The same holds for
wide discrete noise, up to a factor near 1. A sum of losses that are 0 or infinite is 0 or infinite.
One step has delta(epsilon) = P(L > epsilon) - e^epsilon Q(L > epsilon) by definition. From the
largest finite loss on, delta is the mass of infinite losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.losses.base import Curve, Ends, LossLaw, Order
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.normal import hockey_stick

_NONE = arb(0)

#: Probabilities with more bits are enclosed instead of written down exactly.
_MOST_BITS = 1 << 14


@dataclass(frozen=True)
class ClosedCurve:
    """delta(epsilon) as a ball at the working precision, with the methods of a composition.

    delta: returns delta at any rational epsilon >= 0. width: the relative width of its balls.
    infinite_low: a lower bound of the mass at infinity.
    """

    delta: Curve
    width: Fraction = Fraction(1, 10**12)
    infinite_low: arb = _NONE

    @property
    def nbytes(self) -> int:
        return 0

    def below(self, epsilon: arb) -> arb:
        """A lower bound of delta(epsilon); for epsilon < 0, the bound at 0."""
        return self.delta(_exactly(epsilon.upper().max(arb(0)))).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound of delta(epsilon); for epsilon < 0, 1."""
        low = epsilon.lower()
        return arb(1) if low < 0 else self.delta(_exactly(low)).upper()


def closed_curve(order: Order) -> ClosedCurve | None:
    """The curve of the composed laws, each with its number of runs; None if it needs a grid."""
    distances = [law.distance for law, _ in order]
    if None not in distances:
        squares = sum(n * mu**2 for mu, (_, n) in zip(distances, order, strict=True) if mu)
        return ClosedCurve(lambda epsilon: hockey_stick(ball(epsilon), ball(squares).sqrt()))
    if len(order) == 1:
        ((law, times),) = order
        curve = law.curve(times)
        if curve is not None:
            return ClosedCurve(curve, law.accuracy, law.mass_at_infinity())
    if all(_is_flat(law) for law, _ in order):
        return ClosedCurve(lambda epsilon: _flat(order, epsilon))
    return None


@lru_cache(maxsize=64)
def _is_flat(law: LossLaw) -> bool:
    return law.is_flat()


def _flat(order: Order, epsilon: Fraction) -> arb:
    """delta where every finite loss is 0."""
    all_finite = arb(1)  # the probability that every loss is finite
    for law, times in order:
        all_finite *= (1 - law.excess(Fraction(0))) ** times
    return 1 - all_finite * ball(epsilon).exp().min(arb(1))


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
