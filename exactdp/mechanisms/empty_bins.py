"""Random elements outside the data, drawn without listing the universe."""

from __future__ import annotations

from bisect import bisect_right

from exactdp.progress import watched
from exactdp.samplers import Source


def fresh_elements(taken: list[int], number: int, universe: int, source: Source) -> list[int]:
    """Draw `number` distinct elements of [0, universe) outside the sorted list `taken`.

    Uniform without replacement, in the order of the draws.
    """
    free, moved = universe - len(taken), dict[int, int]()
    elements = []
    for i in watched(range(number), "empty bins"):
        # a Fisher-Yates shuffle of all ranks that stores only the moved ones
        rank = i + source.below(free - i)
        elements.append(element_of_rank(taken, moved.get(rank, rank)))
        moved[rank] = moved.get(i, i)
    return elements


def element_of_rank(taken: list[int], rank: int) -> int:
    """The element of this rank (from 0) outside a sorted list of distinct elements."""
    # taken[i] - i elements outside the list are smaller than taken[i]
    skipped = bisect_right(range(len(taken)), rank, key=lambda i: taken[i] - i)
    return rank + skipped
