"""The delta of pairs of neighbours in doubles: about ten digits, and no proof.

The means over M and over the shared noise are sums by the trapezoidal rule, whose error falls
exponentially with the number of nodes. Notation as in :mod:`csh_exact.maximum`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import mul

from exactdp.accounting.sparse_histograms.csh_exact.terms import Family, Worst

#: Standard deviations beyond which a normal density does not matter.
_REACH = 8.5
#: Largest distance of nodes, in standard deviations of M and of the shared noise; and for 1 - F.
_STEP, _SHARED_STEP, _SMOOTH_STEP = 1 / 8, 0.6, 1 / 8
#: Nodes of a rule for an interval: tanh(pi/2 sinh t) for equal steps of t, and their weights.
_TIMES = [i / 8 for i in range(-25, 26)]
_BETWEEN = [
    (
        math.tanh(math.pi / 2 * math.sinh(t)),
        math.pi / 16 * math.cosh(t) / math.cosh(math.pi / 2 * math.sinh(t)) ** 2,
    )
    for t in _TIMES
]
#: Largest number of nodes of M: more take too long.
_MOST_NODES = 20_000
#: Estimates need 1/sigma and kappa between these numbers, because of the range of doubles.
_LEAST, _MOST = 1e-280, 1e280
#: The probability that noise exceeds this many standard deviations is too small for a double.
_NEVER = 40
#: Below this width, an expansion to the third order in the width suffices.
_NARROW = 0.005
#: Rows on either side of the best one that are compared one by one.
_ROWS = 6


@dataclass(frozen=True)
class _Profile:
    """P(M near a node), 1 - G and ln G at nodes of M, and the variance V of M."""

    variance: float
    nodes: Sequence[float]
    masses: Sequence[float]
    lost: Sequence[float]
    logs: Sequence[float]


class Estimates:
    """Estimates of delta for one family; 0 if the numbers are out of the range of doubles."""

    def __init__(self, family: Family) -> None:
        self.k, self.n = family.k, min(family.k, family.contributions)
        correlation = family.correlation
        self.kappa = math.sqrt(family.k) if correlation is None else _double(correlation)
        self.scale, self.epsilon = _double(1 / family.sigma), _double(family.epsilon)
        self.possible = _LEAST < self.scale < _MOST and _LEAST < self.kappa < _MOST
        self.ratio = _double(family.tau / family.threshold_sigma)
        self.pair = cache(self._pair)
        self._profile = cache(self._make_profile)
        self._row = cache(self._best_in)
        self._share: float | None = None  # a/(j + kappa) of the last row
        self._log_cdf = cache(lambda z: _log_cdf(self.ratio - z))

    def best(self, near: Worst | None = None) -> Worst | None:
        """The neighbours with the largest delta among 0 < r < n, found by climbing.

        near: the worst neighbours of a similar family, from which to start.
        """
        last = self.n - 1
        if last < 1 or not self.possible:
            return None
        if self.ratio > _NEVER * math.sqrt(1 + 1 / self.kappa):  # in deviations of the total noise
            return None  # the threshold shows nothing, and r = 0 is worst

        def height(r: int) -> float:
            return self._row(r)[0]

        starts, step = [self.n // 8, self.n // 2, self.n * 7 // 8], self.n // 8
        if near is not None:
            starts, step = [near.r], self.n // 64
            self._share = near.a / (near.j + self.kappa)
        start = max((min(max(r, 1), last) for r in starts), key=height)
        top = _climbed(height, start, step, last)
        r = max(range(max(top - _ROWS, 1), min(top + _ROWS, last) + 1), key=height)
        return Worst(self.k - r, self._row(r)[1], r, "A")

    def exceeded(self, r: int) -> float:
        """1 - q_r."""
        return self._lost(0, r, [0.0])[0] if self.possible else 0.0

    def corner(self, j: int, r: int, squared: float, covariance: float) -> float:
        """delta for j and r, and any D^2 = squared and t = covariance."""
        profile = self._profile(j, r)
        slope = covariance / profile.variance
        width = math.sqrt(max(squared - covariance * slope, 0.0))
        offset, total = self.epsilon - squared / 2, 0.0
        for m, mass, lost, log in zip(
            profile.nodes, profile.masses, profile.lost, profile.logs, strict=True
        ):
            total += mass * (lost + _shortfall(1 - lost, log, offset - slope * m, width))
        return total

    def _all_change(self, j: int, r: int) -> float:
        """delta for a = j, where w = 0: the integrand has bends at the ends of an interval."""
        profile, slope = self._profile(j, r), self.scale * self.kappa
        deviation = math.sqrt(profile.variance)
        offset = self.epsilon - (slope * deviation) ** 2 / 2

        def margin(m: float) -> float:
            return _log_of_rest(self._lost(j, r, [m])[0]) - offset + slope * m

        heights = [
            log - offset + slope * m for m, log in zip(profile.nodes, profile.logs, strict=True)
        ]
        inside = [i for i, height in enumerate(heights) if height > 0]
        if not inside:
            return self.exceeded(r)
        ends = [
            _crossing(margin, profile.nodes, heights, i, i + way)
            for i, way in ((inside[0], -1), (inside[-1], 1))
        ]
        half = (ends[1] - ends[0]) / 2
        nodes = [ends[0] + half * (1 + x) for x, _ in _BETWEEN]
        gain = 0.0
        for m, lost, (_, weight) in zip(nodes, self._lost(j, r, nodes), _BETWEEN, strict=True):
            above = max(_log_of_rest(lost) - offset + slope * m, 0.0)
            gain -= weight * _density(m, deviation) * (1 - lost) * math.expm1(-above)
        return self.exceeded(r) + half * gain

    def _pair(self, j: int, a: int, r: int) -> float:
        if not self.possible:
            return 0.0
        if a == j:
            return self._all_change(j, r)
        total = j + self.kappa
        return self.corner(j, r, self.scale**2 * (a - a * a / total), self.scale * a / total)

    def _best_in(self, r: int) -> tuple[float, int]:
        """The largest delta in a row, and its a; the climb starts where the row before ended."""
        j = self.k - r
        last = min(self.n - r, int((j + self.kappa) / 2) + 1)
        start, step = max(3 * last // 4, 1), last // 4
        if self._share is not None:
            start, step = min(max(round(self._share * (j + self.kappa)), 1), last), last // 32
        a = _climbed(lambda a: self.pair(j, a, r), start, step, last)
        self._share = a / (j + self.kappa)
        return self.pair(j, a, r), a

    def _make_profile(self, j: int, r: int) -> _Profile:
        variance = j / (self.kappa * (j + self.kappa))
        deviation = math.sqrt(variance)
        grid = self._grid(j)
        # on the grid of the shared noise, or dividing its steps
        step = min(_STEP * deviation, 1 / (4 + 4 * self.ratio))  # 1 - G rises like e^(ratio m)
        step = int(step / grid) * grid or math.ldexp(1.0, _power_below(step))
        # 1 - G rises, and matters farther on the right
        right = _REACH + self.ratio * deviation / (1 + 1 / self.kappa)
        first, last = (int(reach * deviation / step) + 1 for reach in (_REACH, right))
        if first + last > _MOST_NODES:
            return _Profile(variance, [], [], [], [])
        nodes = [step * i for i in range(-first, last + 1)]
        masses = [step * _density(m, deviation) for m in nodes]
        lost = self._lost(j, r, nodes)
        return _Profile(variance, nodes, masses, lost, list(map(_log_of_rest, lost)))

    def _grid(self, j: int) -> float:
        """The step of the shared noise: a power of two, so that grids share their nodes."""
        most = min(_SHARED_STEP / math.sqrt(j + self.kappa), _SMOOTH_STEP)
        return math.ldexp(1.0, _power_below(most))

    def _lost(self, j: int, r: int, nodes: Sequence[float]) -> list[float]:
        """1 - G at nodes: the means of 1 - F around them."""
        step, deviation = self._grid(j), 1 / math.sqrt(j + self.kappa)
        right = _REACH + self.ratio * deviation / (1 + deviation**2)
        before, after = (int(reach * deviation / step) + 2 for reach in (_REACH, right))
        around = range(-before, after + 1)
        log_cdf = self._log_cdf

        @cache
        def passed(i: int) -> float:
            return -math.expm1(r * log_cdf(i * step))

        @cache
        def kernel(offset: float) -> list[float]:
            return [step * _density(step * i - offset, deviation) for i in around]

        means = []
        for m in nodes:
            centre = round(m / step)
            values = map(passed, range(centre - before, centre + after + 1))
            means.append(sum(map(mul, kernel(m - centre * step), values)))
        return means


def _shortfall(hidden: float, log: float, mean: float, width: float) -> float:
    """E(G - e^X)_+ for X ~ N(mean, width^2), G = hidden and ln G = log."""
    excess = log - mean
    if excess <= -_MOST_DEVIATIONS * width:
        return 0.0
    if excess >= _MOST_DEVIATIONS * width:
        return hidden * -math.expm1(width * width / 2 - excess)
    top = excess / width
    below, density = _cdf(top), _density(top)
    if width * max(abs(top), 1.0) < _NARROW:  # 1 - e^(-w (T - xi)) to the third order
        first = top * below + density
        second = below + top * first
        third = 2 * first + top * second
        return hidden * width * (first - width / 2 * (second - width / 3 * third))
    if top > width:
        return hidden * (below - math.exp(width * (width / 2 - top)) * _cdf(top - width))
    return hidden * (below - density * _mills(width - top))  # the same without an overflow


def _climbed(height: Callable[[int], float], start: int, step: int, last: int) -> int:
    """A local maximum over 1, ..., last."""
    while step := max(step, 1):
        better = max((min(max(start + x, 1), last) for x in (-step, step)), key=height)
        if height(better) > height(start):
            start = better
        elif step == 1:
            break
        else:
            step //= 2
    return start


def _crossing(
    function: Callable[[float], float],
    places: Sequence[float],
    values: Sequence[float],
    inside: int,
    outside: int,
) -> float:
    """About where a function vanishes between two of the places; the inner one if it is the last.

    The integrand vanishes there, too, so that the error of its integral is of second order.
    """
    if not 0 <= outside < len(places) or not math.isfinite(values[outside]):
        return places[inside]
    a, b, fa, fb = places[inside], places[outside], values[inside], values[outside]
    for _ in range(3):
        middle = a + (b - a) * fa / (fa - fb)
        value = function(middle)
        a, b, fa, fb = (middle, b, value, fb) if value > 0 else (a, middle, fa, value)
    return a


def _power_below(value: float) -> int:
    """The largest integer i with 2^i <= value, for a value > 0."""
    return math.frexp(value)[1] - 1


def _double(value: Fraction) -> float:
    """The nearest double; infinity beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _log_of_rest(lost: float) -> float:
    """ln(1 - lost)."""
    return math.log1p(-lost) if lost < 1 else -math.inf


def _density(x: float, deviation: float = 1.0) -> float:
    z = x / deviation
    return math.exp(-z * z / 2) / (deviation * _ROOT_TWO_PI)


def _cdf(x: float) -> float:
    return math.erfc(-x / _ROOT_TWO) / 2


def _log_cdf(x: float) -> float:
    """ln Phi(x)."""
    if x > -5:
        return math.log1p(-_cdf(-x))
    return -x * x / 2 - math.log(_ROOT_TWO_PI) + math.log(_mills(-x))


def _mills(x: float) -> float:
    """(1 - Phi(x))/phi(x)."""
    if x < 30:
        return _cdf(-x) / _density(x)
    return (1 - 1 / (x * x)) / x


_ROOT_TWO, _ROOT_TWO_PI = math.sqrt(2), math.sqrt(2 * math.pi)
_MOST_DEVIATIONS = 37.0
