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
#: Where E(T - xi)_+ no longer matters.
_FAR = arb(6)
#: Nats at which what lies left of the nodes does not matter.
_LEFT = 22


class Bound(NamedTuple):
    """An upper bound on delta, and a guess at it, extrapolated, that proves nothing."""

    upper: arb
    guess: arb


@dataclass(frozen=True)
class Cells:
    """About `count` cells of M for one profile."""

    profile: Profile
    count: int

    @cached_property
    def _grid(self) -> tuple[int, int, int, int]:
        """Nodes m_i = i h coarse/fine for -left <= i <= right.

        What lies left is replaced by its largest value, what lies right by 1: the latter must be
        so much less likely.
        """
        noise, deviation = self.profile.noise, self.profile.deviation
        nats = (arb(_LEFT), arb(_LEFT + noise.absolute - noise.relative))
        left, right = (deviation * (2 * n).sqrt() for n in nats)
        per_step = self.count * ball(noise.step) / (left + right)
        fine = max(1, floor_of(per_step) + 1)
        coarse = max(1, floor_of(1 / per_step)) if fine == 1 else 1
        unit = fine / (ball(noise.step) * coarse)
        return coarse, fine, floor_of(left * unit) + 1, floor_of(right * unit) + 1

    @cached_property
    def step(self) -> Fraction:
        coarse, fine, _, _ = self._grid
        return self.profile.noise.step * coarse / fine

    @cached_property
    def nodes(self) -> list[arb]:
        _, _, left, right = self._grid
        step = ball(self.step)
        return [step * i for i in range(-left, right + 1)]

    @cached_property
    def about(self) -> list[arb]:
        """Balls around L at the nodes."""
        coarse, fine, left, right = self._grid
        profile, noise = self.profile, self.profile.noise
        passed, cut = noise.passed_along(profile.j, profile.r, -left, right, coarse, fine)
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
    def bulges(self) -> list[arb]:
        """How far L rises above its chord at most, on every cell."""
        drops = ((y - x) ** 2 / 8 for x, y in pairwise(self.logs))
        return [(1 - lost) * drop for lost, drop in zip(self.lost, drops, strict=False)]

    @cached_property
    def _weights(self) -> tuple[list[arb], list[arb], arb]:
        """P(cell) and E min(max((M - m_i)/h, 0), 1) for every cell, and P(M beyond the last node).

        Both are differences, of the tail and of E(M - m)_+; cells left of 0 mirror those right.
        """
        _, _, left, right = self._grid
        width = ball(self.step) / self.profile.deviation
        above = [tail(width * i) for i in range(max(left, right) + 1)]
        calls = [pdf(width * i) - width * i * x for i, x in enumerate(above)]
        mass = [x - y for x, y in pairwise(above)]
        rise = [(x - y) / width for x, y in pairwise(calls)]
        masses = mass[:left][::-1] + mass[:right]
        return masses, [1 - x for x in rise[:left][::-1]] + rise[:right], above[right]

    @property
    def masses(self) -> list[arb]:
        """P(cell)."""
        return self._weights[0]

    @property
    def rises(self) -> list[arb]:
        """P(M > m_(i+1)) and the mean of u on the cell."""
        return self._weights[1]

    @cached_property
    def centres(self) -> list[arb]:
        """The mean of u on every cell."""
        beyond, found = self.outside, []
        for mass, rise in zip(reversed(self.masses), reversed(self.rises), strict=True):
            found.append((rise - beyond) / mass)
            beyond += mass
        return found[::-1]

    @property
    def outside(self) -> arb:
        """P(M beyond the last node)."""
        return self._weights[2]

    def bound(self, epsilon: arb, squared: arb, covariance: arb, all_change: bool) -> Bound:
        """For D^2 = squared and t = covariance; all_change: w = 0, else t^2 < V D^2."""
        slope = covariance / self.profile.variance
        width = arb(0) if all_change else (squared - covariance * slope).sqrt()
        means = [epsilon - squared / 2 - slope * m for m in self.nodes]
        growth = (width * width / 2).exp()
        others = [mean.exp() * growth for mean in means]  # E[e^X | M = m]
        values = [
            lost + _shortfall(lost, log, mean, other, width) if log.is_finite() else arb(1)
            for lost, log, mean, other in zip(self.lost, self.logs, means, others, strict=True)
        ]
        sag, gap, plain = (slope * ball(self.step)) ** 2 / 8, self.outside, values[0]
        cells = zip(self.masses, self.rises, self.bulges, others, pairwise(values), strict=False)
        for mass, rise, bulge, other, (low, high) in cells:
            more = high - low
            plain += rise * more
            gap += mass * _smaller(more, bulge + sag * other)
        return Bound((plain + gap).upper(), plain - (self._twice_as_wide(values) - plain) / 3)

    def _twice_as_wide(self, values: Sequence[arb]) -> arb:
        """The chords' mean on every second node."""
        rises = self.rises
        total = values[0]
        for i in range(0, len(rises) - 1, 2):
            total += (rises[i] + rises[i + 1]) / 2 * (values[i + 2] - values[i])
        if len(rises) % 2:
            total += rises[-1] * (values[-1] - values[-2])
        return total


def _shortfall(lost: arb, log: arb, mean: arb, other: arb, width: arb) -> arb:
    """An upper bound on E[(g - e^X)_+] for g = 1 - lost and X ~ N(mean, width^2); other = E e^X."""
    if not width > 0:
        return (1 - lost - other).max(arb(0))
    top = (log - mean) / width
    if top < -_FAR:  # 1 - e^-x <= x, and E(T - xi)_+ <= phi(T)/T^2
        return width * pdf(top) / (top * top)
    if width < _NARROW:  # g E(1 - e^(-w (T - xi)))_+ and 1 - e^-x <= x - x^2/2 + x^3/6
        below, density = cdf(top), pdf(top)
        first = top * below + density
        second = below + top * first
        third = 2 * first + top * second
        return (1 - lost) * width * (first - width / 2 * (second - width / 3 * third))
    return (1 - lost) * cdf(top) - other * cdf(top - width)


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; one that is not finite says nothing."""
    return other if other < bound else bound
