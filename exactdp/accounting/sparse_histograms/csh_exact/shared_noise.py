"""The shared noise Z of the correlated sparse histogram, integrated out with certified error.

Lengths are in units of the independent noise: Z ~ N(0, 1/kappa), the threshold is at `ratio`, and
r extra counters all stay hidden given Z = z with probability F(z) = Phi(ratio - z)^r. Given also j
further noisy values, Z ~ N(m, s^2) with s^2 = 1/(j + kappa). Wanted are

    1 - q_r = E[1 - F(Z)],     G(m) = E[F(m + s xi)],     G'(m),     xi ~ N(0, 1),

all as sums over one grid z_l = l h, on which ln Phi(ratio - z_l) is computed once.

**Aliasing.** If f is analytic with int |f(x + iy)| dx <= N0 e^(K y^2 / 2) for every y, then
(Trefethen and Weideman 2014, Theorem 5.1, with strip half-width d and N = N0 e^(K d^2 / 2))

    |h sum f(l h) - int f| <= 2 N / (e^(2 pi d / h) - 1) = N0 2 e^-x / (1 - e^(-2x))

at d = 2 pi / (h K), where x = 2 pi^2 / (h^2 K). The constants N0 and K follow from

* |phi(x + iy)| = e^(y^2/2) phi(x) for the normal density, so a density of variance v adds 1/v to K;
* |Phi(x + iy)| <= e^(y^2/2) Phi(x): integrate phi along the horizontal line. The same for the tail;
* |F(x + iy)| <= e^(r y^2/2) F(x), and with T = 1 - Phi(ratio - z):
  |1 - (1 - T)^r| <= r |T| max(1, |1 - T|)^(r-1), so |1 - F(x + iy)| <= e^(r y^2/2) r tail(ratio-x);
  also |1 - F| <= 1 + |F| <= 2 e^(r y^2/2).

**Truncation.** The summands left out are >= 0 and at most a Gaussian density, which falls away from
its centre: beyond a last node their sum is at most the density's integral beyond that node.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import NamedTuple

from flint import arb, arb_poly

from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.normal import cdf, pdf, tail

#: Largest number of nodes of a grid; only an extremely small kappa needs more.
_MOST_NODES = 1 << 19


class Hidden(NamedTuple):
    """Balls around ln G(m) and its derivative; not finite where G cannot be told from 0."""

    log: arb
    slope: arb


class SharedNoise:
    """The grid of the shared noise.

    kappa: 1 / variance of the shared noise, > 0. ratio: threshold / independent noise.
    most: the sums reach their accuracy for up to this number of counters j + r; their error bounds
    hold for any number. relative: -ln of the wanted error, over the probability that a counter
    passes. absolute: -ln of a negligible probability, >= relative. All three choose only the grid.
    """

    def __init__(self, kappa: arb, ratio: arb, most: int, relative: int, absolute: int) -> None:
        self.kappa, self.ratio = kappa, ratio
        self.relative, self.absolute = relative, absolute
        curvature = most + floor_of(kappa) + 1
        # x >= relative for K <= curvature, as 19 < 2 pi^2
        self.step = Fraction(64, isqrt(curvature * relative * 4096 // 19) + 1)
        self._h = ball(self.step)
        self._root = kappa.sqrt()
        self._first, self._last = self._range(most)
        if self._last - self._first > _MOST_NODES:
            raise Undecided("the shared noise is too wide for its grid (kappa is too small)")
        self._log_cdf: dict[int, arb] = {}
        self._cdf: dict[int, arb] = {}
        self._density: dict[int, arb] = {}
        self._weight: dict[int, arb] = {}

    def _range(self, most: int) -> tuple[int, int]:
        """First and last node at which phi_kappa(z) (1 - F(z)) matters."""
        kappa, ratio, h = self.kappa, self.ratio, self._h
        last = floor_of((arb(2) * self.absolute).sqrt() / (self._root * h)) + 1
        budget = 2 * (self.absolute + arb(most).log())
        if ratio > 0:  # y >= 0 with (ratio + y)^2 + kappa y^2 = budget
            inside = ratio**2 - (1 + kappa) * (ratio**2 - budget)
            reach = (inside.max(arb(0)).sqrt() - ratio).max(arb(0)) / (1 + kappa)
        else:
            reach = (budget / kappa).sqrt()
        return -floor_of(reach / h) - 1, last

    def node(self, index: int) -> arb:
        """Where the grid's node of that index lies."""
        return self._h * index

    def passed(self, index: int, r: int) -> arb:
        """1 - F(z) at a node: some of r extra counters passes the threshold, given Z = z."""
        return -(self._log(index) * r).expm1()

    def alias(self, curvature: arb) -> arb:
        """2 e^-x / (1 - e^-2x): the aliasing error per unit of N0, for K = curvature."""
        x = 2 * arb.pi() ** 2 / (self._h**2 * curvature)
        return 2 * (-x).exp() / (1 - (-2 * x).exp())

    def union_bound(self, m: arb, variance: arb, r: int) -> arb:
        """min(2, E[r tail(ratio - X)]), X ~ N(m, variance): the N0 of a mean of 1 - F."""
        return (r * tail((self.ratio - m) / (1 + variance).sqrt())).min(arb(2))

    def exceeded(self, r: int) -> arb:
        """1 - q_r: some of r extra counters passes the threshold.

        K = kappa + r and N0 = min(2, r tail(ratio / sqrt(1 + 1/kappa))).
        """
        total = arb(0)
        for index in range(self._first, self._last + 1):
            total += self._weigh(index) * self.passed(index, r)
        return total + plus_minus(self._exceeded_error(r, 0))

    def exceeded_within(self, r: int, j: int, left: arb, right: arb) -> arb:
        """Probability that some of r extra counters passes, and left < M < right.

        M is the estimate of Z from j noisy values; given Z = z it is N(j z s^2, j s^4). The chance
        of the interval, as a function of z, is a mean of normal densities of variance 1/j in z: it
        adds j to K and is at most 1 in N0 and in the truncation.
        """
        total, precision = arb(0), self.kappa + j
        spread = arb(j).sqrt() / precision
        for index in range(self._first, self._last + 1):
            centre = j * self.node(index) / precision
            inside = cdf((right - centre) / spread) - cdf((left - centre) / spread)
            total += self._weigh(index) * self.passed(index, r) * inside
        return total + plus_minus(self._exceeded_error(r, j))

    def _exceeded_error(self, r: int, j: int) -> arb:
        low, high = self.node(self._first), self.node(self._last)
        aliasing = self.union_bound(arb(0), 1 / self.kappa, r) * self.alias(self.kappa + r + j)
        # 1 - F rises with z: left of the grid it is at most its union bound at the first node
        left = cdf(self._root * low) * (r * tail(self.ratio - low)).min(arb(1))
        return aliasing + left + tail(self._root * high)

    def hidden(self, m: arb, j: int, r: int) -> Hidden:
        """ln G(m) and its derivative at an exact point m; r >= 1.

        K = j + kappa + r throughout. For 1 - G, N0 is its union bound; for G and for
        -G' = E[r phi(ratio - Z) Phi(ratio - Z)^(r-1)] the integrand on the strip is at most its
        real values times e^(K y^2/2), so N0 is the integral itself and the error is relative.
        """
        precision = self.kappa + j
        root = precision.sqrt()
        window = (arb(2) * (16 * self.absolute // 10 + 15)).sqrt()
        middle, reach = floor_of(m / self._h), floor_of(window / (root * self._h)) + 3
        passed, stay, fall = self._window_sums(m, precision, r, middle - reach, middle + reach)
        scale = self._h * root / (2 * arb.pi()).sqrt()
        passed, stay, fall = passed * scale, stay * scale, fall * scale * r
        # m is less than 2 h from the middle node, rounding included
        cut = 2 * tail((reach - 2) * self._h * root)
        alias = self.alias(precision + r)
        relative = 1 + plus_minus(alias)
        if passed < 0.5:
            error = self.union_bound(m, 1 / precision, r) * alias + cut
            chance = 1 - passed + plus_minus(error)
        else:
            chance = (stay + plus_minus(cut)) / relative
        slope = -(fall + plus_minus(r * cut)) / relative
        return Hidden(chance.log(), slope / chance)

    def _window_sums(
        self, m: arb, precision: arb, r: int, first: int, last: int
    ) -> tuple[arb, arb, arb]:
        """Sums of 1 - F, F and -F'/r over nodes, weighted by an unscaled normal density."""
        passed, stay, fall = arb(0), arb(0), arb(0)
        for index in range(first, last + 1):
            distance = self.node(index) - m
            weight = (-distance * distance * precision / 2).exp()
            log = self._log(index)
            others = weight * (log * (r - 1)).exp()
            passed -= weight * (log * r).expm1()
            stay += others * self._cdf[index]
            fall += others * self._density[index]
        return passed, stay, fall

    def passed_along(
        self, j: int, r: int, first: int, last: int, coarse: int, fine: int
    ) -> tuple[list[arb], arb]:
        """1 - G at the points i h coarse/fine, first <= i <= last, without the aliasing error.

        Also returns a bound on what was cut. Points with the same remainder modulo `fine` lie on
        one translate of the grid, and one product of polynomials gives all of them.
        """
        precision = self.kappa + j
        root = precision.sqrt()
        width = floor_of((arb(2) * self.absolute).sqrt() / (root * self._h)) + 3
        low, high = first * coarse // fine - width, last * coarse // fine + width
        values = arb_poly([self.passed(index, r) for index in range(low, high + 1)])
        scale = self._h * root / (2 * arb.pi()).sqrt()
        products = []
        for remainder in range(fine):
            shift = ball(self.step * remainder / fine)
            distances = (self.node(index) - shift for index in range(width, -width - 1, -1))
            window = arb_poly([scale * (-x * x * precision / 2).exp() for x in distances])
            products.append((values * window).coeffs())
        chances = []
        for index in range(first, last + 1):
            whole, remainder = divmod(index * coarse, fine)
            chances.append(products[remainder][whole - low + width])
        return chances, 2 * tail((width - 1) * self._h * root)

    def _log(self, index: int) -> arb:
        """ln Phi(ratio - z) at a node; prepares the node's other values."""
        if index not in self._log_cdf:
            x = self.ratio - self.node(index)
            self._cdf[index], self._density[index] = cdf(x), pdf(x)
            self._log_cdf[index] = (-tail(x)).log1p() if x > 0 else self._cdf[index].log()
        return self._log_cdf[index]

    def _weigh(self, index: int) -> arb:
        if index not in self._weight:
            self._weight[index] = self._h * self._root * pdf(self._root * self.node(index))
        return self._weight[index]


@dataclass(frozen=True)
class Profile:
    """G as a function of M for j shared and r >= 1 extra counters.

    ln G is concave and falls: Phi(ratio - z)^r is log-concave, and Gaussian convolution keeps that.
    """

    noise: SharedNoise
    j: int
    r: int

    @cached_property
    def precision(self) -> arb:
        """1/s^2 = j + kappa."""
        return self.noise.kappa + self.j

    @cached_property
    def variance(self) -> arb:
        """V = j/(kappa (j + kappa)), the variance of the estimate M."""
        return self.j / (self.noise.kappa * self.precision)

    @cached_property
    def deviation(self) -> arb:
        """The square root of V."""
        return self.variance.sqrt()

    def hidden(self, m: arb) -> Hidden:
        """ln G(m) and its derivative at an exact point m."""
        return self.noise.hidden(m, self.j, self.r)


def floor_of(x: arb) -> int:
    """The floor of a ball's midpoint."""
    mantissa, exponent = x.mid().man_exp()
    shift = int(exponent)
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


def plus_minus(radius: arb) -> arb:
    """The ball [-radius, radius]."""
    return radius.union(-radius)
