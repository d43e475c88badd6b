"""The discrete Gaussian sparse histogram mechanism (GSHM) that also releases sums of values.

Sums enlarge only the sensitivity: a counter that is not released hides its sums. One user moves k
counters by one, with noise N_Z(0, sigma^2), and k sums of every column c by at most the column's
limit L_c, with noise N_Z(0, (spread L_c sigma)^2). The noise part has
rho = k (1 + columns/spread^2)/(2 sigma^2) of zero-concentrated differential privacy (zCDP), turned
into delta by the optimal conversion. The threshold part is exact and is added.
"""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting import zcdp
from exactdp.accounting.calculator import Calculator, Instance, Known, calibrated, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.sparse_histograms.least_threshold import (
    likely_threshold,
    sigmas_by_zcdp,
)
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, counters, delta_target, integer, non_negative, positive

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 6, zCDP for counters and sums, exact threshold part"

_NEIGHBOURS = add_remove(
    "changing at most k counters by one and their sums by at most their limits"
)


@delta_of
def delta(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Instance:
    """An upper bound on the delta of counters that are released with sums of users' values.

    k: largest number of counters that one user can change, >= 1.
    columns: number of columns of sums, >= 0.
    sigma: parameter of the counters' discrete Gaussian noise, > 0.
    tau: counters above 1 + tau are released, >= 0. epsilon: >= 0.
    spread: the sums of a column with limit L get N_Z(0, (spread L sigma)^2), > 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Section 6 (aggregator functions; Wilkins et al. 2024).

    >>> from exactdp.accounting import gshm_sums
    >>> print(gshm_sums.delta(k=10, columns=1, sigma=50, tau=260, epsilon="0.35"))
    [5.534601416e-6, 5.534601417e-6]
    """
    weight, number = _weight(k, columns, spread), counters(k)
    noise, reach = positive("sigma", sigma), int(non_negative("tau", tau))  # noise is an integer
    lost = zcdp.delta(rho=weight / noise**2, epsilon=epsilon)
    shows = refine(lambda: -(number * (-above(reach, noise**2)).log1p()).expm1())
    return Known(
        epsilon=non_negative("epsilon", epsilon),
        neighbours=_NEIGHBOURS,
        source=SOURCE,
        tight=False,
        enclosure=Enclosure(lost.lower + shows.lower, lost.upper + shows.upper).clamped(0, 1),
    )


def calibrate(
    *,
    k: int,
    columns: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    spread: Real = 1,
) -> Calibration:
    """The smallest integer threshold for (epsilon, delta); without sigma, also a sigma for it.

    epsilon: > 0. delta: target, > 0 and < 1.
    sigma: parameter of the counters' noise, > 0, or None to choose it.
    k, columns, spread: as in :func:`delta`.
    The returned tau provably satisfies the target by this bound, and tau - 1 provably does not.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    target, loss = delta_target("delta", delta), positive("epsilon", epsilon)
    number, size = counters(k), integer("columns", columns, least=0)
    share = positive("spread", spread)
    weight = _weight(k, columns, spread)
    if sigma is None:
        sigmas = sigmas_by_zcdp(weight, epsilon=loss, target=target)
    else:
        sigmas = [positive("sigma", sigma)]

    def least(noise: Fraction) -> Calibration:
        if not zcdp.delta(rho=weight / noise**2, epsilon=loss).upper < target:
            raise InvalidParameter("sigma", noise, "larger: at this one no tau is enough")
        return calibrated(
            "sums",
            DEFAULT_ANALYSIS,
            lambda tau: CALCULATOR.instance(
                k=number, columns=size, sigma=noise, tau=tau, epsilon=loss, spread=share
            ),
            target=target,
            name="tau",
            start=likely_threshold(noise, number, target),
            step=Fraction(1),
            given={"k": Fraction(number), "columns": Fraction(size), "spread": share},
            chosen={"sigma": noise},
        )

    return min(map(least, sigmas), key=lambda found: found.tau)


def _weight(k: int, columns: int, spread: Real) -> Fraction:
    """rho sigma^2 of the noise on counters and sums."""
    size = integer("columns", columns, least=0)
    return counters(k) * (1 + size / positive("spread", spread) ** 2) / 2


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the discrete Gaussian sparse histogram mechanism with sums of users' values",
    example={"k": "10", "columns": "1", "sigma": "50", "tau": "243", "epsilon": "0.35"},
    analyses=(DEFAULT_ANALYSIS,),
    falls_with={"tau": 1, "epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
