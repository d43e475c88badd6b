"""The discrete Gaussian sparse histogram mechanism (GSHM) that also releases sums of values.

Sums enlarge only the sensitivity: a counter that is not released hides its sums. One user moves k
counters by one, with noise N_Z(0, sigma^2), and k sums of every column c by at most the column's
limit L_c, with noise N_Z(0, (spread L_c sigma)^2). Up to a factor near 1 for every output, that is
Gaussian noise with variances smaller by v, rounded at random (exactdp statement explain exact-csh,
section 11): a distance mu^2 = k (1/(sigma^2 - v) + columns/(spread^2 sigma^2 - v)) at most. As for
counters alone, the larger one of the deltas of the noise and of the threshold counts. With little
noise the bound is another one: zero-concentrated differential privacy (zCDP) with rho = k (1 +
columns/spread^2)/(2 sigma^2), plus the threshold.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from flint import arb

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import changed_counters
from exactdp.accounting.sparse_histograms.with_sums import (
    ANALYSIS,
    WithSums,
    added,
    rounding_factor,
    smaller_one,
)
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.fields import frozen, whole
from exactdp.lazy import own_names
from exactdp.parameters import MOST_COUNTERS, Real

DEFAULT_ANALYSIS = ANALYSIS

SOURCE = "CSH Section 6 and Lemma 2.7, exactdp statement explain exact-csh, sections 9 and 11"


def delta(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Enclosure:
    """An upper bound on the delta of counters that are released with sums of users' values.

    k (contributions): largest number of counters that one user can change, >= 1.
    columns: number of columns of sums, >= 0.
    sigma: parameter of the counters' discrete Gaussian noise, > 0.
    tau: counters above 1 + tau are released, >= 0. epsilon: >= 0.
    spread: the sums of a column with limit L get N_Z(0, (spread L sigma)^2), > 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: Lebeda and Retschmeier (CSH), Section 6 (aggregator functions; Wilkins et al. 2024).

    >>> from exactdp.accounting import gshm_sums
    >>> print(gshm_sums.delta(k=10, columns=1, sigma=50, tau=260, epsilon="0.35"))
    [1.120120224e-6, 1.120120225e-6]
    """
    return GshmSums(
        k=k, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).delta()


def check(
    *,
    k: int,
    columns: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    spread: Real = 1,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return GshmSums(
        k=k, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).check(delta)


def guarantee(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return GshmSums(
        k=k, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread
    ).guarantee()


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
    return GshmSums.least(
        k=k, columns=columns, epsilon=epsilon, delta=delta, sigma=sigma, spread=spread
    )


@frozen(kw_only=True)
class _Contributions:
    k: int = whole(least=1, most=MOST_COUNTERS)


@frozen(kw_only=True)
class GshmSums(WithSums, _Contributions):
    """The calculator; parameters as in :func:`delta`."""

    name = "sums"
    title = (
        "the discrete Gaussian sparse histogram mechanism with sums of users' values"
        ", for users with at most k counters each"
    )
    example: ClassVar = {"k": "10", "columns": "1", "sigma": "50", "tau": "243", "epsilon": "0.35"}
    falls_with: ClassVar = {"tau": 1, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    shares = (Fraction(1),)  # the larger part counts, not the sum
    source, bound, step = SOURCE, "k", Fraction(1)

    @property
    def neighbours(self) -> str:
        """Users change at most k counters, and their sums."""
        return f"{changed_counters(self.k)}, and their sums by at most their limits"

    @property
    def counters_weight(self) -> Fraction:
        """rho sigma^2 of the counters."""
        return Fraction(self.k, 2)

    def shows(self) -> Enclosure:
        """The probability that some of k new counters passes; the noise is an integer."""
        return refine(lambda: -(self.k * (-above(int(self.tau), self.sigma**2)).log1p()).expm1())

    @property
    def counter_variance(self) -> Fraction:
        """The parameter of the noise of a counter."""
        return self.sigma**2

    def square(self) -> arb:
        """mu^2."""
        return ball(self.k * sum((1 / variance for variance in self.smaller), Fraction(0)))

    def log_factor(self) -> arb:
        """h."""
        return self.k * (1 + self.columns) * rounding_factor()

    @cached_property
    def _delta(self) -> Enclosure:
        shows = self.shows()
        other = added(self.by_zcdp(), shows)
        return smaller_one(self.by_gaussian(shows.upper), other) if self.has_rounding else other


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = GshmSums.least_epsilon


__dir__ = own_names(__name__)
