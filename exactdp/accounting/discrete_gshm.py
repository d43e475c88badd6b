"""The Gaussian sparse histogram mechanism (GSHM) with discrete noise, as it is released.

Every non-zero counter gets N_Z(0, sigma^2), and counters above 1 + tau are released. Of the
counters that one user changes, j are non-zero in both histograms, and r in only one, where they
are 1. Let p and q be the laws of the j noisy counters; seeing them all, whatever their size, gives
the supremum over their counts. Let gamma = P(Z <= tau) and G = gamma^r. The two deltas are:
- the histogram with the extra counters against the other: 1 - G + sum (G p - e^epsilon q)_+,
- the other one against it: sum (p - e^epsilon G q)_+.
Both sums are S_j(L) = sum (p - e^L q)_+, at L = epsilon - log G and at L = epsilon + log G. A case
with fewer counters is a case with more of which some are left out, so both deltas rise with j and
with r, and the exact delta is the largest over j + r = k. The search splits the range of j into
blocks a <= j <= b and continues with the block of the largest bound. A block has two bounds:
- the case with b counters in both histograms and k - a in one, as delta rises with both;
- the continuous mechanism with the same gamma, whose largest case has j = k or r = k (see
  `exactdp proofs CSH-Exact`), plus the most by which a sum over the integers exceeds an integral:
  an eighth of the variation of g', g = (p - e^L q)_+. With s^2 = j sigma^2, t the point where g
  begins and Q = P(X > t), that variation is at most p(t)/sigma^2 + (3 |t| p(t) + 5 Q)/s^2
  + 2 Q/sigma^4.
S_j is a difference of two tails. The sum of j copies of the noise is a discrete Gaussian up to a
certified factor; where sigma is too small for that, its probabilities are listed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from heapq import heappop, heappush
from typing import ClassVar

from flint import arb

from exactdp.accounting import gaussian
from exactdp.accounting.calculator import Calculator, Evaluated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.gaussian_sums import (
    above,
    is_smooth,
    reach_of,
    smoothing,
    sum_of_copies,
)
from exactdp.accounting.certify.grid import rounded
from exactdp.accounting.discrete_top_k import roots
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import changed_counters
from exactdp.accounting.parameter_search import calibrated
from exactdp.accounting.sparse_histograms.least_threshold import likely_threshold
from exactdp.balls import FLOOR_BITS, ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, converted, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.normal import hockey_stick, pdf, tail
from exactdp.normal_sums import tails
from exactdp.parameters import (
    MOST_COUNTERS,
    Real,
    choice,
    decimal_text,
    delta_target,
    non_negative,
    positive,
)

ANALYSES = {
    "exact": "the exact delta with discrete noise: the largest case of CSH Lemma 2.7 on integers",
    "add-the-deltas": "CSH Lemma 2.6 with the exact deltas of discrete noise",
}
DEFAULT_ANALYSIS = "exact"

#: The search ends at a relative width of 2^-_SLACK_BITS, or after _MOST_CASES cases with a wider
#: enclosure.
_MOST_CASES = 1_000
_SLACK_BITS = 32
_WIDTH = Fraction(1, 10**9)

#: Largest number of bits in addition to what the size of delta needs. More bits do not help: the
#: number of cases has ended the search by then.
_SPARE_BITS = 512

#: Longest list of probabilities: its convolutions take a few seconds.
_MOST_LISTED = 1 << 17

#: Calibrations for smaller targets take minutes: tails are summed to an absolute precision.
_LEAST_TARGET = Fraction(1, 10**300)

#: Number of significant digits of a chosen sigma, and the largest relative step of its search.
_SIGMA_DIGITS = 10
_LARGEST_STEP = Fraction(1, 16)


def delta(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Enclosure:
    """The delta of adding N_Z(0, sigma^2) to non-zero counters and releasing those > 1 + tau.

    k (contributions): largest number of counters that one user can change, >= 1.
    sigma: parameter of the discrete Gaussian noise, > 0.
    tau: >= 0. The noise is an integer, so tau has the effect of its floor.
    epsilon: >= 0.
    analysis: "exact" (the mechanism's true delta) or "add-the-deltas" (the upper bound that adds
    the exact delta of the noise and that of the threshold).
    Returns an enclosure of relative width <= 1e-9. Raises InvalidParameter, Undecided.
    Source: CSH, Lemmas 2.7 and 2.6, for the noise of its Section 7; the exact value is ours.

    >>> from exactdp.accounting import discrete_gshm
    >>> for analysis in discrete_gshm.ANALYSES:
    ...     print(discrete_gshm.delta(k=10, sigma=31, tau=150, epsilon="0.35", analysis=analysis))
    [9.317992074e-6, 9.317992075e-6]
    [1.533581925e-5, 1.533581926e-5]
    """
    return DiscreteGshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis).delta()


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
    case = DiscreteGshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
    return case.check(delta)


def guarantee(
    *, k: int, sigma: Real, tau: Real, epsilon: Real, analysis: str = DEFAULT_ANALYSIS
) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    case = DiscreteGshm(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
    return case.guarantee()


def calibrate(
    *,
    k: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = DEFAULT_ANALYSIS,
) -> Calibration:
    """The smallest integer threshold for (epsilon, delta); without sigma, also a sigma for it.

    k (contributions): largest number of counters that one user can change, >= 1.
    epsilon: >= 0. delta: target, >= 1e-300 and < 1.
    sigma: parameter of the noise, > 0; None chooses a sigma slightly above the least at which the
    noise alone satisfies the target.
    analysis: as in :func:`delta`.
    The returned tau provably satisfies the target, and tau - 1 provably does not.
    Raises InvalidParameter (also when no tau is enough for the given sigma), Undecided.

    >>> from exactdp.accounting import discrete_gshm
    >>> calibration = discrete_gshm.calibrate(k=10, epsilon="0.35", delta="1e-5")
    >>> print(calibration.sigma, calibration.tau)
    30.84794059 147
    """
    target = delta_target("delta", delta)
    if target < _LEAST_TARGET:
        raise InvalidParameter("delta", decimal_text(target), ">= 1e-300 for a calibration")
    one = DiscreteGshm(k=k, sigma=1, tau=0, epsilon=epsilon, analysis=analysis)
    if sigma is None:
        start = replace(one, sigma=_least_sigma(one, target))
    else:
        start = replace(one, sigma=sigma)
        if not start.noise_keeps(target):
            raise InvalidParameter("sigma", sigma, "larger: at this one no tau is enough")
    return calibrated(
        DiscreteGshm.name,
        analysis,
        lambda tau: replace(start, tau=tau),
        target=target,
        name="tau",
        start=likely_threshold(start.sigma, start.k, target),
        step=Fraction(1),
        given={"k": Fraction(start.k)},
        chosen={"sigma": start.sigma},
    )


@frozen(kw_only=True)
class DiscreteGshm(Calculator, Evaluated):
    """The calculator; parameters as in :func:`delta`.

    Methods that return balls use the working precision. j counters are in both histograms, and r in
    one of them.
    """

    k: int = whole(least=1, most=MOST_COUNTERS)
    sigma: Number = number(positive)
    tau: Number = number(non_negative)
    epsilon: Number = number(non_negative)
    analysis: str = converted(partial(choice, options=tuple(ANALYSES)), default=DEFAULT_ANALYSIS)

    name = "discrete-gshm"
    title = (
        "the Gaussian sparse histogram mechanism (GSHM) with discrete noise, as it is released"
        ", for users with at most k counters each"
    )
    example: ClassVar = {"k": "51914", "sigma": "2222.7", "tau": "13914", "epsilon": "0.35"}
    analyses = tuple(ANALYSES)
    falls_with: ClassVar = {"tau": 1, "epsilon": 0}
    compared = ("exact",)
    calibrate = staticmethod(calibrate)

    relative_width = _WIDTH

    @property
    def neighbours(self) -> str:
        """Users change at most k counters."""
        return changed_counters(self.k)

    @property
    def source(self) -> str:
        """The source of the analysis."""
        return ANALYSES[self.analysis]

    @property
    def tight(self) -> bool:
        """Whether the analysis is exact."""
        return self.analysis == "exact"

    @property
    def variance(self) -> Fraction:
        """The parameter of the noise."""
        return self.sigma**2

    def noise_keeps(self, target: Fraction) -> bool:
        """Whether the case in which both histograms have all k counters satisfies the target."""
        decision = decide(lambda: self.excess(self.k, ball(self.epsilon)), target, tight=True)
        return decision.verdict == "proved"

    def ends(self) -> tuple[arb, arb]:
        """The cases with k counters in both histograms, and with k in one of them."""
        noise = self.excess(self.k, ball(self.epsilon))
        return noise, -(self.k * self.log_hidden()).expm1()

    @cached_property
    def cap_bits(self) -> int:
        """The most precision to spend: a small delta needs more, as tails have absolute errors."""
        size = refine(lambda: max(self.ends(), key=lambda end: end.upper()), accept=_is_sized)
        low = size.lower or size.upper
        return _SPARE_BITS + 4 * max(low.denominator.bit_length() - low.numerator.bit_length(), 0)

    def evaluate(self) -> arb:
        """A ball around delta, or around the sum of both ends."""
        noise, shows = self.ends()
        return self._largest(noise.max(shows)) if self.tight else noise + shows

    def log_hidden(self) -> arb:
        """log P(Z <= tau) for one counter."""
        return (-above(int(self.tau), self.variance)).log1p()  # the noise is an integer

    def case(self, j: int, r: int) -> arb:
        """j counters in both histograms, r in one of them: the larger of the two orders."""
        hidden, loss = r * self.log_hidden(), ball(self.epsilon)
        with_extra = -hidden.expm1() + hidden.exp() * self.excess(j, loss - hidden)
        return with_extra.max(self.excess(j, loss + hidden))

    def excess(self, j: int, loss: arb) -> arb:
        """S_j(loss): the hockey-stick divergence of j noisy counters from their shift by one."""
        if not is_smooth(j, self.variance):
            return _listed(j, self.variance, loss)
        if j == 1:
            return _tails(1, self.variance, loss)
        spread = smoothing(j, self.variance)
        return _tails(j, self.variance, loss) * (spread * arb(0, 1)).exp()

    def _largest(self, ends: arb) -> arb:
        """The largest case(j, k - j), given those at j = k and j = 0; best-first over blocks."""
        best, heap, seen = ends, list[tuple[arb, int, int]](), 0
        enough = 1 + arb(2) ** -_SLACK_BITS
        blocks = [(1, self.k - 1)] if self.k > 1 else []
        while blocks or heap:
            for a, b in blocks:
                seen += 1
                value = self.case(b, self.k - a)
                if a == b:
                    best = best.max(value)
                else:
                    heappush(heap, (-value.upper().min(self._continuous(a, b).upper()), a, b))
            if not heap:
                break
            upper, a, b = heappop(heap)
            if not -upper > best.lower() * enough or seen > _MOST_CASES:
                return best.union(best.max(-upper))
            middle = (a + b) // 2
            blocks = [(a, middle), (middle + 1, b)]
        return best

    def _continuous(self, a: int, b: int) -> arb:
        """A bound on case(j, k - j), a <= j <= b, from the continuous mechanism's two ends."""
        if not is_smooth(self.k, self.variance):
            return arb(2)
        hidden, rate = self.k * self.log_hidden(), 1 / ball(self.variance)
        ends = hockey_stick(ball(self.epsilon), (self.k * rate).sqrt()).max(-hidden.expm1())
        # t/s falls with j and rises with the loss, which is epsilon + log G at least
        t = (ball(self.epsilon) + hidden) / rate - arb(b) / 2
        u = (t * (rate / b).sqrt()).lower().max(arb(0))
        density, beyond = pdf(u), 2 * tail(u)
        largest = u.max(arb(1))  # u phi(u) falls from u = 1 on
        steep = largest * pdf(largest)
        if not t > 0:
            density, beyond = arb(1), arb(2)
        variation = density * rate * (rate / a).sqrt()
        variation += (3 * steep + 5 * beyond / 2) * rate / a + beyond * rate * rate
        return (ends + variation / 8) * smoothing(self.k, self.variance).exp()


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = DiscreteGshm.least_epsilon


def _is_sized(value: Enclosure) -> bool:
    """Whether the ends are within a factor of 2, or the upper end is at most 2^-FLOOR_BITS."""
    return value.upper <= 2 * value.lower or value.upper <= Fraction(1, 1 << FLOOR_BITS)


def _tails(j: int, variance: Fraction, loss: arb) -> arb:
    """S_j for a sum that is N_Z(0, j variance): the loss at x is (x + j/2)/variance."""
    limit, total = loss * ball(variance) - ball(Fraction(j, 2)), j * variance
    if (least := limit.lower()) > 0:
        # P(X >= z) <= exp(-z^2/(2 total)) for z >= 0 bounds the mass beyond the limit
        most = (-least * least / (2 * ball(total))).exp().upper()
        if most < arb(2) ** -FLOOR_BITS:
            return most * arb(0.5, 0.5)
    first, last = limit.lower().floor(), limit.upper().floor()
    if not last - first <= 1:
        return arb(0.5, 0.5)
    factor, law = loss.exp(), tails(total)
    # x = limit adds 0, so if the floor of the limit is undecided either integer is valid
    ends = {int(first.fmpz()), int(last.fmpz())}
    sums = [law.chance(t) - factor * law.chance(t + j) for t in ends]
    return sums[0].max(sums[-1])


def _listed(j: int, variance: Fraction, loss: arb) -> arb:
    """S_j from the list of the masses of a sum of j copies."""
    if 2 * reach_of(j * variance) > _MOST_LISTED:
        raise Undecided(f"the noise of {decimal_text(Fraction(j))} counters has too many values")
    masses, _ = sum_of_copies(j, variance)
    step = 1 / ball(variance)
    ratio = (loss - step * (masses.low + ball(Fraction(j, 2)))).exp()
    fall, total = (-step).exp(), arb(0)
    for mass in masses.values:
        total += mass * (1 - ratio).max(arb(0))
        ratio *= fall
    return total + masses.missing() * arb(0.5, 0.5)


def _least_sigma(start: DiscreteGshm, target: Fraction) -> Fraction:
    """A short decimal slightly above the least sigma whose noise keeps the target."""
    near = gaussian.calibrate(
        epsilon=start.epsilon, delta=target, sensitivity=roots(start.k)[1], resolution="1e-9"
    )
    hint = Fraction(near.sigma)
    step = Fraction(1, 10**_SIGMA_DIGITS)
    room = target * (1 - Fraction(2, 1 << _SLACK_BITS))  # for what the search leaves open
    while not replace(start, sigma=hint).noise_keeps(room):
        hint = rounded(hint * (1 + step), _SIGMA_DIGITS)
        step = min(4 * step, _LARGEST_STEP)
    return hint


__dir__ = own_names(__name__)
