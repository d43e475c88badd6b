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
    """Laws of released bins: noise on all of them, and only the heaviest."""
    for noise, universe in ((geo(1), 3), (geo(2), 3), (fast(2), 3), (EXACT, 2)):
        for counts in data_sets(noise.n, universe):
            full = histogram_law(noise, counts, universe)
            yield universe, counts, full.map(lambda z: tuple(enumerate(z)))
            yield universe, counts, keep_heavy(noise, counts, universe)


def _failures(law: Law[Any], counts: dict[int, int], universe: int, a: int) -> list[Fraction]:
    return [law.probability(lambda h: released_error(h, counts, x) > a) for x in range(universe)]


def _both_accuracies(union: bool) -> str:
    """worst bin <= some bin <= |X| worst bin."""
    for universe, counts, law in _histograms():
        for a in range(3):
            worst = max(_failures(law, counts, universe, a))
            some = law.probability(
                lambda h: any(released_error(h, counts, x) > a for x in range(universe))
            )
            most = universe * worst if union else worst
            require(worst <= some <= most, f"{counts}, a={a}: worst {worst}, some {some}")
    return "17 data sets, dense and sparse histograms"


def _large_counts(above: int) -> str:
    """Per-query accuracy on counts larger than t: a bin of count t plays no part.

    M(0) = M(1) = 0 and M(2) = 2, n = 2: exact on counts > 1, wrong on counts of 1.
    """
    noise = Table.of((1, 0, 0), (1, 0, 0), (0, 0, 1))
    for counts in data_sets(2, 3):
        law = histogram_law(noise, counts, 3).map(lambda z: tuple(enumerate(z)))
        for x, c in counts.items():
            fails = law.probability(lambda h: released_error(h, counts, x) > 0)
            require(c <= above or fails == 0, f"{counts}, bin {x} of count {c}: fails with {fails}")
    return "t = 1, every data set"


CLAIMS = (
    BV.verified(
        "Definition 2.1",
        "Per-query accuracy follows from simultaneous accuracy with the same a and beta, and gives "
        "it with |X| beta (this entry checks Definitions 2.1 and 2.2 against each other).",
        "exact law",
        **varied(_both_accuracies, True, False, "gives it with beta"),
    ),
    BV.verified(
        "Definition 2.2",
        "The simultaneous failure probability lies between the worst bin's and |X| times it, for "
        "dense and sparse histograms.",
        "exact law",
        **varied(_both_accuracies, True, False, "it equals the worst bin's"),
    ),
    BV.verified(
        "Definition 2.3",
        "Per-query accuracy on counts larger than t says nothing about a bin of count exactly t.",
        "enumeration",
        **varied(_large_counts, 1, 0, "counts of at least t are included"),
    ),
)
