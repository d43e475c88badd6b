"""CSH, Section 6: a lower threshold, and sums next to the counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product

from exactdp import mechanisms
from exactdp.errors import InvalidParameter
from exactdp.samplers import SeededSource
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.csh._model import Vector, rank, reach, reduced
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

Cut = Callable[[Vector], int]


@CSH.holds("Section 6", "top-k as a lower threshold")
@mutant("below t = H^(k+1)", above=0)
def top_k_as_lower_threshold(above: int = 1) -> None:
    """Algorithm 3 drops the counters below t = 1 + H^(k+1), and each other counter is as far below
    1 + tau as it is below t + tau without the reduction.
    """
    for counts, k in product(product(range(5), repeat=4), (1, 2, 3)):
        lower = rank(counts, k + 1) + above
        kept = {i: c - (lower - 1) for i, c in enumerate(counts) if c >= max(lower, 1)}
        left = {i: c for i, c in enumerate(reduced(counts, k)) if c}
        equal(left, kept, counts=counts, k=k)


@CSH.holds("Section 6", "additional sparsity threshold")
@mutant("by t - 2", less=1)
def additional_threshold(less: int = 0) -> None:
    """Dropping counters below a fixed t first costs what lowering tau by t - 1 costs: the shipped
    mechanisms promise the same and release the same, up to that shift, draw by draw.
    """
    for kind, lower in product((mechanisms.GSHM, mechanisms.CSH), (1, 2, 4)):
        down = lower - 1 - less
        code = kind(4, sigma=3, tau=6, epsilon=1, delta="0.99", lower=lower)
        shorter = kind(4, sigma=3, tau=6 - down, epsilon=1, delta="0.99")
        for counts, seed in product(((lower, lower + 3, lower + 9), (lower,)), range(12)):
            all_counts = {**dict(enumerate(counts)), 7: lower - 1}
            release = code.draw(all_counts, SeededSource(seed))
            plain = shorter.draw({i: c - down for i, c in enumerate(counts)}, SeededSource(seed))
            equal(
                release, tuple((i, c + down) for i, c in plain), t=lower, counts=counts, seed=seed
            )
        promises = code.guarantee.delta, shorter.guarantee.delta
        equal(promises[0], promises[1], kind=kind.__name__, t=lower)


def _kept_by(cut_of: Cut) -> Iterator[tuple[Vector, Vector, int, list[set[int]]]]:
    """All neighbours (less, more) of three counters up to 3, the cut of `more`, and the counters
    that each of the two keeps.
    """
    for more, less in reach(3, 3):
        kept = [{i for i, x in enumerate(h) if x >= cut_of(h) and x} for h in (less, more)]
        yield less, more, cut_of(more), kept


def _zeros(histogram: Vector) -> int:
    """A cut that falls when counters appear: at 1 when none is zero."""
    return 1 + 2 * histogram.count(0)


def _fixed(cut: int) -> Cut:
    return lambda _: cut


@CSH.holds("Section 6", "lower threshold independent of the data")
@mutant("also when it is the largest count", cuts=(max,))
def independent_threshold(cuts: tuple[Cut, ...] = (_fixed(1), _fixed(2), _fixed(3))) -> None:
    """With a fixed lower threshold supports stay nested, and a counter that appears has exactly
    the count of that threshold.
    """
    for cut_of in cuts:
        for less, more, cut, (before, after) in _kept_by(cut_of):
            holds(all(more[i] == cut for i in after - before), less=less, more=more)
            holds(before <= after, less=less, more=more)


@CSH.note(
    "Section 6",
    "data-dependent lower threshold",
    no_mechanism="which counters are hidden before any noise",
)
@as_printed(cuts=(_fixed(2), _fixed(2)))
@mutant("the cut of the second example never falls", cuts=(max, _fixed(1)))
def dependent_threshold(cuts: tuple[Cut, Cut] = (max, _zeros)) -> None:
    """If the lower threshold is independent of the data, one must take care not to violate privacy.

    Printed (Section 6, additional sparsity threshold, line 334): Note that the lower threshold of
        Wilkins et al. (2024) is assumed to be data independent. If it is, one must take care not
        to violate privacy.
    Corrected: Care is needed if it depends on the data, as the sentence before says: then
        neighbours need not keep nested supports, and counters may appear with any count.
    Extraction: possible only if a "not" was lost; the words before and after it are intact.
    """
    nested = [before <= after for *_, (before, after) in _kept_by(cuts[0])]
    holds(not all(nested))
    appear = (more[i] for _, more, _, (before, after) in _kept_by(cuts[1]) for i in after - before)
    equal(set(appear), {1, 2, 3, 4})


_WITH_SUMS = mechanisms.GSHMWithSums(k=1, sigma=2, tau=6, epsilon=1, delta="0.99", largest=(50,))


def _least_largest(values: Iterable[int], center: int) -> int:
    """The least `largest` with which the shipped release takes the sum of any three of these values
    less the centre.
    """
    taken = {sum(data) - 3 * center for data in product(values, repeat=3)}
    sums = sorted(taken, key=abs, reverse=True)  # the sums that are refused come first
    return 1 + bisect_left(
        range(1, 10**4), True, key=lambda n: all(_accepts(total, n) for total in sums)
    )


def _accepts(total: int, largest: int) -> bool:
    """Whether the shipped release takes this sum of three users for possible."""
    mechanism = replace(_WITH_SUMS, largest=(largest,))
    try:
        mechanism.draw_sums({0: 3}, {0: (total,)}, SeededSource(0))
    except InvalidParameter:
        return False
    return True


@CSH.holds("Section 6", "sums in [0, C]")
@mutant(share=Fraction(51, 100))
def sums_from_zero(share: Fraction = Fraction(1, 2)) -> None:
    """Recentring values in [0, C] by C/2 halves the largest value per user, as the shipped release
    asks for it.
    """
    top = 100
    values = range(0, top + 1, top // 2)
    at_most(2 * _least_largest(values, int(top * share)), _least_largest(values, 0), C=top)


@CSH.holds("Section 6", "values in [100, 200]")
@mutant("adding 149 times its noisy count", added=149)
def values_around_150(added: int = 150) -> None:
    """Subtracting (L + U)/2 = 150 lowers the largest value per user, as the shipped release asks
    for it, from 200 to 50; adding 150 times its noisy count restores the sum, with 150 times the
    count's error.
    """
    equal([_least_largest(range(100, 201, 50), center) for center in (0, 150)], [200, 50])
    for seed, data in product(range(6), ((100, 170, 200) * 10, (200,) * 31)):
        centred = sum(data) - 150 * len(data)
        source = SeededSource(seed)
        ((_, (number, total)),) = _WITH_SUMS.draw_sums({0: len(data)}, {0: (centred,)}, source)
        stated = sum(data) + (total - centred) + 150 * (number - len(data))
        equal(total + added * number, stated, seed=seed)


CSH.not_checkable(
    "Section 6",
    "Aggregates released next to the counts enlarge the l2 sensitivity through a transformation of "
    "the aggregate function (Wilkins et al., Theorem 5.4).",
    "cited without formula; the shipped GSHMWithSums implements it through zCDP",
    "aggregators",
)
CSH.not_checkable(
    "Section 6",
    "With aggregators the improvement over the GSHM is similar to Lemma 3.4, and unclear for the "
    "tighter analyses.",
    "no formula is given",
    "comparison with aggregators",
)
