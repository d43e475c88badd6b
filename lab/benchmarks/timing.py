"""Interleaved timing: the contestants take turns, and medians are compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["interleaved", "seconds"]


def interleaved(
    contestants: dict[str, Callable[[], object]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median seconds per call of each contestant, after one uncounted call."""
    for run in contestants.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(seconds(run, clock))
    return {name: statistics.median(values) for name, values in times.items()}


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call, by the wall's clock or another."""
    start = clock()
    run()
    return clock() - start
