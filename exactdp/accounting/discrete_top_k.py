"""The k largest counters together with the (k + 1)-th largest, with discrete noise.

The (k + 1)-th count gets Z'/2, Z' ~ N_Z(0, 4 sigma^2/sqrt k), which adds 4 sqrt(k) to k + sqrt(k):
by zero-concentrated differential privacy (zCDP), the noise part is (k + 5 sqrt k)/(8 sigma^2)-zCDP.
Z' has no part in the threshold. The threshold part is that of the correlated sparse histogram: a
union bound over its shared and its independent noise. k is the number of counters released, `top`.

Without the (k + 1)-th count, the mechanism is that of discrete_csh at sparsity k, whose promise it
keeps for every histogram: subtracting the (k + 1)-th count leaves at most k counters.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from math import isqrt
from typing import ClassVar

from flint import arb

from exactdp.accounting import discrete_csh, zcdp
from exactdp.accounting.calculator import Calculator, Compared, Known
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.discrete_csh import DiscreteCsh
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import ANY_COUNTERS
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.bounds import RefusesK, without_k
from exactdp.accounting.sparse_histograms.least_threshold import (
    likely_threshold,
    sigmas_by_zcdp,
)
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import (
    MOST_COUNTERS,
    Real,
    choice,
    counters,
    delta_target,
    non_negative,
    positive,
)

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 4 and Theorem 7.7, zCDP with k + 5 sqrt k"
_REDUCED = "CSH Corollary 4.2"


@without_k
def delta(*, top: int, sigma: Real, tau: Real, epsilon: Real) -> Enclosure:
    """An upper bound on the delta of the k largest counters, released with the next one.

    top: number of largest counters that are released, >= 1.
    sigma: > 0. A counter gets half of N_Z(0, 4 sigma^2), and half of the shared
    N_Z(0, 4 sigma^2/sqrt(top)).
    tau: counters above 1 + tau are released, >= 0. epsilon: >= 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Section 4 (after Corollary 4.2), Theorem 7.7.

    >>> from exactdp.accounting import discrete_top_k
    >>> print(discrete_top_k.delta(top=10, sigma=32, tau=190, epsilon="0.35"))
    [0.000784502725, 0.0007845027251]
    """
    return TopKWithBase(top=top, sigma=sigma, tau=tau, epsilon=epsilon).delta()


@without_k
def check(*, top: int, sigma: Real, tau: Real, epsilon: Real, delta: Real) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return TopKWithBase(top=top, sigma=sigma, tau=tau, epsilon=epsilon).check(delta)


@without_k
def guarantee(*, top: int, sigma: Real, tau: Real, epsilon: Real) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return TopKWithBase(top=top, sigma=sigma, tau=tau, epsilon=epsilon).guarantee()


@without_k
def calibrate(*, top: int, epsilon: Real, delta: Real) -> Calibration:
    """Noise, and the smallest threshold for it in steps of one half, for (epsilon, delta).

    top: as in :func:`delta`. epsilon: > 0. delta: target, > 0 and < 1.
    The returned tau provably satisfies the target by this bound, and tau - 1/2 provably does not.
    Raises InvalidParameter, Undecided.
    """
    size, target = counters(top, "top"), delta_target("delta", delta)
    loss = positive("epsilon", epsilon)

    def least(sigma: Fraction) -> Calibration:
        return calibrated(
            TopKWithBase.name,
            DEFAULT_ANALYSIS,
            lambda tau: TopKWithBase(top=size, sigma=sigma, tau=tau, epsilon=loss),
            target=target,
            name="tau",
            start=likely_threshold(sigma, size, target),
            step=Fraction(1, 2),
            given={"top": Fraction(size)},
            chosen={"sigma": sigma},
        )

    sigmas = sigmas_by_zcdp(_weight(size), epsilon=loss, target=target)
    return min(map(least, sigmas), key=lambda calibration: calibration.tau)


@frozen(kw_only=True)
class TopKWithBase(RefusesK, Calculator, Known):
    """The calculator; parameters as in :func:`delta`."""

    top: int = whole(least=1, most=MOST_COUNTERS)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)

    name = "top-k-with-base"
    title = (
        "the largest counters and the one after them, with discrete noise"
        ", for users with any number of counters"
    )
    example: ClassVar = {"top": "10", "sigma": "28.3", "tau": "217", "epsilon": "0.35"}
    analyses = (DEFAULT_ANALYSIS,)
    falls_with: ClassVar = {"tau": Fraction(1, 2), "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours, source, tight = ANY_COUNTERS, SOURCE, False

    def delta(self) -> Enclosure:
        """The delta of the noise plus that of the threshold."""
        return self._delta

    @cached_property
    def _delta(self) -> Enclosure:
        variance = 4 * self.sigma**2
        noise = zcdp.delta(rho=4 * _weight(self.top) / variance, epsilon=self.epsilon)
        shows = refine(lambda: _shows(self.top, variance, self.tau))
        return Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = TopKWithBase.least_epsilon


@without_k
def delta_without_base(
    *,
    top: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    analysis: str = discrete_csh.DEFAULT_ANALYSIS,
) -> Enclosure:
    """An upper bound on the delta of the k largest counters, less the next one.

    top: number of largest counters that are released, >= 1. The other parameters are those of
    ``exactdp.accounting.discrete_csh.delta``.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Algorithm 3, Corollary 4.2.
    """
    return TopK(top=top, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis).delta()


@without_k
def calibrate_without_base(
    *,
    top: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = discrete_csh.DEFAULT_ANALYSIS,
) -> Calibration:
    """As ``exactdp.accounting.discrete_csh.calibrate``, for the k largest counters, less the next.

    top: as in :func:`delta_without_base`.
    """
    size = counters(top, "top")
    calibration = discrete_csh.calibrate(
        sparsity=size, epsilon=epsilon, delta=delta, sigma=sigma, analysis=analysis
    )
    source = f"{_REDUCED}; {calibration.guarantee.source}"
    promise = replace(calibration.guarantee, neighbours=ANY_COUNTERS, source=source)
    return replace(
        calibration, mechanism=TopK.name, given={"top": Fraction(size)}, guarantee=promise
    )


@frozen(kw_only=True)
class TopK(RefusesK, Calculator, Compared):
    """The calculator without the base; parameters as in :func:`delta_without_base`."""

    top: int = whole(least=1, most=MOST_COUNTERS)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    analysis: str = converted(
        partial(choice, options=tuple(discrete_csh.ANALYSES)), default=discrete_csh.DEFAULT_ANALYSIS
    )

    name = "top-k"
    title = (
        "the largest counters, less the one after them, with discrete noise"
        ", for users with any number of counters"
    )
    example: ClassVar = {"top": "10", "sigma": "18.25", "tau": "104", "epsilon": "0.35"}
    analyses = DiscreteCsh.analyses
    falls_with: ClassVar = DiscreteCsh.falls_with
    calibrate = staticmethod(calibrate_without_base)

    neighbours, tight = ANY_COUNTERS, False

    @property
    def source(self) -> str:
        """The source of the analysis, and of the reduction to it."""
        return f"{_REDUCED}; {discrete_csh.ANALYSES[self.analysis]}"

    @cached_property
    def _correlated(self) -> DiscreteCsh:
        """The mechanism that is applied to what the subtraction leaves."""
        return DiscreteCsh(
            sparsity=self.top,
            sigma=self.sigma,
            tau=self.tau,
            epsilon=self.epsilon,
            analysis=self.analysis,
        )

    def evaluate(self) -> arb:
        """A ball around the bound on delta."""
        return self._correlated.evaluate()

    def against(self, target: Fraction) -> arb:
        """A ball around the bound on delta, which may be wide where it is at most the target."""
        return self._correlated.against(target)


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta_without_base`.
epsilon_without_base = TopK.least_epsilon


def roots(k: int) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above sqrt(k), or equal to it."""
    low = Fraction(isqrt(k << 128), 1 << 64)
    return low, low if low * low == k else low + Fraction(1, 1 << 64)


def _weight(k: int) -> Fraction:
    """rho sigma^2 of the noise, rounded up."""
    return (k + 5 * roots(k)[1]) / 8


def _shows(k: int, variance: Fraction, tau: Fraction) -> arb:
    """P(some of k new counters passes): a union bound over shared and independent noise."""
    share = 1 / (1 + Fraction(isqrt(isqrt(k << 256)), 1 << 64))
    one = above(int(2 * tau * (1 - share)), variance)
    # the shared noise has a slightly smaller variance, and passes less often
    together = above(int(2 * tau * share), variance / roots(k)[0])
    return together - ((-one).log1p() * k).expm1()


__dir__ = own_names(__name__)
