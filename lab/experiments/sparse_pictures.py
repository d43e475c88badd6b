"""Pictures of the results sparse_*.json: Figures 1 to 3, and the distance to Section VI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results"
#: One colour and mark per scheme, the same in all pictures.
STYLES = {
    "SVA": ("#0072b2", "o"),
    "SVA, one bit": ("#56b4e9", "s"),
    "SVA, one bit, published clip": ("#999999", "s"),
    "SVA, delta = 1e-5": ("#009e73", "v"),
    "SVA, user level": ("#cc79a7", "o"),
    "k-fold": ("#e69f00", "^"),
    "sampling": ("#d55e00", "D"),
    "sampling, amplified": ("#b35900", "d"),
    "naive": ("#000000", "x"),
    "Harmony": ("#7f7f00", "<"),
    "SVA, stated": ("#004166", "*"),
    "SVA, one bit, stated": ("#2f8fbf", "P"),
    "PCKV, unary": ("#b266b2", "1"),
    "PCKV": ("#800080", ">"),
}


def read(name: str) -> dict[str, Any] | None:
    """The results of one panel, if it was run."""
    path = RESULTS / f"sparse_{name}.json"
    results: dict[str, Any] | None = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    )
    return results


def panel(axes: Any, results: dict[str, Any], error: str) -> None:
    """One error of every scheme against what varies."""
    varied, rows = results["varied"], results["rows"]
    for name in rows[0]["schemes"]:
        colour, mark = STYLES[name]
        y = [row["schemes"][name][error] for row in rows]
        x = [row[varied] for row in rows]
        axes.plot(x, y, color=colour, marker=mark, markersize=4, linewidth=1.2, label=name)
    if error.endswith("L_inf") and varied != "L":
        rate = [row["lower"] for row in rows]
        axes.plot([row[varied] for row in rows], rate, ":", color="#555555", label="Section VI")
    axes.set_yscale("log")
    if varied != "epsilon":
        axes.set_xscale("log", base=2)
    axes.set_xlabel(varied)


def figure(level: str, title: str) -> None:
    """Two rows of errors, against k, epsilon and d; the latter two over the top 100 items."""
    panels = [(x, read(f"{level}-{x}")) for x in ("k", "epsilon", "d")]
    if not all(results for _, results in panels):
        return
    picture, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    for column, (varied, results) in enumerate(panels):
        assert results is not None
        top = "" if varied == "k" else "top_"
        for row, error in enumerate(("L_inf", "mse")):
            panel(axes[row, column], results, top + error)
            where = "all items" if varied == "k" else "top 100 items"
            name = "largest error" if error == "L_inf" else "mean square error"
            axes[row, column].set_title(f"{name}, {where}", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    picture.suptitle(title)
    picture.savefig(RESULTS / f"sparse_{level}.png", dpi=110)
    plt.close(picture)


def between() -> None:
    """Figure 3: errors against L."""
    results = read("L")
    if results is None:
        return
    picture, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for axis, error in zip(axes, ("L_inf", "mse"), strict=True):
        panel(axis, results, error)
    handles, labels = axes[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    picture.suptitle("Figure 3: L-neighbours, k = 64, d = 4096, epsilon = 1 (k-fold: events only)")
    picture.savefig(RESULTS / "sparse_L.png", dpi=110)
    plt.close(picture)


def distances() -> None:
    """How many times the rate of Section VI every scheme's largest error is, over k."""
    levels = [(level, read(f"{level}-k")) for level in ("user", "event")]
    if not all(results for _, results in levels):
        return
    picture, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    for axis, (level, results) in zip(axes, levels, strict=True):
        assert results is not None
        for name in results["rows"][0]["schemes"]:
            colour, mark = STYLES[name]
            x = [row["k"] for row in results["rows"]]
            y = [row["schemes"][name]["L_inf"] / row["lower"] for row in results["rows"]]
            axis.plot(x, y, color=colour, marker=mark, markersize=4, linewidth=1.2, label=name)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_title(f"{level} level: largest error over the rate of Section VI", fontsize=9)
        axis.set_xlabel("k")
        axis.legend(fontsize=7)
    picture.savefig(RESULTS / "sparse_distance.png", dpi=110)
    plt.close(picture)


def main() -> None:
    figure("user", "Figure 1: user level, n = 1e5")
    figure("event", "Figure 2: event level, n = 1e5")
    between()
    distances()


if __name__ == "__main__":
    main()
