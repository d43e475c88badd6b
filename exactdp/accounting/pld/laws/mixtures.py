"""The likelihood ratio of two mixtures of normal laws, as a function of the noise, and its inverse.

With p(x) = sum_i w_i e^(s_i x - s_i^2/2) the first law has the density p(x) phi(x); likewise q. If
every shift of the first law is at least every shift of the second, the loss L = log p/q rises with
x: its slope is the difference of two mean shifts. The inverse of L has no closed form. At a point
it is found by Newton's method and confirmed by two signs. As a power series it is found by
reversion. On a disc it is confirmed by Krawczyk's test: if x -> x - (L(x) - l)/d maps a square into
its interior and contracts there, for every l of the disc, then exactly one x in the square has the
loss l, and x depends analytically on l.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import acb, arb, arb_series, ctx

from exactdp.accounting.certify.hints import falling_root, log
from exactdp.accounting.pld.grid.cells import Masses
from exactdp.accounting.pld.laws.analytic import middle
from exactdp.balls import ball

__all__ = ["Ratio", "Weights", "mixed"]

#: (shift, weight) of each normal law, by rising shift; the weights sum to 1.
Weights = tuple[tuple[Fraction, Fraction], ...]

_NEWTON_STEPS = 12

#: Sizes of the squares that Krawczyk's test tries, over the distance to move.
_REACHES = (1.2, 1.6, 2.4)

_UNKNOWN = arb("nan")


@dataclass(frozen=True)
class Ratio:
    """log p/q for mixtures p of normal laws N(s, 1) and q of others.

    The least shift of p is above the least shift of q, the largest likewise, and every shift of p
    is at least every shift of q, so that the ratio takes all values.
    """

    p: Weights
    q: Weights

    def density(self, loss: Any) -> Any:
        """The density of the ratio under p."""
        x = self._inverse(loss)
        return mixed(self.p, x) * _normal(x) / self.slope(x)

    def masses(self, loss: arb, side: Callable[[arb], arb]) -> Masses:
        """The masses under p and q up to a ratio, or beyond; side: cdf or tail."""
        x = self._point(loss)
        return _weighted(self.p, side, x), _weighted(self.q, side, x)

    def at(self, x: Any) -> Any:
        """log p/q at a point of the noise."""
        return (mixed(self.p, x) / mixed(self.q, x)).log()

    def slope(self, x: Any) -> Any:
        """The derivative of log p/q at a point of the noise."""
        return _mean_shift(self.p, x) - _mean_shift(self.q, x)

    def _inverse(self, loss: Any) -> Any:
        """The x with a ratio: of a ball, of every number in a complex ball, or as a series."""
        if isinstance(loss, arb):
            return self._point(loss)
        if isinstance(loss, acb):
            return self._disc(loss)
        centre = self._point(loss.coeffs()[0])
        around = self.at(arb_series([centre, 1])).coeffs()
        # the constant term is the ratio itself: its difference is 0
        return arb_series([centre]) + arb_series([arb(0), *around[1:]]).reversion()(
            arb_series([arb(0), *loss.coeffs()[1:]])
        )

    def _point(self, loss: arb) -> arb:
        """A ball around the x with this ratio."""
        x = self._newton(loss.mid())
        radius = arb(2) ** -90 * (1 + abs(x)) + 2 * arb(loss.rad()) / self.slope(x)
        for _ in range(4):
            low, high = arb(x - radius).mid(), arb(x + radius).mid()
            if self.at(low) < loss and self.at(high) > loss:
                return arb(low.union(high))
            radius *= 1024
        return _UNKNOWN

    def _newton(self, loss: arb) -> arb:
        """About the x with this ratio; nothing is certified."""
        target = float(loss)
        x = arb(-falling_root(lambda y: _rough(self.p, -y) - _rough(self.q, -y) - target, 0.0))
        for _ in range(_NEWTON_STEPS):
            step = ((self.at(x) - loss) / self.slope(x)).mid()
            if not step.is_finite():
                break
            x = arb(x - step).mid()
            if abs(step) < arb(2) ** -60 * (1 + abs(x)):
                break  # the next step would be below 2^-110
        return x

    def _disc(self, loss: acb) -> Any:
        x = self._point(loss.real.mid()).mid()
        unknown = acb(_UNKNOWN, _UNKNOWN)
        if not x.is_finite():
            return unknown
        slope = self.slope(x)
        moved = acb(x) - (acb(self.at(x)) - loss) / slope
        for factor in _REACHES:
            reach = (abs(moved - x) * factor).upper()
            square = acb(arb(x, reach), arb(0, reach))
            turn = 1 - self.slope(square) / slope
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


def mixed(mixture: Weights, x: Any) -> Any:
    """sum w e^(s x - s^2/2)."""
    return sum((factor * (s * x).exp() for s, factor in _balls(mixture, ctx.prec)), 0 * x)


def _mean_shift(mixture: Weights, x: Any) -> Any:
    """The mean of s with weights w e^(s x - s^2/2).

    About the middle x0 of x, with mean m there and d = x - x0, the mean is m + A/B, where A sums
    (s - m) v_s e^((s - m) d) and B sums v_s e^((s - m) d), v_s being the weights at x0. On a disc A
    is small, so that the quotient does not widen the balls.
    """
    centre = arb(middle(x))
    terms = [(s, factor * (s * centre).exp()) for s, factor in _balls(mixture, ctx.prec)]
    total = sum((weight for _, weight in terms), arb(0))
    mean = arb((sum((s * weight for s, weight in terms), arb(0)) / total).mid())
    if not mean.is_finite():
        return x + _UNKNOWN
    above, below, moved = 0 * x, 0 * x, x - centre
    for s, weight in terms:
        grown = ((s - mean) * moved).exp() * (weight / total)
        above, below = above + (s - mean) * grown, below + grown
    return mean + above / below


@lru_cache(maxsize=64)
def _balls(mixture: Weights, bits: int) -> list[tuple[arb, arb]]:
    """Every shift with its factor w e^(-s^2/2); bits: the working precision, already set."""
    return [(ball(s), ball(w) * (-ball(s * s / 2)).exp()) for s, w in mixture]


def _normal(x: Any) -> Any:
    return (x * x * arb(-0.5)).exp() / (2 * arb.pi()).sqrt()
