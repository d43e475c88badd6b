"""The exact delta of the correlated sparse histogram: a certified maximum over all neighbours.

Neighbours share j non-zero counters, of which a change by one, and r counters are non-zero on side
A only. With q_r, G, M, U, b, V, t, D^2 as in :mod:`shared_noise` and :mod:`pair_integral`,

    delta(j, a, r) = 1 - q_r + E[(G(M) - e^(b - U))_+],   D^2 = (a - a^2/(j + kappa)) / sigma^2.

The other side never leaks more when epsilon >= 0. delta rises with r, and with j at fixed a and r
(a counter can be dropped afterwards), so j = k - r; at fixed (j, r) it falls beyond
a = (j + kappa)/2, as D^2 falls and t rises. The ends are closed: 1 - q_n at r = n = min(k, m), and
the Gaussian H(epsilon, D) at r = 0. What lies between is excluded by cheap bounds, or integrated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import count
from math import isqrt
from typing import NamedTuple

from flint import arb, ctx

from exactdp.accounting.gaussian import cdf, hockey_stick, pdf, tail
from exactdp.accounting.pair_integral import half_lines, outer
from exactdp.accounting.shared_noise import Profile, SharedNoise, floor_of
from exactdp.balls import FLOOR_BITS, ball
from exactdp.errors import Undecided

__all__ = ["MOST_BITS", "Family", "Worst", "evaluate", "noise_only", "pair", "threshold_only"]

#: Beyond this working precision :func:`evaluate` gives up: its cost grows with the precision's
#: third power, and what is still open then is open because the search is.
MOST_BITS = 1024

#: Blocks and integrals of one search; an integral costs more at a higher precision.
_MOST_BLOCKS = 4096
_MOST_INTEGRALS_BITS = 1 << 22


@dataclass(frozen=True)
class Family:
    """Parameters of the mechanism, exactly.

    threshold_sigma: the noise the threshold is measured against, as in analysis.Point.
    correlation: kappa, where the shared noise has variance sigma^2/kappa; None means sqrt(k).
    contributions: most counters one user changes, 1 <= m <= k.
    """

    k: int
    sigma: Fraction
    tau: Fraction
    epsilon: Fraction
    threshold_sigma: Fraction
    correlation: Fraction | None
    contributions: int


@dataclass(frozen=True)
class Worst:
    """Neighbours: j shared counters of which a change, and r on one side only.

    side "A" is the side with the extra counters.
    """

    j: int
    a: int
    r: int
    side: str


class _Line(NamedTuple):
    """A line that lies above ln G."""

    height: arb
    slope: arb


def evaluate(family: Family) -> tuple[arb, Worst]:
    """A ball around delta at the working precision, and the neighbours with the largest lower end.

    Its relative width is about 2^-(precision/3), more when the search budget is spent or the
    precision does not suffice; it always contains delta.
    Raises Undecided beyond MOST_BITS, and for a kappa too small for the grid of the shared noise.
    """
    return _Search(_Model(family)).result()


def pair(family: Family, j: int, a: int, r: int) -> arb:
    """A ball around delta(j, a, r) of one pair of neighbours, from side A."""
    return _Model(family).pair(j, a, r)


def noise_only(
    k: int, sigma: arb, epsilon: arb, correlation: Fraction | None, contributions: int
) -> arb:
    """The limit of delta for tau to infinity: H(epsilon, D) at the largest D. It falls with sigma.

    At a fixed tau/sigma it is also a lower bound on delta.
    """
    squared, _ = _largest_distance(k, min(k, contributions), correlation, k)
    return hockey_stick(epsilon, squared.sqrt() / sigma)


def threshold_only(k: int, ratio: arb, correlation: Fraction | None, contributions: int) -> arb:
    """1 - q_n at tau/sigma = ratio, n = min(k, contributions): a lower bound on delta."""
    n = min(k, contributions)
    kappa = _kappa(correlation, k)
    return _grid(kappa, ratio, k, n, _one_passes(kappa, ratio)).exceeded(n)


def _kappa(correlation: Fraction | None, k: int) -> arb:
    return arb(k).sqrt() if correlation is None else ball(correlation)


def _half(j: int, correlation: Fraction | None, k: int) -> int:
    """floor((j + kappa)/2), below which D^2 rises with a."""
    return (j + (isqrt(k) if correlation is None else int(correlation))) // 2


def _distance(j: int, a: int, kappa: arb) -> arb:
    """D^2 sigma^2."""
    return a - a * a / (j + kappa)


def _largest_distance(j: int, most: int, correlation: Fraction | None, k: int) -> tuple[arb, int]:
    """The largest D^2 sigma^2 over the integers 0 <= a <= most, and an a that reaches it."""
    kappa, half = _kappa(correlation, k), _half(j, correlation, k)
    values = [(_distance(j, a, kappa), a) for a in {min(half, most), min(half + 1, most)}]
    best, a = max(values, key=lambda found: found[0].mid())
    for value, _ in values:
        best = best.max(value)
    return best, a


def _one_passes(kappa: arb, ratio: arb) -> arb:
    """1 - q_1."""
    return tail(ratio / (1 + 1 / kappa).sqrt())


def _grid(kappa: arb, ratio: arb, k: int, n: int, scale: arb) -> SharedNoise:
    """The grid for results of about `scale` or more, to a third of the working precision's bits."""
    relative = (ctx.prec // 3 + 8) * 7 // 10 + n.bit_length() + 4
    below = -scale.log() if scale > 0 else arb(FLOOR_BITS)
    return SharedNoise(kappa, ratio, k, relative, relative + floor_of(below.min(arb(FLOOR_BITS))))


def _hockey_bound(epsilon: arb, mu: arb) -> arb:
    """A ball whose upper end bounds H(epsilon, mu), for mu >= 0; H rises with mu."""
    if mu > 0:
        return hockey_stick(epsilon, mu)
    return hockey_stick(epsilon, mu.upper().max(arb(2) ** -ctx.prec))


class _Model:
    """One family: its ends, and terms and bounds of what lies between."""

    def __init__(self, family: Family) -> None:
        if ctx.prec > MOST_BITS:
            raise Undecided(f"the exact delta is not settled at {MOST_BITS} bits of precision")
        self.k, self.n = family.k, min(family.k, family.contributions)
        self.correlation = family.correlation
        self.kappa = _kappa(family.correlation, family.k)
        self.scale, self.epsilon = ball(1 / family.sigma), ball(family.epsilon)
        ratio = ball(family.tau / family.threshold_sigma)
        squared, self.noise_a = self.largest(self.k, self.n)
        self.noise_end = hockey_stick(self.epsilon, squared.sqrt())
        size = self.noise_end.lower().max(_one_passes(self.kappa, ratio))
        self.noise = _grid(self.kappa, ratio, self.k, self.n, size)
        self.exceeded = cache(self.noise.exceeded)

    def half(self, j: int) -> int:
        return _half(j, self.correlation, self.k)

    def squared(self, j: int, a: int) -> arb:
        """D^2."""
        return self.scale**2 * _distance(j, a, self.kappa)

    def covariance(self, j: int, a: int) -> arb:
        """t."""
        return self.scale * a / (j + self.kappa)

    def largest(self, j: int, most: int) -> tuple[arb, int]:
        squared, a = _largest_distance(j, most, self.correlation, self.k)
        return self.scale**2 * squared, a

    def pair(self, j: int, a: int, r: int) -> arb:
        squared = self.squared(j, a)
        if r == 0:
            return hockey_stick(self.epsilon, squared.sqrt()) if a else arb(0)
        if a == 0:  # G <= 1 <= e^epsilon
            return self.exceeded(r)
        return self.between(Profile(self.noise, j, r), squared, self.covariance(j, a), a == j)

    def between(self, profile: Profile, squared: arb, covariance: arb, all_change: bool) -> arb:
        """1 - q_r plus the integral, for 0 < a <= j and r > 0."""
        term = half_lines if all_change else outer
        return self.exceeded(profile.r) + term(profile, self.epsilon, squared, covariance)

    def sum_bound(self, r: int, squared: arb) -> arb:
        """1 - q_r + H(epsilon, D), from G <= 1."""
        return self.exceeded(r) + _hockey_bound(self.epsilon, squared.sqrt())

    def tangent_bound(self, profile: Profile, line: _Line, squared: arb, covariance: arb) -> arb:
        """1 - q_r + E[(e^(height + slope M) - e^(b - U))_+] for a line above ln G.

        The mean is that of a difference of two log-normals with means e^log_mean and e^epsilon:
        e^log_mean H(epsilon - log_mean, S), S^2 the variance of slope M + U (Margrabe).
        """
        height, slope = line
        log_mean = height + slope**2 * profile.variance / 2
        variance = squared + 2 * covariance * slope + slope**2 * profile.variance
        spread = variance.max(arb(0)).sqrt()
        rest = log_mean.exp() * _hockey_bound(self.epsilon - log_mean, spread)
        return self.exceeded(profile.r) + rest

    def tangent_bound_upto(self, profile: Profile, line: _Line, most: int) -> arb:
        """The same for every 1 <= a <= most: S^2 is concave in a, its vertex known."""
        j = profile.j
        vertex = (j + self.kappa) / 2 + line.slope / self.scale
        if not vertex.is_finite():
            return arb("nan")
        low, high = floor_of(vertex.lower()), floor_of(vertex.upper()) + 1
        if high - low > 2:
            return arb("nan")
        values = []
        for a in {max(0, min(a, most)) for a in range(low, high + 1)}:
            squared, covariance = self.squared(j, a), self.covariance(j, a)
            values.append(self.tangent_bound(profile, line, squared, covariance))
        best = values[0]
        for value in values[1:]:
            best = best.max(value)
        return best

    def best_line(self, profile: Profile, most: int) -> tuple[arb, _Line | None]:
        """The smaller bound for a <= most of two tangents, and its line."""
        best, line = arb(2), None
        for point in (arb(0), self._touching(profile, most)):
            log, slope = profile.hidden(point)
            if not (log.is_finite() and slope.is_finite()):
                continue
            found = _Line(log - slope * point, slope)
            bound = self.tangent_bound_upto(profile, found, most)
            if bound.is_finite() and (line is None or bound.upper() < best):
                best, line = bound.upper(), found
        return best, line

    def _touching(self, profile: Profile, most: int) -> arb:
        """About the mean of M where the bracket is positive: a good tangent touches there."""
        a = max(1, min(self.half(profile.j), most))
        squared, covariance = self.squared(profile.j, a), self.covariance(profile.j, a)
        variance, slope, point = profile.variance, arb(0), arb(0)
        for _ in range(2):
            towards = covariance + slope * variance
            spread = (squared + (covariance + towards) * slope).sqrt()
            top = spread / 2 - self.epsilon / spread
            point = slope * variance + towards / spread * pdf(top) / cdf(top)
            slope = profile.hidden(point.mid()).slope.mid()
            if not (point.is_finite() and slope.is_finite()):
                return arb(0)
        return arb(point.mid())


class _Search:
    """Best-first over blocks of r, then halves of the range of a; nothing is assumed unimodal.

    Every block has an upper bound. delta is between the best lower end seen and the largest bound
    among the blocks left or given up, whenever the search is stopped.
    """

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.slack = 1 + arb(2) ** -(ctx.prec // 3)
        self.floor = arb(2) ** -FLOOR_BITS
        self.heap: list[tuple[arb, int, int, int, _Line | None]] = []
        self.ticket = count()
        self.integrals = max(8, _MOST_INTEGRALS_BITS // ctx.prec**2)
        k, n = model.k, model.n
        by_threshold, by_noise = model.exceeded(n), model.noise_end
        self.lower = by_threshold.lower().max(by_noise.lower()).max(arb(0))
        self.upper = by_threshold.upper().max(by_noise.upper())
        self.worst = Worst(k - n, 0, n, "A")
        if by_noise.mid() > by_threshold.mid():
            self.worst = Worst(k, model.noise_a, 0, "A")

    def result(self) -> tuple[arb, Worst]:
        if self.model.n > 1:
            self._push(1, self.model.n - 1)
        # ends that are too wide call for more precision, not for a search
        budget = 0 if self._matters(self.upper) else _MOST_BLOCKS
        for step in count():
            if not self.heap:
                break
            negative, _, first, last, line = heappop(self.heap)
            bound = -negative
            if step == budget or not self._matters(bound):
                self._give_up(bound)  # the largest that is left
                break
            if first < last:
                middle = (first + last) // 2
                self._push(first, middle)
                self._push(middle + 1, last)
            else:
                self._settle(first, line, bound)
        upper = _smaller(arb(1), self.upper.max(self.lower))
        return self.lower.union(upper), self.worst

    def _matters(self, bound: arb) -> bool:
        return not (bound <= self.lower * self.slack or bound < self.floor)

    def _give_up(self, bound: arb) -> None:
        self.upper = self.upper.max(bound)

    def _push(self, first: int, last: int) -> None:
        """Queue all pairs with first <= r <= last, bounded at j = k - first, r = last."""
        model = self.model
        j, most = model.k - first, min(model.k, model.n) - first
        squared, _ = model.largest(j, most)
        bound, line = _smaller(arb(1), model.sum_bound(last, squared).upper()), None
        if self._matters(bound):
            better, line = model.best_line(Profile(model.noise, j, last), most)
            bound = _smaller(bound, better)
        heappush(self.heap, (-bound, next(self.ticket), first, last, line))

    def _settle(self, r: int, line: _Line | None, ceiling: arb) -> None:
        """All a at one r: blocks of a are excluded, integrated as one, or halved."""
        model = self.model
        j = model.k - r
        profile = Profile(model.noise, j, r)
        blocks = [(1, min(model.n - r, model.half(j) + 1))]
        while blocks:
            first, last = blocks.pop()
            bound = self._block(profile, line, first, last, ceiling)
            if first < last and self._matters(bound) and self.integrals > 0:
                middle = (first + last) // 2
                blocks += [(first, middle), (middle + 1, last)]
            else:
                self._give_up(bound)

    def _block(
        self, profile: Profile, line: _Line | None, first: int, last: int, bound: arb
    ) -> arb:
        """A bound on all first <= a <= last: terms rise with D^2 and fall with t."""
        model, j = self.model, profile.j
        squared, covariance = model.squared(j, last), model.covariance(j, first)
        if last > first:  # D^2 rises up to the vertex, which is beyond last - 1
            squared = squared.max(model.squared(j, last - 1))
        bound = _smaller(bound, model.sum_bound(profile.r, squared).upper())
        if line is not None and self._matters(bound):
            found = model.tangent_bound(profile, line, squared, covariance)
            bound = _smaller(bound, found.upper())
        if not self._matters(bound) or self.integrals <= 0:
            return bound
        self.integrals -= 1
        value = model.between(profile, squared, covariance, first == last == j)
        if first == last and value.lower() > self.lower:
            self.lower, self.worst = value.lower(), Worst(j, first, profile.r, "A")
        return _smaller(bound, value.upper())


def _smaller(bound: arb, other: arb) -> arb:
    """The smaller of two upper bounds; one that is not finite says nothing."""
    return other if other < bound else bound
