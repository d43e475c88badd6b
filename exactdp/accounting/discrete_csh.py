"""The correlated sparse histogram (CSH) with discrete Gaussian noise, in steps of one half.

Every non-zero counter gets (Z_i + Z)/2, where Z_i ~ N_Z(0, V), V = 4 sigma^2, and all counters
share Z ~ N_Z(0, V/sqrt k). Counters above 1 + tau are released. delta is bounded by two parts:

- noise(j), for j counters that are in both histograms. Where H(X) - H(X') is in {0, 1}^j, compare
  the releases of (2 H(X)_i + Z_i, Z) and (2 H(X')_i + 1 + Z_i, -1 + Z): every coordinate moves by
  exactly one, and each noisy counter is half the sum of two coordinates;
- threshold(r), for r counters that are in only one histogram, where they are 1: some of them is
  released, that is Z_i + Z > 2 tau.

The paper goes through zero-concentrated differential privacy (zCDP) and splits the threshold
between the two noises. Here both parts are computed exactly. With A = Z_1 + .. + Z_j the loss is
(A + j/2 + sqrt k (Z + 1/2))/V, so the noise part is a sum over the shared noise of tails of A. The
law of A is a discrete Gaussian up to a certified factor; where sigma is too small for that, its
probabilities are listed. The threshold part is 1 - E[P(Z_i <= 2 tau - Z)^r].

The sum of the parts bounds delta in both orders of the neighbours. If the first histogram has the
extra counters, this is the union bound. If the second has them, it releases y with density G q
rather than q, where G is the probability that no extra counter is released given Z. As
p - e^epsilon G q is at most (p - e^epsilon q)_+ + (1 - G) p, the excess is at most 1 - E_p[G]. And
G at the shared noise of q is larger than G at the shared noise of p, because for the same output
the noise of q is smaller by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from heapq import heappop, heappush
from itertools import count
from math import isqrt
from typing import ClassVar

from flint import arb, ctx

from exactdp.accounting import gaussian, zcdp
from exactdp.accounting.calculator import Calculator, Compared
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.certify.grid import rounded
from exactdp.accounting.csh import total_noise
from exactdp.accounting.discrete_gaussian import many
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.bounds import RefusesK, without_k
from exactdp.accounting.sparse_histograms.discrete_csh_least import lower_bound
from exactdp.accounting.sparse_histograms.discrete_csh_terms import (
    Showing,
    noise,
    shared_law,
    zcdp_bound,
)
from exactdp.accounting.sparse_histograms.least_threshold import likely_threshold
from exactdp.balls import ball
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import (
    MOST_COUNTERS,
    Real,
    choice,
    counters,
    decimal_text,
    delta_target,
    non_negative,
    positive,
)

#: Upper bounds on the mechanism's delta, from the loosest to the tightest.
ANALYSES = {
    "published": "CSH Theorem 7.7 with the conversion of its Lemma 7.3",
    "renyi": "CSH Theorem 7.7 with the optimal conversion from zCDP",
    "exact-parts": "the exact noise part of all k counters plus the exact threshold part of all k",
    "by-cases": "the largest exact noise(k - r) + exact threshold(r); no counter has both roles",
}
DEFAULT_ANALYSIS = "by-cases"

#: Number of significant digits of a chosen sigma, and the first relative step of its search.
_SIGMA_DIGITS = 6
_FIRST_STEP = Fraction(1, 10**4)

#: For smaller targets, sums over the shared noise have too many terms.
_LEAST_TARGET = Fraction(1, 10**300)


@without_k
def delta(
    *, sparsity: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """An upper bound on the delta of Algorithm 4 of the CSH paper, releasing counters > 1 + tau.

    sparsity: the largest number of non-zero counters of the whole histogram, of any data set, >= 1.
    sigma: > 0. A counter gets half of N_Z(0, 4 sigma^2), and half of the shared
    N_Z(0, 4 sigma^2/sqrt(sparsity)).
    tau: >= 0. epsilon: >= 0.
    analysis: "published" (through zCDP, Theorem 7.7 with Lemma 7.3), "renyi" (Theorem 7.7 with the
    optimal conversion from zCDP), "exact-parts" (the exact noise part plus the exact threshold
    part), "by-cases" (the same parts, where no counter is in both).
    Returns an enclosure of the bound, of relative width <= 1e-12.
    Raises InvalidParameter, and Undecided where the shared noise has too many values to visit.
    Source: Lebeda and Retschmeier (CSH), Algorithm 4, Lemmas 7.5 and 7.6,
    Theorem 7.7; the last two analyses are ours.

    >>> from exactdp.accounting import discrete_csh
    >>> for analysis in discrete_csh.ANALYSES:
    ...     print(discrete_csh.delta(
    ...         sparsity=10, sigma=20, tau=120, epsilon="0.35", analysis=analysis
    ...     ))
    [0.00137610621, 0.001376106211]
    [0.0006868943326, 0.0006868943327]
    [2.227844873e-6, 2.227844874e-6]
    [1.428555767e-6, 1.428555768e-6]
    """
    return DiscreteCsh(
        sparsity=sparsity, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis
    ).delta()


@without_k
def least_delta(*, sparsity: int, sigma: Real, tau: Real, epsilon: Real) -> Enclosure:
    """A lower bound on the mechanism's delta, which no analysis can go below.

    Parameters: as in :func:`delta`. With "by-cases" this bound encloses the mechanism's delta; they
    agree where the threshold decides, or the noise of a square number of counters. Where it is
    above a target at tau - 1/2, the tau of :func:`calibrate` is the least for its noise.
    Returns an enclosure of the bound, of relative width <= 1e-9. Raises InvalidParameter, and
    Undecided where the shared noise has too many values to visit.
    Source: ours; see :mod:`exactdp.accounting.sparse_histograms.discrete_csh_least`.

    >>> from exactdp.accounting import discrete_csh
    >>> print(discrete_csh.least_delta(sparsity=16, sigma="21.815", tau=118, epsilon="0.35"))
    [9.985532206e-6, 9.985532207e-6]
    >>> print(discrete_csh.delta(sparsity=16, sigma="21.815", tau=118, epsilon="0.35"))
    [9.985532206e-6, 9.985532207e-6]
    """
    case = DiscreteCsh(sparsity=sparsity, sigma=sigma, tau=tau, epsilon=epsilon)
    return lower_bound(case.sparsity, case.variance, case.tau, case.epsilon)


@without_k
def check(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    analysis: str = DEFAULT_ANALYSIS,
) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return DiscreteCsh(
        sparsity=sparsity, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis
    ).check(delta)


@without_k
def guarantee(
    *, sparsity: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return DiscreteCsh(
        sparsity=sparsity, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis
    ).guarantee()


@without_k
def calibrate(
    *,
    sparsity: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = DEFAULT_ANALYSIS,
) -> Calibration:
    """The smallest threshold in steps of one half; without sigma, also a good sigma for it.

    sparsity: as in :func:`delta`.
    epsilon: >= 0. delta: target, > 0 and < 1.
    sigma: > 0; None chooses a sigma slightly above the least at which the noise alone satisfies the
    target.
    analysis: as in :func:`delta`.
    The returned tau provably satisfies the target by the chosen analysis, and tau - 1/2 provably
    does not. Counters are multiples of one half: a threshold between two of them does what the
    smaller one does.
    Raises InvalidParameter (also when no tau is enough, and for a target below 1e-300), Undecided.

    >>> from exactdp.accounting import discrete_csh
    >>> calibration = discrete_csh.calibrate(
    ...     sparsity=10, epsilon="0.35", delta="1e-5", sigma="18.2"
    ... )
    >>> print(calibration.tau)
    99
    """
    number, target = counters(sparsity, "sparsity"), delta_target("delta", delta)
    loss = non_negative("epsilon", epsilon)
    if target < _LEAST_TARGET:
        raise InvalidParameter("delta", decimal_text(target), ">= 1e-300 for a calibration")
    one = DiscreteCsh(sparsity=number, sigma=1, tau=0, epsilon=loss, analysis=analysis)

    def keeps(sigma: Fraction) -> bool:
        """Whether the delta of the noise is below the target, so that some threshold is enough."""
        decision = decide(replace(one, sigma=sigma).noise_part, target, tight=False)
        return decision.verdict == "proved" and decision.delta.upper < target

    if sigma is None:
        chosen = _least_sigma(number, loss, target, keeps)
    elif not keeps(chosen := positive("sigma", sigma)):
        raise InvalidParameter("sigma", sigma, "larger: at this one no tau is enough")
    return calibrated(
        DiscreteCsh.name,
        analysis,
        lambda tau: replace(one, sigma=chosen, tau=tau),
        target=target,
        name="tau",
        start=likely_threshold(chosen, number, target),
        step=Fraction(1, 2),
        given={"sparsity": Fraction(number)},
        chosen={"sigma": chosen},
    )


@frozen(kw_only=True)
class DiscreteCsh(RefusesK, Calculator, Compared):
    """The calculator; parameters as in :func:`delta`."""

    sparsity: int = whole(least=1, most=MOST_COUNTERS)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    analysis: str = converted(partial(choice, options=tuple(ANALYSES)), default=DEFAULT_ANALYSIS)

    name = "discrete-csh"
    title = (
        "the correlated sparse histogram (CSH) with discrete noise, as it is released"
        ", for a whole histogram of at most `sparsity` counters"
    )
    example: ClassVar = {"sparsity": "10", "sigma": "18.25", "tau": "104", "epsilon": "0.35"}
    analyses = tuple(reversed(ANALYSES))
    falls_with: ClassVar = {"tau": Fraction(1, 2), "epsilon": 0}
    compared = (DEFAULT_ANALYSIS,)
    calibrate, total_noise = staticmethod(calibrate), staticmethod(total_noise)

    tight = False

    @property
    def neighbours(self) -> str:
        """Users change any counters, in one direction."""
        return sparse_counters(self.sparsity)

    @property
    def source(self) -> str:
        """The source of the analysis."""
        return ANALYSES[self.analysis]

    @property
    def variance(self) -> Fraction:
        """V = 4 sigma^2."""
        return 4 * self.sigma**2

    def evaluate(self) -> arb:
        """A ball around the bound on delta."""
        return self.against(Fraction(0))

    def against(self, target: Fraction) -> arb:
        """A ball around the bound on delta, which may be wide where it is at most the target."""
        if self.analysis in ("published", "renyi"):
            return self.noise_part() + self._split_threshold()
        showing = Showing.of(self.sparsity, self.variance, self.tau)
        if self.analysis == "exact-parts":
            return self.noise_part() + showing.any_of(self.sparsity)
        return self._worst_case(showing, ball(target).lower())

    def noise_part(self) -> arb:
        """The bound for an infinite threshold."""
        k = self.sparsity
        if self.analysis == "exact-parts":
            return noise(k, k, self.variance, self.epsilon, ctx.prec)
        if self.analysis == "by-cases":
            return self.case(k)
        epsilon, rho = ball(self.epsilon), (k + arb(k).sqrt()) / (2 * ball(self.variance))
        if self.analysis == "renyi":
            return zcdp.optimal(rho, rho - epsilon)
        return zcdp_bound(rho, epsilon)

    def case(self, j: int) -> arb:
        """The smaller of two bounds for j counters: one uses that the shared noise moves, too."""
        return noise(j, self.sparsity, self.variance, self.epsilon, ctx.prec).min(
            many(Counter({(2, self.variance): j}), self.epsilon)
        )

    def _worst_case(self, showing: Showing, enough: arb) -> arb:
        """The largest threshold(r) + noise(k - r), for r counters in one histogram, k - r in both.

        threshold(r) does not fall with r, and noise(k - r) does not rise with r. For
        first <= r <= last the sum is therefore at most threshold(last) + noise(k - first). The
        range with the largest bound is halved, until that bound is at most the best value, or at
        most `enough`.
        """
        k = self.sparsity
        shows, noise = cache(showing.any_of), cache(lambda r: self.case(k - r))
        best = shows(k).max(noise(0))
        slack, heap = 1 + arb(2) ** -(ctx.prec // 3), [(arb(-2), 1, k - 1)]
        while heap:
            negative, first, last = heappop(heap)
            if first > last:
                continue
            if -negative <= (best.lower() * slack).max(enough):
                return best.lower().union(best.upper().max(-negative))
            if first == last:
                best = best.max(shows(first) + noise(first))
                continue
            middle = (first + last) // 2
            for low, high in ((first, middle), (middle + 1, last)):
                heappush(heap, (-(shows(high) + noise(low)).upper(), low, high))
        return best

    def _split_threshold(self) -> arb:
        """Lemma 7.6: the two noises get their parts of 2 tau, in the ratio k^(-1/4) to 1."""
        k, double = self.sparsity, 2 * self.tau
        # the largest m with m (1 + k^(1/4)) <= 2 tau, and with m (1 + k^(-1/4)) <= 2 tau
        for_shared = _largest(double, lambda m: k <= (double / m - 1) ** 4)
        for_own = _largest(double, lambda m: m < double and k >= (double / (double - m) - 1) ** 4)
        shared = shared_law(k, self.variance, ctx.prec)
        start = min(for_shared + 1 + shared.reach, len(shared.values) - 1)
        beyond = sum(shared.values[start:-1], arb(0)) + shared.missing * arb(0.5, 0.5)
        hidden = (-beyond).log1p() + k * (-above(for_own, self.variance)).log1p()
        return -hidden.expm1()


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = DiscreteCsh.least_epsilon


def _least_sigma(
    k: int, epsilon: Fraction, target: Fraction, keeps: Callable[[Fraction], bool]
) -> Fraction:
    """A short decimal slightly above the least sigma whose noise satisfies the target.

    The search starts at the sigma of continuous noise with sensitivity sqrt(k + sqrt k)/2. Nothing
    rests on this choice. Where the noise uses nearly all of the target, nearly all cases with new
    counters are far below the target.
    """
    steps = (1 + _FIRST_STEP * 2**i for i in count())
    root = Fraction(isqrt((k << 126) + isqrt(k << 252)), 1 << 64)
    near = gaussian.calibrate(epsilon=epsilon, delta=target, sensitivity=root, resolution="1e-9")
    hint = Fraction(near.sigma)
    sigma = rounded(hint * next(steps), _SIGMA_DIGITS)
    if not keeps(sigma):
        return next(more for step in steps if keeps(more := rounded(hint * step, _SIGMA_DIGITS)))
    while keeps(less := rounded(hint / next(steps), _SIGMA_DIGITS)):
        sigma = less
    return sigma


def _largest(most: Fraction, holds: Callable[[int], bool]) -> int:
    """The largest integer m in [0, most] for which a falling condition holds; it holds at 0."""
    return least(1, math.floor(most) + 1, lambda m: not holds(m)) - 1


__dir__ = own_names(__name__)
