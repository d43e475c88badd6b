"""CSH, Definition 2.1: neighbouring datasets differ by one data point, added or removed."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Data = tuple[int, ...]


def _without_one(data: Data) -> set[Data]:
    return {data[:i] + data[i + 1 :] for i in range(len(data))}


def _neighbours(first: Data, second: Data) -> bool:
    return first in _without_one(second) or second in _without_one(first)


def _sizes(change: int) -> str:
    """The relation is symmetric, and sizes differ by `change`."""
    datasets = [d for size in range(4) for d in product(range(2), repeat=size)]
    every = list(product(datasets, repeat=2))
    for first, second in every:
        related, back = _neighbours(first, second), _neighbours(second, first)
        require(related == back, f"{first}, {second}: not symmetric")
    pairs = [pair for pair in every if _neighbours(*pair)]
    for first, second in pairs:
        gap = abs(len(first) - len(second))
        require(gap == change, f"{first} and {second} are neighbours, sizes differ by {gap}")
    return f"all {len(pairs)} neighbouring pairs of up to 3 points over 2 values"


CLAIMS = (
    CSH.verified(
        "Definition 2.1",
        "Neighbours arise by deleting one data point from either dataset; the relation "
        "is symmetric and |X'| = |X| + 1 or |X| - 1.",
        "enumeration",
        **varied(_sizes, 1, 0, "the sizes are equal"),
    ),
)
