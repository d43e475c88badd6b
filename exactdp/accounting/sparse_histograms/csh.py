"""The correlated sparse histogram (CSH): independent noise, one shared noise, then a threshold."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial

from flint import arb

from exactdp.accounting.calculator import Calculator, Instance, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.hints import exp2, minimum
from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms import gshm
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.calibration import best_tau, calibrate_threshold
from exactdp.accounting.sparse_histograms.csh_exact import Worst, noise_only, threshold_only
from exactdp.accounting.sparse_histograms.csh_published import PUBLISHED
from exactdp.accounting.sparse_histograms.csh_worst_cases import Searches
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
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

#: Working precision of the search for the worst case, in bits, and the highest precision of delta:
#: more precision does not settle a comparison that the search leaves open.
_WORST_BITS = 128
_CAP_BITS = 512
#: The calibration of a larger sparsity takes many minutes.
MOST_CALIBRATED = 10**9


@delta_of
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
) -> Instance:
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
    chosen = _analysis(analysis, sparsity, correlation, contributions)
    instance = chosen.at(_point(sparsity, sigma, tau, epsilon))
    if analysis != "exact" or correlation == "infinity":
        return instance
    search = partial(
        worst_case,
        sparsity=sparsity,
        sigma=sigma,
        tau=tau,
        epsilon=epsilon,
        correlation=correlation,
        contributions=contributions,
    )
    return replace(instance, worst_case=search)


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
    point = _point(sparsity, sigma, tau, epsilon)
    kappa, most = _family(point.k, correlation, contributions)
    with precision(_WORST_BITS):
        return Searches(kappa, most).worst(point)


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
        "csh",
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
        return _without_shared_noise(_family(k, None, contributions)[1])
    if name == "exact":
        return _exact_analysis(*_family(k, correlation, contributions))
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


def _exact_analysis(kappa: Fraction | None, most: int) -> Analysis:
    searches = Searches(kappa, most)
    return Analysis(
        name="exact",
        source="exactdp statement explain exact-csh, exact over all neighbours",
        neighbours=lambda k: _neighbours(k, most),
        tight=True,
        evaluate=searches.delta,
        noise_only=lambda k, sigma, epsilon: noise_only(k, sigma, epsilon, kappa, most),
        threshold_only=lambda k, ratio: threshold_only(k, ratio, kappa, most),
        larger_part=True,
        about=searches.about,
        near=searches.near,
        against=searches.against,
        relative_width=Fraction(1, 10**9),
        cap_bits=_CAP_BITS,
    )


def _neighbours(sparsity: int, most: int) -> str:
    return sparse_counters(sparsity, None if most == sparsity else most)


def _without_shared_noise(most: int) -> Analysis:
    """The Gaussian sparse histogram mechanism in which one user changes at most `most` counters."""
    exact = gshm.ANALYSES["exact"]
    return replace(
        exact,
        neighbours=lambda k: _neighbours(k, most),
        evaluate=lambda point: exact.evaluate(replace(point, k=most)),
        noise_only=lambda _, sigma, epsilon: exact.noise_only(most, sigma, epsilon),
        threshold_only=lambda _, ratio: exact.threshold_only(most, ratio),
    )


def _best_correlation(
    k: int, epsilon: Fraction, target: Fraction, contributions: int | None
) -> Decimal:
    """About the kappa with the smallest threshold, to three digits."""

    def log_tau(log_kappa: float) -> float:
        analysis = _exact_analysis(*_family(k, exp2(log_kappa), contributions))
        return best_tau(analysis, k, epsilon, target)

    middle = math.log2(k) / 2
    best_log_kappa = minimum(log_tau, middle - 6, middle + 10, 1e-2)
    kappa = exp2(best_log_kappa)
    return Context(prec=3).divide(Decimal(kappa.numerator), Decimal(kappa.denominator))


def _point(k: int, sigma: Real, tau: Real, epsilon: Real) -> Point:
    return Point.of(
        integer("sparsity", k, least=1),
        positive("sigma", sigma),
        non_negative("tau", tau),
        non_negative("epsilon", epsilon),
    )


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the correlated sparse histogram (CSH) with continuous noise"
    ", for a whole histogram of at most `sparsity` counters",
    example={"sparsity": "10", "sigma": "17.8", "tau": "97.1", "epsilon": "0.35"},
    analyses=ANALYSES,
    falls_with={"tau": 0, "epsilon": 0},
    compared=("add-the-deltas", "published", "exact"),
    total_noise=total_noise,
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
