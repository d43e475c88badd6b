"""An upper bound on the exact delta of a pair, from cells of M and convexity alone.

The notation is that of exactdp/pages/exact-csh.md, Section 4 ("Upper bounds"). M ~ N(0, V) and

    delta = E[F(M)],  F(m) = C(L(m), y(m)),  C(l, y) = E max(l, 1 - y e^(w xi)),  xi ~ N(0, 1),

with L = 1 - G, y(m) = e^(b - c m), c = t/V and w^2 = D^2 - t^2/V. Let T = (ln G - ln y)/w.

**F does not fall with m.** C is a mean of maxima of affine functions, hence convex. C does not fall
with l (its slope is at most 1), and does not rise with y (its slope is -E[e^(w xi); xi < T]); L
rises with m, and y falls.

**A bound on one cell.** The cell has the ends m_1 and m_2, the length h = m_2 - m_1 and the points
m = (1 - u) m_1 + u m_2; the indices 1 and 2 mean values at its ends, and v = u (1 - u)/2.

* ln G is concave, so L <= 1 - G_1 e^(-u x) with x = ln(G_1/G_2). This is above the chord of L by at
  most v G_1 x^2.
* y is convex, and y is below its chord by at most v y_1 (c h)^2.

Hence F <= (1 - u) F_1 + u F_2 + v (G_1 x^2 + A (c h)^2), and F <= F_2. Here A is an upper bound of
y_1 E[e^(w xi); xi < T] = y_1 e^(w^2/2) Phi(T - w) on the cell: the larger value at its two ends,
and an allowance for T, which rises above its chord. For large w (delta near 1) A is far below
y_1 e^(w^2/2).

**A better bound where L is convex.** As

    F'' = (1 - Phi(T)) L'' + w G phi(T) T'^2 - c^2 E[y e^(w xi); xi < T],

the error v G_1 x^2 may be replaced, where L'' >= 0 is known, by minus the mean of the first two
terms, weighted by the Green function of the cell. L' is log-concave, because F of the shared noise
has a log-concave slope and a Gaussian mean preserves this. So (ln L')' falls, and on a cell it is
at least the difference of ln(mean of L') between the next two cells, over h. Both terms are at
least products of log-concave functions, and these are at least the geometric mean of their values
at the ends of the cell.

**A lower bound on ln L' at a node.** Let z be ln(mean of L') on the cell to the right of the node,
and x the value of ln(mean of L') on the cell to its left, less the value on the cell before that
one. From the node to the share v of the cell to the right, L' rises by a factor of at most e^(x v).
The mean of this factor is (e^x - 1)/x <= e^(x/2 + x^2/24). Hence ln L' at the node is at least
z - x/2 - x^2/24.

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

#: Below this w an expansion to the third order in w is accurate to about 1e-9, and saves an erf.
NARROW = arb(0.005)
_UNKNOWN = arb("-inf")
#: An upper bound of the standard normal density.
_MOST_DENSITY = arb(0.4)
#: For T below -_FAR, E(T - xi)_+ no longer matters.
_FAR = arb(6)
#: A cell whose gap is below this share of the whole bound needs no better bound.
_FAINT = arb(2) ** -30
#: Number of neighbouring nodes that share one bound of the error.
_BLOCK = 8


class Bound(NamedTuple):
    """An upper bound on delta, and an extrapolated guess, which proves nothing."""

    upper: arb
    guess: arb


@dataclass(frozen=True)
class CellBounds:
    """About `count` cells of M for one profile.

    nats: about -ln(1 - delta).
    """

    profile: Profile
    count: int
    nats: int = 0

    @cached_property
    def _grid(self) -> tuple[int, int, int, int]:
        """Nodes m_i = i h coarse/fine for -left <= i <= right.

        L rises about like e^(ratio m), and moves the centre of its mean by ratio V.
        """
        noise, deviation = self.profile.noise, self.profile.deviation
        nats = self.count.bit_length() + 1
        left = deviation * (2 * arb(nats + self.nats)).sqrt()
        right = deviation * (2 * arb(nats)).sqrt() + noise.ratio.max(arb(0)) * deviation**2
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
        root, balls, error = (1 + spread).sqrt(), [], arb(0)
        for i, x in enumerate(passed):
            if i % _BLOCK == 0:  # the union bound rises: tail(y) < e^(-y^2/2) for y >= 0
                last = self.nodes[min(i + _BLOCK, len(passed)) - 1]
                y = ((noise.ratio - last) / root).max(arb(0))
                union = (profile.r * (-y * y / 2).exp()).min(arb(2))
                error = plus_minus(union * alias + cut)
            balls.append(x + error)
        return balls

    @cached_property
    def logs(self) -> list[arb]:
        """ln G at the nodes, not finite where G cannot be told from 0."""
        return [(-lost).log1p() for lost in self.about]

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
        """Lower bounds on h (ln L')' on the cells; those above 0 say something."""
        return [after - here for here, after in pairwise(self._log_means[1:])]

    @cached_property
    def rates(self) -> list[arb]:
        """Lower bounds on h L' at the nodes."""
        step = ball(self.step)
        return [step * slope.exp() for slope in self.log_slopes]

    @cached_property
    def tilts(self) -> list[arb]:
        """Upper bounds on |d ln phi_V/du|/24 on the cells."""
        unit = ball(self.step) / (24 * self.profile.variance)
        return [unit * (-here).max(after) for here, after in pairwise(self.nodes)]

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
        beyond, means = self.outside, []
        for mass, rise in zip(reversed(self.masses), reversed(self.rises), strict=True):
            means.append((rise - beyond) / mass)
            beyond += mass
        return means[::-1]

    @cached_property
    def variances(self) -> list[arb]:
        """The variance of u on every cell."""
        spreads, variances = self._weights[2], []
        for mass, centre, spread in zip(self.masses, self.centres, spreads, strict=True):
            variances.append(centre * (1 - centre) - spread / mass)
        return variances

    @property
    def outside(self) -> arb:
        """P(M beyond the last node)."""
        return self._weights[3]

    def bound(self, epsilon: arb, squared: arb, covariance: arb, all_change: bool) -> Bound:
        """The bound for D^2 = squared and t = covariance; all_change: w = 0, else t^2 < V D^2."""
        slope = covariance / self.profile.variance
        width = arb(0) if all_change else (squared - covariance * slope).sqrt()
        offset, slip = epsilon - squared / 2, slope * ball(self.step)
        means = [offset - slope * m for m in self.nodes]
        tops = [_Top.of(log, mean, width) for log, mean in zip(self.logs, means, strict=True)]
        shortfalls, others, chances = self._shortfalls(means, tops, width)
        values = [
            lost + more if log.is_finite() else arb(1)
            for lost, more, log in zip(self.about, shortfalls, self.logs, strict=True)
        ]
        masses, rises, spreads, _ = self._weights
        steps = [high - low for low, high in pairwise(values)]
        plain = sum(map(mul, rises, steps), values[0])
        gap, faint = self._beyond(slope), plain * _FAINT
        for i, more in enumerate(steps):
            lower, most = slip * slip * others[i], masses[i] * more
            if chances and 0 < i < len(self.sags):
                sag = self.sags[i] / width
                lower *= chances[i].max(chances[i + 1]) + sag * _MOST_DENSITY
            bend = None if most < faint else self._bend(i, tops, slip, width)
            least = -self._bulge(i) if bend is None else bend
            gap += _smaller(most, spreads[i] * (lower - least) / 2)
        return Bound((plain + gap).upper(), plain - (self._twice_as_wide(values) - plain) / 3)

    def _shortfalls(
        self, means: Sequence[arb], tops: Sequence[_Top], width: arb
    ) -> tuple[Sequence[arb], Sequence[arb], Sequence[arb]]:
        """Upper bounds on E(G - y e^(w xi))_+, E[y e^(w xi)] and, if w > 0, Phi(T - w)."""
        if 0 < width < NARROW:  # Phi(T - w) saves little, and y falls with m
            shortfalls = [_narrow(x, top, width) for x, top in zip(self.about, tops, strict=True)]
            most = (means[0] + width * width / 2).exp()
            return shortfalls, [most] * len(means), [top.below for top in tops]
        growth = (width * width / 2).exp()
        others = [mean.exp() * growth for mean in means]
        if not width > 0:
            pairs = zip(self.about, others, strict=True)
            return [(1 - lost - other).max(arb(0)) for lost, other in pairs], others, []
        chances = [cdf(top.at - width) for top in tops]
        each = zip(self.about, tops, others, chances, strict=True)
        shortfalls = [_shortfall(x, top, other * chance, width) for x, top, other, chance in each]
        return shortfalls, others, chances

    def _bulge(self, i: int) -> arb:
        """An upper bound on -h^2 L'' on a cell, where L is replaced by 1 - G_1 e^(-u x)."""
        drop = self.logs[i + 1] - self.logs[i]
        return (1 - self.about[i]) * drop * drop

    def _bend(self, i: int, tops: Sequence[_Top], slip: arb, width: arb) -> arb | None:
        """A lower bound > 0 on a mean of h^2 (F'' + c^2 E[y e^(w xi); xi < T]) on a cell.

        The mean is that of (1 - Phi(T)) h^2 L'' + w G phi(T) (h T')^2. T is concave in m, and above
        its chord by at most s, the bound for ln G over w. ln(1 - Phi) and ln phi are concave.
        Where T rises, T' is at least the slope of the next chord; else -w T' = L'/G - c is at least
        L' - c, which is log-concave where L' is. None if no bound > 0 is known.
        """
        known = 0 < i < min(len(self.sags), len(self.curls)) and width > 0
        if not (known and self.curls[i] > 0):
            return None
        sag, rise = self.sags[i] / width, tops[i + 2].at - tops[i + 1].at
        overs, slants = [], []
        for top, rate in zip(tops[i : i + 2], self.rates[i : i + 2], strict=True):
            overs.append(rate * (1 - top.below - sag * _MOST_DENSITY))
            steep = rise if rise > 0 else (rate - slip) / width
            density = top.density * (1 - sag * (abs(top.at) + sag))
            slants.append(density * steep * steep if steep > 0 else arb(0))
        bend = self.curls[i] * _middle(overs[0], overs[1], self.tilts[i])
        bend += width * (1 - self.about[i + 1]) * _middle(slants[0], slants[1], self.tilts[i])
        return bend if bend > 0 else None

    def _beyond(self, slope: arb) -> arb:
        """An upper bound on E[F; M > m] less E[F(m); M > m], m the last node.

        F = L + f, f = E(G - y e^(w xi))_+. ln L is concave: L is at most L(m) e^(x (M - m)) there,
        x the slope of ln L on the last cell. f rises by at most c (M - m), as f' is at most
        c E[y e^(w xi); xi < T] <= c G.
        """
        last, deviation = self.about[-1], self.profile.deviation
        here = self.nodes[-1] / deviation
        shift = (last / self.about[-2]).log() / ball(self.step) * deviation
        far = last * ((shift * (shift / 2 - here)).exp() * tail(here - shift) - self.outside)
        more = slope * deviation * (pdf(here) - here * self.outside)
        return _smaller(self.outside, far + more)

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


def _middle(left: arb, right: arb, tilt: arb) -> arb:
    """A lower bound on the mean of a function f >= left^(1 - v) right^v on a cell.

    For a chord's error at u, f counts by Green's function k(u, v). With z = ln(right/left), f is at
    least sqrt(left right) (1 + z (v - 1/2)); int k dv = u (1 - u)/2 and int k (v - 1/2) dv =
    u (1 - u) (2u - 1)/12. The mean of u by the weight u (1 - u) phi_V is at most 3 tilt from 1/2:
    between no tilt and this one it moves by the variance times |d ln phi_V/du| <= 24 tilt, and the
    variance is at most 1/8 (Brascamp and Lieb: (ln u (1 - u))'' <= -8, and ln phi_V is concave).
    """
    if not (left > 0 and right > 0):
        return arb(0)
    ratio = left / right
    lost = tilt * (ratio.max(1 / ratio) - 1)  # |z| tilt, at least
    return (left * right).sqrt() * (1 - lost) if lost < 0.5 else left.min(right)


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; a bound that is not finite is ignored."""
    return other if other < bound else bound
