"""The likelihood ratio of two mixtures of normal laws, as a function of the noise, and its inverse.

With p(x) = sum_i w_i e^(s_i x - s_i^2/2) the first law has the density p(x) phi(x); likewise q. If
every shift of the first law is at least every shift of the second, the loss L = log p/q rises with
x: its slope is the difference of two mean shifts. The inverse of L has no closed form. At a point
it is found by Newton's method and confirmed by two signs. As a power series it is found by
reversion. On a disc it is confirmed by Krawczyk's test: if x -> x - (L(x) - l)/d maps a square into
its interior and contracts there, for every l of the disc, then exactly one x in the square has the
loss l, and x depends analytically on l.

Moments E e^(s L) are integrals of p^(s + 1) q^(-s) phi, in balls, with bounded tails. As t^(s + 1)
is convex, the integrand is at most

    sum_i w_i v_j^(-s) e^((s + 1)(a_i x - a_i^2/2) - s (b_j x - b_j^2/2)) phi(x)

for every j, where (a_i, w_i) are the shifts and weights of p, and (b_j, v_j) of q: normal tails.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from flint import acb, acb_poly, arb, arb_poly, arb_series, ctx

from exactdp.accounting.certify.hints import falling_root, log
from exactdp.accounting.pld.grid.lattice import Masses
from exactdp.accounting.pld.losses.density import DensityLaw, middle, off_cut
from exactdp.arrays import np
from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.normal import cdf, tail

#: (shift, weight) of each normal law, by rising shift; the weights sum to 1.
Weights = tuple[tuple[Fraction, Fraction], ...]

_NEWTON_STEPS = 12

#: Sizes of the squares that Krawczyk's test tries, over the distance to move.
_REACHES = (1.2, 1.6, 2.4)

#: Integrals are computed in pieces of this length, over a range of at most this length.
_PIECE, _LONGEST = 4, 1 << 13

_TOO_LARGE = "the order is too large for an integral"

_UNKNOWN = arb("nan")


class Mixture:
    """A mixture of normal laws N(s, 1), over the density of N(0, 1)."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._shifts = np.array([float(s) for s, _ in weights])
        self._logs = np.array([log(w) - float(s) ** 2 / 2 for s, w in weights])
        self._terms: dict[int, tuple[list[arb], list[arb]]] = {}
        unit = _common_unit([s - weights[0][0] for s, _ in weights])
        places = [int((s - weights[0][0]) / unit) for s, _ in weights] if unit else []
        self._unit, self._places = unit, places
        # many shifts on a lattice: a polynomial in e^(unit x)
        self._is_dense = len(places) > 2 and places[-1] <= 4 * len(places)

    def at(self, x: Any) -> Any:
        """sum w e^(s x - s^2/2)."""
        shifts, factors = self._balls()
        return (shifts[0] * x).exp() * self._sum(factors, 0, x)

    def mean(self, x: Any) -> Any:
        """The mean of s with weights w e^(s x - s^2/2).

        About the middle x0 of x, with mean m there and d = x - x0, the mean is m + A/B, where A
        sums (s - m) v_s e^(s d) and B sums v_s e^(s d), v_s being the weights at x0. On a disc A is
        small, so that the quotient does not widen the balls.
        """
        shifts, factors = self._balls()
        centre = arb(middle(x))
        weights = [f * (s * centre).exp() for s, f in zip(shifts, factors, strict=True)]
        total = sum(weights, arb(0))
        products = zip(shifts, weights, strict=True)
        mean = arb((sum((s * w for s, w in products), arb(0)) / total).mid())
        if not mean.is_finite():
            return x + _UNKNOWN
        near = int(np.abs(self._shifts - float(mean)).argmin())
        weights = [weight / total for weight in weights]
        moved = [(s - mean) * w for s, w in zip(shifts, weights, strict=True)]
        return mean + self._sum(moved, near, x - centre) / self._sum(weights, near, x - centre)

    def mass(self, side: Callable[[arb], arb], x: arb) -> arb:
        """The mass on one side of a point; side: cdf or tail."""
        return sum((ball(w) * side(x - ball(s)) for s, w in self.weights), arb(0))

    def guess(self, x: float) -> float:
        """About the logarithm of the sum."""
        logs = self._logs + self._shifts * x
        most = float(logs.max())
        return most + math.log(float(np.exp(logs - most).sum()))

    def _sum(self, factors: list[arb], near: int, x: Any) -> Any:
        """sum f_i e^((s_i - s_near) x)."""
        if not self._is_dense:
            shifts, _ = self._balls()
            terms = zip(factors, shifts, strict=True)
            return sum((f * ((s - shifts[near]) * x).exp() for f, s in terms), 0 * x)
        place = self._places[near]
        rising = [arb(0)] * (self._places[-1] - place + 1)
        falling = [arb(0)] * (place + 1)
        for factor, j in zip(factors, self._places, strict=True):
            half = rising if j >= place else falling
            half[abs(j - place)] = factor
        grown = (ball(self._unit) * x).exp()
        return _polynomial(rising, grown) + _polynomial(falling, 1 / grown)

    def _balls(self) -> tuple[list[arb], list[arb]]:
        """The shifts and the factors w e^(-s^2/2), at the working precision."""
        if ctx.prec not in self._terms:
            factors = [ball(w) * (-ball(s * s / 2)).exp() for s, w in self.weights]
            self._terms[ctx.prec] = [ball(s) for s, _ in self.weights], factors
        return self._terms[ctx.prec]


def _common_unit(distances: list[Fraction]) -> Fraction:
    denominator = math.lcm(*(x.denominator for x in distances))
    return Fraction(math.gcd(*(int(x * denominator) for x in distances)), denominator)


#: Power series are not listed: their polynomials are moved to the constant term.
_POLYNOMIALS: dict[type, type] = {arb: arb_poly, acb: acb_poly}


def _polynomial(coefficients: list[arb], x: Any) -> Any:
    kind = _POLYNOMIALS.get(type(x))
    if kind is not None:
        return kind(coefficients)(x)
    constant, *rest = x.coeffs()
    moved = arb_poly(coefficients)(arb_poly([constant, 1]))
    return arb_series(moved)(arb_series([arb(0), *rest]))


class Noise(Protocol):
    """A law of the noise, over the density of N(0, 1); see `Mixture`."""

    def at(self, x: Any) -> Any: ...

    def mean(self, x: Any) -> Any:
        """The derivative of the logarithm of `at`."""

    def mass(self, side: Callable[[arb], arb], x: arb) -> arb: ...

    def guess(self, x: float) -> float: ...


@dataclass(frozen=True)
class Ratio:
    """log p/q for two laws of the noise, where it rises with the noise and takes all values.

    For mixtures: the least shift of p is above the least shift of q, the largest likewise, and
    every shift of p is at least every shift of q.
    """

    p: Noise
    q: Noise

    def density(self, loss: Any) -> Any:
        """The density of the ratio under p."""
        x = self._inverse(loss)
        return self.p.at(x) * _normal(x) / self.slope(x)

    def masses(self, loss: arb, side: Callable[[arb], arb]) -> Masses:
        """The masses under p and q up to a ratio, or beyond; side: cdf or tail."""
        x = self._point(loss)
        return self.p.mass(side, x), self.q.mass(side, x)

    def at(self, x: Any) -> Any:
        """log p/q at a point of the noise."""
        return (self.p.at(x) / self.q.at(x)).log()

    def slope(self, x: Any) -> Any:
        """The derivative of log p/q at a point of the noise."""
        return self.p.mean(x) - self.q.mean(x)

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
        x = arb(-falling_root(lambda y: self.p.guess(-y) - self.q.guess(-y) - target, 0.0))
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


class RatioLaw(DensityLaw):
    """The loss between two laws of the noise; see `Ratio`."""

    @property
    @abstractmethod
    def ratio(self) -> Ratio:
        """The loss as a function of the noise."""

    def density(self, loss: Any) -> Any:
        return self.ratio.density(loss)

    def below(self, loss: arb) -> Masses:
        return self.ratio.masses(loss, cdf)

    def above(self, loss: arb) -> Masses:
        return self.ratio.masses(loss, tail)


def _normal(x: Any) -> Any:
    return (x * x * arb(-0.5)).exp() / (2 * arb.pi()).sqrt()


def integral(p: Weights, q: Weights, s: Fraction, *, start: Fraction | None = None) -> arb:
    """The integral of p^(s + 1) q^(-s) phi, s > 0, over the line or from start on."""
    power, root, mixtures = ball(s + 1), ball(s), (Mixture(p), Mixture(q))

    def integrand(x: acb, _: bool) -> acb:
        above, below = (mixture.at(x) for mixture in mixtures)
        if not (off_cut(above) and off_cut(below)):
            return acb("nan", "nan")
        value: acb = (power * above.log() - root * below.log() - x * x / 2).exp()
        return value

    # q is at least each of its terms: use the last term on the right, the first on the left
    right, left = ([_beyond(a, b, s) for a in p] for b in (q[-1], q[0]))
    if any(math.isinf(spare) for _, _, spare in right + left):
        raise Undecided(_TOO_LARGE)
    high = math.ceil(max(centre + Fraction(spare) for centre, _, spare in right))
    low = Fraction(math.floor(min(centre - Fraction(spare) for centre, _, spare in left)))
    if start is not None:
        low, left = start, []
    if high - low > _LONGEST:
        raise Undecided(_TOO_LARGE)
    ends = [low, *range(math.floor(low) + _PIECE, high, _PIECE), high]
    pieces = (acb.integral(integrand, ball(a), ball(b)).real for a, b in pairwise(ends))
    rest = sum((size * tail(ball(high - centre)) for centre, size, _ in right), arb(0))
    rest += sum((size * cdf(ball(low - centre)) for centre, size, _ in left), arb(0))
    return sum(pieces, arb(0)) / (2 * arb.pi()).sqrt() + arb(0.5, 0.5) * rest


def _beyond(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], s: Fraction
) -> tuple[Fraction, arb, float]:
    """A normal law that bounds the integrand: its centre and size, and the distance from the centre
    beyond which its tail is negligible."""
    (shift, weight), (other, share) = a, b
    centre = (s + 1) * shift - s * other
    exponent = (centre**2 - (s + 1) * shift**2 + s * other**2) / 2
    size = ball(weight) * (ball(exponent) - ball(s) * ball(share).log()).exp()
    most = float((ball(exponent) - ball(s) * ball(share).log()).mid())
    return centre, size, math.sqrt(2 * max(0.0, most) + 200)
