"""CP, Section 5, whole: l1 errors for k = 10000, m = 500, by users (Figure 2) and by epsilon (3).

Run: python -m experiments.compressive_privatization [--runs 10] [--figure 2] [--quick]
Every mechanism keeps epsilon exactly, the compressive one by balanced columns: with the paper's
random signs and its r = e^epsilon the loss would be above 0.566 instead of 0.5.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from exactdp.local import (
    CompressiveResponse,
    HadamardResponse,
    OptimizedLocalHashing,
    RandomizedResponse,
    Rappor,
    SubsetSelection,
)
from exactdp.local.frequency import normalized, projected
from exactdp.local.recovery import Pursuit
from experiments.shares import PAPER, l1, states

RESULTS = Path(__file__).parent / "results"
K, M = 10_000, 500
SIZES = list(range(50_000, 1_000_001, 50_000))
EPSILONS = ["0.25", "0.5", "0.75", "1", "1.5", "2"]
ORACLES = {
    "RR": RandomizedResponse,
    "RAPPOR": Rappor,
    "SS": SubsetSelection,
    "HR": HadamardResponse,
    "OLH": OptimizedLocalHashing,
}


def errors(name: str, epsilon: str, law: str, sizes: list[int], seed: int) -> dict[str, Any]:
    """The errors of one run: decoder -> one number for every number of users."""
    make, sparsity = PAPER[law]
    p = make(K)
    found: dict[str, list[float]] = {"normalized": [], "projected": []}
    if name == "CP":
        cp = CompressiveResponse(k=K, m=M, epsilon=epsilon, seed=seed, ones=M // 2)
        for state in states(cp, p, sizes, seed):
            raw = cp.recover(state, Pursuit(sparsity))
            found["normalized"].append(float(np.abs(normalized(raw) - p).sum()))
            found["projected"].append(float(np.abs(projected(raw) - p).sum()))
        return found
    oracle = ORACLES[name](K, epsilon)
    for state in states(oracle, p, sizes, seed):
        for method, kept in found.items():
            kept.append(l1(oracle, state, p, method))
    return found


def measured(
    epsilon: str, law: str, sizes: list[int], runs: dict[str, int]
) -> dict[str, dict[str, list[list[float]]]]:
    """Mechanism -> decoder -> runs x sizes."""
    table = {}
    for name, number in runs.items():
        each = [errors(name, epsilon, law, sizes, 1000 + run) for run in range(number)]
        table[name] = {method: [run[method] for run in each] for method in each[0]}
        last = {method: np.mean(rows, axis=0)[-1] for method, rows in table[name].items()}
        shown = ", ".join(f"{method} {value:.4f}" for method, value in last.items())
        print(f"{law} epsilon {epsilon} n {sizes[-1]} {name} ({number} runs): {shown}", flush=True)
    return table


def ratios(table: dict[str, Any]) -> dict[str, list[float]]:
    """Mean error of the best other mechanism over that of CP, by decoder and number of users."""
    mean = {
        (name, method): np.mean(rows, axis=0)
        for name, methods in table.items()
        for method, rows in methods.items()
    }
    return {
        method: (
            np.min([v for (name, m), v in mean.items() if name != "CP" and m == method], axis=0)
            / mean["CP", method]
        ).tolist()
        for method in ("normalized", "projected")
    }


def picture(tables: dict[str, Any], axis: list[float], label: str, path: Path) -> None:
    """One panel for every distribution: means with the standard deviation of runs as bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(11, 8), sharex=True)
    colours = dict(zip(("CP", *ORACLES), plt.get_cmap("tab10").colors, strict=False))
    for panel, (law, table) in zip(panels.flat, tables.items(), strict=True):
        for name, methods in table.items():
            for method, rows in methods.items():
                panel.errorbar(
                    axis, np.mean(rows, axis=0), np.std(rows, axis=0), capsize=2,
                    color=colours[name], ls="-" if method == "normalized" else "--",
                    label=f"{name}, {method}",
                )  # fmt: skip
        panel.set(title=law, xlabel=label, ylabel="l1 error", yscale="log")
    panels.flat[0].legend(fontsize=6, ncol=2)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--subset-runs", type=int, default=10, help="SS takes most of the time")
    parser.add_argument("--figure", type=int, choices=(2, 3), help="only one of them")
    parser.add_argument("--quick", action="store_true", help="n = 50000 and 100000, two epsilons")
    given = parser.parse_args()
    runs = {"CP": given.runs, **dict.fromkeys(ORACLES, given.runs), "SS": given.subset_runs}
    runs = {name: number for name, number in runs.items() if number}
    sizes = SIZES[:2] if given.quick else SIZES
    if given.figure != 3:
        by_users(sizes, runs)
    if given.figure != 2:
        by_epsilon(EPSILONS[:2] if given.quick else EPSILONS, sizes[-1], runs)


def by_users(sizes: list[int], runs: dict[str, int]) -> None:
    """Figure 2, and how much lower the errors of CP are."""
    tables = {law: measured("0.5", law, sizes, runs) for law in PAPER}
    lower = {law: ratios(table) for law, table in tables.items()}
    _save({"sizes": sizes, "runs": runs, "errors": tables, "ratios": lower}, "by_users")
    picture(tables, sizes, "users", RESULTS / "compressive_by_users.png")
    for law, rows in lower.items():
        for method, values in rows.items():
            print(f"{law}, {method}: best other / CP = {min(values):.2f} to {max(values):.2f}")


def by_epsilon(epsilons: list[str], users: int, runs: dict[str, int]) -> None:
    """Figure 3, for the largest number of users."""
    tables = {law: _by_epsilon(law, epsilons, users, runs) for law in PAPER}
    _save({"epsilons": epsilons, "users": users, "runs": runs, "errors": tables}, "by_epsilon")
    numbers = [float(epsilon) for epsilon in epsilons]
    picture(tables, numbers, f"epsilon, {users} users", RESULTS / "compressive_by_epsilon.png")


def _by_epsilon(law: str, epsilons: list[str], users: int, runs: dict[str, int]) -> dict[str, Any]:
    tables = [measured(epsilon, law, [users], runs) for epsilon in epsilons]
    return {
        name: {
            method: [[table[name][method][run][0] for table in tables] for run in range(runs[name])]
            for method in ("normalized", "projected")
        }
        for name in runs
    }


def _save(found: dict[str, Any], name: str) -> None:
    rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 5))
    (RESULTS / f"compressive_{name}.json").write_text(json.dumps(rounded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
