"""Misra-Gries sketches over all short streams: monotonic, sparse, and near the true counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import product

import pytest

from exactdp import InvalidParameter
from exactdp.mechanisms import merge_misra_gries, misra_gries

ELEMENTS = "abcd"
STREAMS = ["".join(s) for n in range(7) for s in product(ELEMENTS[:3], repeat=n)]


def changes(more: Mapping[str, int], less: Mapping[str, int]) -> set[int]:
    return {more.get(x, 0) - less.get(x, 0) for x in ELEMENTS}


def is_monotonic(more: Mapping[str, int], less: Mapping[str, int]) -> bool:
    """CSH, Definition 3.1: the difference is in {0, 1}^d or {0, -1}^d."""
    return changes(more, less) <= {0, 1} or changes(more, less) <= {0, -1}


@pytest.mark.parametrize("size", [1, 2, 3])
def test_neighbouring_streams_have_monotonic_sketches(size: int) -> None:
    compared = 0
    for stream in STREAMS:
        sketch = misra_gries(stream, size=size)
        assert len(sketch) <= size
        assert min(sketch.values(), default=1) >= 1
        for place in range(len(stream)):
            without = stream[:place] + stream[place + 1 :]
            assert is_monotonic(sketch, misra_gries(without, size=size)), (stream, place)
            compared += 1
    assert compared > 6000


@pytest.mark.parametrize("size", [1, 2, 3])
def test_counts_are_too_small_by_little(size: int) -> None:
    for stream in STREAMS:
        sketch, true = misra_gries(stream, size=size), Counter(stream)
        for x in ELEMENTS:
            assert 0 <= true[x] - sketch.get(x, 0) <= len(stream) / (size + 1)


@pytest.mark.parametrize("size", [1, 2])
def test_merges_are_monotonic_and_near(size: int) -> None:
    short = ["".join(s) for n in range(5) for s in product(ELEMENTS[:3], repeat=n)]
    others = [misra_gries(s, size=size) for s in ("", "a", "bd", "ddc", "cad")]
    for stream, other in product(short, others):
        merged = merge_misra_gries(misra_gries(stream, size=size), other, size=size)
        assert len(merged) <= size
        for place in range(len(stream)):
            without = misra_gries(stream[:place] + stream[place + 1 :], size=size)
            assert is_monotonic(merged, merge_misra_gries(without, other, size=size))
        n = len(stream) + sum(other.values())
        exact = Counter(stream) + Counter(other)
        assert all(0 <= exact[x] - merged.get(x, 0) <= n / (size + 1) for x in ELEMENTS)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="size"):
        misra_gries("abc", size=0)
    with pytest.raises(InvalidParameter, match="size"):
        merge_misra_gries({}, {}, size=0)
