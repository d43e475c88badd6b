"""The discrete correlated sparse histogram (CSH) that also releases sums of values.

Counters with their shared noise are (k + sqrt k)/(8 sigma^2)-zCDP (CSH Lemma 7.5; zCDP:
zero-concentrated differential privacy). One user moves at most k released sums of every column c by
at most the column's limit L_c, with noise N_Z(0, (spread L_c sigma)^2), which adds
k columns/(2 spread^2 sigma^2). The optimal conversion turns the total into delta. A counter that is
in one histogram only shows its sums only if it is released: the exact threshold part of
:mod:`discrete_csh` is added. It depends on the noise of counters alone, so the argument there, for
both orders of the neighbours, holds with sums as well.
"""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Calculator, Instance, Known, calibrated, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing
from exactdp.accounting.sparse_histograms.discrete_top_k import roots
from exactdp.accounting.sparse_histograms.least_threshold import likely_threshold, sigmas_by_zcdp
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.parameters import Real, counters, delta_target, integer, non_negative, positive

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 6 and Lemma 7.5, zCDP for counters and sums, exact threshold part"

_NEIGHBOURS = add_remove(
    "changing counters of a k-sparse histogram by one each, all in the same direction, and their "
    "sums by at most their limits"
)


@delta_of
def delta(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Instance:
    """An upper bound on the delta of correlated counters that are released with sums of values.

    k: sparsity, the largest number of non-zero counters, >= 1. columns: number of columns of sums,
    >= 0. sigma: > 0; a counter gets half of N_Z(0, 4 sigma^2), and half of the shared
    N_Z(0, 4 sigma^2/sqrt k). tau: counters above 1 + tau are released, >= 0. epsilon: >= 0.
    spread: the sums of a column with limit L get N_Z(0, (spread L sigma)^2), > 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Section 6 (aggregator functions), Lemma 7.5.

    >>> from exactdp.accounting import csh_sums
    >>> print(csh_sums.delta(k=10, columns=1, sigma=50, tau=260, epsilon="0.35"))
    [2.85817661e-5, 2.858176611e-5]
    """
    number, noise, limit = counters(k), positive("sigma", sigma), non_negative("tau", tau)
    lost = zcdp.delta(rho=_weight(number, columns, spread) / noise**2, epsilon=epsilon)
    shows = refine(lambda: Showing.of(number, 4 * noise**2, limit).any_of(number))
    return Known(
        epsilon=non_negative("epsilon", epsilon),
        neighbours=_NEIGHBOURS,
        source=SOURCE,
        tight=False,
        enclosure=Enclosure(lost.lower + shows.lower, lost.upper + shows.upper).clamped(0, 1),
    )


def calibrate(*, k: int, columns: int, epsilon: Real, delta: Real, spread: Real = 1) -> Calibration:
    """Noise, and the smallest threshold for it in steps of one half, for (epsilon, delta).

    epsilon: > 0. delta: target, > 0 and < 1. k, columns, spread: as in :func:`delta`.
    The returned tau provably satisfies the target by this bound, and tau - 1/2 provably does not.
    Raises InvalidParameter, Undecided.
    """
    number, target = counters(k), delta_target("delta", delta)
    loss, size = positive("epsilon", epsilon), integer("columns", columns, least=0)
    share = positive("spread", spread)

    def least(sigma: Fraction) -> Calibration:
        return calibrated(
            "csh-sums",
            DEFAULT_ANALYSIS,
            lambda tau: CALCULATOR.instance(
                k=number, columns=size, sigma=sigma, tau=tau, epsilon=loss, spread=share
            ),
            target=target,
            name="tau",
            start=likely_threshold(sigma, number, target),
            step=Fraction(1, 2),
            given={"k": Fraction(number), "columns": Fraction(size), "spread": share},
            chosen={"sigma": sigma},
        )

    sigmas = sigmas_by_zcdp(_weight(number, size, share), epsilon=loss, target=target)
    return min(map(least, sigmas), key=lambda found: found.tau)


def _weight(k: int, columns: int, spread: Real) -> Fraction:
    """rho sigma^2 of the noise on counters and sums, rounded up."""
    size = integer("columns", columns, least=0)
    return (k + roots(k)[1]) / 8 + k * size / positive("spread", spread) ** 2 / 2


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the discrete correlated sparse histogram (CSH) with sums of users' values",
    example={"k": "10", "columns": "1", "sigma": "40", "tau": "250", "epsilon": "0.35"},
    analyses=(DEFAULT_ANALYSIS,),
    falls_with={"tau": Fraction(1, 2), "epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
