"""The correlated sparse histogram with discrete Gaussian noise, in steps of one half.

Every non-zero counter gets (Z_i + Z)/2, Z_i ~ N_Z(0, V) with V = 4 sigma^2, and one shared
Z ~ N_Z(0, V/sqrt k); counters above 1 + tau are kept. delta is bounded from two parts:

- noise(j), for j counters that both histograms have: where H(X) - H(X') is in {0, 1}^j, releasing
  (2 H(X)_i + Z_i, Z) against (2 H(X')_i + 1 + Z_i, -1 + Z) moves every coordinate by exactly one,
  and the counters are half the sum of two of them;
- threshold(r): one of r counters that only one histogram has (it is 1 there) shows if
  Z_i + Z > 2 tau.

The paper goes through zCDP and splits the threshold between the two noises. Both parts are computed
exactly here: with A = Z_1 + .. + Z_j the loss is (A + j/2 + sqrt k (Z + 1/2))/V, so the noise part
is a sum over the shared noise of tails of A, which is a discrete Gaussian up to a certified factor
(or a list, where sigma is small); the threshold part is 1 - E[P(Z_i <= 2 tau - Z)^r].

Their sum covers neighbours in both orders. Where the first histogram has the extra counters, that
is the union bound. Where the second has them, it releases y with density G q rather than q, G being
the probability that none of them shows given Z. As p - e^epsilon G q is at most
(p - e^epsilon q)_+ + (1 - G) p, the excess is 1 - E_p[G]; and G, taken at the shared noise of q, is
larger than at that of p, because behind the same output the noise of q is lower by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import count
from math import isqrt
from typing import Any

from flint import arb, ctx

from exactdp.accounting import gaussian, zcdp
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.discrete_gaussian import many
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.sparse_histograms.discrete_csh_terms import (
    Showing,
    concentrated,
    noise,
    shared_law,
)
from exactdp.accounting.sparse_histograms.least_threshold import calibrated, likely_threshold
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import (
    Real,
    choice,
    counters,
    decimal_text,
    delta_target,
    non_negative,
    positive,
)

__all__ = ["ANALYSES", "DEFAULT_ANALYSIS", "calibrate", "check", "delta", "guarantee"]

#: Each is an upper bound on the mechanism's delta. From loose to tight:
ANALYSES = {
    "published": "CSH Theorem 7.7 with the conversion of its Lemma 7.3",
    "renyi": "CSH Theorem 7.7 with the optimal conversion from zCDP",
    "exact-parts": "the exact noise part of all k counters plus the exact threshold part of all k",
    "by-cases": "the largest exact noise(k - r) + exact threshold(r); no counter has both roles",
}
DEFAULT_ANALYSIS = "by-cases"

#: Of a sigma chosen here: significant digits, and the first relative step from where it should be.
_SIGMA_DIGITS = 6
_FIRST_STEP = Fraction(1, 10**4)

#: Sums over the shared noise are too long for smaller targets.
_LEAST_TARGET = Fraction(1, 10**300)

_NEIGHBOURS = (
    "add-remove neighbours: one user added or removed, changing counters of a k-sparse histogram "
    "by one each, all in the same direction"
)


@dataclass(frozen=True)
class _Point:
    k: int
    variance: Fraction  # V = 4 sigma^2
    tau: Fraction
    epsilon: Fraction
    analysis: str


def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """An upper bound on delta of the histogram that runs Algorithm 4 and keeps counts > 1 + tau.

    k: sparsity of every histogram, >= 1. sigma: > 0; a counter gets half of N_Z(0, 4 sigma^2), and
    half of one shared N_Z(0, 4 sigma^2/sqrt k). tau: >= 0. epsilon: >= 0.
    analysis: "published" (through zCDP, Theorem 7.7 with Lemma 7.3), "renyi" (the same with the
    optimal conversion), "exact-parts" (the sum of the exact noise part and the exact threshold
    part: both exact, their sum still a bound), "by-cases" (the same parts, no counter in both).
    Returns an enclosure of the bound, relative width <= 1e-12.
    Raises InvalidParameter, and Undecided where the shared noise has too many values to visit.
    Source: CSH, Algorithm 4, Lemmas 7.5 and 7.6, Theorem 7.7; the last two analyses are ours.

    >>> from exactdp.accounting import discrete_csh
    >>> for analysis in discrete_csh.ANALYSES:
    ...     print(discrete_csh.delta(k=10, sigma=20, tau=120, epsilon="0.35", analysis=analysis))
    [0.00137610621, 0.001376106211]
    [0.0006868943326, 0.0006868943327]
    [2.227844873e-6, 2.227844874e-6]
    [1.428555767e-6, 1.428555768e-6]
    """
    point = _point(k, sigma, tau, epsilon, analysis)
    return refine(lambda: _evaluate(point)).clamped(0, 1)


def check(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, delta: Real, analysis: str = DEFAULT_ANALYSIS
) -> Check:
    """Whether the analysis shows the mechanism to be (epsilon, delta)-DP.

    Parameters as in :func:`delta`; delta is the claimed value, > 0 and < 1. All analyses are upper
    bounds, so refuted means that the bound does not show the claim.
    """
    point, target = _point(k, sigma, tau, epsilon, analysis), delta_target("delta", delta)
    return decide(lambda: _evaluate(point, target), target, tight=False)


def guarantee(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Guarantee:
    """The promise of a release with these parameters, as in :func:`delta`."""
    bound = delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
    return _promise(bound, non_negative("epsilon", epsilon), analysis)


def _promise(bound: Enclosure, epsilon: Fraction, analysis: str) -> Guarantee:
    return Guarantee(epsilon, bound, _NEIGHBOURS, ANALYSES[analysis])


def calibrate(
    *,
    k: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = DEFAULT_ANALYSIS,
) -> Calibration:
    """The smallest threshold in steps of one half; without sigma, also a good sigma for it.

    k: >= 1. epsilon: >= 0. delta: target, > 0 and < 1. sigma: > 0, or None to choose it: a little
    above the least at which the noise alone keeps the target.
    The returned tau provably satisfies the target, and tau - 1/2 provably does not, by the chosen
    analysis. Counters are multiples of one half, so thresholds between are the same mechanism.
    Raises InvalidParameter (also when no tau is enough, and for a target below 1e-300), Undecided.

    >>> from exactdp.accounting import discrete_csh
    >>> found = discrete_csh.calibrate(k=10, epsilon="0.35", delta="1e-5", sigma="18.2")
    >>> print(found.tau)
    99
    """
    number, target = counters(k), delta_target("delta", delta)
    loss = non_negative("epsilon", epsilon)
    if target < _LEAST_TARGET:
        raise InvalidParameter("delta", decimal_text(target), ">= 1e-300 for a calibration")

    def keeps(sigma: Fraction) -> bool:
        """Whether the noise alone leaves something of the target to the threshold."""
        point = _point(number, sigma, 0, loss, analysis)
        found = decide(lambda: _noise_part(point), target, tight=False)
        return found.verdict == "proved" and found.delta.upper < target

    if sigma is None:
        chosen = _least_sigma(number, loss, target, keeps)
    elif not keeps(chosen := positive("sigma", sigma)):
        raise InvalidParameter("sigma", sigma, "larger: at this one no tau is enough")
    fixed: dict[str, Any] = {"k": number, "sigma": chosen, "epsilon": loss, "analysis": analysis}
    return calibrated(
        "discrete-csh",
        analysis,
        lambda tau: check(**fixed, tau=tau, delta=target),
        lambda tau: _promise(check(**fixed, tau=tau, delta=target).delta, loss, analysis),
        sigma=chosen,
        start=likely_threshold(chosen, number, target),
        step=Fraction(1, 2),
        given={"k": Fraction(number)},
        epsilon=loss,
        target=target,
    )


def _least_sigma(
    k: int, epsilon: Fraction, target: Fraction, keeps: Callable[[Fraction], bool]
) -> Fraction:
    """A short decimal, about the least sigma that keeps the target; only a choice.

    Continuous noise is of that size at sensitivity sqrt(k + sqrt k)/2. Where the noise leaves
    little to the threshold, nearly all cases with new counters are far below the target.
    """
    steps = (1 + _FIRST_STEP * 2**i for i in count())
    root = Fraction(isqrt((k << 126) + isqrt(k << 252)), 1 << 64)
    near = gaussian.calibrate(epsilon=epsilon, delta=target, sensitivity=root, resolution="1e-9")
    hint = Fraction(near.sigma)
    sigma = _rounded(hint * next(steps))
    if not keeps(sigma):
        return next(more for step in steps if keeps(more := _rounded(hint * step)))
    while keeps(less := _rounded(hint / next(steps))):
        sigma = less
    return sigma


def _rounded(sigma: Fraction) -> Fraction:
    up = Context(prec=_SIGMA_DIGITS, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(sigma.numerator), Decimal(sigma.denominator)))


def _point(k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str) -> _Point:
    return _Point(
        counters(k),
        4 * positive("sigma", sigma) ** 2,
        non_negative("tau", tau),
        non_negative("epsilon", epsilon),
        choice("analysis", analysis, tuple(ANALYSES)),
    )


def _evaluate(point: _Point, enough: Fraction = Fraction(0)) -> arb:
    """The bound on delta; where it is at most `enough`, no more of it may be known."""
    k = point.k
    if point.analysis in ("published", "renyi"):
        return _noise_part(point) + _split_threshold(point)
    showing = Showing.of(point.k, point.variance, point.tau)
    if point.analysis == "exact-parts":
        return _noise_part(point) + showing.any_of(k)
    return _worst_case(point, showing, ball(enough).lower())


def _worst_case(point: _Point, showing: Showing, enough: arb) -> arb:
    """The largest threshold(r) + noise(k - r): r counters in one histogram leave k - r to both.

    The first part does not fall with r and the second does not rise, so first <= r <= last is
    bounded by the first part at `last` plus the second at `first`; such ranges are halved, the one
    with the largest bound first, until it is a single r or no more than the best value seen, or
    than what is enough.
    """
    shows, noise = cache(showing.any_of), cache(lambda r: _case(point.k - r, point))
    best = shows(point.k).max(noise(0))
    slack, heap = 1 + arb(2) ** -(ctx.prec // 3), [(arb(-2), 1, point.k - 1)]
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


def _case(j: int, point: _Point) -> arb:
    """The better of two ways to see j counters as independent: sharing the shift, or not."""
    return noise(j, point.k, point.variance, point.epsilon, ctx.prec).min(
        many(Counter({(2, point.variance): j}), point.epsilon)
    )


def _noise_part(point: _Point) -> arb:
    if point.analysis == "exact-parts":
        return noise(point.k, point.k, point.variance, point.epsilon, ctx.prec)
    if point.analysis == "by-cases":
        return _case(point.k, point)
    epsilon, rho = ball(point.epsilon), (point.k + arb(point.k).sqrt()) / (2 * ball(point.variance))
    if point.analysis == "renyi":
        return zcdp.optimal(rho, rho - epsilon)
    return concentrated(rho, epsilon)


def _split_threshold(point: _Point) -> arb:
    """Lemma 7.6: the two noises get their parts of 2 tau, in the ratio k^(-1/4) to 1."""
    k, double = point.k, 2 * point.tau
    # the largest m with m (1 + k^(1/4)) <= 2 tau, and with m (1 + k^(-1/4)) <= 2 tau
    for_shared = _largest(double, lambda m: k <= (double / m - 1) ** 4)
    for_own = _largest(double, lambda m: m < double and k >= (double / (double - m) - 1) ** 4)
    shared = shared_law(k, point.variance, ctx.prec)
    start = min(for_shared + 1 + shared.reach, len(shared.values) - 1)
    beyond = sum(shared.values[start:-1], arb(0)) + shared.missing * arb(0.5, 0.5)
    hidden = (-beyond).log1p() + k * (-above(for_own, point.variance)).log1p()
    return -hidden.expm1()


def _largest(most: Fraction, holds: Callable[[int], bool]) -> int:
    """The largest integer m in [0, most] for which a falling condition holds; it holds at 0."""
    low, high = 0, math.floor(most) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
