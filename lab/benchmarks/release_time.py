"""What the time of a release says about the data: the area under the curve (AUC) of an attacker.

The attacker sees how long one release took, and guesses whether the n rows hold one element or n
different elements. AUC is the probability that the slower of two releases, one of each kind, is the
one he takes it for, or for the opposite if that is likelier: 0.5 says nothing, 1 everything.

python -m lab.benchmarks.release_time [--rows 100] [--runs 2000] [--seconds 0.01]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

from exactdp.mechanisms import StabilityHistogram, in_one_time
from exactdp.samplers import Source, SystemSource

Release = Callable[[dict[int, int], Source], Any]


def auc(first: np.ndarray, second: np.ndarray) -> float:
    """P(a time of the second kind is longer), ties halved; by ranks."""
    both = np.concatenate([first, second])
    _, ranks, counts = np.unique(both, return_inverse=True, return_counts=True)
    places = (np.cumsum(counts) - (counts - 1) / 2)[ranks]
    wins = places[len(first) :].sum() - len(second) * (len(second) + 1) / 2
    share = float(wins / len(first) / len(second))
    return max(share, 1 - share)


def times(release: Release, data: list[dict[int, int]], runs: int) -> list[np.ndarray]:
    """Seconds of releases of each data set, in turns."""
    source, seen = SystemSource(), [np.empty(runs) for _ in data]
    for run in range(runs):
        for kind in np.random.default_rng(run).permutation(len(data)):
            start = time.perf_counter()
            release(data[kind], source)
            seen[kind][run] = time.perf_counter() - start
    return seen


@click.command()
@click.option("--rows", default=100)
@click.option("--runs", default=2000)
@click.option("--seconds", default="0.01")
def main(rows: int, runs: int, seconds: str) -> None:
    """Print the AUC and the mean times, with and without padding to one time."""
    data = [{7: rows}, {2**40 + i: 1 for i in range(rows)}]
    for fixed in (False, True):
        stable = StabilityHistogram.of(
            n=rows, epsilon=1, universe=2**64, delta="1e-6", fixed_time=fixed
        )
        padded: Release = partial(in_one_time, seconds, stable.release)
        for name, release in (("as it is", stable.release), ("padded", padded)):
            one, many = times(release, data, runs)
            means = f"{1e3 * one.mean():.3f} and {1e3 * many.mean():.3f} ms"
            noise = "fixed bits" if fixed else "geometric"
            print(f"{noise:10} {name:8}  AUC {auc(one, many):.3f}  {means}", flush=True)


if __name__ == "__main__":
    main()
