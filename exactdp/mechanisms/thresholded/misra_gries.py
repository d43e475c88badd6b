"""Misra-Gries sketches: at most `size` counters of a stream, as input of CSH with this sparsity.

The sketch of a stream with one element more differs from that of the stream by 0 or 1 in every
counter, all in one direction: either the counter of the element rises, or, where all counters are
taken, every counter falls by 1; and afterwards a rise and a fall of all counters cancel, or turn
into each other. So the sketches are monotonic histograms with at most `size` counters (CSH,
Definition 3.1), whatever the stream, and CSH(sparsity=size) may release them. A merge adds the
counters of two sketches and subtracts the (size + 1)-th largest sum, as TopK does.

Source: Lebeda and Retschmeier (CSH), Section 3, which cites Misra and Gries 1982, and Lebeda and
Tetek 2023 for the differences; Agarwal et al. 2012 for the merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from exactdp.parameters import integer

Element = TypeVar("Element", bound=Hashable)


def misra_gries(stream: Iterable[Element], *, size: int) -> dict[Element, int]:
    """The Misra-Gries sketch of a stream: at most `size` elements with counts >= 1.

    A count is at most the element's number of occurrences, and below that by at most
    n/(size + 1) for a stream of n elements. Neighbours of a release are streams that differ by one
    element, added or removed. size: >= 1. Raises InvalidParameter.

    >>> from exactdp.mechanisms import CSH, misra_gries
    >>> from exactdp.samplers import SystemSource
    >>> sketch = misra_gries("a" * 900 + "bcdefgh" * 20, size=3)
    >>> sketch["a"] > 700, len(sketch) <= 3
    (True, True)
    >>> mechanism = CSH.for_target(sparsity=3, epsilon=1, delta="1e-6")
    >>> list(mechanism.release(sketch, SystemSource()))
    ['a']
    """
    most, counts = integer("size", size, least=1), dict[Element, int]()
    for element in stream:
        if element in counts or len(counts) < most:
            counts[element] = counts.get(element, 0) + 1
        else:
            counts = {x: count - 1 for x, count in counts.items() if count > 1}
    return counts


def merge_misra_gries(
    first: Mapping[Element, int], second: Mapping[Element, int], *, size: int
) -> dict[Element, int]:
    """The sketch of two streams together, from their sketches, with the same bound of the error.

    size: of both sketches and of the result, >= 1. Neighbours of a release are collections of
    streams of which one differs by one element. Raises InvalidParameter.

    >>> from exactdp.mechanisms import merge_misra_gries
    >>> merge_misra_gries({"a": 9, "b": 4}, {"b": 2, "c": 3}, size=2)
    {'a': 6, 'b': 3}
    """
    sums = Counter(first)
    sums.update(second)
    most = integer("size", size, least=1)
    base = sorted(sums.values(), reverse=True)[most] if len(sums) > most else 0
    return {element: count - base for element, count in sums.items() if count > base}
