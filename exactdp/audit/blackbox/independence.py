"""Signs that outputs are not independent: repeats where chance would not put them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactdp.audit.events.outputs import Outputs, as_outputs
from exactdp.errors import ExactDPError

__all__ = ["CopiedRandomness", "Marks", "OneByOne", "mark", "repeats"]

_ROWS = 4096
_MARKED = (64, 256)
_SURE = 40.0  # nats, about 10^-17


class CopiedRandomness(ExactDPError, RuntimeError):
    """Two batches came out identical: the outputs are not independent, nothing can be concluded."""


def repeats(outputs: Outputs) -> str:
    """How outputs of one batch repeat each other at a fixed distance; "" when they do not.

    Independent outputs coincide as often at one distance as at another. Reused noise, or workers
    that share a generator's state, make those at one distance coincide.
    """
    codes: dict[object, int] = {}
    values = outputs.take(0, _ROWS).wholes
    ids = np.array([codes.setdefault(repr(value), len(codes)) for value in values])
    n = len(ids)
    if n < 16 or len(codes) == 1:
        return ""
    counts = np.bincount(ids).astype(float)
    chance = float((counts * (counts - 1)).sum()) / (n * (n - 1))
    for lag in sorted({1, 2, 3, 4, 8, n // 8, n // 4, n // 3, n // 2}):
        same = int((ids[lag:] == ids[:-lag]).sum())
        if _surplus(same, n - lag, chance) > _SURE:
            return f"{same} of {n - lag} outputs equal the one {lag} before"
    return ""


def mark(outputs: Outputs) -> list[str]:
    """Hashes of the first outputs, where chance alone would never repeat them."""
    values = [repr(value) for value in outputs.take(0, _MARKED[-1]).wholes]
    marks = []
    for n in _MARKED:
        if len(values) < n:
            break
        collision = sum(c * (c - 1) for c in Counter(values[:n]).values()) / (n * (n - 1))
        if -n * math.log(collision + 1 / n) > 2 * _SURE:
            marks.append(hashlib.sha256("\n".join(values[:n]).encode()).hexdigest()[:16])
    return marks


class Marks:
    """The marks seen: a repeated one means that randomness was copied. Constant memory."""

    def __init__(self, most: int = 4096) -> None:
        self._order: deque[str] = deque(maxlen=most)
        self._known: set[str] = set()

    def add(self, marks: list[str]) -> None:
        """Note a batch's marks. Raises CopiedRandomness when one was there before."""
        for text in marks:
            if text in self._known:
                raise CopiedRandomness(
                    "run returned the same outputs for two batches: its randomness is a copy (a "
                    "fixed seed, or a generator duplicated into worker processes), so outputs are "
                    "not independent and nothing can be concluded; let it draw from the operating "
                    "system, or audit it without an executor"
                )
        for text in marks:
            if len(self._order) == self._order.maxlen:
                self._known.discard(self._order[0])
            self._order.append(text)
            self._known.add(text)


@dataclass(frozen=True)
class OneByOne:
    """A mechanism called anew for every output, as its users call it.

    For mechanisms that start every call from the same seed: their single outputs are what can be
    told apart, however independent the outputs of one call look.
    """

    run: Callable[[Any, int], Any]

    def __call__(self, data: Any, n: int) -> Outputs:
        return Outputs.joined([as_outputs(self.run(data, 1), 1) for _ in range(n)])


def _surplus(seen: int, pairs: int, chance: float) -> float:
    """Nats by which more coincidences were seen than chance explains (Chernoff's bound)."""
    expected = chance * pairs
    if seen <= expected:
        return 0.0
    return seen * math.log(seen / max(expected, 1e-9)) - (seen - expected)
