"""BV, Algorithm 5 and Proposition 6.2: the heaviest empty bins stand for all empty bins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from exactdp.law import Law
from exactdp.mechanisms import KeepHeavySampled
from exactdp.mechanisms.histograms.keep_heavy import heaviest
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import Counts, data_sets
from exactdp.proofs_check.claims.bv._laws import fast, geo, keep_heavy, top_values
from exactdp.proofs_check.claims.bv._printed import kh_prime
from exactdp.proofs_check.entries import BV, elsewhere, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]

_CASES = ((geo(1), 3), (geo(1, 2), 5), (fast(1), 4), (geo(2), 5))


def _literal(noise: CountSampler, counts: Counts, universe: int, more: int) -> Law[Any]:
    """Algorithm 5 step by step, with true order statistics of the empty bins (and of `more`)."""
    n, others = noise.n, [x for x in range(universe) if x not in counts]
    top = top_values([noise.law(0)[z] for z in range(n + 1)], len(others) + more, n + 1)
    orders = list(permutations(others, n + 1))
    law: dict[Any, Fraction] = {}
    for values in product(range(n + 1), repeat=len(counts)):
        weight = Fraction(1, len(orders))
        for c, z in zip(counts.values(), values, strict=True):
            weight *= noise.law(c)[z]
        for order, (highest, p) in product(orders, top.items()):
            bins = [*zip(counts, values, strict=True), *zip(order, highest, strict=True)]
            released = heaviest(bins, n)
            law[released] = law.get(released, Fraction(0)) + weight * p
    return Law(law)


def _literally(noise: CountSampler, counts: Counts, universe: int) -> Law[Any]:
    return _literal(noise, counts, universe, 0)


def _of_one_more(noise: CountSampler, counts: Counts, universe: int) -> Law[Any]:
    return _literal(noise, counts, universe, 1)


def _same_law(mechanism: Callable[[CountSampler, Counts, int], Law[Any]]) -> str:
    cases = 0
    for noise, universe in _CASES:
        for counts in _shapes(noise.n, universe):
            exact = keep_heavy(noise, counts, universe)
            found = mechanism(noise, counts, universe)
            require(found == exact, f"{counts}, |X|={universe}: {found} instead of {exact}")
            cases += 1
    return f"{cases} data sets, every output"


def _shapes(n: int, universe: int) -> list[Counts]:
    """All data sets for one row, one of each shape for two."""
    return data_sets(n, universe) if n == 1 else [{0: 2}, {0: 1, 1: 1}, {1: 1, 4: 1}]


def _enough_empty(needed: int) -> str:
    """|X| >= needed(n) leaves at least n + 1 empty bins, whatever the data."""
    for n in range(1, 6):
        for universe in (2 * n + needed, 2 * n + needed + 1):
            empty = min(universe - len(counts) for counts in data_sets(n, universe))
            require(empty >= n + 1, f"n={n}, |X|={universe}: only {empty} empty bins")
    return "n <= 5, |X| = 2n + 1 and 2n + 2, every data set"


def _shipped(noise: CountSampler, counts: Counts, universe: int) -> Law[Any]:
    return KeepHeavySampled(noise, universe).law(counts, residual=0)


def _heaviest_n(ties: bool) -> str:
    cases = 0
    for n, size in ((1, 3), (2, 4), (3, 4)):
        every = product(range(size), repeat=size) if ties else permutations(range(size))
        for counts in every:
            bins = list(enumerate(counts))
            first = sorted(bins, key=lambda b: -b[1])[:n]
            kept = heaviest(bins, n)
            require(sorted(first) == list(kept), f"n={n}, counts {counts}: {kept} against {first}")
            cases += 1
    return f"{cases} lists of counts"


CLAIMS = (
    BV.verified(
        "Proposition 6.2",
        "KH', which adds noise to the non-empty bins and gives the n + 1 largest of the "
        "empty bins' counts to random empty bins, has exactly the law of KeepHeavy, when the order "
        "statistics are the true ones.",
        "enumeration",
        **varied(_same_law, _literally, kh_prime, "when they are those of OrdSample as printed"),
    ),
    BV.verified(
        "Algorithm 5",
        "The shipped KH' (KeepHeavySampled) has exactly the law of KeepHeavy.",
        "exact law",
        **varied(
            _same_law,
            _shipped,
            _of_one_more,
            "with the order statistics of m + 1 variables",
        ),
        note="the text reads |X| >= 2n+1^2 in the header: 2n + 1 with the mark of footnote 2",
    ),
    BV.verified(
        "Section 6.1, footnote 2",
        "|X| = 2n + 1 leaves at least n + 1 empty bins, and so does any more.",
        "enumeration",
        **elsewhere(
            "the domain is widened to |X| = 2n", varied(_enough_empty, 1, 0, "|X| = 2n is enough")
        ),
    ),
    BV.verified(
        "Section 6.1, footnote 3",
        "Releasing the bins strictly above the (n + 1)-th largest count equals releasing "
        "the n heaviest bins when no counts are tied.",
        "enumeration",
        **elsewhere(
            "tied counts are what the statement leaves out",
            varied(_heaviest_n, False, True, "also when counts are tied"),
        ),
    ),
)
