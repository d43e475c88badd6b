"""The correlated sparse histogram (CSH): independent noise, one shared noise, then a threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

from flint import arb

from exactdp.accounting import gshm
from exactdp.accounting.calculator import Calculator
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.hints import exp2, minimum
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms.analysis import Analysed, Analysis, Point
from exactdp.accounting.sparse_histograms.bounds import RefusesK, without_k
from exactdp.accounting.sparse_histograms.calibration import best_tau, calibrate_threshold
from exactdp.accounting.sparse_histograms.csh_exact import Worst
from exactdp.accounting.sparse_histograms.csh_published import PUBLISHED
from exactdp.accounting.sparse_histograms.csh_searched import Exact
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import (
    Real,
    choice,
    delta_target,
    integer,
    non_negative,
    positive,
    rational,
)

ANALYSES = ("exact", *PUBLISHED)
DEFAULT_ANALYSIS = "exact"

#: The calibration of a larger sparsity takes many minutes.
MOST_CALIBRATED = 10**9


@without_k
def delta(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    analysis: str = DEFAULT_ANALYSIS,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Enclosure:
    """The delta of the CSH: N(0, sigma^2) per non-zero counter, and one shared noise for all.

    The shared noise is N(0, sigma^2/correlation). Noisy counters > 1 + tau are released.

    sparsity: the largest number of non-zero counters of the whole histogram, of any data set, >= 1.
    sigma: standard deviation of a counter's own noise, > 0.
    tau: >= 0. epsilon: >= 0.
    analysis: "exact" (the mechanism's true delta, the maximum over all neighbours), or one of the
    upper bounds "published" and "add-the-deltas".
    correlation: the constant kappa of the shared noise, > 0; None is the paper's sqrt(sparsity),
    "infinity" means no shared noise. Only with the exact analysis.
    contributions: largest number of counters that one user can change, 1 to sparsity; None is
    sparsity. Only with the exact analysis.
    Returns an enclosure of relative width <= 1e-9 (exact) or 1e-12 (upper bounds).
    Raises InvalidParameter, Undecided.
    Source: exactdp/pages/exact-csh.md (exact); Lebeda and Retschmeier (CSH), Theorems 3.5, 3.3.

    >>> from exactdp.accounting import csh
    >>> print(csh.delta(sparsity=10, sigma="17.8", tau="97.1", epsilon="0.35"))
    [9.925945529e-6, 9.92594553e-6]
    >>> noise = {"sparsity": 10, "sigma": "17.8", "tau": "132.3"}
    >>> print(csh.delta(**noise, epsilon="0.35", analysis="published"))
    [1.078893902e-5, 1.078893903e-5]
    """
    return Csh(
        sparsity=sparsity,
        sigma=sigma,
        tau=tau,
        epsilon=epsilon,
        analysis=analysis,
        correlation=correlation,
        contributions=contributions,
    ).delta()


@without_k
def check(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    analysis: str = DEFAULT_ANALYSIS,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Csh(
        sparsity=sparsity,
        sigma=sigma,
        tau=tau,
        epsilon=epsilon,
        analysis=analysis,
        correlation=correlation,
        contributions=contributions,
    ).check(delta)


@without_k
def guarantee(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    analysis: str = DEFAULT_ANALYSIS,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Csh(
        sparsity=sparsity,
        sigma=sigma,
        tau=tau,
        epsilon=epsilon,
        analysis=analysis,
        correlation=correlation,
        contributions=contributions,
    ).guarantee()


@without_k
def worst_case(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Worst:
    """The pair of neighbours with the largest delta that was found.

    The parameters are those of :func:`delta`, whose lower end is the delta of this pair.
    """
    kappa, most = _family(sparsity, correlation, contributions)
    mechanism = Csh(sparsity=sparsity, sigma=sigma, tau=tau, epsilon=epsilon)
    return Exact(kappa, most).worst(mechanism.point)


@without_k
def calibrate(
    *,
    sparsity: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = DEFAULT_ANALYSIS,
    resolution: Real = "1e-9",
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Calibration:
    """The smallest threshold for (epsilon, delta); without sigma, also the sigma that allows it.

    sparsity: as in :func:`delta`; with the exact analysis <= 10^9 (10^8 takes about ten seconds).
    epsilon: >= 0. delta: target, > 0 and < 1.
    sigma: standard deviation of a counter's own noise, > 0, or None to choose it.
    analysis: as in :func:`delta`.
    resolution: relative step between values of tau that are tried, 1e-15 to 0.1.
    correlation: kappa > 0, None for sqrt(sparsity), or "free" to choose it; then sigma must be
    None, too. Only with the exact analysis.
    contributions: 1 to sparsity, None for sparsity. Only with the exact analysis.
    The returned pair of sigma and tau provably satisfies the target by the chosen analysis, and
    with this sigma the next smaller tau provably does not.
    With the exact analysis the chosen sigma is the least that the noise alone allows, which is the
    best one where the worst case has all counters in both histograms, or all in one. This is the
    usual case, and tau_bound proves the threshold nearly minimal. Where tau_bound is None, as at a
    correlation far from sqrt(sparsity), larger values of sigma are tried; this takes ten times as
    long.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    number = integer("sparsity", sparsity, least=1)
    _few_enough(number, analysis, correlation)
    loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
    if correlation == "free":
        if sigma is not None:
            raise InvalidParameter("correlation", correlation, "a number > 0 when sigma is given")
        correlation = _best_correlation(number, loss, target, contributions)
    chosen = _analysis(analysis, number, correlation, contributions)
    settings = {"sparsity": Fraction(number)}
    if correlation is not None and correlation != "infinity":
        settings["correlation"] = rational("correlation", correlation)
    if contributions is not None:
        settings["contributions"] = rational("contributions", contributions)
    return calibrate_threshold(
        Csh.name,
        chosen,
        k=number,
        epsilon=loss,
        target=target,
        sigma=None if sigma is None else positive("sigma", sigma),
        resolution=resolution,
        given=settings,
    )


def calibrated_analysis(name: str, k: int) -> Analysis:
    """The analysis of the CSH with the paper's correlation, for calibrations at several sigma.

    The exact analysis remembers the worst neighbours at one sigma, which speeds up the next.
    Raises InvalidParameter for an unknown name, or a sparsity that is too large.
    """
    _few_enough(k, name, None)
    return _analysis(name, k, None, None)


@without_k
def total_noise(*, sparsity: int, sigma: Real, correlation: Real | None = None) -> Enclosure:
    """Standard deviation of all noise on one released counter: sigma sqrt(1 + 1/correlation).

    sparsity: >= 1. sigma: of the counter's own noise, > 0. correlation: > 0, None for
    sqrt(sparsity).
    """
    number = integer("sparsity", sparsity, least=1)
    noise = positive("sigma", sigma)
    kappa = None if correlation is None else positive("correlation", correlation)

    def compute() -> arb:
        shared = arb(number).rsqrt() if kappa is None else 1 / ball(kappa)
        return ball(noise) * (1 + shared).sqrt()

    return refine(compute)


def _few_enough(k: int, analysis: str, correlation: Real | None) -> None:
    if analysis == "exact" and k > MOST_CALIBRATED and correlation != "infinity":
        raise InvalidParameter("sparsity", k, f"at most {MOST_CALIBRATED} with analysis 'exact'")


def _analysis(name: str, k: int, correlation: Real | None, contributions: int | None) -> Analysis:
    choice("analysis", name, ANALYSES)
    if name == "exact" and correlation == "infinity":
        return WithoutSharedNoise(_family(k, None, contributions)[1])
    if name == "exact":
        return Exact(*_family(k, correlation, contributions))
    for parameter, value in (("correlation", correlation), ("contributions", contributions)):
        if value is not None:
            raise InvalidParameter(parameter, value, "left out, except with analysis 'exact'")
    return PUBLISHED[name]


def _family(
    k: int, correlation: Real | None, contributions: int | None
) -> tuple[Fraction | None, int]:
    number = integer("sparsity", k, least=1)
    kappa = None if correlation is None else positive("correlation", correlation)
    most = number if contributions is None else integer("contributions", contributions, least=1)
    if most > number:
        raise InvalidParameter("contributions", contributions, f"at most the sparsity, {number}")
    return kappa, most


class WithoutSharedNoise(gshm.Exact):
    """The Gaussian sparse histogram mechanism in which one user changes at most `most` counters."""

    def __init__(self, most: int) -> None:
        self._most = most

    def neighbours(self, k: int) -> str:
        """Users change some counters, in one direction."""
        return sparse_counters(k, None if self._most == k else self._most)

    def evaluate(self, point: Point) -> arb:
        """A ball around delta."""
        return super().evaluate(replace(point, k=self._most))

    def noise_only(self, k: int, sigma: arb, epsilon: arb) -> arb:
        """The delta of neighbours whose counters are in both histograms."""
        return super().noise_only(self._most, sigma, epsilon)

    def threshold_only(self, k: int, ratio: arb) -> arb:
        """The delta of neighbours whose counters are in one histogram."""
        return super().threshold_only(self._most, ratio)


def _best_correlation(
    k: int, epsilon: Fraction, target: Fraction, contributions: int | None
) -> Decimal:
    """About the kappa with the smallest threshold, to three digits."""

    def log_tau(log_kappa: float) -> float:
        analysis = Exact(*_family(k, exp2(log_kappa), contributions))
        return best_tau(analysis, k, epsilon, target)

    middle = math.log2(k) / 2
    best_log_kappa = minimum(log_tau, middle - 6, middle + 10, 1e-2)
    kappa = exp2(best_log_kappa)
    return Context(prec=3).divide(Decimal(kappa.numerator), Decimal(kappa.denominator))


def _kappa(name: str, value: Real) -> Real:
    return value if value == "infinity" else positive(name, value)


@frozen(kw_only=True)
class Csh(RefusesK, Calculator, Analysed):
    """The calculator; parameters as in :func:`delta`."""

    sparsity: int = whole(least=1)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    analysis: str = converted(partial(choice, options=ANALYSES), default=DEFAULT_ANALYSIS)
    correlation: Real | None = converted(_kappa, default=None)
    contributions: int | None = whole(least=1, default=None)

    name = "csh"
    title = (
        "the correlated sparse histogram (CSH) with continuous noise"
        ", for a whole histogram of at most `sparsity` counters"
    )
    example: ClassVar = {"sparsity": "10", "sigma": "17.8", "tau": "97.1", "epsilon": "0.35"}
    analyses = ANALYSES
    falls_with: ClassVar = {"tau": 0, "epsilon": 0}
    compared = ("add-the-deltas", "published", "exact")
    calibrate, total_noise = staticmethod(calibrate), staticmethod(total_noise)

    def __post_init__(self) -> None:
        _ = self.by  # checks the combination

    @cached_property
    def by(self) -> Analysis:
        """The analysis of this name."""
        return _analysis(self.analysis, self.sparsity, self.correlation, self.contributions)

    @cached_property
    def point(self) -> Point:
        """The parameters."""
        return Point.of(self.sparsity, self.sigma, self.tau, self.epsilon)

    def worst_case(self) -> Worst | None:
        """The worst neighbours, where the analysis searches for them."""
        return self.by.worst(self.point) if isinstance(self.by, Exact) else None


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = Csh.least_epsilon


__dir__ = own_names(__name__)
