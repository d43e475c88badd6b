"""BV, Section 6.1, Algorithm 7 and Theorem 6.4: KH'' inherits the wrong order statistics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from math import ceil
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms import KeepHeavy, KeepHeavyResampled, KeepHeavySampled
from exactdp.mechanisms.histograms.mixture import mixed_law
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.bv._accuracy import (
    Values,
    printed_tops,
    query_failure,
    released,
    situations,
    some_failure,
    true_tops,
)
from exactdp_proofs.papers.bv._data_sets import Counts, worst_ratio
from exactdp_proofs.papers.bv._laws import EXACT, SKEW, STICKY, fast, geo, weakened
from exactdp_proofs.papers.bv._printed import kh_second, too_few_distinct
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, fitted, mutant, weaker


@BV.holds("Algorithm 7", slow=True)
@mutant("with a probability 1/1000 larger", more=Fraction(1, 1000))
def algorithm_7(more: Fraction = Fraction(0)) -> None:
    """With true order statistics the shipped KH'' has the law of KeepHeavy, except that it releases
    nothing with a probability that does not depend on the data.
    """
    for noise, element in ((geo(1), 0), (EXACT, 0), (EXACT, 3)):
        mechanism = KeepHeavyResampled(noise, 4, failure=Fraction(99, 100))
        fails = sum(len(set(s)) < 3 for s in product(range(4), repeat=mechanism.draws))
        whole = KeepHeavy(noise, 4).law({element: 1}, residual=0)
        stated = mixed_law(whole, Law.point(()), Fraction(fails, 4**mechanism.draws) + more)
        equal(_resampled(mechanism, element), stated, row=element)


@cache
def _resampled(mechanism: KeepHeavyResampled, element: int) -> Law[Any]:
    return mechanism.law({element: 1}, residual=0)


@BV.holds("Algorithm 7", "failure probability")
@mutant(share=Fraction(3, 10))
@fitted(share=Fraction(35, 100))
def failure_probability(share: Fraction = Fraction(1)) -> None:
    """ceil((4n + 2)/beta_1) uniform draws from |X| >= 4n elements show fewer than 2n + 1 distinct
    ones with probability at most beta_1.
    """
    for n, inverse, times in product((1, 2, 3, 6, 20), (2, 3, 5), (1, 2)):
        universe, draws = 4 * n * times, ceil(share * (4 * n + 2) * inverse)
        fails = too_few_distinct(universe, draws, 2 * n + 1)
        at_most(fails, Fraction(1, inverse), n=n, X=universe, beta_1=Fraction(1, inverse))


@BV.holds("Section 6.1", "footnote 4", elsewhere="smaller sets are what the mutant speaks of")
@mutant("2n distinct elements", more=0)
def footnote_4(more: int = 1) -> None:
    """2n + 1 distinct elements contain n + 1 outside the at most n elements of the data. A failure
    has the occupancy probability that is used here.
    """
    for universe, draws in ((4, 5), (3, 6)):
        for needed in range(1, universe + 1):
            few = sum(len(set(s)) < needed for s in product(range(universe), repeat=draws))
            stated = too_few_distinct(universe, draws, needed)
            equal(stated, Fraction(few, universe**draws), X=universe, draws=draws)
    for n in (1, 2):
        sets = (combinations(range(4 * n), size) for size in (2 * n + more, n))
        for sample, data in product(*sets):
            at_most(n + 1, len(set(sample) - set(data)), n=n, drawn=sample, data=data)


def _corrected(noise: CountSampler, counts: Counts, universe: int, inverse: int) -> Law[Any]:
    """Algorithm 7 with order statistics that know ties."""
    fails = too_few_distinct(universe, (4 * noise.n + 2) * inverse, 2 * noise.n + 1)
    heavy = KeepHeavySampled(noise, universe).law(counts, residual=0)
    return mixed_law(heavy, Law.point(()), fails)


@BV.refuted("Theorem 6.4", severity="unsafe", follows_from="BV-Lemma-2.9")
@as_printed(law=kh_second)
@weaker
def theorem_6_4(law: Callable[..., Law[Any]] = _corrected, loss: Fraction = Fraction(1)) -> None:
    r"""KH'', which draws the counts of empty bins by OrdSample, is (epsilon, 0)-DP when the
    counting-query algorithm is (epsilon/2, 0)-DP.

    Printed (Section 6.1, Theorem 6.4, first property, line 431): Then
        $\texttt{KH}''_{\mathcal{M},\beta_1} : \mathcal{X}^n \to \mathcal{H}_{n,n}(\mathcal{X})$ has
        the following properties: - $= (\varepsilon, 0) \text{-} differential privacy.}$
    Corrected: With the order statistics drawn with their ties, KH'' is (epsilon, 0)-DP.
    Regime: already n = 1, |X| = 4, epsilon = 1; the ratio grows with |X|.
    Extraction: no: the fault is in Lemma 2.9, which formula, algorithm and prose repeat.

    >>> from fractions import Fraction as Q
    >>> keep, flip = Q(3, 5), Q(2, 5)      # n = 1, epsilon = 1: M(c) = c with probability 3/5
    >>> empty = keep**3                    # |X| = 4: all three empty bins stay 0
    >>> second = keep**2                   # Algorithm 6: second value 0, given that the first is 1
    >>> D = keep * empty                   # only the bin of the one row is released, with count 1
    >>> E = flip * Q(1, 3) * (1 - empty) * second   # the same output from the neighbour's empty bin
    >>> D / E, (1 + Q(1, 2))**2            # ratio, and e^epsilon of two GeoSample counts
    (Fraction(675, 196), Fraction(9, 4))
    >>> float(D / E) > 2.7182818285        # more than the nominal e^1, too
    True
    """
    for noise, universe in ((geo(1), 4), (geo(1, 2), 5), (fast(1), 4)):
        less = weakened(noise, loss)
        worst = worst_ratio(lambda counts: law(less, counts, universe, 2), 1, universe)
        at_most(worst, noise.e_half_epsilon**2, n=1, X=universe)


#: |X| >= 4n; with n = 3 the condition a_1 <= a_2 < c_x/2 allows a_2 = 1.
_ACCURACY = ((geo(1), 4), (EXACT, 4), (geo(2), 8), (STICKY, 8), (SKEW, 12))


def _few(noise: CountSampler, universe: int, inverse: int) -> Fraction:
    return too_few_distinct(universe, (4 * noise.n + 2) * inverse, 2 * noise.n + 1)


def _released(noise: CountSampler, counts: Values, universe: int, few: Fraction) -> list[Law[Any]]:
    """KH'' by Algorithm 6 as printed, and with true order statistics."""
    nothing: Law[Any] = Law.point(((0,) * len(counts), ()))
    tops = (printed_tops, true_tops)
    return [mixed_law(released(noise, counts, universe, t), nothing, few) for t in tops]


@BV.holds("Theorem 6.4", "per-query accuracy")
@mutant(share=Fraction(95, 100))
@fitted(times=1)
def per_query(times: int = 2, share: Fraction = Fraction(1)) -> None:
    """If noise on every bin errs by more than a_1 on one bin, and by more than a_2 >= a_1 on some
    bin, with probability at most beta_2 each, then KH'' errs by more than a_1 on a bin of count
    > 2 a_2 with probability at most beta_1 + 2 beta_2, even with the exact probability of a failed
    draw in place of beta_1. OrdSample as printed is accurate, too: only the largest empty count
    matters.
    """
    for noise, universe, counts, a_1, a_2, beta in situations(_ACCURACY):
        few = _few(noise, universe, 1)
        for law in _released(noise, counts, universe, few):
            fails = query_failure(law, counts, a_1, 2 * a_2 + 1)
            at_most(fails, share * few + times * beta, counts=counts, X=universe, a_1=a_1, a_2=a_2)


@BV.holds("Theorem 6.4", "simultaneous accuracy")
@mutant(share=Fraction(95, 100))
def simultaneous(share: Fraction = Fraction(1)) -> None:
    """Under the same conditions KH'' errs by more than 2 a_2 on some bin with probability at most
    beta_1 + beta_2, even with the exact probability of a failed draw in place of beta_1.
    """
    for noise, universe, counts, a_1, a_2, beta in situations(_ACCURACY):
        few = _few(noise, universe, 1)
        for law in _released(noise, counts, universe, few):
            fails = some_failure(law, counts, 2 * a_2)
            at_most(fails, share * few + beta, counts=counts, X=universe, a_1=a_1, a_2=a_2)
