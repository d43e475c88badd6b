"""The Gaussian sparse histogram mechanism (GSHM): noise on non-zero counters, then a threshold."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

from flint import arb

from exactdp.accounting.calculator import Calculator
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import changed_counters
from exactdp.accounting.sparse_histograms.analysis import Analysed, Analysis, Point, setting
from exactdp.accounting.sparse_histograms.calibration import calibrate_threshold
from exactdp.accounting.sparse_histograms.overlaps import StaysBelow
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, choice, delta_target, integer, non_negative, positive

DEFAULT_ANALYSIS = "exact"


def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
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
    return Gshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis).delta()


def check(
    *,
    k: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    analysis: str = DEFAULT_ANALYSIS,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Gshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis).check(delta)


def guarantee(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Gshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis).guarantee()


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
        Gshm.name,
        ANALYSES[choice("analysis", analysis, tuple(ANALYSES))],
        k=number,
        epsilon=non_negative("epsilon", epsilon),
        target=delta_target("delta", delta),
        sigma=None if sigma is None else positive("sigma", sigma),
        resolution=resolution,
        given={"k": Fraction(number)},
    )


class AddTheDeltas(Analysis):
    """The delta of the noise plus that of the threshold."""

    name, source = "add-the-deltas", "CSH Lemma 2.6"

    def neighbours(self, k: int) -> str:
        """Users change at most k counters."""
        return changed_counters(k)

    def evaluate(self, point: Point) -> arb:
        """A ball around the bound."""
        noise, shows = self._parts(point)
        return noise + shows

    def noise_only(self, k: int, sigma: arb, epsilon: arb) -> arb:
        """The delta of neighbours with all counters in both histograms."""
        return hockey_stick(epsilon, arb(k).sqrt() / sigma)

    def threshold_only(self, k: int, ratio: arb) -> arb:
        """The delta at a large epsilon of neighbours with k counters in one histogram."""
        return StaysBelow(ratio, arb(0)).exceeded(k)

    def _parts(self, point: Point) -> tuple[arb, arb]:
        """The deltas of the noise and of the threshold."""
        epsilon, scale, ratio = setting(point)
        noise = hockey_stick(epsilon, (scale * point.k).sqrt())
        return noise, StaysBelow(ratio, epsilon).exceeded(point.k)


class Exact(AddTheDeltas):
    """The maximum over all pairs of neighbours, which one of two extreme pairs attains.

    Either all k counters are in both histograms, or all are in only one (pages/exact-csh.md,
    Section 9).
    """

    name, source = "exact", "CSH Lemma 2.7 (Wilkins et al. 2024)"
    tight = larger_part = True

    def evaluate(self, point: Point) -> arb:
        """A ball around delta."""
        noise, shows = self._parts(point)
        return noise.max(shows)


ANALYSES = {each.name: each for each in (Exact(), AddTheDeltas())}


@frozen(kw_only=True)
class Gshm(Calculator, Analysed):
    """The calculator; parameters as in :func:`delta`."""

    k: int = whole(least=1)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    analysis: str = converted(partial(choice, options=tuple(ANALYSES)), default=DEFAULT_ANALYSIS)

    name = "gshm"
    title = (
        "the Gaussian sparse histogram mechanism (GSHM) with continuous noise"
        ", for users with at most k counters each"
    )
    example: ClassVar = {"k": "51914", "sigma": "2222.7", "tau": "13914", "epsilon": "0.35"}
    analyses = tuple(ANALYSES)
    falls_with: ClassVar = {"tau": 0, "epsilon": 0}
    compared = ("add-the-deltas", "exact")
    calibrate = staticmethod(calibrate)

    @property
    def by(self) -> Analysis:
        """The analysis of this name."""
        return ANALYSES[self.analysis]

    @cached_property
    def point(self) -> Point:
        """The parameters."""
        return Point.of(self.k, self.sigma, self.tau, self.epsilon)


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = Gshm.least_epsilon


__dir__ = own_names(__name__)
