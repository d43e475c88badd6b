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
from math import isqrt

from flint import arb

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Calculator, Instance, Known, calibrated, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.neighbours import ANY_COUNTERS
from exactdp.accounting.sparse_histograms import discrete_csh
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.least_threshold import (
    likely_threshold,
    sigmas_by_zcdp,
)
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, counters, delta_target, non_negative, positive

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 4 and Theorem 7.7, zCDP with k + 5 sqrt k"


@delta_of
@without_k
def delta(*, top: int, sigma: Real, tau: Real, epsilon: Real) -> Instance:
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
    number, variance = counters(top, "top"), 4 * positive("sigma", sigma) ** 2
    reach = non_negative("tau", tau)
    noise = zcdp.delta(rho=4 * _weight(number) / variance, epsilon=epsilon)
    shows = refine(lambda: _shows(number, variance, reach))
    return Known(
        epsilon=non_negative("epsilon", epsilon),
        neighbours=ANY_COUNTERS,
        source=SOURCE,
        tight=False,
        enclosure=Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1),
    )


@without_k
def calibrate(*, top: int, epsilon: Real, delta: Real) -> Calibration:
    """Noise, and the smallest threshold for it in steps of one half, for (epsilon, delta).

    top: as in :func:`delta`. epsilon: > 0. delta: target, > 0 and < 1.
    The returned tau provably satisfies the target by this bound, and tau - 1/2 provably does not.
    Raises InvalidParameter, Undecided.
    """
    number, target = counters(top, "top"), delta_target("delta", delta)
    loss = positive("epsilon", epsilon)

    def least(sigma: Fraction) -> Calibration:
        return calibrated(
            "discrete-top-k-with-base",
            DEFAULT_ANALYSIS,
            lambda tau: CALCULATOR.instance(top=number, sigma=sigma, tau=tau, epsilon=loss),
            target=target,
            name="tau",
            start=likely_threshold(sigma, number, target),
            step=Fraction(1, 2),
            given={"top": Fraction(number)},
            chosen={"sigma": sigma},
        )

    sigmas = sigmas_by_zcdp(_weight(number), epsilon=loss, target=target)
    return min(map(least, sigmas), key=lambda calibration: calibration.tau)


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the largest counters and the one after them, with discrete noise"
    ", for users with any number of counters",
    example={"top": "10", "sigma": "28.3", "tau": "217", "epsilon": "0.35"},
    analyses=(DEFAULT_ANALYSIS,),
    falls_with={"tau": Fraction(1, 2), "epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee


@delta_of
@without_k
def delta_without_base(
    *,
    top: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    analysis: str = discrete_csh.DEFAULT_ANALYSIS,
) -> Instance:
    """An upper bound on the delta of the k largest counters, less the next one.

    top: number of largest counters that are released, >= 1. The other parameters are those of
    ``exactdp.accounting.discrete_csh.delta``.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Algorithm 3, Corollary 4.2.
    """
    number = counters(top, "top")
    instance = discrete_csh.CALCULATOR.instance(
        sparsity=number, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis
    )
    return replace(
        instance, neighbours=ANY_COUNTERS, source=f"CSH Corollary 4.2; {instance.source}"
    )


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
    number = counters(top, "top")
    calibration = discrete_csh.calibrate(
        sparsity=number, epsilon=epsilon, delta=delta, sigma=sigma, analysis=analysis
    )
    promise = replace(
        calibration.guarantee,
        neighbours=ANY_COUNTERS,
        source=f"CSH Corollary 4.2; {calibration.guarantee.source}",
    )
    return replace(
        calibration, mechanism="discrete-top-k", given={"top": Fraction(number)}, guarantee=promise
    )


WITHOUT_BASE = Calculator(
    delta_without_base,
    calibrate_without_base,
    title="the largest counters, less the one after them, with discrete noise"
    ", for users with any number of counters",
    example={"top": "10", "sigma": "18.25", "tau": "104", "epsilon": "0.35"},
    analyses=tuple(reversed(discrete_csh.ANALYSES)),
    falls_with={"tau": Fraction(1, 2), "epsilon": 0},
)


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
