"""The Gaussian sparse histogram mechanism (GSHM): noise on non-zero counters, then a threshold."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.accounting.calculator import Calculator, Instance, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.neighbours import changed_counters
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point, setting
from exactdp.accounting.sparse_histograms.calibration import calibrate_threshold
from exactdp.accounting.sparse_histograms.overlaps import StaysBelow
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, choice, delta_target, integer, non_negative, positive

DEFAULT_ANALYSIS = "exact"


@delta_of
def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Instance:
    """The delta of adding N(0, sigma^2) to non-zero counters and releasing those > 1 + tau.

    k (contributions): largest number of counters that one user can change, >= 1.
    sigma: standard deviation of the noise, > 0.
    tau: >= 0. epsilon: >= 0.
    analysis: "exact" (the mechanism's true delta) or "add-the-deltas" (a simpler upper bound).
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Lemmas 2.7 (Wilkins et al. 2024) and 2.6.

    >>> from exactdp.accounting import gshm
    >>> print(gshm.delta(k=51914, sigma="2222.7", tau="13914", epsilon="0.35"))
    [9.995904243e-6, 9.995904244e-6]
    """
    point = Point.of(
        integer("k", k, least=1),
        positive("sigma", sigma),
        non_negative("tau", tau),
        non_negative("epsilon", epsilon),
    )
    return _analysis(analysis).at(point)


def calibrate(
    *,
    k: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = DEFAULT_ANALYSIS,
    resolution: Real = "1e-9",
) -> Calibration:
    """The smallest threshold for (epsilon, delta); without sigma, also the sigma that allows it.

    k (contributions): largest number of counters that one user can change, >= 1.
    epsilon: >= 0. delta: target, > 0 and < 1.
    sigma: standard deviation of the noise, > 0, or None to choose it.
    analysis: as in :func:`delta`.
    resolution: relative step between values of tau that are tried, 1e-15 to 0.1.
    The returned pair of sigma and tau provably satisfies the target, and with this sigma the next
    smaller tau provably does not.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    number = integer("k", k, least=1)
    return calibrate_threshold(
        "gshm",
        _analysis(analysis),
        k=number,
        epsilon=non_negative("epsilon", epsilon),
        target=delta_target("delta", delta),
        sigma=None if sigma is None else positive("sigma", sigma),
        resolution=resolution,
        given={"k": Fraction(number)},
    )


def _analysis(name: str) -> Analysis:
    return ANALYSES[choice("analysis", name, tuple(ANALYSES))]


def _noise_only(k: int, sigma: arb, epsilon: arb) -> arb:
    return hockey_stick(epsilon, arb(k).sqrt() / sigma)


def _threshold_only(k: int, ratio: arb) -> arb:
    return StaysBelow(ratio, arb(0)).exceeded(k)


def _add_the_deltas(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    noise = hockey_stick(epsilon, (scale * point.k).sqrt())
    return noise + StaysBelow(ratio, epsilon).exceeded(point.k)


def _exact(point: Point) -> arb:
    """The maximum over all pairs of neighbours, which one of two extreme pairs attains.

    Either all k counters are in both histograms, or all are in only one (pages/exact-csh.md,
    Section 9).
    """
    epsilon, scale, ratio = setting(point)
    noise = hockey_stick(epsilon, (scale * point.k).sqrt())
    return noise.max(StaysBelow(ratio, epsilon).exceeded(point.k))


ANALYSES = {
    "exact": Analysis(
        "exact",
        "CSH Lemma 2.7 (Wilkins et al. 2024)",
        changed_counters,
        True,
        _exact,
        _noise_only,
        _threshold_only,
        larger_part=True,
    ),
    "add-the-deltas": Analysis(
        "add-the-deltas",
        "CSH Lemma 2.6",
        changed_counters,
        False,
        _add_the_deltas,
        _noise_only,
        _threshold_only,
    ),
}

CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the Gaussian sparse histogram mechanism (GSHM) with continuous noise"
    ", for users with at most k counters each",
    example={"k": "51914", "sigma": "2222.7", "tau": "13914", "epsilon": "0.35"},
    analyses=("exact", "add-the-deltas"),
    falls_with={"tau": 0, "epsilon": 0},
    compared=("add-the-deltas", "exact"),
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
