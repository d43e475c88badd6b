"""From (epsilon, delta) to noise and threshold, for histograms with continuous noise.

Floats only suggest where to look. Certified arithmetic then proves that the returned sigma and tau
satisfy the target, and that the next smaller tau on a decimal grid does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from flint import arb

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import (
    Calibration,
    read_resolution,
    rounded_up,
    smallest_on_grid,
)
from exactdp.accounting.certify.hints import exp2, falling_root, log2, minimum, secant
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point
from exactdp.balls import ball, precision
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, as_decimal, decimal_text

NearBound: TypeAlias = Callable[[Point, arb], Callable[[Point], arb]]

#: Significant digits of a sigma that is chosen here.
_SIGMA_DIGITS = 10
#: Working precision of the search for a candidate.
_HINT_BITS = 128
#: In log2 of delta: the largest error of a hint, less than the effect of one step of tau.
_NOTHING = 1e-11
#: log2 of the least tau/sigma that is tried before 0.
_LEAST_RATIO = -64.0
#: In log2 of delta: a bound this close to the target counts as meeting the target.
_NEAR = 1e-4
#: Relative gaps below the returned tau, from the smallest: for each, a proof is tried that no sigma
#: is enough with such a threshold. The second number limits the intervals of sigma in one proof.
_BOUND_GAPS = (Fraction(1, 10**4), Fraction(1, 10**3), Fraction(1, 10**2))
_BOUND_INTERVALS = 1_000
#: Steps of tau, and of log2 of sigma, in the search for a better sigma; the largest log2 tried.
_COARSE = Fraction(1, 10**4)
_COARSE_LOG, _SPAN_LOG = 2.0**-6, 0.25


def calibrate_threshold(
    mechanism: str,
    analysis: Analysis,
    *,
    k: int,
    epsilon: Fraction,
    target: Fraction,
    sigma: Fraction | None,
    resolution: Real,
    given: dict[str, Fraction] | None = None,
) -> Calibration:
    """The smallest threshold for a target; without sigma, also the sigma that allows it.

    The parameters are validated already. mechanism, given: only for the record.
    """
    step = read_resolution(resolution)
    hints = _Hints(analysis, k, epsilon, target)
    noise = hints.best_sigma() if sigma is None else hints.feasible(sigma)

    def check(tau: Fraction) -> Check:
        return analysis.compare(Point.of(k, noise, tau, epsilon), target)

    tau, refuted = smallest_on_grid(check, hints.tau(noise, step), step)
    bound = None if sigma is not None else _bound_over_sigma(hints, noise, tau)
    if sigma is None and bound is None and (other := hints.better_sigma(noise, tau)) != noise:
        noise = other
        tau, refuted = smallest_on_grid(check, hints.tau(noise, step), step)
        bound = _bound_over_sigma(hints, noise, tau)
    promise = analysis.at(Point.of(k, noise, tau, epsilon)).guarantee()
    if promise.delta.upper > target:  # the comparison used more precision than this
        promise = replace(promise, delta=check(tau).delta)
    return Calibration(
        mechanism=mechanism,
        analysis=analysis.name,
        given={"k": Fraction(k), **(given or {})},
        epsilon=epsilon,
        target=target,
        sigma=as_decimal(noise),
        tau=as_decimal(tau),
        delta=promise.delta,
        refuted=refuted,
        guarantee=promise,
        tau_bound=None if bound is None else as_decimal(bound),
    )


@dataclass(frozen=True)
class _Hints:
    """Guesses at sigma and tau, in floats on a log scale."""

    analysis: Analysis
    k: int
    epsilon: Fraction
    target: Fraction

    def tau(self, sigma: Fraction, step: Fraction) -> Fraction:
        """A guess at the smallest tau on the grid for sigma; exactly 0 when 0 is enough."""
        zero = Point.of(self.k, sigma, Fraction(0), self.epsilon)
        with precision(_HINT_BITS):
            hopeless = self.analysis.glance(zero) > ball(self.target)
        if not hopeless and self.analysis.compare(zero, self.target).verdict == "proved":
            return Fraction(0)
        ratio = self._ratio(sigma, 2.0)
        if ratio == math.inf:
            raise self._too_small(sigma)
        start = sigma * exp2(max(ratio, _LEAST_RATIO))  # -infinity: 0 is enough, or nearly
        return self._raised(sigma, rounded_up(start, step), step, self.analysis.near)

    def better_sigma(self, sigma: Fraction, tau: Fraction) -> Fraction:
        """A sigma that seems to have a smaller tau; else the given one, the least that is enough.

        With more noise than the noise alone needs, neighbours between the two ends may need a
        smaller threshold.
        """
        near = self.analysis.near[:1]

        @cache
        def log_tau(s: float) -> float:
            noise = exp2(s)
            ratio = self._ratio(noise, 2.0)
            if ratio == math.inf:
                return ratio
            start = rounded_up(noise * exp2(max(ratio, _LEAST_RATIO)), _COARSE)
            return _log2(self._raised(noise, start, _COARSE, near))

        if not near or not tau:
            return sigma
        least = _log2(sigma)
        # at the least sigma itself the noise leaves nothing for the threshold
        best = minimum(log_tau, least + _COARSE_LOG, least + _SPAN_LOG, _COARSE_LOG)
        return _rounded(exp2(best), ROUND_CEILING) if log_tau(best) < _log2(tau) else sigma

    def _raised(
        self, sigma: Fraction, tau: Fraction, step: Fraction, bounds: Sequence[NearBound]
    ) -> Fraction:
        """tau, raised until the bounds satisfy the target.

        tau is on the grid from the start, so the last evaluation is already that of the result.
        """
        for near in bounds:
            while True:
                point = Point.of(self.k, sigma, tau, self.epsilon)
                with precision(_HINT_BITS):
                    bound = near(point, ball(self.target))
                if self._excess(bound, point) <= _NOTHING:
                    break
                enough = self._root(bound, point)
                if enough is None:
                    break
                tau = rounded_up(enough, step)
        return tau

    def _root(self, bound: Callable[[Point], arb], point: Point) -> Fraction | None:
        """A guess at the larger tau at which a bound meets the target; None if that is not near."""

        def excess(ratio: float) -> float:
            return self._excess(bound, replace(point, tau=point.sigma * exp2(ratio)))

        start = _log2(point.tau / point.sigma)
        if start <= _LEAST_RATIO + 1:  # delta hardly depends on so small a tau
            found = falling_root(excess, 0.0)
            return point.sigma * exp2(found) if math.isfinite(found) else None
        found = secant(excess, start, start + 2.0**-12)
        if not start < found < start + 1 or not abs(excess(found)) < _NEAR:
            return None
        return point.sigma * exp2(found)

    def _excess(self, bound: Callable[[Point], arb], point: Point) -> float:
        """How far a bound exceeds the target, as :meth:`_doublings`."""
        with precision(_HINT_BITS):
            return self._doublings(bound(point))

    def _doublings(self, delta: arb) -> float:
        """log2(delta/target); for a target >= 1/2, log2((1 - target)/(1 - delta))."""
        target = ball(self.target)
        return log2(delta / target) if target < 0.5 else -log2((1 - delta) / (1 - target))

    def best_sigma(self) -> Fraction:
        """A guess at the sigma with the smallest tau, as a short decimal."""
        least = self.log_least_sigma()
        if self.analysis.quick is not None:  # the larger of a noise and a threshold term:
            return self._least_rounded(least)  # at a fixed ratio, less noise is better
        threshold = self.log_threshold_ratio()
        if threshold == -math.inf:  # no threshold at all: the least noise that is enough then
            return _rounded(exp2(falling_root(self._excess_unthresholded, least)), ROUND_CEILING)
        ratio = [2.0]

        def log_tau(s: float) -> float:
            found = self._ratio(exp2(s), ratio[0])
            if math.isfinite(found):
                ratio[0] = found
            return s + found

        # above sigma = tau/ratio the threshold term alone exceeds the target
        most = log_tau(least + 0.5) - threshold
        best = minimum(log_tau, least, max(most, least + 0.5), 1e-7)
        # the best sigma is often the least one, where the noise alone uses up the target
        choices = [_rounded(exp2(s), ROUND_CEILING) for s in (least, best)]
        return min(choices, key=lambda sigma: log_tau(_log2(sigma)))

    def _least_rounded(self, s: float) -> Fraction:
        """2^s as a short decimal, raised until the noise alone satisfies the target.

        A delta near 1 hardly depends on sigma, so s is less accurate there.
        """
        step = _NOTHING
        while self._noise_excess(_log2(sigma := _rounded(exp2(s), ROUND_CEILING))) >= 0:
            s, step = s + step, 2 * step
        return sigma

    def _excess_unthresholded(self, s: float) -> float:
        point = Point.of(self.k, exp2(s), Fraction(0), self.epsilon)
        return self._excess(self.analysis.glance, point)

    def feasible(self, sigma: Fraction) -> Fraction:
        """sigma, if some tau is enough for it. Raises InvalidParameter."""
        if self._noise_excess(_log2(sigma)) >= 0:
            raise self._too_small(sigma)
        return sigma

    def least_sigma(self) -> Fraction:
        """Slightly less than the sigma at which the noise alone uses up the target."""
        return exp2(self.log_least_sigma() - 1e-9)

    def _too_small(self, sigma: Fraction) -> InvalidParameter:
        least = _rounded(exp2(self.log_least_sigma()), ROUND_CEILING)
        allowed = f"> {decimal_text(least)} (about): with less noise no tau reaches this delta"
        return InvalidParameter("sigma", decimal_text(sigma), allowed)

    def log_least_sigma(self) -> float:
        return falling_root(self._noise_excess, math.log2(self.k) / 2)

    def _noise_excess(self, s: float) -> float:
        with precision(_HINT_BITS):
            sigma, epsilon = ball(exp2(s)), ball(self.epsilon)
            return self._doublings(self.analysis.noise_only(self.k, sigma, epsilon))

    def log_threshold_ratio(self) -> float:
        def excess(t: float) -> float:
            with precision(_HINT_BITS):
                return self._doublings(self.analysis.threshold_only(self.k, ball(exp2(t))))

        return falling_root(excess, 2.0)

    def _ratio(self, sigma: Fraction, start: float) -> float:
        """log2(tau/sigma) at the target, infinity when no tau is enough."""
        if self._noise_excess(_log2(sigma)) >= 0:
            return math.inf

        def excess(t: float) -> float:
            point = Point.of(self.k, sigma, sigma * exp2(t), self.epsilon)
            return self._excess(self.analysis.glance, point)

        return falling_root(excess, start)


def best_sigma(analysis: Analysis, k: int, epsilon: Fraction, target: Fraction) -> Fraction:
    """A guess at the sigma with the smallest tau."""
    return _Hints(analysis, k, epsilon, target).best_sigma()


def best_tau(analysis: Analysis, k: int, epsilon: Fraction, target: Fraction) -> float:
    """A guess at log2 of the smallest tau over all sigma, for an analysis with a quick bound."""
    hints = _Hints(analysis, k, epsilon, target)
    return hints.log_least_sigma() + hints.log_threshold_ratio()


def _bound_over_sigma(hints: _Hints, sigma: Fraction, tau: Fraction) -> Fraction | None:
    """A threshold slightly below tau that provably is not enough at any sigma, or None."""
    for gap in _BOUND_GAPS:
        bound = _rounded(tau * (1 - gap), ROUND_FLOOR)
        if not bound or _unreachable(hints, sigma, bound):
            return bound
    return None


def _unreachable(hints: _Hints, sigma: Fraction, tau: Fraction) -> bool:
    """Whether delta exceeds the target at this tau for every sigma > 0.

    For small sigma the noise alone exceeds the target, for large sigma the threshold alone. For
    sigma in [a, b], delta is at least its value with noise b and the threshold measured against a.
    """
    analysis, k, epsilon, target = hints.analysis, hints.k, hints.epsilon, hints.target
    low, high = hints.least_sigma(), 2 * sigma
    with precision(_HINT_BITS):
        if not analysis.noise_only(k, ball(low), ball(epsilon)) > ball(target):
            return False
        if not analysis.glance(Point.of(k, sigma, tau, epsilon)) > ball(target):
            return False  # this sigma seems to reach the target
        while not analysis.threshold_only(k, ball(tau / high)) > ball(target):
            high *= 2
    stack = [(low, high)]
    for _ in range(_BOUND_INTERVALS):
        a, b = stack.pop()
        with precision(_HINT_BITS):
            exceeds = analysis.glance(Point(k, b, tau, epsilon, a)) > ball(target)
        if not exceeds:
            middle = _rounded((a + b) / 2, ROUND_FLOOR, digits=12)
            stack += [(a, middle), (middle, b)]
        if not stack:
            return True
    return False


def _rounded(value: Fraction, rounding: str, digits: int = _SIGMA_DIGITS) -> Fraction:
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _log2(value: Fraction) -> float:
    with precision(_HINT_BITS):
        return log2(ball(value))
