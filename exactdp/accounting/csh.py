"""The correlated sparse histogram (CSH): independent noise, one shared noise, then a threshold."""

from __future__ import annotations

from math import isqrt

from flint import arb

from exactdp.accounting.analysis import Analysis, Point, largest, setting
from exactdp.accounting.calibration import calibrate_threshold
from exactdp.accounting.checking import Check
from exactdp.accounting.families import AppearBound, Overlaps, Threshold, Vanish
from exactdp.accounting.gaussian import hockey_stick
from exactdp.accounting.grid import Calibration
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, choice, delta_target, integer, non_negative, positive

__all__ = [
    "ANALYSES",
    "DEFAULT_ANALYSIS",
    "calibrate",
    "check",
    "delta",
    "guarantee",
    "total_noise",
]

DEFAULT_ANALYSIS = "published"

_NEIGHBOURS = (
    "add-remove neighbours: one user added or removed, changing counters of a k-sparse histogram "
    "by one each, all in the same direction"
)


def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """An upper bound on delta of the CSH with N(0, sigma^2) per counter and N(0, sigma^2/sqrt k).

    k: sparsity of every histogram, >= 1. sigma: of the independent noise, > 0.
    tau: counters are kept above 1 + tau, >= 0. epsilon: >= 0.
    analysis: "published" (case by case) or "add-the-deltas".
    Returns an enclosure of the bound, relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: CSH, Theorems 3.5 and 3.3.

    >>> from exactdp.accounting import csh
    >>> print(csh.delta(k=10, sigma="17.8", tau="132.3", epsilon="0.35"))
    [1.078893902e-5, 1.078893903e-5]
    """
    return _analysis(analysis).delta(_point(k, sigma, tau, epsilon))


def check(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, delta: Real, analysis: str = DEFAULT_ANALYSIS
) -> Check:
    """Whether the analysis shows the CSH to be (epsilon, delta)-DP: proved, refuted, undecided.

    Parameters as in :func:`delta`; delta is the claimed value, > 0 and < 1. Both analyses are upper
    bounds, so refuted means that the bound does not show the claim.
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

    k: sparsity of every histogram, >= 1. epsilon: >= 0. delta: target, > 0 and < 1.
    sigma: > 0, or None to choose it. resolution: relative step of the tau returned, 1e-15 to 0.1.
    The returned point provably satisfies the target, and the next smaller tau provably does not
    (by the chosen analysis).
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    return calibrate_threshold(
        "csh",
        _analysis(analysis),
        k=integer("k", k, least=1),
        epsilon=non_negative("epsilon", epsilon),
        target=delta_target("delta", delta),
        sigma=None if sigma is None else positive("sigma", sigma),
        resolution=resolution,
    )


def total_noise(*, k: int, sigma: Real) -> Enclosure:
    """Standard deviation of all noise on one released counter: sigma sqrt(1 + 1/sqrt k)."""
    number, noise = integer("k", k, least=1), positive("sigma", sigma)
    return refine(lambda: ball(noise) * (1 + arb(number).rsqrt()).sqrt())


def _analysis(name: str) -> Analysis:
    return ANALYSES[choice("analysis", name, tuple(ANALYSES))]


def _point(k: int, sigma: Real, tau: Real, epsilon: Real) -> Point:
    return Point.of(
        integer("k", k, least=1),
        positive("sigma", sigma),
        non_negative("tau", tau),
        non_negative("epsilon", epsilon),
    )


def _share(k: int) -> arb:
    """1 + k^(-1/4): each of the two noises gets its part of the threshold (Lemma 3.2)."""
    return 1 + 1 / arb(k).root(4)


def _noise_only(k: int, sigma: arb, epsilon: arb) -> arb:
    return hockey_stick(epsilon, (k + arb(k).sqrt()).sqrt() / (2 * sigma))


def _threshold_only(k: int, ratio: arb) -> arb:
    return Threshold(ratio / _share(k), arb(0)).exceeded(k + 1)


def _add_the_deltas(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    root = arb(point.k).sqrt()
    noise = hockey_stick(epsilon, (scale * (point.k + root)).sqrt() / 2)
    return noise + Threshold(ratio / _share(point.k), epsilon).exceeded(point.k + 1)


def _published(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    k, root = point.k, arb(point.k).sqrt()
    threshold = Threshold(ratio / _share(k), epsilon)
    # sqrt(j) <= sqrt(j + sqrt k)/2 exactly up to this j: two smooth pieces
    split = min(isqrt(k // 9), k - 1)
    pieces = [(1, split, scale, arb(0)), (split + 1, k - 1, scale / 4, root)]
    kinds: list[type[Overlaps]] = [AppearBound, Vanish]
    families = [
        kind(threshold, first, last, k + 1, size, shift)
        for kind in kinds
        for first, last, size, shift in pieces
    ]
    noise = hockey_stick(epsilon, (scale * (k + root)).sqrt() / 2)
    return largest(families, threshold.exceeded(k + 1), noise)


ANALYSES = {
    "published": Analysis(
        "published",
        "CSH Theorem 3.5",
        _NEIGHBOURS,
        False,
        _published,
        _noise_only,
        _threshold_only,
    ),
    "add-the-deltas": Analysis(
        "add-the-deltas",
        "CSH Theorem 3.3",
        _NEIGHBOURS,
        False,
        _add_the_deltas,
        _noise_only,
        _threshold_only,
    ),
}
