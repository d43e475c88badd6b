"""How often sparse histograms err, exactly. Only counts matter here, not which bin is which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from math import prod

from exactdp.law import Law
from exactdp.samplers.count_samplers import CountSampler
from exactdp_proofs.papers.bv._errors import beyond
from exactdp_proofs.papers.bv._laws import noisy_counts, top_values
from exactdp_proofs.papers.bv._printed import ord_sample_law
from exactdp_proofs.rationals import Fraction

Values = tuple[int, ...]
#: The law of the n + 1 largest of m noisy empty counts.
Tops = Callable[[CountSampler, int], Law[Values]]


def partitions(n: int, most: int | None = None) -> Iterator[Values]:
    """The positive counts of every data set of n rows, descending."""
    if not n:
        yield ()
    for first in range(min(n, most or n), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def true_tops(noise: CountSampler, m: int) -> Law[Values]:
    """The law of the n + 1 largest of m noisy empty counts, in descending order."""
    law = noise.law(0)
    return top_values([law[z] for z in range(noise.n + 1)], m, noise.n + 1)


def printed_tops(noise: CountSampler, m: int) -> Law[Values]:
    """The law that Algorithm 6 draws in place of `true_tops`."""
    cdf = noise.cdf(0)
    return ord_sample_law([cdf.numerator(z) for z in range(noise.n + 1)], m, noise.n + 1)


@cache
def released(
    noise: CountSampler, counts: Values, universe: int, tops: Tops = true_tops
) -> Law[tuple[Values, Values]]:
    """KeepHeavy's released counts: of the non-empty bins, and of the heaviest empty ones."""

    def kept(pair: tuple[Values, Values]) -> tuple[Values, Values]:
        limit = sorted((*pair[0], *pair[1]))[-noise.n - 1]
        own, empty = (tuple(z if z > limit else 0 for z in part) for part in pair)
        return own, empty

    return noisy_counts(noise, counts).product(tops(noise, universe - len(counts))).map(kept)


def query_failure(law: Law[tuple[Values, Values]], counts: Values, a: int, least: int) -> Fraction:
    """The worst P(error > a) of one bin with a true count of at least `least`."""
    heavy = [i for i, c in enumerate(counts) if c >= least]
    failures = (law.probability(lambda h: abs(h[0][i] - counts[i]) > a) for i in heavy)
    return max(failures, default=Fraction(0))


def some_failure(law: Law[tuple[Values, Values]], counts: Values, a: int) -> Fraction:
    """P(error of some bin > a)."""

    def errs(h: tuple[Values, Values]) -> bool:
        own = (abs(z - c) for z, c in zip(h[0], counts, strict=True))
        return max(*own, *h[1], 0) > a

    return law.probability(errs)


@cache
def basic_failure(noise: CountSampler, universe: int, a_1: int, a_2: int) -> Fraction:
    """The least beta >= P(BasicHistogram errs by > a_1 on one bin) and P(by > a_2 on some bin).

    universe: at least 2, so that every count from 0 to n occurs.
    """
    one = max(beyond(noise, c, a_1) for c in range(noise.n + 1))
    fine = [1 - beyond(noise, c, a_2) for c in range(noise.n + 1)]
    every = min(
        prod((fine[c] for c in counts), start=fine[0] ** (universe - len(counts)))
        for counts in partitions(noise.n)
        if len(counts) <= universe
    )
    return max(one, 1 - every)


def situations(
    cases: tuple[tuple[CountSampler, int], ...],
) -> Iterator[tuple[CountSampler, int, Values, int, int, Fraction]]:
    """Noise, |X|, counts, a_1 <= a_2 and the least beta for every data set of these cases."""
    for noise, universe in cases:
        for a_1, a_2 in combinations_with_replacement(range(noise.n + 1), 2):
            beta = basic_failure(noise, universe, a_1, a_2)
            for counts in partitions(noise.n):
                if len(counts) <= universe:
                    yield noise, universe, counts, a_1, a_2, beta
