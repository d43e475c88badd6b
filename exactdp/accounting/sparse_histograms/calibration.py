"""From (epsilon, delta) to noise and threshold, for histograms with continuous noise.

Estimates only suggest where to look. Certified arithmetic then proves that the returned sigma and
tau satisfy the target, and that the next smaller tau on a decimal grid does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import cache

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.grid import read_resolution, rounded, unit_of
from exactdp.accounting.certify.hints import exp2, falling_root, log2, minimum
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.analysis import Analysis, AtPoint, Point
from exactdp.balls import ball, precision
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, as_decimal, decimal_text

#: Number of significant digits of a sigma that the calibration chooses.
_SIGMA_DIGITS = 10
#: Working precision of the search for a candidate.
_HINT_BITS = 128
#: Differences of log2 delta up to this count as 0; one step of tau changes log2 delta by more.
_NOTHING = 1e-11
#: The start of the search for log2(tau/sigma), and the least value that is tried before tau = 0.
_USUAL_RATIO, _LEAST_RATIO = 2.0, -64.0
#: Largest number of guesses of the worst neighbours at one sigma; each guess raises tau a little.
_MOST_GUESSES = 8
#: Relative gaps below the returned tau, from the smallest. For each gap, the calibration tries to
#: prove that no sigma is enough with that threshold. One proof uses at most _BOUND_INTERVALS
#: intervals of sigma.
_BOUND_GAPS = (Fraction(1, 10**4), Fraction(1, 10**3), Fraction(1, 10**2))
_BOUND_INTERVALS = 1_000
#: The search for a better sigma: its step and its range, in log2 of sigma.
_LOG_STEP, _LOG_SPAN = 2.0**-6, 0.25


def calibrate_threshold(
    mechanism: str,
    analysis: Analysis,
    *,
    k: int,
    epsilon: Fraction,
    target: Fraction,
    sigma: Fraction | None,
    resolution: Real,
    given: dict[str, Fraction],
) -> Calibration:
    """The smallest threshold for a target; without sigma, also the sigma that allows it.

    The parameters are validated already. k: the paper's bound on a user's counters (GSHM) or on all
    counters (CSH). mechanism, given: are copied into the Calibration.
    """
    step = read_resolution(resolution)
    hints = _Hints(analysis, k, epsilon, target)

    def least(noise: Fraction) -> Calibration:
        start = hints.tau(noise)
        zero = not start and hints.at(noise, Fraction(0)).check(target).verdict == "proved"
        if not zero:
            start = max(start, noise * exp2(_LEAST_RATIO))
        return calibrated(
            mechanism,
            analysis.name,
            lambda tau: hints.at(noise, tau),
            target=target,
            name="tau",
            start=start,
            step=unit_of(start or noise, step),
            lowest=0 if zero else 1,
            given=given,
            chosen={"sigma": noise},
        )

    if sigma is not None:
        return least(hints.feasible(sigma))
    calibration = least(hints.best_sigma())
    if (bound := hints.bound_over_sigma(calibration)) is None:
        better = hints.better_sigma(calibration)
        calibration = calibration if better is None else least(better)
        bound = hints.bound_over_sigma(calibration)
    return replace(calibration, tau_bound=None if bound is None else as_decimal(bound))


@dataclass(frozen=True)
class _Hints:
    """Guesses at sigma and tau, in floats on a log scale, and a proved bound for all sigma."""

    analysis: Analysis
    k: int
    epsilon: Fraction
    target: Fraction

    def at(self, sigma: Fraction, tau: Fraction) -> AtPoint:
        """The mechanism with this noise and threshold."""
        return self.analysis.at(self._point(sigma, tau))

    def tau(self, sigma: Fraction) -> Fraction:
        """A guess at the smallest tau for sigma; exactly 0 where 0 seems enough."""
        ratio = self._ratio(sigma, _USUAL_RATIO)
        if ratio == math.inf:
            raise self._too_small(sigma)
        return sigma * exp2(ratio) if ratio > _LEAST_RATIO else Fraction(0)

    def better_sigma(self, calibration: Calibration) -> Fraction | None:
        """A sigma that seems to have a smaller tau than the least sigma, which was chosen first.

        With more noise than the noise alone needs, neighbours between the two ends may need a
        smaller threshold.
        """
        if not self.analysis.searched or not calibration.tau:
            return None

        @cache
        def log_tau(s: float) -> float:
            return s + self._ratio(exp2(s), _USUAL_RATIO)

        least, known = _log2(Fraction(calibration.sigma)), _log2(Fraction(calibration.tau))
        if not log_tau(least + _LOG_STEP) < known:  # a little more noise does not help
            return None
        best = minimum(log_tau, least + _LOG_STEP, least + _LOG_SPAN, _LOG_STEP)
        return rounded(exp2(best), _SIGMA_DIGITS) if log_tau(best) < known else None

    def best_sigma(self) -> Fraction:
        """A guess at the sigma with the smallest tau, as a short decimal."""
        least = self.log_least_sigma()
        if self.analysis.larger_part:  # at a fixed ratio, less noise is better
            return self._least_rounded(least)
        threshold = self.log_threshold_ratio()
        if threshold == -math.inf:  # no threshold at all: the least noise that is enough then
            return rounded(exp2(falling_root(self._excess_unthresholded, least)), _SIGMA_DIGITS)
        ratio = [_USUAL_RATIO]

        def log_tau(s: float) -> float:
            log_ratio = self._ratio(exp2(s), ratio[0])
            if math.isfinite(log_ratio):
                ratio[0] = log_ratio
            return s + log_ratio

        # above sigma = tau/ratio the threshold term alone exceeds the target
        most = log_tau(least + 0.5) - threshold
        best = minimum(log_tau, least, max(most, least + 0.5), 1e-7)
        # the best sigma is often the least one, where the noise alone uses up the target
        choices = [rounded(exp2(s), _SIGMA_DIGITS) for s in (least, best)]
        return min(choices, key=lambda sigma: log_tau(_log2(sigma)))

    def feasible(self, sigma: Fraction) -> Fraction:
        """sigma, if some tau is enough for it. Raises InvalidParameter."""
        if self._noise_excess(_log2(sigma)) >= 0:
            raise self._too_small(sigma)
        return sigma

    def log_least_sigma(self) -> float:
        """About log2 of the sigma at which the noise alone uses up the target."""
        return falling_root(self._noise_excess, math.log2(self.k) / 2)

    def log_threshold_ratio(self) -> float:
        """About log2 of the tau/sigma at which the threshold alone uses up the target."""

        def excess(t: float) -> float:
            with precision(_HINT_BITS):
                return self._doublings(self.analysis.threshold_only(self.k, ball(exp2(t))))

        return falling_root(excess, _USUAL_RATIO)

    def bound_over_sigma(self, calibration: Calibration) -> Fraction | None:
        """A threshold slightly below the calibrated one, provably not enough at any sigma."""
        for gap in _BOUND_GAPS:
            bound = rounded(Fraction(calibration.tau) * (1 - gap), _SIGMA_DIGITS, ROUND_FLOOR)
            if not bound or self._unreachable(Fraction(calibration.sigma), bound):
                return bound
        return None

    def _unreachable(self, sigma: Fraction, tau: Fraction) -> bool:
        """Whether delta exceeds the target at this tau for every sigma > 0.

        For small sigma the noise alone exceeds the target, for large sigma the threshold alone. For
        sigma in [a, b], delta is at least its value with noise b and the threshold measured
        against a.
        """
        analysis, k = self.analysis, self.k
        low, high = exp2(self.log_least_sigma() - 1e-9), 2 * sigma
        with precision(_HINT_BITS):
            target = ball(self.target)
            if not analysis.noise_only(k, ball(low), ball(self.epsilon)) > target:
                return False
            if not analysis.least(self._point(sigma, tau)) > target:
                return False  # this sigma seems to reach the target
            while not analysis.threshold_only(k, ball(tau / high)) > target:
                high *= 2
            stack = [(low, high)]
            for _ in range(_BOUND_INTERVALS):
                a, b = stack.pop()
                if not analysis.least(Point(k, b, tau, self.epsilon, a)) > target:
                    middle = rounded((a + b) / 2, 12, ROUND_FLOOR)
                    stack += [(a, middle), (middle, b)]
                if not stack:
                    return True
        return False

    def _least_rounded(self, s: float) -> Fraction:
        """2^s as a short decimal, raised until the noise alone satisfies the target.

        A delta near 1 hardly depends on sigma, so s is less accurate there.
        """
        step = _NOTHING
        while self._noise_excess(_log2(sigma := rounded(exp2(s), _SIGMA_DIGITS))) >= 0:
            s, step = s + step, 2 * step
        return sigma

    def _too_small(self, sigma: Fraction) -> InvalidParameter:
        least = rounded(exp2(self.log_least_sigma()), _SIGMA_DIGITS)
        allowed = f"> {decimal_text(least)} (about): with less noise no tau reaches this delta"
        return InvalidParameter("sigma", decimal_text(sigma), allowed)

    def _ratio(self, sigma: Fraction, start: float) -> float:
        """log2(tau/sigma) at the target, infinity when no tau is enough."""
        if self._noise_excess(_log2(sigma)) >= 0:
            return math.inf
        log_ratio = self._root(self.analysis.about, sigma, start)
        if self.analysis.searched:
            for _ in range(_MOST_GUESSES):
                log_ratio = max(log_ratio, _LEAST_RATIO)
                delta = self.analysis.near(self._point(sigma, sigma * exp2(log_ratio)))
                if self._excess(delta, sigma, log_ratio) <= _NOTHING:
                    break
                log_ratio = self._root(delta, sigma, log_ratio)
        return log_ratio

    def _root(self, delta: Callable[[Point], arb], sigma: Fraction, start: float) -> float:
        return falling_root(lambda t: self._excess(delta, sigma, t), start)

    def _excess(self, delta: Callable[[Point], arb], sigma: Fraction, log_ratio: float) -> float:
        """How far delta exceeds the target at a ratio of tau to sigma, as :meth:`_doublings`."""
        with precision(_HINT_BITS):
            return self._doublings(delta(self._point(sigma, sigma * exp2(log_ratio))))

    def _excess_unthresholded(self, s: float) -> float:
        with precision(_HINT_BITS):
            return self._doublings(self.analysis.least(self._point(exp2(s), Fraction(0))))

    def _noise_excess(self, s: float) -> float:
        with precision(_HINT_BITS):
            sigma, epsilon = ball(exp2(s)), ball(self.epsilon)
            return self._doublings(self.analysis.noise_only(self.k, sigma, epsilon))

    def _doublings(self, delta: arb) -> float:
        """log2(delta/target); for a target >= 1/2, log2((1 - target)/(1 - delta))."""
        target = ball(self.target)
        return log2(delta / target) if target < 0.5 else -log2((1 - delta) / (1 - target))

    def _point(self, sigma: Fraction, tau: Fraction) -> Point:
        return Point.of(self.k, sigma, tau, self.epsilon)


def best_sigma(analysis: Analysis, k: int, epsilon: Fraction, target: Fraction) -> Fraction:
    """A guess at the sigma with the smallest tau."""
    return _Hints(analysis, k, epsilon, target).best_sigma()


def best_tau(analysis: Analysis, k: int, epsilon: Fraction, target: Fraction) -> float:
    """A guess at log2 of the smallest tau over all sigma, where larger_part holds."""
    hints = _Hints(analysis, k, epsilon, target)
    return hints.log_least_sigma() + hints.log_threshold_ratio()


def _log2(value: Fraction) -> float:
    with precision(_HINT_BITS):
        return log2(ball(value))
