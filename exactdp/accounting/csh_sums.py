"""The discrete correlated sparse histogram (CSH) that also releases sums of values.

A counter gets half of N_Z(0, V) and half of the shared N_Z(0, V/sqrt k), V = 4 sigma^2. One user
moves at most k released sums of every column c by at most the column's limit L_c, with noise
N_Z(0, (spread L_c sigma)^2). All noise together is bounded by Gaussian noise at the distance mu,
mu^2 = sqrt(k)/V + k/(V - v) + k columns/(spread^2 sigma^2 - v), where v is the variance of a
rounding (exactdp statement explain exact-csh, section 11), or by zCDP (zero-concentrated
differential privacy): counters are (k + sqrt k)/(8 sigma^2)-zCDP (CSH Lemma 7.5), sums add
k columns/(2 spread^2 sigma^2). A counter that is in one histogram only shows its sums only if it is
released: the exact threshold part of :mod:`discrete_csh` is added. It depends on the noise of
counters alone, so the argument there, for both orders of the neighbours, holds with sums as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.discrete_top_k import roots
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms.bounds import RefusesK, without_k
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing
from exactdp.accounting.sparse_histograms.with_sums import (
    ANALYSIS,
    WithSums,
    log_ratio,
    rounding_factor,
)
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.fields import frozen, whole
from exactdp.lazy import own_names
from exactdp.parameters import MOST_COUNTERS, Real

DEFAULT_ANALYSIS = ANALYSIS

SOURCE = (
    "CSH Section 6 and Lemma 7.5, exact threshold part, "
    "exactdp statement explain exact-csh, section 11"
)


@without_k
def delta(
    *, sparsity: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Enclosure:
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
    [2.853053352e-5, 2.853053353e-5]
    """
    return CshSums(
        sparsity=sparsity, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).delta()


@without_k
def check(
    *,
    sparsity: int,
    columns: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    spread: Real = 1,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return CshSums(
        sparsity=sparsity, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).check(delta)


@without_k
def guarantee(
    *, sparsity: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return CshSums(
        sparsity=sparsity, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).guarantee()


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
    return CshSums.least(
        sparsity=sparsity, columns=columns, epsilon=epsilon, delta=delta, sigma=sigma, spread=spread
    )


@frozen(kw_only=True)
class _Sparsity:
    sparsity: int = whole(least=1, most=MOST_COUNTERS)


@frozen(kw_only=True)
class CshSums(RefusesK, WithSums, _Sparsity):
    """The calculator; parameters as in :func:`delta`."""

    name = "csh-sums"
    title = (
        "the discrete correlated sparse histogram (CSH) with sums of users' values"
        ", for a whole histogram of at most `sparsity` counters"
    )
    example: ClassVar = {
        "sparsity": "10",
        "columns": "1",
        "sigma": "40",
        "tau": "250",
        "epsilon": "0.35",
    }
    falls_with: ClassVar = {"tau": Fraction(1, 2), "epsilon": 0}
    calibrate = staticmethod(calibrate)

    source, bound, step = SOURCE, "sparsity", Fraction(1, 2)

    @property
    def neighbours(self) -> str:
        """Users change any counters, in one direction, and their sums."""
        return f"{sparse_counters(self.sparsity)}, and their sums by at most their limits"

    @property
    def counters_weight(self) -> Fraction:
        """rho sigma^2 of the counters, rounded up."""
        return (self.sparsity + roots(self.sparsity)[1]) / 8

    @property
    def counter_variance(self) -> Fraction:
        """The parameter of the independent noise of a counter, of which it gets half."""
        return 4 * self.sigma**2

    @property
    def has_rounding(self) -> bool:
        """Whether the noise is wide enough, also the shared noise given all counters."""
        return super().has_rounding and self.counter_variance > 2 * self.sparsity

    def square(self) -> arb:
        """mu^2."""
        independent = self.sparsity * sum((1 / variance for variance in self.smaller), Fraction(0))
        return arb(self.sparsity).sqrt() / ball(self.counter_variance) + ball(independent)

    def log_factor(self) -> arb:
        """h, with a factor for the shared noise, whose variance given the counters is `rest`."""
        rest = ball(self.counter_variance) / (self.sparsity + arb(self.sparsity).sqrt())
        return self.sparsity * (1 + self.columns) * rounding_factor() + log_ratio(rest)

    def shows(self) -> Enclosure:
        """The exact threshold part of the correlated sparse histogram."""
        variance = 4 * self.sigma**2
        return refine(lambda: Showing.of(self.sparsity, variance, self.tau).any_of(self.sparsity))


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = CshSums.least_epsilon


__dir__ = own_names(__name__)
