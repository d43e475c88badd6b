"""Audits at scale: outputs per second, peak memory, two Dask workers against one.

    python -m benchmarks.audit [--full]

Memory is measured in a process of its own for each size, so that one size does not hide another.
The mechanism is numpy noise, so the figures are about the audit's own cost; for the workers it is
Python code, which is what one has several workers for. Without distributed that part is skipped.
"""

from __future__ import annotations

import json
import math
import random
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from exactdp.audit import audit

_SIZES = (10**7, 10**8)
_FULL = 10**9
_WORKERS_SAMPLES = 3_000_000


def geometric(data: int, n: int) -> Any:
    """Two-sided geometric noise for epsilon = 1."""
    rng, p = np.random.default_rng(), 1 - np.exp(-1)
    return data + rng.geometric(p, n).astype(np.int32) - rng.geometric(p, n).astype(np.int32)


def in_python(data: int, n: int) -> list[int]:
    """The same, one output at a time, as libraries in Python do it."""
    uniform, q = random.SystemRandom().random, math.exp(-1)
    outputs = []
    for _ in range(n):
        value = data
        while uniform() < q:
            value += 1
        while uniform() < q:
            value -= 1
        outputs.append(value)
    return outputs


def one(samples: int) -> dict[str, float]:
    """Seconds and peak memory of one audit, here."""
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    report = audit(geometric, 0, 1, samples=samples)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "samples": report.samples,
        "seconds": time.perf_counter() - start,
        "peak": peak / 1024,
        "base": base / 1024,
        "epsilon": float(report.epsilon_lower),
        "violation": report.violation,
    }


def sizes(full: bool) -> None:
    """One row per size."""
    print(f"{'outputs':>14} {'seconds':>8} {'outputs/s':>11} {'peak MB':>8} {'epsilon >=':>11}")
    for samples in (*_SIZES, *((_FULL,) if full else ())):
        command = [sys.executable, "-m", "benchmarks.audit", "--one", str(samples)]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        row = json.loads(found.stdout)
        rate = row["samples"] / row["seconds"]
        print(
            f"{row['samples']:>14,} {row['seconds']:>8.1f} {rate:>11,.0f} {row['peak']:>8.0f} "
            f"{row['epsilon']:>11.5f}"
        )


def workers() -> None:
    """The same audit on one Dask worker and on two, in turns."""
    try:
        import distributed
    except ImportError:
        print("distributed is not installed: no figures for Dask")
        return
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for count in (1, 2):
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0"
            )
            with cluster, distributed.Client(cluster) as client:
                executor = client.get_executor()
                audit(in_python, 0, 1, samples=20_000, executor=executor)  # workers import
                start = time.perf_counter()
                audit(in_python, 0, 1, samples=_WORKERS_SAMPLES, executor=executor)
                times[count].append(time.perf_counter() - start)
    alone, both = min(times[1]), min(times[2])
    print(f"Dask: {alone:.2f} s with one worker, {both:.2f} s with two: {alone / both:.2f}x")


def main() -> None:
    """Print everything."""
    if "--one" in sys.argv:
        print(json.dumps(one(int(sys.argv[-1]))))
        return
    sizes("--full" in sys.argv)
    workers()


if __name__ == "__main__":
    main()
