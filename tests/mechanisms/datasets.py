"""All small data sets and their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law

Counts = dict[int, int]


def all_counts(n: int, universe: int) -> list[Counts]:
    """Every histogram of n rows."""
    histograms = []
    for rows in combinations_with_replacement(range(universe), n):
        histograms.append({x: rows.count(x) for x in set(rows)})
    return histograms


def neighbours(counts: Counts, universe: int) -> Iterator[Counts]:
    """One row replaced by another."""
    for x in counts:
        for y in range(universe):
            if y != x:
                other = dict(counts)
                other[x] -= 1
                other[y] = other.get(y, 0) + 1
                yield {key: value for key, value in other.items() if value}


def key(counts: Counts) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(counts.items()))


def all_pairs(
    law: Callable[[Counts], Law[Any]], n: int, universe: int
) -> Iterator[tuple[Law[Any], Law[Any]]]:
    """The laws of all ordered pairs of neighbours."""
    laws = {key(counts): law(counts) for counts in all_counts(n, universe)}
    for counts in all_counts(n, universe):
        for other in neighbours(counts, universe):
            yield laws[key(counts)], laws[key(other)]


def worst_loss(law: Callable[[Counts], Law[Any]], n: int, universe: int) -> Fraction | float:
    return max(max_loss(p, q) for p, q in all_pairs(law, n, universe))
