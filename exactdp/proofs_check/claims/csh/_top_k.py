"""The top-k preprocessing of Algorithm 3 and all small neighbouring histograms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from exactdp.proofs_check.claims.csh._model import binary

__all__ = ["Histogram", "neighbours", "rank", "reduced"]

Histogram = tuple[int, ...]


def rank(counts: Histogram, place: int) -> int:
    """The place-th largest count, 0 where there are fewer."""
    largest = sorted(counts, reverse=True)
    return largest[place - 1] if len(largest) >= place else 0


def reduced(counts: Histogram, k: int, place_after: int = 1) -> Histogram:
    """max(0, count - H^(k + place_after)); the paper has place_after = 1."""
    base = rank(counts, k + place_after)
    return tuple(max(0, c - base) for c in counts)


def neighbours(d: int, top: int) -> Iterator[tuple[Histogram, Histogram]]:
    """(H, H') where H has one more user."""
    for less in product(range(top + 1), repeat=d):
        for user in binary(d):
            yield tuple(c + u for c, u in zip(less, user, strict=True)), less
