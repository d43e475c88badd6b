"""Certified GSHM delta against uncertified float64, and what a user waits for.

Run: python -m benchmarks.gshm
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from math import erfc, exp, log1p, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from benchmarks.timing import interleaved, seconds
from exactdp.accounting import csh, gshm

K, SIGMA, TAU, EPSILON = 51914, 2222.7, 13914.0, 0.35


def vectorised() -> float:
    """Lemma 2.7 in float64, all j at once."""
    j = np.arange(1, K + 1)
    gamma = (K - j) * log_ndtr(TAU / SIGMA)
    mu = np.sqrt(j) / SIGMA

    def hockey_stick(epsilon: np.ndarray) -> np.ndarray:
        return ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)

    appear = -np.expm1(gamma) + np.exp(gamma) * hockey_stick(EPSILON - gamma)
    vanish = hockey_stick(EPSILON + gamma)
    return float(max(appear.max(), vanish.max(), -np.expm1(K * log_ndtr(TAU / SIGMA))))


def scalar() -> float:
    """The same with one scipy.stats call per Phi and per j."""
    log_phi = log1p(-erfc(TAU / SIGMA / sqrt(2)) / 2)
    best = 0.0
    for j in range(1, K + 1):
        gamma, mu = (K - j) * log_phi, sqrt(j) / SIGMA
        values = []
        for epsilon in (EPSILON - gamma, EPSILON + gamma):
            t = epsilon / mu
            values.append(norm.cdf(mu / 2 - t) - exp(epsilon) * norm.cdf(-mu / 2 - t))
        best = max(best, 1 - exp(gamma) + exp(gamma) * values[0], values[1])
    return best


def certified(k: int) -> object:
    scale = sqrt(k / K)
    return gshm.delta(k=k, sigma=SIGMA * scale, tau=TAU * scale, epsilon="0.35")


def main() -> None:
    point = {"sigma": "2222.7", "tau": "13914", "epsilon": "0.35"}
    found = gshm.delta(k=K, **point)
    print(f"delta = {found}, relative width {float(found.relative_width):.1e}")
    print(f"float64: vectorised {vectorised():.10e}")
    times = interleaved(
        {
            "certified": partial(gshm.delta, k=K, **point),
            "numpy/scipy, all j at once": vectorised,
            "certified, k = 10^9": partial(certified, 10**9),
            "certified, k = 10^12": partial(certified, 10**12),
        },
        rounds=51,
    )
    base = times["certified"]
    for name, value in times.items():
        print(f"{name:32} {1e3 * value:9.3f} ms   {value / base:8.2f} x certified")
    loop = seconds(scalar)
    print(f"{'scalar scipy.stats loop':32} {1e3 * loop:9.0f} ms   {loop / base:8.0f} x certified")
    print("\ncalibration, epsilon = 0.35, delta = 1e-5, sigma free")
    for k in (10, K, 10**9):
        for module, analysis in (
            (gshm, "add-the-deltas"),
            (gshm, "exact"),
            (csh, "add-the-deltas"),
            (csh, "published"),
        ):
            run = partial(module.calibrate, k=k, epsilon="0.35", delta="1e-5", analysis=analysis)
            name = f"{module.__name__.rpartition('.')[2]} {analysis}"
            print(f"k = {k:<11} {name:22} tau = {run().tau!s:14} {seconds(run):6.2f} s")
    print("\nstart-up, against an empty interpreter")
    starts = interleaved(
        {
            "python -c pass": partial(_python, "-c", "pass"),
            "import exactdp": partial(_python, "-c", "import exactdp"),
            "import exactdp.accounting": partial(_python, "-c", "import exactdp.accounting"),
            "exactdp --help": partial(
                _python, "-c", "from exactdp.cli.main import main; main(['--help'])"
            ),
        }
    )
    for name, value in starts.items():
        print(f"{name:28} {1e3 * value:6.0f} ms   {value / starts['python -c pass']:5.1f} x")


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
