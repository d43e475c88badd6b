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

from exactdp.accounting.calculator import Calculator, Instance, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing
from exactdp.accounting.sparse_histograms.discrete_top_k import roots
from exactdp.accounting.sparse_histograms.with_sums import ANALYSIS, WithSums
from exactdp.balls import refine
from exactdp.parameters import Real

DEFAULT_ANALYSIS = ANALYSIS

SOURCE = "CSH Section 6 and Lemma 7.5, zCDP for counters and sums, exact threshold part"

_SUMS = WithSums(
    "csh-sums",
    "sparsity",
    SOURCE,
    sparse_counters,
    step=Fraction(1, 2),
    weight=lambda k: (k + roots(k)[1]) / 8,  # rounded up
    shown=lambda k, sigma, tau: refine(lambda: Showing.of(k, 4 * sigma**2, tau).any_of(k)),
)


@delta_of
@without_k
def delta(
    *, sparsity: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Instance:
    """An upper bound on the delta of correlated counters that are released with sums of values.

    sparsity: the largest number of non-zero counters of the whole histogram, of any data set, >= 1.
    columns: number of columns of sums, >= 0. sigma: > 0; a counter gets half of
    N_Z(0, 4 sigma^2), and half of the shared N_Z(0, 4 sigma^2/sqrt(sparsity)). tau: counters above
    1 + tau are released, >= 0. epsilon: >= 0.
    spread: the sums of a column with limit L get N_Z(0, (spread L sigma)^2), > 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Section 6 (aggregator functions), Lemma 7.5.

    >>> from exactdp.accounting import csh_sums
    >>> print(csh_sums.delta(sparsity=10, columns=1, sigma=50, tau=260, epsilon="0.35"))
    [2.85817661e-5, 2.858176611e-5]
    """
    return _SUMS.instance(
        sparsity, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    )


@without_k
def calibrate(
    *,
    sparsity: int,
    columns: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    spread: Real = 1,
) -> Calibration:
    """The smallest threshold in steps of one half; without sigma, also a sigma for it.

    epsilon: > 0. delta: target, > 0 and < 1. sigma: > 0, or None to choose it. sparsity, columns,
    spread: as in :func:`delta`.
    The returned tau provably satisfies the target by this bound, and tau - 1/2 provably does not.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.
    """
    return _SUMS.calibrate(
        sparsity, columns=columns, epsilon=epsilon, delta=delta, sigma=sigma, spread=spread
    )


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the discrete correlated sparse histogram (CSH) with sums of users' values"
    ", for a whole histogram of at most `sparsity` counters",
    example={"sparsity": "10", "columns": "1", "sigma": "40", "tau": "250", "epsilon": "0.35"},
    analyses=(ANALYSIS,),
    falls_with={"tau": Fraction(1, 2), "epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
