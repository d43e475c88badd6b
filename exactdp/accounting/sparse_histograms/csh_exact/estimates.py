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
#: Largest distance of nodes: for M in its standard deviations, also where the integrand has a bend;
#: for the shared noise in its standard deviations, and for 1 - F.
_STEP, _FINE_STEP, _SHARED_STEP, _SMOOTH_STEP = 1 / 8, 1 / 64, 0.6, 1 / 8
#: More nodes of M take too long.
_MOST_NODES = 20_000
#: Noise that is this small, or this large, is out of the range of doubles.
_LEAST, _MOST = 1e-280, 1e280
#: Below this width, its third order suffices.
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
    """Estimates for one family; 0 for what is out of the range of doubles."""

    def __init__(self, family: Family) -> None:
        self.k, self.n = family.k, min(family.k, family.contributions)
        correlation = family.correlation
        self.kappa = math.sqrt(family.k) if correlation is None else _double(correlation)
        self.ratio = _double(family.tau / family.threshold_sigma)
        self.scale, self.epsilon = _double(1 / family.sigma), _double(family.epsilon)
        self.possible = _LEAST < self.scale < _MOST and _LEAST < self.kappa < _MOST
        self.pair, self._profile, self._row = map(cache, (self._pair, self._made, self._best_in))
        self._log_cdf = cache(lambda i, size: _log_cdf(self.ratio - math.ldexp(i, size)))

    def best(self, near: Worst | None = None) -> Worst | None:
        """The neighbours with the largest delta among 0 < r < n, found by climbing.

        near: the worst neighbours of a similar family, from which to start.
        """
        last = self.n - 1
        if last < 1 or not self.possible:
            return None

        def height(r: int) -> float:
            return self._row(r)[0]

        starts, step = [self.n // 8, self.n // 2, self.n * 7 // 8], self.n // 8
        if near is not None:
            starts, step = [near.r], self.n // 64
        start = max((min(max(r, 1), last) for r in starts), key=height)
        top = _climbed(height, start, step, last)
        r = max(range(max(top - _ROWS, 1), min(top + _ROWS, last) + 1), key=height)
        return Worst(self.k - r, self._row(r)[1], r, "A")

    def exceeded(self, r: int) -> float:
        """1 - q_r."""
        if not self.possible:
            return 0.0
        size = _power_below(min(_SHARED_STEP / math.sqrt(self.kappa), _SMOOTH_STEP))
        return self._lost(0, r, size, [0.0])[0]

    def corner(self, j: int, r: int, squared: float, covariance: float) -> float:
        """delta for j and r, and any D^2 = squared > 0 and t = covariance."""
        if not self.possible:
            return 0.0
        profile = self._profile(j, r, _STEP)
        slope = covariance / profile.variance
        width = math.sqrt(max(squared - covariance * slope, 0.0))
        if width < slope * math.sqrt(profile.variance) * _STEP:  # the integrand has a bend
            profile = self._profile(j, r, _FINE_STEP)
        offset, total = self.epsilon - squared / 2, 0.0
        for m, mass, lost, log in zip(
            profile.nodes, profile.masses, profile.lost, profile.logs, strict=True
        ):
            total += mass * (lost + _shortfall(1 - lost, log, offset - slope * m, width))
        return total

    def _pair(self, j: int, a: int, r: int) -> float:
        total = j + self.kappa
        return self.corner(j, r, self.scale**2 * (a - a * a / total), self.scale * a / total)

    def _best_in(self, r: int) -> tuple[float, int]:
        """The largest delta in a row, and its a."""
        j = self.k - r
        last = min(self.n - r, int((j + self.kappa) / 2) + 1)
        start, step = max(3 * last // 4, 1), last // 4
        a = _climbed(lambda a: self.pair(j, a, r), start, step, last)
        return self.pair(j, a, r), a

    def _made(self, j: int, r: int, share: float) -> _Profile:
        variance = j / (self.kappa * (j + self.kappa))
        deviation = math.sqrt(variance)
        size = _power_below(min(_SHARED_STEP / math.sqrt(j + self.kappa), _SMOOTH_STEP))
        step = min(share * deviation, _SMOOTH_STEP)
        # on the grid of the shared noise, or dividing its steps
        step = math.ldexp(int(step / 2.0**size), size) or math.ldexp(1.0, _power_below(step))
        # 1 - G rises, and matters farther on the right
        right = _REACH + self.ratio * deviation / (1 + 1 / self.kappa)
        first, last = (int(reach * deviation / step) + 1 for reach in (_REACH, right))
        if first + last > _MOST_NODES:
            return _Profile(variance, [], [], [], [])
        nodes = [step * i for i in range(-first, last + 1)]
        masses = [step * _density(m, deviation) for m in nodes]
        lost = self._lost(j, r, size, nodes)
        return _Profile(variance, nodes, masses, lost, [_log(1 - x, -x) for x in lost])

    def _lost(self, j: int, r: int, size: int, nodes: Sequence[float]) -> list[float]:
        """1 - G at nodes: the means of 1 - F around them, on the grid of steps 2^size."""
        step, deviation = math.ldexp(1.0, size), 1 / math.sqrt(j + self.kappa)
        right = _REACH + self.ratio * deviation / (1 + deviation**2)
        before, after = (int(reach * deviation / step) + 2 for reach in (_REACH, right))
        passed = cache(lambda i: -math.expm1(r * self._log_cdf(i, size)))

        @cache
        def kernel(offset: float) -> list[float]:
            around = range(-before, after + 1)
            return [step * _density(step * i - offset, deviation) for i in around]

        found = []
        for m in nodes:
            centre = round(m / step)
            values = map(passed, range(centre - before, centre + after + 1))
            found.append(sum(map(mul, kernel(m - centre * step), values)))
        return found


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


def _power_below(value: float) -> int:
    """The largest integer i with 2^i <= value, for a value > 0."""
    return math.frexp(value)[1] - 1


def _double(value: Fraction) -> float:
    """The nearest double; infinity beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _log(value: float, less_one: float) -> float:
    """The logarithm of a number >= 0, given the number minus one, too."""
    return math.log1p(less_one) if value > 0 else -math.inf


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
