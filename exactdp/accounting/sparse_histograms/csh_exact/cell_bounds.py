"""An upper bound on the exact delta of a pair, from cells of M and convexity alone.

    delta = E[F(M)],  F(m) = C(L(m), y(m)),  C(l, y) = E max(l, 1 - y e^(w xi)),  xi ~ N(0, 1),

with L = 1 - G, y(m) = e^(b - c m), c = t/V, w^2 = D^2 - t^2/V and M ~ N(0, V). C is convex as a
mean of maxima of affine functions, does not fall with l (slope <= 1) and does not rise with y
(slope -E[e^(w xi); xi < T], T = (ln G - ln y)/w); so F does not fall with m. On a cell,
m = (1 - u) m_1 + u m_2,

* ln G is concave: L <= 1 - G_1 e^(-u x), x = ln(G_1/G_2), which is above its chord by <= G_1 x^2/8;
* y is convex: it is below its chord by at most y_1 (c h)^2/8, h = m_2 - m_1.

Hence F <= (1 - u) F_1 + u F_2 + G_1 x^2/8 + A (c h)^2/8, and F <= F_2. A bounds y_1 E[e^(w xi);
xi < T] on the cell; `_paid` has it. For large w (delta near 1) it is far below y_1 e^(w^2/2). Also

    F'' = (1 - Phi(T)) L'' + w G phi(T) T'^2 - c^2 E[y e^(w xi); xi < T],

so that the first error turns into minus u (1 - u) h^2/2 times a lower bound on the first two terms
where L'' >= 0 is known: L' is log-concave (F of the shared noise has a log-concave slope, and so
has its Gaussian mean), so (ln L')' falls, and is at least what the means of L' over the next two
cells show. ln L' at a node is at least z - x/2 - x^2/24, where z is ln of the mean of L' on the
cell to the right, and x by how much that of the cell before is above that of the cell before it:
L' rises by less than e^(x v) from the node to a share v of the cell, and (e^x - 1)/x is at most
e^(x/2 + x^2/24).
The cost does not depend on w, however small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, takewhile
from operator import mul
from typing import NamedTuple

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import (
    Profile,
    floor_of,
    plus_minus,
)
from exactdp.balls import ball
from exactdp.normal import cdf, pdf, tail

#: Where the third order in w is good to about 1e-9, and saves an error function.
NARROW = arb(0.005)
_UNKNOWN = arb("-inf")
#: Above the standard normal density.
_MOST_DENSITY = arb(0.4)
#: Where E(T - xi)_+ no longer matters.
_FAR = arb(6)
#: A cell whose gap is below this part of the whole needs no better bound.
_FAINT = arb(2) ** -30
#: Neighbouring nodes that share a bound on an error.
_BLOCK = 8


class Bound(NamedTuple):
    """An upper bound on delta, and an extrapolated guess, which proves nothing."""

    upper: arb
    guess: arb


@dataclass(frozen=True)
class CellBounds:
    """About `count` cells of M for one profile.

    nats: below 1, where 1 - delta is.
    """

    profile: Profile
    count: int
    nats: int = 0

    @cached_property
    def _grid(self) -> tuple[int, int, int, int]:
        """Nodes m_i = i h coarse/fine for -left <= i <= right.

        Left of the grid, F is replaced by its largest value; right of it, by 1, so the probability
        on the right must be much smaller.
        """
        noise, deviation = self.profile.noise, self.profile.deviation
        least = 2 * self.count.bit_length()
        nats = (arb(least + self.nats), arb(least + noise.absolute - noise.relative))
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
        root, found, error = (1 + spread).sqrt(), [], arb(0)
        for i, x in enumerate(passed):
            if i % _BLOCK == 0:  # the union bound rises: tail(y) < e^(-y^2/2) for y >= 0
                last = self.nodes[min(i + _BLOCK, len(passed)) - 1]
                y = ((noise.ratio - last) / root).max(arb(0))
                union = (profile.r * (-y * y / 2).exp()).min(arb(2))
                error = plus_minus(union * alias + cut)
            found.append(x + error)
        return found

    @cached_property
    def logs(self) -> list[arb]:
        """ln G at the nodes, not finite where G cannot be told from 0."""
        return [(-lost).log1p() for lost in self.about]

    @cached_property
    def bulges(self) -> list[arb]:
        """For every cell, an upper bound on how far L rises above its chord."""
        drops = ((y - x) ** 2 / 8 for x, y in pairwise(self.logs))
        return [(1 - lost) * drop for lost, drop in zip(self.about, drops, strict=False)]

    @cached_property
    def sags(self) -> list[arb]:
        """Upper bounds on how far ln G rises above its chord, for the cells where this is known."""
        falls = [arb(0), *(x - y for x, y in pairwise(self.logs))]
        sags = [(y - x) / 4 for x, y in zip(falls, falls[2:], strict=False)]
        return list(takewhile(arb.is_finite, sags))

    @cached_property
    def _log_means(self) -> list[arb]:
        """ln of the mean of L' on every cell; log-concave, as L' is."""
        step = ball(self.step)
        return [((y - x) / step).log() for x, y in pairwise(self.about)]

    @cached_property
    def log_slopes(self) -> list[arb]:
        """Lower bounds on ln L' at the nodes."""
        means = self._log_means
        rises = [y - x for x, y in pairwise(means)]
        inside = [z - x / 2 - x * x / 24 for x, z in zip(rises, means[2:], strict=False)]
        return [_UNKNOWN, _UNKNOWN, *inside, _UNKNOWN]

    @cached_property
    def curls(self) -> list[arb]:
        """Lower bounds on h^2 L'' on the cells; those above 0 say something."""
        step, found = ball(self.step), []
        for slope, (here, after) in zip(
            self.log_slopes, pairwise(self._log_means[1:]), strict=False
        ):
            curl = step * (after - here) * slope.exp()
            found.append(curl if curl.is_finite() else _UNKNOWN)
        return found

    @cached_property
    def _weights(self) -> tuple[list[arb], list[arb], list[arb], arb]:
        """P(cell), E v and E v (1 - v) for every cell, v = min(max((M - m_i)/h, 0), 1), and
        P(M beyond the last node).

        They are differences, of the tail and of E(M - m)_+ and its square; cells left of 0 mirror
        those right.
        """
        _, _, left, right = self._grid
        width = ball(self.step) / self.profile.deviation
        above, calls, squares = [], [], []
        for i in range(max(left, right) + 1):
            x = width * i
            density = pdf(x)
            above.append(tail(x))
            calls.append(density - x * above[i])
            squares.append(above[i] - x * calls[i])
        mass, rise, spread = [], [], []
        for i in range(len(above) - 1):
            mass.append(above[i] - above[i + 1])
            rise.append((calls[i] - calls[i + 1]) / width)
            both = squares[i] - squares[i + 1] - 2 * width * calls[i + 1]
            spread.append(rise[i] - both / width**2)
        masses = mass[:left][::-1] + mass[:right]
        rises = [1 - x for x in rise[:left][::-1]] + rise[:right]
        return masses, rises, spread[:left][::-1] + spread[:right], above[right]

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

    @cached_property
    def variances(self) -> list[arb]:
        """The variance of u on every cell."""
        spreads, found = self._weights[2], []
        for mass, centre, spread in zip(self.masses, self.centres, spreads, strict=True):
            found.append(centre * (1 - centre) - spread / mass)
        return found

    @property
    def outside(self) -> arb:
        """P(M beyond the last node)."""
        return self._weights[3]

    def bound(self, epsilon: arb, squared: arb, covariance: arb, all_change: bool) -> Bound:
        """For D^2 = squared and t = covariance; all_change: w = 0, else t^2 < V D^2."""
        slope = covariance / self.profile.variance
        width = arb(0) if all_change else (squared - covariance * slope).sqrt()
        means = [epsilon - squared / 2 - slope * m for m in self.nodes]
        growth = (width * width / 2).exp()
        others = [mean.exp() * growth for mean in means]  # E[e^X | M = m]
        tops = [_Top.of(log, mean, width) for log, mean in zip(self.logs, means, strict=True)]
        paid = others
        if not width > 0:
            pairs = zip(self.about, others, strict=True)
            shortfalls = [(1 - lost - other).max(arb(0)) for lost, other in pairs]
        elif width < NARROW:  # Phi(T - w) saves little
            shortfalls = [_narrow(x, top, width) for x, top in zip(self.about, tops, strict=True)]
        else:
            costs = [x * cdf(top.at - width) for x, top in zip(others, tops, strict=True)]
            each = zip(self.about, tops, costs, strict=True)
            shortfalls = [_shortfall(x, top, cost, width) for x, top, cost in each]
            paid = self._paid(tops, others, costs, slope, width)
        values = [
            lost + more if log.is_finite() else arb(1)
            for lost, more, log in zip(self.about, shortfalls, self.logs, strict=True)
        ]
        sag, (masses, rises, spreads, beyond) = (slope * ball(self.step)) ** 2 / 8, self._weights
        steps = [high - low for low, high in pairwise(values)]
        plain = sum(map(mul, rises, steps), values[0])
        gap, faint = beyond, plain * _FAINT
        for i, more in enumerate(steps):
            lower = sag * paid[i]
            most = masses[i] * _smaller(more, self.bulges[i] + lower)
            bend = None if masses[i] * more < faint else self._bend(i, tops, width)
            gap += most if bend is None else masses[i] * lower - spreads[i] * bend / 2
        return Bound((plain + gap).upper(), plain - (self._twice_as_wide(values) - plain) / 3)

    def _paid(
        self,
        tops: Sequence[_Top],
        others: Sequence[arb],
        at_nodes: Sequence[arb],
        slope: arb,
        width: arb,
    ) -> list[arb]:
        """Upper bounds on y_1 E[e^(w xi); xi < T] on the cells.

        That is y_1 e^(w^2/2) Phi(T - w), at most E[y_1 e^(w xi)]. T is above its chord by at most
        ln G's own height s above its chord, over w. ln Phi is concave, with derivative phi/Phi, and
        e^(w^2/2) y phi(T - w) = G phi(T): so s/w beyond a node multiplies the value A there by at
        most exp(s/w G phi(T)/A). Where the right node has the larger T, y_1 = y_2 e^(c h).

        others: E[y e^(w xi)] at the nodes; at_nodes: A there.
        """
        found = list(others)
        rise = (slope * ball(self.step)).exp()
        for i, sag in enumerate(self.sags):
            here, after = tops[i], tops[i + 1]
            if here.at > after.at:
                most, density, grown = at_nodes[i], (1 - self.about[i]) * here.density, arb(1)
            elif here.at < after.at:
                most, density, grown = (
                    at_nodes[i + 1],
                    (1 - self.about[i + 1]) * after.density,
                    rise,
                )
            else:
                continue
            found[i] = _smaller(most * grown * (sag / width * density / most).exp(), found[i])
        return found

    def _bend(self, i: int, tops: Sequence[_Top], width: arb) -> arb | None:
        """A lower bound > 0 on h^2 (F'' + c^2 E[y e^(w xi); xi < T]) on a cell; None if unknown.

        That is (1 - Phi(T)) h^2 L'' + w G phi(T) (h T')^2. T is concave in m: above its chord by no
        more than ln G is (over w), and its slope is between those of the chords beside.
        """
        if not 0 < i < len(self.sags) or not width > 0:
            return None
        curl = self.curls[i] if i < len(self.curls) else _UNKNOWN
        before, here, after, beyond = tops[i - 1 : i + 3]
        if not curl > 0:
            return None
        sag = self.sags[i] / width
        if here.at > after.at:
            highest = here.below
        elif here.at < after.at:
            highest = after.below
        else:
            return None
        over = 1 - highest - sag * _MOST_DENSITY
        bend = over * curl if over > 0 else arb(0)
        rise = beyond.at - after.at
        steep = rise if rise > 0 else before.at - here.at
        least = here if here.density < after.density else after
        density = least.density * (1 - sag * (abs(least.at) + sag))
        if steep > 0 and density > 0 and (least is here or here.density > after.density):
            bend += width * (1 - self.about[i + 1]) * density * steep * steep
        return bend if bend > 0 else None

    def _twice_as_wide(self, values: Sequence[arb]) -> arb:
        """The chords' mean on every second node."""
        rises = self.rises
        total = values[0]
        for i in range(0, len(rises) - 1, 2):
            total += (rises[i] + rises[i + 1]) / 2 * (values[i + 2] - values[i])
        if len(rises) % 2:
            total += rises[-1] * (values[-1] - values[-2])
        return total


class _Top(NamedTuple):
    """T, Phi(T) and phi(T)."""

    at: arb
    below: arb
    density: arb

    @classmethod
    def of(cls, log: arb, mean: arb, width: arb) -> _Top:
        top = (log - mean) / width
        if top < -_FAR:  # Phi(T) < phi(T)
            density = pdf(top)
            return cls(top, arb(0).union(density), density)
        return cls(top, cdf(top), pdf(top))


def _shortfall(lost: arb, top: _Top, cost: arb, width: arb) -> arb:
    """An upper bound on E[(g - y e^(w xi))_+], g = 1 - lost; cost = E[y e^(w xi); xi < T]."""
    if top.at < -_FAR:  # 1 - e^-x <= x, and E(T - xi)_+ <= phi(T)/T^2
        return width * top.density / (top.at * top.at)
    return (1 - lost) * top.below - cost


def _narrow(lost: arb, top: _Top, width: arb) -> arb:
    """`_shortfall` by g E(1 - e^(-w (T - xi)))_+ and 1 - e^-x <= x - x^2/2 + x^3/6."""
    at, below, density = top
    if at < -_FAR:
        return width * density / (at * at)
    first = at * below + density
    second = below + at * first
    third = 2 * first + at * second
    return (1 - lost) * width * (first - width / 2 * (second - width / 3 * third))


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; a bound that is not finite is ignored."""
    return other if other < bound else bound
