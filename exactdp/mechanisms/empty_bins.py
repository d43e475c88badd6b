"""Elements that are not in the data, drawn without a list of them all."""

from __future__ import annotations

from bisect import bisect_right

from exactdp.progress import watched
from exactdp.samplers import Source


def fresh_elements(taken: list[int], number: int, universe: int, source: Source) -> list[int]:
    """Different elements outside a sorted list, drawn uniformly one after the other."""
    free, moved = universe - len(taken), dict[int, int]()
    found = []
    for i in watched(range(number), "empty bins"):
        # a shuffle of all ranks that keeps only those that were moved
        rank = i + source.below(free - i)
        found.append(element_of_rank(taken, moved.get(rank, rank)))
        moved[rank] = moved.get(i, i)
    return found


def element_of_rank(taken: list[int], rank: int) -> int:
    """The element that has `rank` smaller ones outside a sorted list of distinct elements."""
    # taken[i] - i elements outside the list are smaller than taken[i]
    skipped = bisect_right(range(len(taken)), rank, key=lambda i: taken[i] - i)
    return rank + skipped
