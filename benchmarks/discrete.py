"""Certified delta of the discrete Gaussian mechanism against uncertified float sums.

Run: python -m benchmarks.discrete

The contestant is what float libraries do: add up the probability mass function term by term, until
the sums no longer change, and subtract. It certifies nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import count
from math import exp, floor

from benchmarks.timing import interleaved, seconds
from exactdp.accounting import composition, discrete_csh, discrete_gaussian, zcdp


def float_delta(sigma: float, epsilon: float, sensitivity: int = 1) -> float:
    """P(X > t) - e^epsilon P(X > t + sensitivity): one pass over the mass function in floats."""
    scale = -1 / (2 * sigma * sigma)
    t = floor(epsilon * sigma * sigma / sensitivity - sensitivity / 2)
    least, z, term, changing = t + sensitivity, 1, 1.0, True
    total, first, second = 1.0, float(t < 0), 0.0
    while term > 0 and changing:
        term = exp(scale * z * z)
        total += 2 * term
        if z > t:
            first += term
            if t < -z:
                first += term
        if z > least:
            before, second = second, second + term
            changing = second > before
        z += 1
    return (first - exp(epsilon) * second) / total


def main() -> None:
    print("delta of one query, epsilon = 0.35 * 10/sigma")
    for sigma in (1, 10, 100, 1000, 10**6):
        epsilon = Fraction(7, 2 * sigma)
        fresh = (sigma**2 + Fraction(n, 10**9) for n in count(1))  # no sum is known beforehand
        runs: dict[str, Callable[[], object]] = {
            "certified": lambda fresh=fresh, epsilon=epsilon: discrete_gaussian.delta(
                sigma2=next(fresh), epsilon=epsilon
            ),
            "again": partial(discrete_gaussian.delta, sigma2=sigma**2, epsilon=epsilon),
            "float sum": partial(float_delta, float(sigma), float(epsilon)),
        }
        if sigma > 1000:
            del runs["float sum"]
        times = interleaved(runs, rounds=101)
        found = discrete_gaussian.delta(sigma2=sigma**2, epsilon=epsilon)
        line = f"sigma = {sigma:<8} {found!s:34} {1e6 * times['certified']:6.0f} us certified"
        line += f" ({1e6 * times['again']:.0f} us with known sums)"
        if "float sum" in times:
            ratio = times["certified"] / times["float sum"]
            line += f" {1e6 * times['float sum']:8.0f} us float   ratio {ratio:5.2f}"
        print(line)
    print("\nwhat the other questions cost")
    calls = {
        "calibrate, epsilon 1, delta 1e-5": partial(
            discrete_gaussian.calibrate, epsilon=1, delta="1e-5"
        ),
        "calibrate, epsilon 800, delta 1e-300": partial(
            discrete_gaussian.calibrate, epsilon=800, delta="1e-300"
        ),
        "a million steps": partial(
            composition.discrete_gaussian, k=10**6, sigma2=10**8, epsilon="0.35"
        ),
        "two unequal steps": partial(
            discrete_gaussian.delta_many, shifts=[1, 2], sigma2s=[100, 150], epsilon="0.35"
        ),
        "optimal composition, k = 1000": partial(
            composition.optimal, k=1000, epsilon="0.01", delta="1e-9", total_epsilon=1
        ),
        "zCDP, optimal order": partial(zcdp.delta, rho="0.01", epsilon="0.35"),
        "zCDP, largest rho": partial(zcdp.rho, epsilon="0.35", delta="1e-5"),
    }
    for analysis in discrete_csh.ANALYSES:
        calls[f"discrete csh, sparsity 10, {analysis}"] = partial(
            discrete_csh.check,
            sparsity=10,
            sigma=20,
            tau=120,
            epsilon="0.35",
            delta="1e-5",
            analysis=analysis,
        )
    for name, run in calls.items():
        print(f"{name:40} {1e3 * seconds(run):9.2f} ms")
    print("\nsmallest tau of the discrete CSH, sparsity 10, epsilon = 0.35, delta = 1e-5")
    for analysis, sigma in (
        ("published", "25.75"),
        ("renyi", "20"),
        ("exact-parts", "18.25"),
        ("by-cases", "17.72"),
    ):
        found_tau = discrete_csh.calibrate(
            sparsity=10, epsilon="0.35", delta="1e-5", sigma=sigma, analysis=analysis
        ).tau
        print(f"{analysis:12} sigma = {sigma:8} tau = {found_tau}")


if __name__ == "__main__":
    main()
