"""How many keys are released: English words of users, and airports of aircraft.

Run: python -m lab.experiments.key_sets [--runs 3]. epsilon = 1, delta = 1e-5. A minute per run.
"""

from __future__ import annotations

import argparse
import csv
import json
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import matplotlib
import numpy as np

from exactdp.accounting import gaussian
from exactdp.mechanisms import GSHM, MAD2R, SIPS, PartitionSelection, TopK, WeightedGaussian
from exactdp.mechanisms.key_sets import Pairs
from exactdp.samplers import SeededSource

matplotlib.use("Agg")

from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results"
FLIGHTS = Path(__file__).parents[2] / "examples" / "flights_2013_01.csv"
EPSILON, DELTA = 1.0, 1e-5
LARGEST = (1, 3, 10, 30, 100)

#: Numbers of keys that the CSH may release; its users are not bounded.
SIZES = (50, 300, 1000)

#: Name in the picture -> colour.
COLOURS = {
    "geometric": "#999999",
    "counts (GSHM)": "#56b4e9",
    "weighted, published threshold": "#e69f00",
    "weighted": "#b35900",
    "SIPS": "#0072b2",
    "MAD2R": "#00795a",
}


def words(users: int, seed: int) -> Pairs:
    """Users with 34 words in the median and 1 to 2000, drawn as the wordfreq package has them."""
    from wordfreq import get_frequency_dict

    p = np.sort(list(get_frequency_dict("en").values()))[::-1]
    rng = np.random.default_rng(seed)
    sizes = np.clip(np.exp(rng.normal(3.5, 1.2, users)).astype(int) + 1, 1, 2000)
    word_ids = rng.choice(len(p), sizes.sum(), p=p / p.sum())
    pairs = np.unique(np.repeat(np.arange(users), sizes) * len(p) + word_ids)
    return _numbered(pairs // len(p), pairs % len(p), rng)


def flights(seed: int) -> Pairs:
    """The aircraft and airports of examples/flights_2013_01.csv."""
    with FLIGHTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    users, keys = (
        np.unique([row[name] for row in rows], return_inverse=True)[1]
        for name in ("tailnum", "dest")
    )
    return _numbered(users, keys, np.random.default_rng(seed))


def _numbered(users: Any, keys: Any, rng: Any) -> Pairs:
    order = rng.integers(0, 2**63, len(users)).astype(np.uint64)
    return Pairs(users.astype(np.int64), keys.astype(np.int64), order)


def by_counts(mechanism: Any, pairs: Pairs, source: SeededSource) -> int:
    """A mechanism that sees the number of users of each key, of which users keep k at random."""
    kept = pairs.only(pairs.firsts(mechanism.k))
    counts = dict(enumerate(np.bincount(kept.keys).tolist()))
    return len(mechanism.draw(counts, source))


def by_weights(mechanism: Any, pairs: Pairs, source: SeededSource) -> int:
    """A mechanism in rounds."""
    return len(mechanism.select(pairs, int(pairs.keys.max()) + 1, source))


def published(k: int, pairs: Pairs, seed: int) -> int:
    """One round of weights with the sum of two deltas (Gopi et al. 2020), in floats."""
    sigma = float(gaussian.calibrate(epsilon=1, delta=DELTA / 2).sigma)
    normal = NormalDist()
    limit = max(
        t**-0.5 + sigma * normal.inv_cdf((1 - DELTA / 2) ** (1 / t)) for t in range(1, k + 1)
    )
    kept = pairs.only(pairs.firsts(k))
    weights = np.bincount(kept.keys, np.bincount(kept.users)[kept.users] ** -0.5)
    noise = np.random.default_rng(seed).normal(0, sigma, len(weights))
    return int(((weights > 0) & (weights + noise > limit)).sum())


def released(pairs: Pairs, k: int, runs: int) -> dict[str, list[int]]:
    """The numbers of released keys of every mechanism."""
    target: dict[str, Any] = {"k": k, "epsilon": 1, "delta": "1e-5"}
    ways: dict[str, Any] = {
        "geometric": partial(by_counts, PartitionSelection.for_target(**target)),
        "counts (GSHM)": partial(by_counts, GSHM.for_target(**target)),
    }
    rounds = {"weighted": WeightedGaussian, "SIPS": SIPS, "MAD2R": MAD2R}
    ways |= {name: partial(by_weights, kind.for_target(**target)) for name, kind in rounds.items()}
    sizes = {
        name: [way(pairs, SeededSource(seed)) for seed in range(runs)] for name, way in ways.items()
    }
    sizes["weighted, published threshold"] = [published(k, pairs, seed) for seed in range(runs)]
    return {name: sizes[name] for name in COLOURS}


def by_largest(pairs: Pairs, runs: int) -> list[int]:
    """The CSH, which releases the largest counts: the best of its sizes."""
    counts = dict(enumerate(np.bincount(pairs.keys).tolist()))
    mechanisms = [
        TopK.for_target(top=k, epsilon=1, delta="1e-5") for k in SIZES if k <= len(counts)
    ]
    sizes = [[len(each.draw(counts, SeededSource(s))) for s in range(runs)] for each in mechanisms]
    return max(sizes, key=sum)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    data = {"words of 20 000 users": words(20_000, 0), "airports of 3 000 aircraft": flights(0)}
    results: dict[str, dict[int, dict[str, list[int]]]] = {}
    largest: dict[str, list[int]] = {}
    for title, pairs in data.items():
        middle, keys = np.median(np.bincount(pairs.users)), len(np.unique(pairs.keys))
        print(f"{title}: {len(pairs)} pairs, {keys} keys, median {middle:.0f} keys a user")
        results[title] = {k: released(pairs, k, runs) for k in LARGEST}
        for k, row in results[title].items():
            print(f"  k = {k}: " + ", ".join(f"{n} {np.mean(x):.1f}" for n, x in row.items()))
        largest[title] = by_largest(pairs, runs)
        print(f"  users not bounded: counts (CSH) {np.mean(largest[title]):.1f}")
    RESULTS.joinpath("key_sets.json").write_text(
        json.dumps({**results, "CSH": largest}, indent=1) + "\n", encoding="utf-8"
    )
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axes, (title, rows) in zip(panels, results.items(), strict=True):
        for name, colour in COLOURS.items():
            means = [float(np.mean(row[name])) for row in rows.values()]
            axes.plot(list(rows), means, "o-", color=colour, markersize=4, label=name)
        axes.axhline(float(np.mean(largest[title])), color="#cc79a7", ls=":", label="counts (CSH)")
        axes.set(xscale="log", xlabel="k, keys of a user (in each round)", ylabel="released keys")
        axes.set_title(title, loc="left", fontsize=10)
    panels[0].legend(frameon=False, fontsize=8)
    figure.savefig(RESULTS / "key_sets.png", dpi=150)


if __name__ == "__main__":
    main()
