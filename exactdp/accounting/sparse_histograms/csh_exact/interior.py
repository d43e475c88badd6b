"""E[(G(M) - e^(b - U))_+] where some of the shared counters change and some do not (w > 0).

Given M = m, U is N(c m, w^2) with c = t/V, w^2 = D^2 - t^2/V, and the expectation is

    f(m) = G Phi(T) - e^(b - c m + w^2/2) Phi(T - w),   T = (ln G(m) - b + c m)/w.

The mean of f over M ~ N(0, V) is taken cell by cell, rigorously (Petras' algorithm in Arb), with
L = 1 - G replaced by a polynomial on every cell. What is neglected:

* L at a point by the sum over the nodes near the centre: `alias` and `cut`, as for G itself; f
  changes by at most as much as G does.
* that sum by its Taylor polynomial, `rest`. On the disc of radius R around the centre m_0 the sum
  is at most e^(R^2/(2 s^2)) times its largest value on the real axis there (|phi_s(x + iy)| =
  e^(y^2/(2 s^2)) phi_s(x)), hence at most M = e^(R^2/(2 s^2)) (1 + alias) min(2, r tail(..)) at
  m_0 + R; by Cauchy's estimate the terms beyond x^(N-1) are at most M (|x|/R)^N/(1 - |x|/R).
* M outside of the cells: f <= Phi((c A - b)/w) left of A. Right of B, f <= G(B), and
  f <= G(B) Phi(T(B)) if T falls at B: ln G is concave and falls, so T is concave.

Wide balls hide that f vanishes where T is far below 0, so Phi is bounded there by hand:
|Phi(x + iy)| <= e^((y^2 - x^2)/2) for x < 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from flint import acb, acb_poly, arb, arb_mat, ctx

from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Profile,
    SharedNoise,
    plus_minus,
)
from exactdp.balls import ball
from exactdp.bisection import halved
from exactdp.normal import cdf, pdf, tail

#: Largest number of cells, and of values in one cell; beyond these the integral is [0, 1].
_MOST_CELLS = 1 << 12
_MOST_VALUES = 1 << 12
#: The length of a cell, about, in units of s.
_LENGTH = 2
#: The radius of the disc for Cauchy's estimate, over the radius on which the polynomial is used.
_WIDER = 3


class Loss(NamedTuple):
    """b - U given M = m is N(offset - slope m, width^2)."""

    offset: arb
    slope: arb
    width: arb

    @classmethod
    def of(cls, profile: Profile, epsilon: arb, squared: arb, covariance: arb) -> Loss:
        slope = covariance / profile.variance
        return cls(epsilon - squared / 2, slope, (squared - covariance * slope).sqrt())


@dataclass(frozen=True)
class CellGrid:
    """Cells around the nodes of the shared noise with the indices i stride, first <= i <= last.

    terms: of the polynomials. width: nodes on either side of a centre that its sum takes in.
    The errors are bounded for whatever these are.
    """

    profile: Profile
    stride: int
    first: int
    last: int
    terms: int
    width: int

    @property
    def length(self) -> arb:
        """The length of a cell: its polynomial is used up to this distance from its centre."""
        return ball(self.profile.noise.step) * self.stride

    def polynomials(self) -> list[acb_poly]:
        """L around every centre."""
        noise, r, span = self.profile.noise, self.profile.r, 2 * self.width + 1
        low, cells = self.first * self.stride - self.width, self.last - self.first + 1
        passed = [noise.passed(low + i, r) for i in range((cells - 1) * self.stride + span)]
        rows = [passed[i * self.stride : i * self.stride + span] for i in range(cells)]
        kernels = [self._kernel(-steps) for steps in range(-self.width, self.width + 1)]
        products = arb_mat(rows) * arb_mat(kernels)
        return [acb_poly([products[i, n] for n in range(self.terms)]) for i in range(cells)]

    def _kernel(self, steps: int) -> list[arb]:
        """Taylor coefficients of h phi_s at so many steps: phi_s^(n)/n! by Hermite's recursion."""
        h, root = ball(self.profile.noise.step), self.profile.precision.sqrt()
        y = root * h * steps
        before, here = arb(0), h * root * pdf(y)
        coefficients = []
        for n in range(self.terms):
            coefficients.append(here)
            before, here = here, -root * (y * here + root * before) / (n + 1)
        return coefficients

    def rest(self, index: int) -> arb:
        """A bound on the error of a cell's polynomial, up to one length from its centre."""
        profile, radius = self.profile, self.length * _WIDER
        right = self.length * index + radius
        most = profile.noise.union_bound(right, 1 / profile.precision, profile.r)
        most *= 1 + profile.noise.alias(profile.precision + profile.r)
        most *= (radius * radius * profile.precision / 2).exp()
        return most * arb(_WIDER) ** -self.terms / (1 - arb(1) / _WIDER)

    def alias(self) -> arb:
        """A bound on E|L - sum over all nodes|."""
        noise, profile = self.profile.noise, self.profile
        union = noise.union_bound(arb(0), 1 / noise.kappa, profile.r)
        return union * noise.alias(profile.precision + profile.r)

    def cut(self) -> arb:
        """A bound on the sum over the nodes that a cell leaves out."""
        distance = ball(self.profile.noise.step) * (self.width - 1) - self.length / 2
        return 2 * tail(distance * self.profile.precision.sqrt())

    def outside(self, loss: Loss) -> tuple[arb, arb]:
        """Bounds on what lies left and right of the cells."""
        left = self.length * (self.first - arb(0.5))
        right = self.length * (self.last + arb(0.5))
        deviation = self.profile.deviation
        most = cdf((loss.slope * left - loss.offset) / loss.width)
        within = log_bound_right_of(self.profile, loss, right.lower()).exp()
        return most * cdf(left / deviation), within * tail(right / deviation)


def log_bound_right_of(profile: Profile, loss: Loss, m: arb) -> arb:
    """ln of a bound on f beyond an exact point m: G(m) Phi(T(m)) if T falls there, else G(m)."""
    log, slope = profile.hidden(m)
    top = (log - loss.offset + loss.slope * m) / loss.width
    if slope + loss.slope < 0 and top < 0:
        return log - top * top / 2  # Phi(T) <= e^(-T^2/2) for T < 0
    return log


def integral(profile: Profile, loss: Loss) -> arb:
    """The expectation for w > 0; any pair (D^2, t) with t^2 < D^2 V may be asked for."""
    plan = _plan(profile, loss) if loss.width > 0 else None
    total = by_cells(plan, loss) if plan else arb("nan")
    return total if total.is_finite() else arb(0).union(arb(1))


def by_cells(plan: CellGrid, loss: Loss) -> arb:
    """The expectation by a given plan; not finite if the plan is too coarse."""
    polynomials, deviation = plan.polynomials(), plan.profile.deviation
    half, total = plan.length / 2, plus_minus(plan.alias() + plan.cut())
    accuracy = (-arb(_nats(plan.profile.noise))).exp() / len(polynomials)
    for index, polynomial in enumerate(polynomials, plan.first):
        cell = _Cell(plan.length * index, plan.length, polynomial, plan.rest(index), loss)
        density = partial(cell.density, deviation)
        value = acb.integral(
            density, -half, half, rel_tol=accuracy, abs_tol=accuracy, eval_limit=_MOST_VALUES
        )
        total += value.real
    for most in plan.outside(loss):
        total += most.upper() * arb(0.5, 0.5)
    return total.max(arb(0))


@dataclass(frozen=True)
class _Cell:
    centre: arb
    radius: arb
    polynomial: acb_poly
    rest: arb
    loss: Loss

    def density(self, deviation: arb, x: acb, _: bool) -> acb:
        """phi_V f at centre + x; not finite where it might not be analytic."""
        rest = plus_minus(self.rest)
        chance = 1 - self.polynomial(x) - acb(rest, rest)
        if not (abs(x) <= self.radius and chance.real > 0):
            return acb("nan")
        m, (offset, slope, width) = self.centre + x, self.loss
        mean = offset - slope * m
        top = (chance.log() - mean) / width
        value = chance * _cdf(top) - (mean + width * width / 2).exp() * _cdf(top - width)
        z = m / deviation
        return pdf(z) / deviation * value


def _cdf(z: acb) -> acb:
    """Phi, also for wide balls far from 0."""
    direct = cdf(z)
    x, y = z.real.abs_lower(), z.imag.abs_upper()
    if not x > 2 * y.max(arb(2)):
        return direct
    small = plus_minus(((y * y - x * x) / 2).exp())
    if direct.is_finite() and direct.rad() < small.rad():
        return direct
    return acb(small if z.real < 0 else 1 + small, small)


def _nats(noise: SharedNoise) -> int:
    """-ln of a negligible probability: a search compares numbers to a quarter of the bits."""
    return noise.absolute - noise.relative + ctx.prec // 5 + 8


def _plan(profile: Profile, loss: Loss) -> CellGrid | None:
    """A plan of cells that floats suggest; None if it needs too many cells."""
    noise, root = profile.noise, float(profile.precision.mid()) ** 0.5
    h, absolute = float(noise.step), noise.absolute
    stride = max(1, math.floor(_LENGTH / (root * h)))
    growth = (_WIDER * stride * h * root) ** 2 / 2
    terms = math.ceil((absolute + growth) / math.log(_WIDER)) + 2
    width = math.ceil(math.sqrt(2 * absolute) / (root * h) + stride / 2) + 2
    left, right = _reach(profile, loss)
    if not (left + right) / (stride * h) < _MOST_CELLS:
        return None
    first, last = -math.ceil(left / (stride * h)), max(math.ceil(right / (stride * h) - 0.5), 1)
    return CellGrid(profile, stride, first, last, terms, width)


def _reach(profile: Profile, loss: Loss) -> tuple[float, float]:
    """About how far left and right of 0 the integrand matters and G can be told from 0."""
    b, c, w = (float(part.mid()) for part in loss)
    deviation, left = float(profile.deviation.mid()), 0.0
    step, enough = deviation / 4, 2 * (_nats(profile.noise) + 3)
    while max(0.0, (b + c * left - 1) / w) ** 2 + (left / deviation) ** 2 < enough:
        left += step

    def is_rare(x: float) -> bool:
        beyond = log_bound_right_of(profile, loss, arb(x)) - (x / deviation) ** 2 / 2
        return not beyond > -enough / 2

    return left, halved(0.0, deviation * math.sqrt(enough), is_rare, width=step)[1]
