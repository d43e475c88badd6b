"""Hypothesis strategies for neighbouring histograms, data sets and vectors.

The strategies draw pairs by the definition of a neighbouring relation, and shrink to the smallest
pair that fails.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from exactdp.audit.examples import examples
from exactdp.extras import optional
from exactdp.parameters import choice, integer

if TYPE_CHECKING:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
else:
    st = optional("hypothesis.strategies")
    SearchStrategy = st.SearchStrategy

__all__ = [
    "datasets",
    "draw_values",
    "histograms",
    "neighbouring_datasets",
    "neighbouring_histograms",
    "neighbouring_vectors",
]

Histogram = dict[Any, int]
Dataset = tuple[Any, ...]


def histograms(
    keys: SearchStrategy[Any] | None = None, *, max_size: int = 4, max_count: int = 4
) -> SearchStrategy[Histogram]:
    """Sparse histograms, key -> count from 1 to max_count, with at most max_size keys.

    keys: a strategy for keys (default: integers from 0 to 5).
    """
    integer("max_size", max_size, least=0)
    counts = st.integers(1, integer("max_count", max_count, least=1))
    return st.dictionaries(_keys(keys), counts, max_size=max_size)


def neighbouring_histograms(
    keys: SearchStrategy[Any] | None = None,
    *,
    k: int = 1,
    max_size: int = 4,
    max_count: int = 4,
) -> SearchStrategy[tuple[Histogram, Histogram]]:
    """Pairs of histograms that differ by one user, who adds 1 to 1 to k counters, in either order.

    k: largest number of counters of one user, >= 1. This is the relation of the Gaussian sparse
    histogram mechanism: all counts change in the same direction, and counters may appear or vanish.
    """
    touched = st.sets(_keys(keys), min_size=1, max_size=integer("k", k, least=1))
    base = histograms(keys, max_size=max_size, max_count=max_count)

    def pair(before: Histogram, user: set[Any], swap: bool) -> tuple[Histogram, Histogram]:
        after = dict(Counter(before) + Counter(user))
        return (after, before) if swap else (before, after)

    return st.builds(pair, base, touched, st.booleans())


def datasets(
    rows: SearchStrategy[Any] | None = None, *, min_size: int = 0, max_size: int = 4
) -> SearchStrategy[Dataset]:
    """Data sets as tuples of rows. rows: a strategy for rows (default: integers from 0 to 5)."""
    integer("min_size", min_size, least=0)
    integer("max_size", max_size, least=min_size)
    return st.lists(_keys(rows), min_size=min_size, max_size=max_size).map(tuple)


def neighbouring_datasets(
    rows: SearchStrategy[Any] | None = None,
    *,
    relation: str = "replace-one",
    max_size: int = 4,
) -> SearchStrategy[tuple[Dataset, Dataset]]:
    """Pairs of data sets that differ in one row.

    relation: "replace-one" (equal size, n public) or "add-remove". max_size: of the larger data
    set, >= 1.
    """
    choice("relation", relation, ("replace-one", "add-remove"))
    largest = integer("max_size", max_size, least=1)
    larger = datasets(rows, min_size=1, max_size=largest)

    def pair(data: Dataset, where: int, row: Any, swap: bool) -> tuple[Dataset, Dataset]:
        i = where % len(data)
        changed = (row,) if relation == "replace-one" else ()
        other = data[:i] + changed + data[i + 1 :]
        return (other, data) if swap else (data, other)

    return st.builds(pair, larger, st.integers(0, largest - 1), _keys(rows), st.booleans())


def neighbouring_vectors(
    dimension: int = 3, *, most: int = 4, denominator: int = 8
) -> SearchStrategy[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Pairs of non-negative vectors at l1 distance at most 1, in steps of 1/denominator.

    dimension, denominator: integers >= 1. most: largest entry of the first vector, >= 0.
    """
    length = integer("dimension", dimension, least=1)
    steps = integer("denominator", denominator, least=1)
    entry = st.integers(0, integer("most", most, least=0) * steps)
    moves = st.lists(
        st.tuples(st.integers(0, length - 1), st.sampled_from((-1, 1))), max_size=steps
    )

    def pair(
        start: list[int], changes: list[tuple[int, int]]
    ) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        end = list(start)
        for i, sign in changes:
            end[i] = max(end[i] + sign, 0)
        return _scaled(start, steps), _scaled(end, steps)

    return st.builds(pair, st.lists(entry, min_size=length, max_size=length), moves)


def draw_values(strategy: SearchStrategy[Any], number: int, *, seed: int = 0) -> list[Any]:
    """Distinct values of a strategy, for example pairs for an audit of outputs.

    number: largest number of values, >= 1. seed: >= 0; equal seeds give equal values.

    >>> all(left != right for left, right in draw_values(neighbouring_histograms(), 10))
    True
    """
    return examples(strategy, integer("number", number, least=1), integer("seed", seed, least=0))


def _scaled(values: list[int], denominator: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(value, denominator) for value in values)


def _keys(strategy: SearchStrategy[Any] | None) -> SearchStrategy[Any]:
    return st.integers(0, 5) if strategy is None else strategy
