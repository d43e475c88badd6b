"""The loss between two mixtures of normal laws: group privacy, random sensitivities, replacement.

With p(x) = sum_i w_i e^(s_i x - s_i^2/2) the first law has the density p(x) phi(x), likewise q. No
shift of the first is below one of the second, so the loss L = log p/q rises with x: its slope is
the difference of two means of shifts. Its inverse has no closed form, and is taken in three ways:
at a point by Newton's method and two signs; as a power series by reversion; on a disc by Krawczyk's
test: if x -> x - (L(x) - l)/d maps a square into its inside and contracts there, for every l of the
disc, then exactly one x in it has the loss l, and it depends analytically on l.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_series

from exactdp.accounting.certify.hints import falling_root, log
from exactdp.accounting.pld.laws import Masses
from exactdp.balls import ball
from exactdp.normal import cdf, tail

__all__ = ["MixtureLoss", "Weights"]

#: (shift, weight) of each normal law, by rising shift; the weights sum to 1.
Weights = tuple[tuple[Fraction, Fraction], ...]

_NEWTON = 12
_REACHES = (1.2, 1.6, 2.4)
_UNKNOWN = arb("nan")


@dataclass(frozen=True)
class MixtureLoss:
    """The loss between sum w N(s, 1) and another such mixture, under the first.

    Every shift of p is at least every shift of q; the least of p is above the least of q, the
    largest likewise, so that the loss has no limit on either side.
    """

    p: Weights
    q: Weights

    steep = 0

    def density(self, loss: Any) -> Any:
        x = self._inverse(loss)
        return _mixed(self.p, x) * _normal(x) / self._slope(x)

    def below(self, loss: arb) -> Masses:
        return self._masses(loss, cdf)

    def above(self, loss: arb) -> Masses:
        return self._masses(loss, tail)

    def centre(self) -> arb:
        middle: arb = self.loss(arb(0))
        return middle

    def scale(self) -> arb:
        slope: arb = self._slope(arb(0))
        return slope

    def loss(self, x: Any) -> Any:
        """log p/q at a point of the noise."""
        return (_mixed(self.p, x) / _mixed(self.q, x)).log()

    def _slope(self, x: Any) -> Any:
        return _mean_shift(self.p, x) - _mean_shift(self.q, x)

    def _masses(self, loss: arb, side: Callable[[arb], arb]) -> Masses:
        x = self._point(loss)
        return _weighted(self.p, side, x), _weighted(self.q, side, x)

    def _inverse(self, loss: Any) -> Any:
        """The x with this loss: of a ball, of every number in a complex ball, or as a series."""
        if isinstance(loss, arb):
            return self._point(loss)
        if isinstance(loss, acb):
            return self._disc(loss)
        centre = self._point(loss.coeffs()[0])
        around = self.loss(arb_series([centre, 1])).coeffs()
        # the constant term is the loss itself: its difference is 0
        return arb_series([centre]) + arb_series([arb(0), *around[1:]]).reversion()(
            arb_series([arb(0), *loss.coeffs()[1:]])
        )

    def _point(self, loss: arb) -> arb:
        """A ball around the x with this loss."""
        x = self._newton(loss.mid())
        radius = arb(2) ** -90 * (1 + abs(x)) + 2 * arb(loss.rad()) / self._slope(x)
        for _ in range(4):
            low, high = arb(x - radius).mid(), arb(x + radius).mid()
            if self.loss(low) < loss and self.loss(high) > loss:
                return arb(low.union(high))
            radius *= 1024
        return _UNKNOWN

    def _newton(self, loss: arb) -> arb:
        """About the x with this loss; nothing is certified."""
        target = float(loss)
        x = arb(-falling_root(lambda y: _rough(self.p, -y) - _rough(self.q, -y) - target, 0.0))
        for _ in range(_NEWTON):
            step = ((self.loss(x) - loss) / self._slope(x)).mid()
            if not step.is_finite():
                break
            x = arb(x - step).mid()
            if abs(step) < arb(2) ** -60 * (1 + abs(x)):
                break  # the next one would be below 2^-110
        return x

    def _disc(self, loss: acb) -> Any:
        x = self._point(loss.real.mid()).mid()
        unknown = acb(_UNKNOWN, _UNKNOWN)
        if not x.is_finite():
            return unknown
        slope = self._slope(x)
        moved = acb(x) - (acb(self.loss(x)) - loss) / slope
        for factor in _REACHES:
            reach = (abs(moved - x) * factor).upper()
            square = acb(arb(x, reach), arb(0, reach))
            turn = 1 - self._slope(square) / slope
            image = moved + turn * (square - x)
            if abs(image.real - x) < reach and abs(image.imag) < reach and abs(turn) < 1:
                return image
        return unknown


def _rough(mixture: Weights, x: float) -> float:
    """The logarithm of sum w e^(s x - s^2/2), in doubles."""
    logs = [log(w) + float(s) * (x - float(s) / 2) for s, w in mixture]
    most = max(logs)
    return most + math.log(sum(math.exp(one - most) for one in logs))


def _weighted(mixture: Weights, side: Callable[[arb], arb], x: arb) -> arb:
    return sum((ball(w) * side(x - ball(s)) for s, w in mixture), arb(0))


def _mixed(mixture: Weights, x: Any) -> Any:
    """sum w e^(s x - s^2/2)."""
    return _relative(mixture, Fraction(0), x)


def _relative(mixture: Weights, shift: Fraction, x: Any) -> Any:
    """The same over e^(shift x), each term computed as one: balls do not grow by a quotient."""
    return sum((ball(w) * (ball(s - shift) * x - ball(s * s / 2)).exp() for s, w in mixture), 0 * x)


def _mean_shift(mixture: Weights, x: Any) -> Any:
    """The mean of s with weights w e^(s x - s^2/2)."""
    least = mixture[0][0]
    rises = [(s, ball(s - least) * ball(w) * (-ball(s * s / 2)).exp()) for s, w in mixture[1:]]
    return sum((rise / _relative(mixture, s, x) for s, rise in rises), ball(least) + 0 * x)


def _normal(x: Any) -> Any:
    return (x * x * arb(-0.5)).exp() / (2 * arb.pi()).sqrt()
