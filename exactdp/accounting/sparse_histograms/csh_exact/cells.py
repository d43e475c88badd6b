"""An upper bound on the exact delta of a pair, from cells of M and convexity alone.

    delta = E[F(M)],  F(m) = C(L(m), y(m)),  C(l, y) = E max(l, 1 - y e^(w xi)),  xi ~ N(0, 1),

with L = 1 - G, y(m) = e^(b - c m), c = t/V, w^2 = D^2 - t^2/V and M ~ N(0, V). C is convex as a
mean of maxima of affine functions, does not fall with l (slope <= 1) and does not rise with y
(slope at least -e^(w^2/2)); so F does not fall with m. On a cell, m = (1 - u) m_1 + u m_2,

* ln G is concave: L <= 1 - G_1 e^(-u x), x = ln(G_1/G_2), which is above its chord by <= G_1 x^2/8;
* y is convex: it is below its chord by at most y_1 (c h)^2/8, h = m_2 - m_1.

Hence F <= (1 - u) F_1 + u F_2 + G_1 x^2/8 + e^(w^2/2) y_1 (c h)^2/8, and F <= F_2. The cost does
not depend on w, however small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from exactdp.accounting.gaussian import cdf, pdf, tail
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Profile,
    floor_of,
    plus_minus,
)
from exactdp.balls import ball

__all__ = ["Bound", "Cells"]

#: Where the third order in w is good to about 1e-9, and saves an error function.
_NARROW = arb(0.005)


class Bound(NamedTuple):
    """An upper bound on delta, and a guess at it, extrapolated, that proves nothing."""

    upper: arb
    guess: arb


class _Cell(NamedTuple):
    """E[1_cell], E[(1 - u) 1_cell], E[u 1_cell]; how far L rises above its chord at most."""

    mass: arb
    left: arb
    right: arb
    bulge: arb


@dataclass(frozen=True)
class Cells:
    """About `count` cells of M for one profile."""

    profile: Profile
    count: int

    @cached_property
    def _grid(self) -> tuple[int, int, int]:
        """Nodes m_i = i h coarse/fine for -reach <= i <= reach."""
        noise, deviation = self.profile.noise, self.profile.deviation
        reach = (arb(2) * noise.absolute).sqrt() * deviation
        per_step = self.count * ball(noise.step) / (2 * reach)
        fine = max(1, floor_of(per_step) + 1)
        coarse = max(1, floor_of(1 / per_step)) if fine == 1 else 1
        return coarse, fine, floor_of(reach * fine / (ball(noise.step) * coarse)) + 1

    @cached_property
    def step(self) -> Fraction:
        coarse, fine, _ = self._grid
        return self.profile.noise.step * coarse / fine

    @cached_property
    def nodes(self) -> list[arb]:
        reach, step = self._grid[2], ball(self.step)
        return [step * i for i in range(-reach, reach + 1)]

    @cached_property
    def about(self) -> list[arb]:
        """Balls around L at the nodes."""
        coarse, fine, reach = self._grid
        profile, noise = self.profile, self.profile.noise
        passed, cut = noise.passed_along(profile.j, profile.r, -reach, reach, coarse, fine)
        alias, spread = noise.alias(profile.precision + profile.r), 1 / profile.precision
        root, found = (1 + spread).sqrt(), []
        for m, x in zip(self.nodes, passed, strict=True):
            y = ((noise.ratio - m) / root).max(arb(0))
            union = (profile.r * (-y * y / 2).exp()).min(arb(2))  # tail(y) < e^(-y^2/2)
            found.append(x + plus_minus(union * alias + cut))
        return found

    @cached_property
    def lost(self) -> list[arb]:
        """Exact numbers >= L at the nodes."""
        return [lost.upper() for lost in self.about]

    @cached_property
    def logs(self) -> list[arb]:
        """ln(1 - L) at those numbers, not finite where that is not positive."""
        return [(-lost).log1p() for lost in self.lost]

    @cached_property
    def outside(self) -> arb:
        """P(M beyond the last node), on either side."""
        return tail(self.nodes[-1] / self.profile.deviation)

    @cached_property
    def cells(self) -> list[_Cell]:
        deviation = self.profile.deviation
        scaled = [m / deviation for m in self.nodes]
        below = [cdf(x) if x < 0 else tail(x) for x in scaled]
        density = [pdf(x) for x in scaled]
        width = ball(self.step) / deviation
        found = []
        for i in range(len(scaled) - 1):
            mass = below[i] - below[i + 1]
            if scaled[i] < 0:
                mass = -mass
            right = (density[i] - density[i + 1] - scaled[i] * mass) / width
            drop = self.logs[i] - self.logs[i + 1]
            found.append(_Cell(mass, mass - right, right, self.logs[i].exp() * drop * drop / 8))
        return found

    def bound(self, epsilon: arb, squared: arb, covariance: arb, all_change: bool) -> Bound:
        """For D^2 = squared and t = covariance; all_change: w = 0, else t^2 < V D^2."""
        slope = covariance / self.profile.variance
        width = arb(0) if all_change else (squared - covariance * slope).sqrt()
        means = [epsilon - squared / 2 - slope * m for m in self.nodes]
        growth = (width * width / 2).exp()
        others = [mean.exp() * growth for mean in means]  # E[e^X | M = m]
        values = [
            lost + _shortfall(log, mean, other, width) if log.is_finite() else arb(1)
            for lost, log, mean, other in zip(self.lost, self.logs, means, others, strict=True)
        ]
        sag = (slope * ball(self.step)) ** 2 / 8
        total = plain = values[0] * self.outside + self.outside
        for cell, other, (low, high) in zip(self.cells, others, pairwise(values), strict=False):
            chord = cell.left * low + cell.right * high
            plain += chord
            above = chord + cell.mass * (cell.bulge + sag * other)
            total += _smaller(cell.mass * high, above)
        return Bound(total.upper(), plain - (self._twice_as_wide(values) - plain) / 3)

    def _twice_as_wide(self, values: Sequence[arb]) -> arb:
        total = values[0] * self.outside + self.outside
        for i in range(0, len(self.cells), 2):
            first, second = self.cells[i], self.cells[i + 1]
            right = (first.right + second.left + 2 * second.right) / 2
            left = first.mass + second.mass - right
            total += left * values[i] + right * values[i + 2]
        return total


def _shortfall(log: arb, mean: arb, other: arb, width: arb) -> arb:
    """An upper bound on E[(g - e^X)_+] at g = e^log for X ~ N(mean, width^2), other = E[e^X]."""
    if not width > 0:
        return (log.exp() - other).max(arb(0))
    top = (log - mean) / width
    if width < _NARROW:  # g E(1 - e^(-w (T - xi)))_+ and 1 - e^-x <= x - x^2/2 + x^3/6
        below, density = cdf(top), pdf(top)
        first = top * below + density
        second = below + top * first
        third = 2 * first + top * second
        return log.exp() * width * (first - width / 2 * (second - width / 3 * third))
    return log.exp() * cdf(top) - other * cdf(top - width)


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; one that is not finite says nothing."""
    return other if other < bound else bound
