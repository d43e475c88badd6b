"""Small data sets of n rows, their neighbours, and the worst ratio of a mechanism on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp_proofs.rationals import Fraction

Counts = dict[int, int]


def data_sets(n: int, universe: int) -> list[Counts]:
    """The histogram of every data set of n rows."""
    rows = combinations_with_replacement(range(universe), n)
    return [{x: row.count(x) for x in sorted(set(row))} for row in rows]


def neighbours(counts: Counts, universe: int) -> Iterator[Counts]:
    """The histograms after one row is replaced by another value."""
    for x in counts:
        for y in range(universe):
            if y != x:
                other = dict(counts)
                other[x] -= 1
                other[y] = other.get(y, 0) + 1
                yield {key: other[key] for key in sorted(other) if other[key]}


def neighbouring_laws(
    law: Callable[[Counts], Law[Any]], n: int, universe: int
) -> Iterator[tuple[Law[Any], Law[Any]]]:
    """The laws of a mechanism on all ordered pairs of neighbours."""
    sets = data_sets(n, universe)
    laws = {tuple(counts.items()): law(counts) for counts in sets}
    for counts in sets:
        for other in neighbours(counts, universe):
            yield laws[tuple(counts.items())], laws[tuple(other.items())]


def worst_ratio(law: Callable[[Counts], Law[Any]], n: int, universe: int) -> Fraction:
    """The largest ratio of output probabilities over all pairs of neighbours, if finite."""
    return Fraction(max(max_loss(p, q) for p, q in neighbouring_laws(law, n, universe)))
