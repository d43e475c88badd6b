"""CP, Section 5, whole: l1 errors for k = 10000, m = 500, by users (Figure 2) and by epsilon (3).

Run: python -m lab.experiments.compressive_privatization [--runs 10] [--figure 2] [--only SS]
[--quick] Every mechanism keeps epsilon exactly, the compressive one by balanced columns: with the
paper's random signs and its r = e^epsilon the loss would be above 0.566 instead of 0.5.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from exactdp.local import (
    CompressiveResponse,
    FrequencyOracle,
    HadamardResponse,
    OptimizedLocalHashing,
    RandomizedResponse,
    Rappor,
    State,
    SubsetSelection,
)
from exactdp.local.frequency_oracle import normalized, projected
from exactdp.local.sparse_recovery import Pursuit
from lab.experiments.shares import PAPER, exchanged, l1, states

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


#: Law -> decoder -> one number for every number of users.
Errors = dict[str, dict[str, list[float]]]


def errors(name: str, epsilon: str, sizes: list[int], seed: int) -> Errors:
    """The errors of one run."""
    laws = {law: make(K) for law, (make, _) in PAPER.items()}
    if name == "CP":
        return {law: _recovered(epsilon, law, p, sizes, seed) for law, p in laws.items()}
    oracle = ORACLES[name](K, epsilon)
    errors_by_law: Errors = {law: {"normalized": [], "projected": []} for law in laws}
    for grown in _states(oracle, laws, sizes, seed):
        for (law, methods), p in zip(errors_by_law.items(), laws.values(), strict=True):
            for method, kept in methods.items():
                kept.append(l1(oracle, grown[law], p, method))
    return errors_by_law


def _recovered(epsilon: str, law: str, p: Any, sizes: list[int], seed: int) -> dict[str, Any]:
    cp = CompressiveResponse(k=K, m=M, epsilon=epsilon, seed=seed, ones=M // 2)
    errors_by_method: dict[str, list[float]] = {"normalized": [], "projected": []}
    for state in states(cp, p, sizes, seed):
        raw = cp.recover(state, Pursuit(PAPER[law][1]))
        errors_by_method["normalized"].append(float(np.abs(normalized(raw) - p).sum()))
        errors_by_method["projected"].append(float(np.abs(projected(raw) - p).sum()))
    return errors_by_method


def _states(
    oracle: FrequencyOracle, laws: dict[str, Any], sizes: list[int], seed: int
) -> Iterator[dict[str, State]]:
    if isinstance(oracle, SubsetSelection):
        yield from exchanged(oracle, laws, sizes, seed)
        return
    each = zip(*(states(oracle, p, sizes, seed) for p in laws.values()), strict=True)
    yield from (dict(zip(laws, grown, strict=True)) for grown in each)


def measured(
    epsilon: str, sizes: list[int], runs: dict[str, int]
) -> dict[str, dict[str, dict[str, list[list[float]]]]]:
    """Law -> mechanism -> decoder -> runs x sizes."""
    tables: dict[str, Any] = {law: {} for law in PAPER}
    for name, number in runs.items():
        each = [errors(name, epsilon, sizes, 1000 + run) for run in range(number)]
        for law, table in tables.items():
            table[name] = {method: [run[law][method] for run in each] for method in each[0][law]}
            last = {method: np.mean(rows, axis=0)[-1] for method, rows in table[name].items()}
            summary = ", ".join(f"{method} {value:.4f}" for method, value in last.items())
            print(f"{law} epsilon {epsilon} n {sizes[-1]} {name} ({number} runs): {summary}",
                  flush=True)  # fmt: skip
    return tables


def ratios(table: dict[str, Any]) -> dict[str, list[float]]:
    """Mean error of the best other mechanism over that of CP, by decoder and number of users.

    Empty where there is nothing to compare: only CP was measured, or all but CP.
    """
    if "CP" not in table or len(table) == 1:
        return {}
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
    parser.add_argument(
        "--only", choices=("CP", *ORACLES), help="the others as the results have it"
    )
    parser.add_argument("--figure", type=int, choices=(2, 3), help="only one of them")
    parser.add_argument("--quick", action="store_true", help="n = 50000 and 100000, two epsilons")
    arguments = parser.parse_args()
    runs = dict.fromkeys([arguments.only] if arguments.only else ["CP", *ORACLES], arguments.runs)
    sizes = SIZES[:2] if arguments.quick else SIZES
    # a quick run must not replace the results of a whole one
    folder = Path(tempfile.mkdtemp()) if arguments.quick else RESULTS
    if arguments.figure != 3:
        by_users(sizes, runs, folder)
    if arguments.figure != 2:
        by_epsilon(EPSILONS[:2] if arguments.quick else EPSILONS, sizes[-1], runs, folder)
    print(f"written to {folder}")


def by_users(sizes: list[int], runs: dict[str, int], folder: Path) -> None:
    """Figure 2, and how much lower the errors of CP are."""
    path = folder / "compressive_by_users.json"
    results = _joined({"sizes": sizes}, runs, measured("0.5", sizes, runs), path)
    lower = results["ratios"] = {law: ratios(table) for law, table in results["errors"].items()}
    _save(results, path)
    picture(results["errors"], sizes, "users", path.with_suffix(".png"))
    _printed(lower)


def by_epsilon(epsilons: list[str], users: int, runs: dict[str, int], folder: Path) -> None:
    """Figure 3, for the largest number of users."""
    path = folder / "compressive_by_epsilon.json"
    each = [measured(epsilon, [users], runs) for epsilon in epsilons]
    tables = {
        law: {
            name: {
                method: [[table[law][name][method][run][0] for table in each] for run in range(n)]
                for method in ("normalized", "projected")
            }
            for name, n in runs.items()
        }
        for law in PAPER
    }
    results = _joined({"epsilons": epsilons, "users": users}, runs, tables, path)
    _save(results, path)
    numbers = [float(epsilon) for epsilon in epsilons]
    picture(results["errors"], numbers, f"epsilon, {users} users", path.with_suffix(".png"))
    _printed({law: ratios(table) for law, table in results["errors"].items()})


def _joined(axis: dict[str, Any], runs: dict[str, int], tables: Any, path: Path) -> dict[str, Any]:
    """What was measured now, and of mechanisms that were not, what the results of this axis say."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if {name: before.get(name) for name in axis} != axis:
        before = {"runs": {}, "errors": {law: {} for law in tables}}
    errors = {law: before["errors"][law] | table for law, table in tables.items()}
    ordered = {
        law: {n: table[n] for n in ("CP", *ORACLES) if n in table} for law, table in errors.items()
    }
    return {**axis, "runs": before["runs"] | runs, "errors": ordered}


def _printed(lower: dict[str, dict[str, list[float]]]) -> None:
    for law, rows in lower.items():
        for method, values in rows.items():
            print(f"{law}, {method}: best other / CP = {min(values):.2f} to {max(values):.2f}")


def _save(results: dict[str, Any], path: Path) -> None:
    rounded = json.loads(json.dumps(results), parse_float=lambda text: round(float(text), 5))
    path.write_text(json.dumps(rounded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
