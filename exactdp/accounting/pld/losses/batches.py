"""All pairs of neighbours on a batch without replacement with Gaussian noise, in a few sets.

Another user adds w, and the user adds u or v, all within the unit ball, as in `normal.BatchNormal`.
Let A = |u - w|^2, B = |v - w|^2, C = |u - v|^2, a = (1 - q)(e^epsilon - 1)/q and b = e^epsilon. For
epsilon >= 0, delta(epsilon) is q E (1 - a y1 - b y2)+, where y = e^xi, E y = 1, and xi is normal
with the covariances A, (A - B + C)/2 and C over sigma^2. It rises with all three. In the other
order of the neighbours A and B change places. Where A and B lie in one square each, C is bounded:

- If A + B <= 4, then C <= 4. The pair with the same A - B, A + B = 4, C = 4 is above it.
- If A + B >= 4, a triangle with these sides fits into the unit ball only if its angle at w is at
  most that of the triangle on the unit circle: up to a right angle its circumradius rises with this
  angle, and beyond C > 4. So C <= (sqrt(A (4 - B)) + sqrt(B (4 - A)))^2/4, which falls in A and B.

To integrate, xi is split along the line from w to v, and across: y1 and y2 share the factor of
variance kappa^2 across, the height of u over that line.
Source: exactdp statement explain certified-pld, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from exactdp.balls import ball, precision
from exactdp.normal import cdf, tail

_BITS = 80

#: Normal variables are followed to this; beyond lies a mass below 2^-106.
_FAR = 12

#: Relative error of integrals above this, and most evaluations of an integrand: then the ball that
#: is left is wider.
_ACCURACY, _EVALUATIONS = arb(2) ** -30, 5000

#: Number of squares between 0 and 4.
_SQUARES = 4


@dataclass(frozen=True)
class BatchFamily:
    """Pairs with A and B in one square each.

    mu: twice the sensitivity over the standard deviation. rate: q.
    """

    mu: Fraction
    rate: Fraction
    losses = ()

    @property
    def sets(self) -> list[tuple[int, int]]:
        """The squares (i, j) with i <= A/side <= i + 1 and j <= B/side <= j + 1 that are needed."""
        places = range(_SQUARES)
        return [(i, j) for i in places for j in places if i + j + 2 > _SQUARES]

    def reversed(self, number: int) -> int:
        i, j = self.sets[number]
        return self.sets.index((j, i))

    def spread(self) -> float:
        with precision(_BITS):
            return float((ball(self.rate) * (ball(self.mu) ** 2).expm1().sqrt()).mid())

    def reach(self, bits: int) -> float:
        # delta is below rate times the mass of N(mu, 1) beyond mu + z, of at most e^(-z^2/2)
        with precision(_BITS):
            z = math.sqrt(2 * math.log(2) * bits)
            ratio = ball(self.mu) * (arb(z) + ball(self.mu) / 2)
            return float((ball(self.rate) * ratio.expm1()).log1p().mid())

    def deltas(self, losses: Sequence[Fraction]) -> list[list[arb]]:
        with precision(_BITS):
            return [[self._delta(*square, loss) for loss in losses] for square in self.sets]

    def _delta(self, i: int, j: int, epsilon: Fraction) -> arb:
        """An upper bound of delta for the square (i, j)."""
        side = Fraction(4, _SQUARES)
        a_low, a_high, b_low = i * side, (i + 1) * side, j * side
        longest = ball(Fraction(4))
        if a_low + b_low > 4:
            one, two = ball(a_low * (4 - b_low)).sqrt(), ball(b_low * (4 - a_low)).sqrt()
            longest = (one + two) ** 2 / 4
        unit = (ball(self.mu) / 2) ** 2
        first, second = ball(a_high) * unit, longest * unit
        joint = (first - ball(b_low) * unit + second) / 2
        rate, grown = ball(self.rate), ball(epsilon).expm1()
        delta: arb = _put((1 - rate) * grown / rate, 1 + grown, first, joint, second) * rate
        return delta


def _put(a: arb, b: arb, first: arb, joint: arb, second: arb) -> arb:
    """An upper bound of E (1 - a y1 - b y2)+ for these covariances."""
    along = first + second - 2 * joint  # |v - w|^2
    if not along > 0:  # w = v: y1 = y2
        alone: arb = _put_of_one(a + b, first)
        return alone
    across = (first * second - joint * joint) / along
    one, two = (_root(x - across) for x in (first, second))
    if joint < across:
        two = -two

    def integrand(z: acb, _: bool) -> acb:
        moved = (a * (one * z - one * one / 2).exp()) + b * (two * z - two * two / 2).exp()
        if not moved.real > 0:
            return acb("nan", "nan")
        value: acb = _put_of_one(moved, across) * (-z * z / 2).exp()
        return value

    integral = acb.integral(
        integrand, -_FAR, _FAR, rel_tol=_ACCURACY, abs_tol=_ACCURACY**2, eval_limit=_EVALUATIONS
    )
    inside = integral.real / (2 * arb.pi()).sqrt()
    return arb((inside + 2 * tail(arb(_FAR))).upper())


def _root(square: arb) -> arb:
    """The square root of a number >= 0, given a ball around it that may reach below 0."""
    low, high = square.lower().max(arb(0)), square.upper().max(arb(0))
    return arb(low.mid().sqrt().union(high.mid().sqrt()))


def _put_of_one(strike: Any, variance: arb) -> Any:
    """E (1 - strike y)+ for y = e^xi with E y = 1: the formula of Black and Scholes."""
    deviation = variance.sqrt()
    d = strike.log() / deviation - deviation / 2
    return cdf(-d) - strike * cdf(-d - deviation)
