"""ALP, Section 9: Figures 3a, 3b and 5, and the numbers in its text.

Run: python -m lab.experiments.unary_sketches   (four minutes of processor time)
Algorithm 3 is simulated as in the paper (beta = 5000, uniform values, collisions at every level);
where walks are short enough, its exact mean error is computed, too.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from exactdp_proofs.papers.alp._exact_errors import uniform
from numpy.typing import NDArray

from exactdp.mechanisms.projections.error_law import estimate_law

matplotlib.use("Agg")

from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results"
BETA = 5000
REPETITIONS = 100_000
#: Coin flips of one simulated point; longer walks are repeated less often.
FLIPS = 20_000_000
COLLISIONS = (0.0, 0.05, 0.1, 0.15, 0.2)
ALPHAS = [n / 10 for n in range(1, 101)]
EXACT = (3, 4, 5, 6, 8, 10)
EPSILONS = [0.05, *(n / 20 for n in range(5, 201))]


def bound(alpha: float, collision: float) -> float:
    """The upper bound of the mean error in Section 9 (Figure 3a)."""
    gamma = (alpha + 2) / (1 + alpha * collision) - 2
    return (0.5 + (4 * alpha + 4) / alpha**2 + (4 * gamma + 4) / gamma**2) * alpha


def simulated(
    levels: NDArray[np.float64], m: int, flip: float, collision: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Estimate - level of one entry for each fractional level, which is rounded at random."""
    y = np.floor(levels + rng.random(len(levels))).astype(np.int64)
    wrong = flip + collision * (1 - 2 * flip)
    reach = [_reach(p, m) for p in (flip, wrong)]
    errors = np.empty(len(y))
    together = max(FLIPS // 10 // sum(reach), 1)
    for start in range(0, len(y), together):
        part = y[start : start + together, None]
        places = part + np.arange(-reach[0], reach[1])
        up = np.where(places < part, 1 - flip, wrong).astype(np.float32)
        up[places < 0], up[places >= m] = 1, 0  # the walk starts at 0 and ends at m
        steps = 2 * (rng.random(up.shape, np.float32) < up).astype(np.int8) - 1
        sums = np.cumsum(steps, axis=1, dtype=np.int32)
        top = sums == sums.max(axis=1, keepdims=True)
        ends = (top * (places + 1)).sum(axis=1) / top.sum(axis=1)
        errors[start : start + together] = ends - levels[start : start + together]
    return errors


def _reach(p: float, m: int) -> int:
    """Steps after which a walk with P(+1) = p is above its start with probability below 1e-6."""
    return min(int(np.log(1e-6) / np.log(4 * p * (1 - p)) * 2) + 2, m)


def mean_error(
    alpha: float, p: float, collision: float, whole: bool, rng: np.random.Generator
) -> tuple[float, float]:
    """Mean |error| in levels and its standard error; whole: levels are whole numbers."""
    m = int(np.ceil(BETA / alpha))
    wrong = p + collision * (1 - 2 * p)
    runs = min(REPETITIONS, max(FLIPS // (_reach(p, m) + _reach(wrong, m)), 200))
    levels = rng.random(runs) * BETA / alpha
    errors = np.abs(simulated(np.floor(levels) if whole else levels, m, p, collision, rng))
    return float(errors.mean()), float(errors.std() / np.sqrt(runs))


def figure_3(rng: np.random.Generator) -> dict[str, Any]:
    """Bounds, simulated errors with their standard errors, and some exact errors."""
    results: dict[str, Any] = {"alpha": ALPHAS, "exact_alpha": list(EXACT), "curves": {}}
    for c in COLLISIONS:
        seen = [mean_error(a, 1 / (a + 2), c, False, rng) for a in ALPHAS]
        exact = [
            uniform(Fraction(a), Fraction(str(c))).mean_absolute().float_upper() for a in EXACT
        ]
        results["curves"][str(c)] = {
            "bound": [round(bound(a, c), 4) for a in ALPHAS],
            "simulated": [round(a * mean, 4) for a, (mean, _) in zip(ALPHAS, seen, strict=True)],
            "standard_error": [round(a * se, 4) for a, (_, se) in zip(ALPHAS, seen, strict=True)],
            "exact": [round(x, 4) for x in exact],
        }
    return results


def figure_5(rng: np.random.Generator) -> dict[str, Any]:
    """Mean errors of Algorithm 4 with alpha = 3, exactly, and of Algorithm 10."""
    curves: dict[str, list[float]] = {}
    for name, c in (("Algorithm 4, s = inf", "0"), ("Algorithm 4, s = 10k", "0.1")):
        law = estimate_law(Fraction(800), 1667, Fraction(1, 5), Fraction(c))
        each = 3 * law.mean_absolute().float_upper()
        curves[name] = [float(f"{each / e:.4g}") for e in EPSILONS]
    chances = {
        "Algorithm 10, s = inf": lambda _: 0.0,
        "Algorithm 10, s = 10 k epsilon": lambda e: 0.1 / max(e, 1),
        "Algorithm 10, s = 10 k e^epsilon": lambda e: 0.1 / np.exp(e) if e >= 1 else 0.1,
    }
    for name, chance in chances.items():
        curves[name] = [float(f"{_histogram_error(e, chance(e), rng):.4g}") for e in EPSILONS]
    return {"epsilon": EPSILONS, "curves": curves}


def _histogram_error(epsilon: float, collision: float, rng: np.random.Generator) -> float:
    """Mean |error| of Algorithm 10: exactly from epsilon = 1 on, else simulated."""
    p = 1 / (np.exp(epsilon) + 1)
    if epsilon < 1:
        return mean_error(1.0, p, collision, True, rng)[0]
    law = estimate_law(Fraction(2500), BETA, Fraction(p), Fraction(collision))
    return law.mean_absolute().float_upper()


def draw(name: str, results: dict[str, Any]) -> None:
    """Figure 3 as two panels, or Figure 5."""
    if name == "alp_figure_3":
        picture, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        for c, curve in results["curves"].items():
            line = left.plot(results["alpha"], curve["bound"], label=f"k/s = {c}")[0]
            right.plot(results["alpha"], curve["simulated"], color=line.get_color(), label=line)
            right.plot(results["exact_alpha"], curve["exact"], "x", color=line.get_color())
        for axes, title, top in ((left, "(a) bound", 80), (right, "(b) simulated; x: exact", 40)):
            axes.set(
                title=title, xlabel="alpha", ylabel="mean |error|", xlim=(0, 10), ylim=(0, top)
            )
        left.legend(fontsize=8)
    else:
        picture, axes = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
        e = np.array(results["epsilon"][1:])
        for label, y in results["curves"].items():
            axes.plot(e, y[1:], label=label, linewidth=1.2)
        axes.plot(e, 1 / e, "k:", label="1/epsilon")
        axes.plot(e, np.exp(-e), "k--", label="1/e^epsilon")
        axes.set(yscale="log", xlabel="epsilon", ylabel="mean |error|")
        axes.legend(fontsize=8)
    picture.savefig(RESULTS / f"{name}.png", dpi=80)
    plt.close(picture)


def main() -> None:
    """Compute, store and draw both figures."""
    rng = np.random.default_rng(9)
    for name, make in (("alp_figure_3", figure_3), ("alp_figure_5", figure_5)):
        results = make(rng)
        (RESULTS / f"{name}.json").write_text(json.dumps(results) + "\n", encoding="utf-8")
        draw(name, results)


if __name__ == "__main__":
    main()
