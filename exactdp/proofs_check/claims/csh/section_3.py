"""CSH, Section 3, running text: Misra-Gries sketches are sparse monotonic histograms."""

from __future__ import annotations

from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Sketch = dict[int, int]


def _sketch(stream: tuple[int, ...], k: int) -> Sketch:
    """Misra and Gries with k counters: a new element on full counters lowers all by one."""
    counters: Sketch = {}
    for x in stream:
        if x in counters or len(counters) < k:
            counters[x] = counters.get(x, 0) + 1
        else:
            counters = {y: c - 1 for y, c in counters.items() if c > 1}
    return counters


def _merged(first: Sketch, second: Sketch, k: int) -> Sketch:
    """Add, subtract the (k + 1)-th largest counter, and drop what is not positive."""
    total = {x: first.get(x, 0) + second.get(x, 0) for x in {*first, *second}}
    largest = sorted(total.values(), reverse=True)
    base = largest[k] if len(largest) > k else 0
    return {x: c - base for x, c in total.items() if c > base}


def _changes(before: Sketch, after: Sketch) -> set[int]:
    return {after.get(x, 0) - before.get(x, 0) for x in {*before, *after}}


def _monotone(values: tuple[set[int], ...]) -> str:
    k, universe, count = 2, range(3), 0
    streams = [s for n in range(5) for s in product(universe, repeat=n)]
    others = [_sketch(s, k) for s in streams]  # one of them is empty
    unique = [dict(t) for t in {tuple(sorted(s.items())) for s in others}]
    for stream in streams:
        for i in range(len(stream)):
            small, large = _sketch(stream[:i] + stream[i + 1 :], k), _sketch(stream, k)
            for other in unique:
                pair = [_merged(s, other, k) for s in (small, large)]
                change = _changes(*pair)
                count += 1
                require(len(pair[1]) <= k, f"{pair[1]} is not {k}-sparse")
                allowed = any(change <= one for one in values)
                require(allowed, f"{stream} without position {i}, merged with {other}: {pair}")
    return f"{count} neighbouring sketches, k = 2, universe of 3"


CLAIMS = (
    CSH.verified(
        "Section 3, Misra-Gries sketches",
        "Sketches of size k of streams that differ in one element, alone or merged with "
        "another sketch, are k-sparse, and their counters change by 0 or 1 in one direction.",
        "enumeration",
        **varied(_monotone, ({0, 1}, {0, -1}), ({0, 1},), "counters never fall"),
        note="the text calls the sensitivity spaces equal; checked is that the sketches' one lies "
        "in that of Definition 3.1",
    ),
)
