"""Batches without replacement over several steps: how far apart the proved ends are, and why.

python -m lab.benchmarks.pld_batches: the certified ends of epsilon; for some, what fixed sequences
of real neighbours leak (others at one end in k steps, at the other in the rest), and what those
leak that choose between both by the losses so far (a program in doubles: nothing of it is
certified).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.stats import norm
from tabulate import tabulate

from exactdp.accounting import pld
from exactdp.accounting.pld import ask
from exactdp.accounting.pld.losses.normal import Gaussian, SampledNormal

_DELTA = Fraction(1, 10**5)
_CASES = [(1, 0.01, 10**3), (2, 0.01, 10**3), (4, 0.01, 10**2), (4, 0.01, 10**4), (8, 0.01, 10**4)]
_CASES += [(16, 0.01, 10**4), (4, 0.1, 10**3), (4, 0.001, 10**4)]
_FIXED = (4, 0.01, 100)

Floats = NDArray[np.float64]


def main() -> None:
    """Print three tables."""
    rows = []
    for sigma, rate, steps in _CASES:
        loss = pld.gaussian(sigma=sigma).batched(str(rate)).composed(steps)
        interval = loss.epsilon(_DELTA)
        low, high = interval.float_lower(), interval.float_upper()
        rows.append([sigma, rate, f"{steps:.0e}", low, high, high / low - 1])
    print(tabulate(rows, ["sigma", "rate", "steps", "lower", "upper", "apart"], floatfmt=".4g"))
    _fixed()
    _adaptive()


def _fixed() -> None:
    sigma, rate, steps = _FIXED
    noise = Gaussian(Fraction(2, sigma))
    one, other = (SampledNormal(noise, Fraction(str(rate)), removed) for removed in (True, False))
    rows = []
    for k in (0, steps // 4, steps // 2, 3 * steps // 4, steps):
        order = tuple((law, n) for law, n in ((one, k), (other, steps - k)) if n)
        interval = ask.Epsilon(_DELTA, Fraction(1, 1000)).answer(order)
        rows.append([k, interval.float_lower(), interval.float_upper()])
    print(tabulate(rows, ["steps with the others at one end", "lower", "upper"], floatfmt=".4g"))


def _adaptive() -> None:
    sigma, rate, steps = _FIXED
    rows = [[e, *_values(sigma, rate, steps, e)] for e in (0.185, 0.19, 0.195, 0.2)]
    print(tabulate(rows, ["epsilon", "delta, all alike", "delta, chosen by the loss so far"]))


def _values(sigma: float, rate: float, steps: int, epsilon: float) -> tuple[float, float]:
    """About the best delta of one sequence, and of all that choose either law at every loss."""
    step, reach = 2e-4, 4000
    losses = np.arange(-reach, reach + 1) * step
    laws = [_masses(sigma, rate, step, sign) for sign in (1, -1)]
    fixed = chosen = np.maximum(-np.expm1(epsilon - losses), 0)

    def expected(values: Floats, masses: Floats) -> Floats:
        side = len(masses) // 2
        beyond = losses[-1] + step * np.arange(1, side + 1)
        above = np.maximum(-np.expm1(epsilon - beyond), 0)
        padded = np.concatenate([np.full(side, values[0]), values, above])
        values_before: Floats = fftconvolve(padded, masses[::-1], mode="valid")
        return values_before

    for _ in range(steps):
        fixed = expected(fixed, laws[0])
        chosen = np.maximum(expected(chosen, laws[0]), expected(chosen, laws[1]))
    return float(fixed[reach]), float(chosen[reach])


def _masses(sigma: float, rate: float, step: float, sign: int) -> Floats:
    """The law of the loss in one order (sign 1: the mixture first) on a grid around 0."""
    mu = 2 / sigma
    ends = np.linspace(-9, 9 + mu, 200_001)
    middles = (ends[1:] + ends[:-1]) / 2
    losses = sign * np.log1p(rate * np.expm1(mu * middles - mu * mu / 2)) / step
    none, moved = np.diff(norm.cdf(ends)), np.diff(norm.cdf(ends - mu))
    weights = (1 - rate) * none + rate * moved if sign > 0 else none
    places = np.floor(losses).astype(int)
    side = int(np.abs(places).max()) + 2
    masses = np.zeros(2 * side + 1)
    np.add.at(masses, places + side, weights * (1 - (losses - places)))
    np.add.at(masses, places + side + 1, weights * (losses - places))
    normalized: Floats = masses / masses.sum()
    return normalized


if __name__ == "__main__":
    main()
