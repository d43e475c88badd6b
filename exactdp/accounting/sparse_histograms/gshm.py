"""The Gaussian sparse histogram mechanism (GSHM): noise on non-zero counters, then a threshold."""

from __future__ import annotations

from flint import arb

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point, setting
from exactdp.accounting.sparse_histograms.calibration import calibrate_threshold
from exactdp.accounting.sparse_histograms.overlaps import StaysBelow
from exactdp.enclosure import Enclosure
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, choice, delta_target, integer, non_negative, positive

__all__ = ["ANALYSES", "DEFAULT_ANALYSIS", "calibrate", "check", "delta", "guarantee"]

DEFAULT_ANALYSIS = "exact"

_NEIGHBOURS = (
    "add-remove neighbours: one user added or removed, changing at most k counters by one each"
)


def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """delta of the GSHM that adds N(0, sigma^2) to non-zero counters and keeps those > 1 + tau.

    k: most counters one user can change, >= 1. sigma: > 0. tau: >= 0. epsilon: >= 0.
    analysis: "exact" (the mechanism's true delta) or "add-the-deltas" (a simpler upper bound).
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: CSH, Lemmas 2.7 (Wilkins et al. 2024) and 2.6.

    >>> from exactdp.accounting import gshm
    >>> print(gshm.delta(k=51914, sigma="2222.7", tau="13914", epsilon="0.35"))
    [9.995904243e-6, 9.995904244e-6]
    """
    return _analysis(analysis).delta(_point(k, sigma, tau, epsilon))


def check(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, delta: Real, analysis: str = DEFAULT_ANALYSIS
) -> Check:
    """Whether the GSHM with these parameters is (epsilon, delta)-DP: proved, refuted, undecided.

    Parameters as in :func:`delta`; delta is the claimed value, > 0 and < 1. With the
    "add-the-deltas" analysis, refuted means that this bound does not show it.
    """
    chosen, point = _analysis(analysis), _point(k, sigma, tau, epsilon)
    return chosen.check(point, delta_target("delta", delta))


def guarantee(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Guarantee:
    """The promise of a release with these parameters, as in :func:`delta`."""
    return _analysis(analysis).guarantee(_point(k, sigma, tau, epsilon))


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

    k: most counters one user can change, >= 1. epsilon: >= 0. delta: target, > 0 and < 1.
    sigma: > 0, or None to choose it. resolution: relative step of the tau returned, 1e-15 to 0.1.
    The returned point provably satisfies the target, and the next smaller tau provably does not.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    return calibrate_threshold(
        "gshm",
        _analysis(analysis),
        k=integer("k", k, least=1),
        epsilon=non_negative("epsilon", epsilon),
        target=delta_target("delta", delta),
        sigma=None if sigma is None else positive("sigma", sigma),
        resolution=resolution,
    )


def _analysis(name: str) -> Analysis:
    return ANALYSES[choice("analysis", name, tuple(ANALYSES))]


def _point(k: int, sigma: Real, tau: Real, epsilon: Real) -> Point:
    return Point.of(
        integer("k", k, least=1),
        positive("sigma", sigma),
        non_negative("tau", tau),
        non_negative("epsilon", epsilon),
    )


def _noise_only(k: int, sigma: arb, epsilon: arb) -> arb:
    return hockey_stick(epsilon, arb(k).sqrt() / sigma)


def _threshold_only(k: int, ratio: arb) -> arb:
    return StaysBelow(ratio, arb(0)).exceeded(k)


def _add_the_deltas(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    noise = hockey_stick(epsilon, (scale * point.k).sqrt())
    return noise + StaysBelow(ratio, epsilon).exceeded(point.k)


def _exact(point: Point) -> arb:
    """The maximum over all neighbours is one of its two ends (pages/exact-csh.md, Section 9)."""
    epsilon, scale, ratio = setting(point)
    noise = hockey_stick(epsilon, (scale * point.k).sqrt())
    return noise.max(StaysBelow(ratio, epsilon).exceeded(point.k))


ANALYSES = {
    "exact": Analysis(
        "exact",
        "CSH Lemma 2.7 (Wilkins et al. 2024)",
        _NEIGHBOURS,
        True,
        _exact,
        _noise_only,
        _threshold_only,
        quick=_exact,
    ),
    "add-the-deltas": Analysis(
        "add-the-deltas",
        "CSH Lemma 2.6",
        _NEIGHBOURS,
        False,
        _add_the_deltas,
        _noise_only,
        _threshold_only,
    ),
}
