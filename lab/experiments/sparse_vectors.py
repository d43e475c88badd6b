"""SVA, Section V, whole: Figures 1 to 3 on synthetic data, Tables IV to VI on MovieLens.

Run: python -m lab.experiments.sparse_vectors [--runs 10] [--users 100000]
     [--only user-k event-epsilon]
     [--schemes "SVA, stated"]   (adds these schemes to the stored results)
Every scheme keeps its epsilon exactly. "one bit" answers as the published code does, and "one bit,
published clip" clips where it does, at sqrt(k ln n)/2.5. "stated" clips for vectors like those of a
public sample (here 1000 other users of the same law), such that the largest mean is right or, "all
items", for the least mean square error; the others clip for the worst vectors. The reports
of naive perturbation, d numbers per user, are not made one by one: the sum of n noises is drawn
from the normal law with their variance. All estimates are moved into [-1, 1], as errors of 1.0 in
the paper suggest: a mean beyond tells nothing. At event level Harmony and PCKV are as at user
level, as in the paper.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, log, sqrt
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from exactdp.local import LocalMechanism, SparseVectorMean
from exactdp.local.sparse import (
    Harmony,
    KFold,
    NaiveGaussian,
    OneBit,
    Pckv,
    PckvUnary,
    Sampled,
    Stated,
)
from exactdp.samplers import SeededSource
from lab.experiments.ratings import Data, movielens, zipf

RESULTS = Path(__file__).parent / "results"
TOP = 100
# the users, items (the most rated) and most ratings of a user in the tables; MovieLens has 1682
SIZES = [
    ("as it is", 943, 1682, 100),
    ("Table IV, clothing", 47_958, 1378, 6),
    ("Table V, renting", 105_571, 1682, 11),
    ("Table VI, movies", 138_493, 1682, 100),
]


@dataclass(frozen=True)
class Setting:
    """n users, d items, at most k entries; what changes by L where that is given.

    entries, share: what a public sample says of the vectors; mean_share: of all items.
    """

    n: int
    d: int
    k: int
    epsilon: float
    L: float | None = None
    entries: int = 1
    share: Fraction = Fraction(1)
    mean_share: Fraction = Fraction(1)

    @property
    def basic(self) -> dict[str, Any]:
        return {"d": self.d, "k": self.k, "epsilon": self.epsilon}

    @property
    def stated(self) -> dict[str, Any]:
        return {**self.basic, "users": self.n, "entries": self.entries, "share": self.share}

    @property
    def of_all_items(self) -> dict[str, Any]:
        return {**self.stated, "share": self.mean_share}


Make = Callable[[Setting], LocalMechanism[Any]]

USER: dict[str, Make] = {
    "SVA": lambda s: SparseVectorMean(**s.basic, level="user", users=s.n),
    "SVA, stated": lambda s: SparseVectorMean(**s.stated, level="user"),
    "SVA, one bit": lambda s: OneBit(**s.basic, users=s.n),
    "SVA, one bit, stated": lambda s: OneBit(**s.stated),
    "SVA, all items": lambda s: SparseVectorMean(**s.of_all_items, level="user"),
    "SVA, one bit, all items": lambda s: OneBit(**s.of_all_items),
    "SVA, one bit, published clip": lambda s: OneBit(**s.basic, clip=sqrt(s.k * log(s.n)) / 2.5),
    "sampling": lambda s: Sampled(**s.basic),
    "naive": lambda s: NaiveGaussian(**s.basic),
    "Harmony": lambda s: Harmony(**s.basic),
    "PCKV": lambda s: Pckv(**s.basic),
    "PCKV, unary": lambda s: PckvUnary(**s.basic),
}
EVENT: dict[str, Make] = {
    "SVA": lambda s: SparseVectorMean(**s.basic, level="event", users=s.n),
    "k-fold": lambda s: KFold(**s.basic),
    "sampling": lambda s: Sampled(**s.basic),
    "sampling, amplified": lambda s: Sampled(**s.basic, level="event"),
    "naive": lambda s: NaiveGaussian(**s.basic, level="event"),
    "Harmony": lambda s: Harmony(**s.basic),
    "PCKV": lambda s: Pckv(**s.basic),
}
BETWEEN: dict[str, Make] = {
    "SVA": lambda s: SparseVectorMean(**s.basic, L=s.L, users=s.n),
    "SVA, delta = 1e-5": lambda s: SparseVectorMean(
        **s.basic, L=s.L, users=s.n, delta="1e-5", hashes="keyed"
    ),
    "SVA, user level": USER["SVA"],
    "SVA, one bit": USER["SVA, one bit"],
    "k-fold": EVENT["k-fold"],
    "sampling": USER["sampling"],
    "Harmony": USER["Harmony"],
    "PCKV": USER["PCKV"],
}


def panels(n: int) -> dict[str, tuple[dict[str, Make], str, list[Setting]]]:
    """Name -> schemes, what varies, settings. Top and bottom row of a figure are one run."""
    ks = [Setting(n, 4096, 4**i, 1.0) for i in range(6)]
    epsilons = [Setting(n, 100_000, 64, 0.5 * i) for i in range(1, 8)]
    sizes = [Setting(n, d, min(64, d), 1.0) for d in (64, 256, 1024, 4096, 16_384, 100_000)]
    lengths = [Setting(n, 4096, 64, 1.0, float(2**i)) for i in range(8)]
    return {
        "user-k": (USER, "k", ks),
        "user-epsilon": (USER, "epsilon", epsilons),
        "user-d": (USER, "d", sizes),
        "event-k": (EVENT, "k", ks),
        "event-epsilon": (EVENT, "epsilon", epsilons),
        "event-d": (EVENT, "d", sizes),
        "L": (BETWEEN, "L", lengths),
    }


def estimated(m: LocalMechanism[Any], data: Data, truth: np.ndarray, seed: int) -> np.ndarray:
    """The means that a server estimates from all users."""
    if isinstance(m, NaiveGaussian):
        noise = np.random.default_rng(seed).normal(0, sqrt(m.variance / data.n), data.d)
        return np.asarray(truth + noise)
    if isinstance(m, SparseVectorMean) and m.hashes == "keyed":
        # the keyed functions take hours at all items; the same plan with linear ones, which have
        # the same variance, stands in for them in this simulation
        m = _with_linear_functions(m)
    source, state = SeededSource(seed), m.aggregate()
    for part in data.parts():
        state.add(m.draw_many(part, source))
    return np.asarray(state.estimate().values)


def _with_linear_functions(m: SparseVectorMean) -> SparseVectorMean:
    same = SparseVectorMean(d=m.d, k=m.k, epsilon=m.epsilon, level="event", bins=m.plan.bins)
    same.__dict__["plan"] = m.plan
    return same


def measured(make: Make, s: Setting, data: Data, truth: np.ndarray, seed: int) -> dict[str, float]:
    """Both errors over all items, and over those with the largest means."""
    m = make(s)
    error = np.abs(estimated(m, data, truth, seed).clip(-1, 1) - truth)
    top = np.argsort(-np.abs(truth))[:TOP]
    return {
        "L_inf": float(error.max()),
        "mse": float((error**2).mean()),
        "top_L_inf": float(error[top].max()),
        "top_mse": float((error[top] ** 2).mean()),
        "bytes": (m.bits + 7) // 8,
    }


def averaged(schemes: dict[str, Make], s: Setting, data: list[Data]) -> dict[str, dict[str, float]]:
    """Means over runs, by scheme."""
    truths = [one.means() for one in data]
    sample = next(replace(data[0], n=1000, seed=10**6).parts())
    stated, of_all = Stated.of(sample), Stated.of(sample, s.d)
    entries = min(stated.entries, s.k)
    s = replace(s, entries=entries, share=stated.share, mean_share=of_all.share)
    means = {}
    for name, make in schemes.items():
        start = perf_counter()
        rows = [measured(make, s, one, t, one.seed) for one, t in zip(data, truths, strict=True)]
        means[name] = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        print(
            f"  {name:30} L_inf {means[name]['L_inf']:.4g}  mse {means[name]['mse']:.4g}"
            f"  {means[name]['bytes']:.0f} bytes  ({perf_counter() - start:.0f} s)",
            flush=True,
        )
    return means


def lower_bound(s: Setting, level: str) -> float:
    """Section VI without its constant: sqrt(log |S|/n)/epsilon; |S| is C(d, k), or d for events."""
    size = comb(s.d, s.k) if level == "user" else s.d
    return sqrt(log(size) / s.n) / s.epsilon


def merged(name: str, results: dict[str, Any]) -> dict[str, Any]:
    """The results, together with the stored results of other schemes."""
    path = RESULTS / f"{name}.json"
    if path.exists():
        for row, old in zip(
            results["rows"], json.loads(path.read_text(encoding="utf-8"))["rows"], strict=True
        ):
            row["schemes"] = {**old["schemes"], **row["schemes"]}
    return results


def figure(runs: int, n: int, only: list[str]) -> None:
    """The panels, one JSON file each."""
    for name, (schemes, varied, settings) in panels(n).items():
        if only and name not in only:
            continue
        rows = []
        for s in settings:
            print(f"{name}: {varied} = {getattr(s, varied):g}", flush=True)
            data = [zipf(s.n, s.d, s.k, seed) for seed in range(runs)]
            by_scheme = averaged(schemes, s, data)
            level = "event" if name.startswith("event") else "user"
            rows.append(
                {varied: getattr(s, varied), "lower": lower_bound(s, level), "schemes": by_scheme}
            )
        _write(f"sparse_{name}", {"n": n, "runs": runs, "varied": varied, "rows": rows})


def tables(runs: int) -> None:
    """Tables IV to VI on MovieLens-100k, drawn to their numbers of users and ratings."""
    rows = []
    for like, n, d, k in SIZES:
        data = [movielens(k, seed, n, d) for seed in range(runs)]
        s = Setting(n, data[0].d, k, 1.0)
        for level, schemes in (("event", EVENT), ("user", USER)):
            print(f"{like}: {n} users, {level} level", flush=True)
            size = {"like": like, "n": n, "d": s.d, "k": k, "level": level}
            rows.append({**size, "schemes": averaged(schemes, s, data)})
    _write("sparse_movielens", {"runs": runs, "rows": rows})


def _write(name: str, results: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(
        json.dumps(merged(name, results), indent=1) + "\n", encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--schemes", nargs="*", default=[])
    arguments = parser.parse_args()
    if arguments.schemes:
        for schemes in (USER, EVENT, BETWEEN):
            for name in schemes.keys() - set(arguments.schemes):
                del schemes[name]
    if not arguments.only or "movielens" in arguments.only:
        try:
            tables(arguments.runs)
        except SystemExit as missing:
            print(f"Tables IV to VI are left out: {missing}")
    figure(arguments.runs, arguments.users, arguments.only)
    from lab.experiments import sparse_pictures

    sparse_pictures.main()


if __name__ == "__main__":
    main()
