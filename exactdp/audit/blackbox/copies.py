"""Copies that decide a verdict: stretches of outputs that come again, and outputs that never vary.

What certifies a violation is how often one event happens. So it is the sequence of its hits that
must not be made of copies, wherever they lie: given how many hits a window of w independent outputs
has, all C(w, hits) arrangements are equally likely, and two disjoint windows agree with probability
1/C(w, hits) at most. Windows where that is below e^-60 are compared across all batches. Which ones
is decided by what they contain, so a stretch that comes again is picked again, wherever it begins.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.codes import text_of
from exactdp.audit.events.outputs import Outputs

__all__ = ["Seen", "only", "windows"]

_WIDTHS = [1 << k for k in range(7, 16)]
_SCANNED = 1 << 16  # hits of a batch
_PICKED = 16  # windows of a batch, about
_SURE = 60.0  # nats
_BASE = np.uint64(0x9E3779B97F4A7C15)


class Seen:
    """Texts, the latest so many of them."""

    def __init__(self, most: int = 4096) -> None:
        self._order: deque[str] = deque(maxlen=most)
        self._known: set[str] = set()

    def again(self, texts: list[str]) -> bool:
        """Note some texts; whether one of them was there before, or is there twice."""
        found = len(set(texts)) < len(texts) or not self._known.isdisjoint(texts)
        for text in texts:
            if len(self._order) == self._order.maxlen:
                self._known.discard(self._order[0])
            self._order.append(text)
            self._known.add(text)
        return found


def windows(hits: NDArray[np.bool_]) -> list[str]:
    """Hashes of windows of hits that chance would not repeat; of one that does, twice."""
    bits = hits[:_SCANNED]
    width = _width(int(bits.sum()), len(bits))
    if not width:
        return []
    hashes = _hashes(bits, width)
    at = np.flatnonzero(hashes < _part(_PICKED, len(hashes)))
    found = []
    for value in np.unique(hashes[at]).tolist():
        same = at[hashes[at] == value]
        window = bits[same[0] : same[0] + width]
        if _surprise(int(window.sum()), width) > _SURE:
            again = same[-1] - same[0] >= width
            text = hashlib.sha256(np.packbits(window).tobytes()).hexdigest()[:32]
            found += [f"{width} {text}"] * (2 if again else 1)
    return found


def _part(picked: int, of: int) -> np.uint64:
    return np.uint64(min(picked * 2**64 // of, 2**64 - 1))


def only(outputs: Outputs) -> str:
    """The one value all outputs have, as a hash; "" when they differ."""
    if outputs.matrix is not None:
        first = outputs.matrix[:1]
        alike = bool(((outputs.matrix == first) | (first != first)).all())
    else:
        codes = iter(outputs.items)
        first = next(codes)
        alike = all(code == first for code in codes)
    if not alike:
        return ""
    return hashlib.sha256(text_of(outputs.take(0, 1).items[0]).encode()).hexdigest()[:16]


def _width(hits: int, size: int) -> int:
    """The smallest width at which a typical window is no chance; 0 for none that fits twice."""
    for width in _WIDTHS:
        if width <= size and _surprise(hits * width // max(size, 1), width) > 1.1 * _SURE:
            return width
    return 0


def _hashes(bits: NDArray[np.bool_], width: int) -> NDArray[np.uint64]:
    """A hash of every window: a polynomial modulo 2^64, mixed so that its size says nothing."""
    up, down = _powers(len(bits) + 1)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(np.where(bits, up[1:], np.uint64(0)))])
    parts = (sums[width:] - sums[:-width]) * down[: len(bits) - width + 1]
    parts ^= parts >> np.uint64(32)
    parts *= _BASE
    return np.asarray(parts ^ (parts >> np.uint64(29)))


@lru_cache(maxsize=4)
def _powers(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Powers of the base and of its inverse modulo 2^64."""
    inverse = np.uint64(pow(int(_BASE), -1, 2**64))
    return np.cumprod(np.full(n, _BASE)), np.cumprod(np.full(n, inverse))


def _surprise(hits: int, width: int) -> float:
    return math.lgamma(width + 1) - math.lgamma(hits + 1) - math.lgamma(width - hits + 1)
