"""Interleaved timing: the contestants take turns, and medians are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["interleaved", "seconds"]


def interleaved(contestants: dict[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Median seconds per call of each contestant, after one uncounted call."""
    for run in contestants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(seconds(run))
    return {name: statistics.median(values) for name, values in times.items()}


def seconds(run: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
