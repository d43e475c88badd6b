"""What CP does not show: balanced against random columns, unknown sparsity, real data, its limits.

Run: python -m lab.experiments.compressive_beyond [--runs 10]. k = 10000, m = 500, epsilon = 0.5.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from exactdp.local import (
    CompressiveResponse,
    HadamardResponse,
    MatrixResponse,
    OptimizedLocalHashing,
    State,
)
from exactdp.local.compressive import SetResponse
from exactdp.local.frequency_oracle import projected
from exactdp.local.public_matrices import RandomColumns
from exactdp.local.sparse_recovery import Lasso, Pursuit
from lab.experiments.shares import PAPER, states, uniform, words

K, M, EPSILON = 10_000, 500, "0.5"
RESULTS = Path(__file__).parent / "results"

#: An estimate from a state, made a distribution.
Decoder = Callable[[SetResponse, State], Any]


def balanced(seed: int) -> SetResponse:
    """Sets of m/2 outputs."""
    return CompressiveResponse(k=K, m=M, epsilon=EPSILON, seed=seed, ones=M // 2)


def smaller(seed: int) -> SetResponse:
    """Sets of m/(r + 1) outputs."""
    return CompressiveResponse(k=K, m=M, epsilon=EPSILON, seed=seed)


def rademacher(seed: int) -> SetResponse:
    """Random signs, with the r that keeps epsilon."""
    return MatrixResponse(RandomColumns(k=K, m=M, seed=seed), epsilon=EPSILON)


def recovered(recovery: Any) -> Decoder:
    """A decoder that applies a recovery and then projects onto the simplex."""
    return lambda mechanism, state: projected(mechanism.recover(state, recovery))


def error(mechanism: Any, decoder: Any, p: Any, n: int, seed: int) -> float:
    """The l1 error of one run."""
    state = next(states(mechanism, p, [n], seed))
    return float(np.abs(decoder(mechanism, state) - p).sum())


def table(title: str, rows: dict[str, list[float]]) -> dict[str, list[float]]:
    """Print means with their standard errors."""
    print(title)
    for name, values in rows.items():
        spread = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
        print(f"  {name:44} l1 error {np.mean(values):.4f} +- {spread:.4f}", flush=True)
    return rows


def columns(runs: int, n: int) -> dict[str, Any]:
    """Balanced against random columns, the sparsity known."""
    first = rademacher(1)
    print(f"random signs keep epsilon = 0.5 with r = {float(first.ratio):.4f} instead of 1.6487")
    tables = {}
    for law, (make, sparsity) in PAPER.items():
        p, decoder = make(K), recovered(Pursuit(sparsity))
        tables[law] = table(
            f"{law}, n = {n}",
            {
                kind.__name__: [error(kind(run), decoder, p, n, run) for run in range(runs)]
                for kind in (balanced, smaller, rademacher)
            },
        )
    return {"ratio of random signs": float(first.ratio), "errors": tables}


def sparsity(runs: int, n: int) -> dict[str, Any]:
    """The sparsity known, chosen from the data, and the lasso."""
    tables = {}
    for law, (make, known) in PAPER.items():
        p = make(K)
        recoveries = {"s known": Pursuit(known), "s chosen": Pursuit(), "lasso": Lasso()}
        rows = {
            name: [error(smaller(run), recovered(each), p, n, run) for run in range(runs)]
            for name, each in recoveries.items()
        }
        tables[law] = table(f"{law}, n = {n}, recovery", rows)
    return tables


def against_others(laws: dict[str, Any], runs: int, sizes: list[int]) -> dict[str, Any]:
    """CP without being told s against Hadamard response and local hashing, all projected."""

    def plain(_: Any, state: State) -> Any:
        return state.estimate("projected")

    tables = {}
    for (law, p), n in ((item, n) for item in laws.items() for n in sizes):
        contestants: dict[str, Any] = {
            "compressive": (smaller, recovered(Pursuit())),
            "hadamard": (lambda _: HadamardResponse(K, EPSILON), plain),
            "hashing": (lambda _: OptimizedLocalHashing(K, EPSILON), plain),
        }
        rows = {
            name: [error(make(run), decoder, p, n, run) for run in range(runs)]
            for name, (make, decoder) in contestants.items()
        }
        tables[f"{law}, n = {n}"] = table(f"{law}, n = {n}", rows)
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    limits = {f"Unif({s})": uniform(s, K) for s in (25, 50, 100, 400)}
    results = {
        "columns": columns(runs, 200_000),
        "sparsity": sparsity(runs, 200_000),
        "words": against_others({"English words": words(K)}, runs, [100_000, 1_000_000]),
        "limits": against_others(limits, runs, [100_000, 1_000_000]),
    }
    text = json.dumps(json.loads(json.dumps(results), parse_float=lambda x: round(float(x), 5)))
    (RESULTS / "compressive_beyond.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
