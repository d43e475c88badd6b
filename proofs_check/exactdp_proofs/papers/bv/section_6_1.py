"""BV, Section 6.1: KeepHeavy, and the heaviest empty bins that stand for all empty bins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms import BasicHistogram, KeepHeavy, KeepHeavySampled
from exactdp.mechanisms.histograms.keep_heavy import heaviest
from exactdp.samplers import SeededSource
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.bv._accuracy import (
    query_failure,
    released,
    situations,
    some_failure,
)
from exactdp_proofs.papers.bv._data_sets import Counts, data_sets, worst_ratio
from exactdp_proofs.papers.bv._laws import (
    EXACT,
    SKEW,
    STICKY,
    fast,
    geo,
    keep_heavy,
    noisy_counts,
    top_values,
    weakened,
)
from exactdp_proofs.papers.bv._printed import kh_prime
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import BV, as_printed, fitted, mutant, weaker

_CASES = ((geo(1), 2), (geo(1, 2), 4), (fast(1), 3), (geo(2), 3), (fast(2, 2), 4))


@BV.note("Algorithm 4", elsewhere="the mutant widens the domain to |X| = n")
@as_printed(surplus=-5)
@mutant("for |X| >= n", surplus=0)
def algorithm_4(surplus: int = 1) -> None:
    r"""KeepHeavy, which compares with the (n + 1)-th largest noisy count, is defined for every n
    and every universe.

    Printed (Section 6.1, Algorithm 4, step 2, line 370): Let x_1, \ldots, x_{n+1} be the elements
        of \mathcal{X} with the largest counts
    Corrected: It is defined for |X| >= n + 1.
    Extraction: no: Algorithms 5, 7 and 8 carry their conditions |X| >= 2n+1 and 4n in the same
        place, Algorithm 4 and Theorem 6.1 none.
    """
    for n, universe in product(range(1, 6), range(2, 8)):
        if universe >= n + surplus:
            noisy = BasicHistogram(geo(n), universe).draw({0: n}, SeededSource(universe))
            at_most(n + 1, len(noisy), n=n, X=universe)
            shipped = KeepHeavy(geo(n), universe).draw({0: n}, SeededSource(universe))
            equal(heaviest(list(noisy), n), shipped, n=n, X=universe)


@BV.holds("Algorithm 4", "shipped code", ours=True)
@mutant("strictly above the n-th largest", shift=-1)
def shipped_code(shift: int = 0) -> None:
    """The shipped KeepHeavy has the law of noise on every bin, of which those strictly above the
    (n + 1)-th largest are kept; at most n bins are released.
    """
    for noise, universe in _CASES:
        for counts in data_sets(noise.n, universe):
            law, at = KeepHeavy(noise, universe).law(counts, residual=0), {"counts": counts}
            at_most(max(map(len, law)), noise.n, **at)
            equal(law, keep_heavy(noise, counts, universe, noise.n + 1 + shift), **at)


@BV.holds("Theorem 6.1", "on instances", ours=True)
@weaker
def theorem_6_1(loss: Fraction = Fraction(1)) -> None:
    """KeepHeavy is (epsilon, 0)-DP when the counting-query algorithm is (epsilon/2, 0)-DP."""
    for noise, universe in ((geo(1), 3), *_CASES[1:]):
        less = weakened(noise, loss)
        worst = worst_ratio(lambda c: keep_heavy(less, c, universe), noise.n, universe)
        at_most(worst, noise.e_half_epsilon**2, n=noise.n, X=universe)


#: With n = 3 the condition a_1 <= a_2 < c_x/2 allows a_2 = 1.
_ACCURACY = ((geo(1), 2), (geo(2), 3), (geo(3), 4), (EXACT, 3), (STICKY, 4), (SKEW, 4), (SKEW, 12))


@BV.holds("Theorem 6.1", "per-query accuracy")
@mutant("also on bins of count exactly 2 a_2", least=0)
@fitted(share=1)
def per_query(share: int = 2, least: int = 1) -> None:
    """If noise on every bin errs by more than a_1 on one bin, and by more than a_2 >= a_1 on some
    bin, with probability at most beta each, then KeepHeavy errs by more than a_1 on a bin of count
    > 2 a_2 with probability at most 2 beta.
    """
    for noise, universe, counts, a_1, a_2, beta in situations(_ACCURACY):
        fails = query_failure(released(noise, counts, universe), counts, a_1, 2 * a_2 + least)
        at_most(fails, share * beta, counts=counts, X=universe, a_1=a_1, a_2=a_2, beta=beta)


@BV.holds("Theorem 6.1", "simultaneous accuracy")
@mutant("by more than a_2 on some bin", times=1)
def simultaneous(times: int = 2) -> None:
    """Under the same conditions KeepHeavy errs by more than 2 a_2 on some bin with probability at
    most beta.
    """
    for noise, universe, counts, a_1, a_2, beta in situations(_ACCURACY):
        fails = some_failure(released(noise, counts, universe), counts, times * a_2)
        at_most(fails, beta, counts=counts, X=universe, a_1=a_1, a_2=a_2, beta=beta)


#: Noise, universe, and data sets: for two rows, one of each shape.
_SPARSE: tuple[tuple[CountSampler, int, list[Counts]], ...] = (
    (geo(1), 3, data_sets(1, 3)),
    (geo(1, 2), 5, data_sets(1, 5)),
    (fast(1), 4, data_sets(1, 4)),
    (geo(2), 5, [{0: 2}, {0: 1, 1: 1}, {1: 1, 4: 1}]),
)


def _literal(noise: CountSampler, counts: Counts, universe: int, more: int = 0) -> Law[Any]:
    """Algorithm 5 step by step, with true order statistics of the empty bins (and of `more`)."""
    n, others = noise.n, [x for x in range(universe) if x not in counts]
    top = top_values([noise.law(0)[z] for z in range(n + 1)], len(others) + more, n + 1)
    places = Law.uniform(permutations(others, n + 1))

    def release(values_and_order: Any) -> Any:
        (values, order), highest = values_and_order
        bins = [*zip(counts, values, strict=True), *zip(order, highest, strict=True)]
        return heaviest(bins, n)

    return noisy_counts(noise, counts.values()).product(places).product(top).map(release)


@BV.holds("Proposition 6.2")
@mutant("with the order statistics of Algorithm 6", law=kh_prime)
def proposition_6_2(law: Callable[..., Law[Any]] = _literal) -> None:
    """KH', which adds noise to the non-empty bins and gives the n + 1 largest of the empty bins'
    counts to random empty bins, has exactly the law of KeepHeavy if the order statistics are the
    true ones.

    Needs: exchangeability of the empty bins' counts, ties included, for every n and |X| (Rocq).
    """
    for noise, universe, sets in _SPARSE:
        for counts in sets:
            exact = keep_heavy(noise, counts, universe)
            equal(law(noise, counts, universe), exact, counts=counts, X=universe)


@BV.holds("Algorithm 5")
@mutant("of m + 1 variables", more=1)
def algorithm_5(more: int = 0) -> None:
    """The shipped KH' (KeepHeavySampled) has the law of Algorithm 5, with the largest of m
    variables.
    """
    for noise, universe, sets in _SPARSE:
        for counts in sets:
            shipped = KeepHeavySampled(noise, universe).law(counts, residual=0)
            equal(shipped, _literal(noise, counts, universe, more), counts=counts, X=universe)


@BV.holds("Section 6.1", "footnote 2", elsewhere="the mutant widens the domain to |X| = 2n")
@mutant("|X| >= 2n", surplus=0)
def footnote_2(surplus: int = 1) -> None:
    """|X| >= 2n + 1 leaves at least n + 1 empty bins, whatever the data."""
    for n in range(1, 6):
        universe = 2 * n + surplus
        empty = min(universe - len(counts) for counts in data_sets(n, universe))
        at_most(n + 1, empty, n=n, X=universe)


@BV.holds("Section 6.1", "footnote 3", elsewhere="the mutant lets counts be tied")
@mutant("also when counts are tied", ties=True)
def footnote_3(ties: bool = False) -> None:
    """Releasing the bins strictly above the (n + 1)-th largest count is releasing the n heaviest
    bins when no counts are tied.
    """
    for n, size in ((1, 3), (2, 4), (3, 4)):
        for counts in product(range(size), repeat=size) if ties else permutations(range(size)):
            bins = list(enumerate(counts))
            first = sorted(bins, key=lambda b: -b[1])[:n]
            equal(list(heaviest(bins, n)), sorted(first), n=n, counts=counts)


@BV.holds("Section 6.1", "small probabilities")
@mutant(base=Fraction(59, 100))
def small_probabilities(base: Fraction = Fraction(3, 5)) -> None:
    """The largest of m noisy empty counts is 0 with positive probability, at most (3/5)^m for
    GeoSample, so that its exact sampling takes at least 0.73 m random bits for some outcome.
    """
    for noise, m in product((geo(1), geo(2), geo(3, 4)), range(1, 7)):
        law = noise.law(0)
        zero = top_values([law[z] for z in range(noise.n + 1)], m, 1)[(0,)]
        holds(zero > 0, n=noise.n, m=m)
        at_most(zero, base**m, n=noise.n, m=m)


BV.not_checkable(
    "Section 6.1",
    "Every sparse algorithm loses per-query accuracy on counts below O(log(|X|/beta)/epsilon).",
    "up to constants; rests on Theorem 1.5, which needs an error below n",
    "necessity of the threshold",
)
