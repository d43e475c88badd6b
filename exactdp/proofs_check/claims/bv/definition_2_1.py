"""BV, Definitions 2.1 to 2.3: accuracy of histograms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._data_sets import data_sets
from exactdp.proofs_check.claims.bv._laws import (
    EXACT,
    Table,
    fast,
    geo,
    histogram_law,
    keep_heavy,
    released_error,
)
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]


def _histograms() -> Iterator[tuple[int, dict[int, int], Law[Any]]]:
    """Laws of released bins: noise on all of them, only the heaviest, and one wrong bin."""
    for noise, universe in ((geo(1), 3), (geo(2), 3), (fast(2), 3), (EXACT, 2)):
        for counts in data_sets(noise.n, universe):
            full = histogram_law(noise, counts, universe)
            yield universe, counts, full.map(lambda z: tuple(enumerate(z)))
            yield universe, counts, keep_heavy(noise, counts, universe)
    for universe in (2, 3):  # nothing is released but a count 1 for one element, at random
        yield universe, {}, Law.uniform(range(universe)).map(lambda x: ((x, 1),))


def _failures(law: Law[Any], counts: dict[int, int], universe: int, a: int) -> list[Fraction]:
    return [law.probability(lambda h: released_error(h, counts, x) > a) for x in range(universe)]


def _some(law: Law[Any], counts: dict[int, int], universe: int, a: int) -> Fraction:
    return law.probability(lambda h: any(released_error(h, counts, x) > a for x in range(universe)))


def _per_query(share: Fraction) -> str:
    """(a, beta)-simultaneous accuracy is (a, share beta)-per-query accuracy."""
    for universe, counts, law in _histograms():
        for a in range(3):
            worst = max(_failures(law, counts, universe, a))
            beta = _some(law, counts, universe, a)
            require(worst <= share * beta, f"{counts}, a={a}: worst {worst}, some {beta}")
    return "17 data sets, dense and sparse histograms, a wrong bin; equality where one bin can err"


def _simultaneous(fewer: int) -> str:
    """(a, beta)-per-query accuracy is (a, (|X| - fewer) beta)-simultaneous accuracy."""
    attained = set()
    for universe, counts, law in _histograms():
        for a in range(3):
            beta, some = max(_failures(law, counts, universe, a)), _some(law, counts, universe, a)
            most = (universe - fewer) * beta
            require(some <= most, f"|X|={universe}, {counts}, a={a}: {some} > {most}")
            attained |= {universe} if some == most > 0 else set()
    require(attained == {2, 3}, f"equality occurs for |X| in {attained} only")
    return "17 data sets, dense and sparse histograms; equality for one wrong bin at random"


def _large_counts(above: int) -> str:
    """Per-query accuracy on counts larger than t, here all of them, and none of those of count t.

    M(0) = M(1) = 0 and M(2) = 2, n = 2: exact on counts > 1, wrong on counts of 1.
    """
    noise = Table.of((1, 0, 0), (1, 0, 0), (0, 0, 1))
    for counts in data_sets(2, 3):
        law = histogram_law(noise, counts, 3).map(lambda z: tuple(enumerate(z)))
        for x, c in counts.items():
            fails = law.probability(lambda h: released_error(h, counts, x) > 0)
            case = f"{counts}, bin {x} of count {c}: fails with {fails}"
            require(fails == (0 if c > above else 1), case)
    return "t = 1, every data set"


CLAIMS = (
    BV.verified(
        "Definition 2.1",
        "Per-query accuracy follows from simultaneous accuracy with the same a and beta "
        "(Definitions 2.1 and 2.2 against each other).",
        "exact law",
        **varied(_per_query, Fraction(1), Fraction(99, 100), "with 0.99 beta"),
    ),
    BV.verified(
        "Definition 2.2",
        "Simultaneous accuracy follows from per-query accuracy with the same a and |X| beta, and "
        "with nothing less in general.",
        "exact law",
        **varied(_simultaneous, 0, 1, "with (|X| - 1) beta"),
    ),
    BV.verified(
        "Definition 2.3",
        "Per-query accuracy on counts larger than t says nothing about a bin of count exactly t.",
        "enumeration",
        **varied(_large_counts, 1, 0, "counts of at least t are included"),
    ),
)
