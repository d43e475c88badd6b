"""Random losses and least deltas: mu against oracles that share no code with the library.

python -m tests.accounting.pld.random_mu --losses 100: Gaussian noise (mu is known), randomised
responses (binomial sums), laws with three outputs (one by one), and sampled Gaussian or Laplace
noise (tilted sums of losses by numpy's FFT, two grids, Richardson's extrapolation). At every
epsilon the mu of the point is found by halving; the largest one is the answer. 10^-4 of the answer
is allowed for sampled noise, whose largest mu is searched on a grid, else 10^-9.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld import Pld
from exactdp.errors import Undecided
from exactdp.law import Law
from tests.accounting.pld.random_powers import (
    SampledNoise,
    _curve,
    _merged,
    _moments,
    _tilt_of_mean,
    _tilt_of_rate,
)

Floats = NDArray[np.float64]
_TILTS = 14


def gaussian_delta(epsilon: Floats, mu: Floats) -> Floats:
    """delta of Gaussian noise."""
    with np.errstate(over="ignore", invalid="ignore"):
        return ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def mu_of(epsilon: Floats, delta: Floats) -> Floats:
    """The mu of every point, by halving."""
    low, high = np.full(len(epsilon), 1e-9), np.full(len(epsilon), 60.0)
    for _ in range(80):
        middle = (low + high) / 2
        above = gaussian_delta(epsilon, middle) > delta
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return high


def largest_mu(curve: Callable[[float], float], least: float) -> float:
    """The largest mu at a point of the curve where delta is at least the least one."""
    if curve(0.0) <= least:
        return 0.0
    low, high = 0.0, 1.0
    while curve(high) > least:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > least else (low, middle)

    def mu(epsilon: float) -> float:
        return float(mu_of(np.array([epsilon]), np.array([max(curve(epsilon), least)]))[0])

    places = np.linspace(0, low, 400)
    values = [mu(epsilon) for epsilon in places]
    best = int(np.argmax(values))
    around = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    finest = minimize_scalar(lambda x: -mu(x), bounds=around, method="bounded")
    return max(*values, -float(finest.fun))


def sampled_mu(noise: SampledNoise, least: float) -> float:
    """The same from sums of losses on grids, near the means of some tilts."""
    losses, with_user, without = noise.cells
    some = [_merged(masses, losses) for masses in (with_user, without)]
    values = []
    for alpha in np.geomspace(0.5, least / 50, _TILTS):
        tilt = _tilt_of_rate(*some[0], noise.steps, float(alpha))
        mean = _moments(*some[0], tilt)[1]
        opposite = _tilt_of_mean(-some[1][0], some[1][1], mean)
        step = math.sqrt(5e-4 / noise.steps) / (tilt + 1)
        rows = [
            (
                _curve(losses, with_user, noise.steps, tilt, h),
                _curve(-losses, without, noise.steps, opposite, h),
            )
            for h in (step, step / 2)
        ]
        deltas = np.maximum(*(_extrapolated(rows[0][i], rows[1][i], rows[0][0]) for i in (0, 1)))
        first = rows[0][0][0]
        epsilon = (first + np.arange(len(deltas))) * step
        kept = (epsilon >= 0) & (deltas >= least)
        if kept.any():
            every = max(int(kept.sum()) // 2000, 1)
            values.append(float(mu_of(epsilon[kept][::every], deltas[kept][::every]).max()))
            last = int(np.flatnonzero(kept)[-1])
            if last + 1 < len(deltas) and deltas[last + 1] < least:
                share = math.log(deltas[last] / least) / math.log(deltas[last] / deltas[last + 1])
                end = np.array([epsilon[last] + share * step])
                values.append(float(mu_of(end, np.array([least]))[0]))
    return max(values, default=0.0)


def _extrapolated(
    coarse: tuple[int, Floats], fine: tuple[int, Floats], wanted: tuple[int, Floats]
) -> Floats:
    """delta at the nodes of the wanted curve; 0 where a curve is not known."""
    nodes = wanted[0] + np.arange(len(wanted[1]))
    values = []
    for (first, deltas), places in ((coarse, nodes), (fine, 2 * nodes)):
        inside = (places >= first) & (places < first + len(deltas))
        values.append(np.where(inside, deltas[np.clip(places - first, 0, len(deltas) - 1)], 0.0))
    return np.where((values[0] > 0) & (values[1] > 0), (4 * values[1] - values[0]) / 3, 0.0)


def _case(rng: random.Random, least: float) -> tuple[str, Pld, float, float]:
    """The kind, a loss, its mu, and the relative error of this mu."""
    kind = rng.choices(["gaussian", "responses", "laws", "noise"], [1, 2, 2, 5])[0]
    if kind == "gaussian":
        sigma, runs = 10 ** rng.uniform(-0.3, 1.5), rng.randint(1, 50)
        loss = pld.gaussian(sigma=Fraction(sigma)).composed(runs)
        mu = math.sqrt(runs) / sigma
        return kind, loss, mu if gaussian_delta(np.zeros(1), np.array([mu]))[0] > least else 0, 1e-9
    if kind == "responses":
        size, runs = rng.randint(20, 2000), rng.randint(1, 40)
        yes = 1 / (1 + math.exp(-size / 1000))
        k = np.arange(runs + 1)
        counts = np.array([float(math.comb(runs, int(i))) for i in k])
        p, q = (
            counts * yes**k * (1 - yes) ** (runs - k),
            counts * yes ** (runs - k) * (1 - yes) ** k,
        )
        loss = pld.randomized_response(epsilon=Fraction(size, 1000)).composed(runs)
        return kind, loss, largest_mu(_delta_of(p, q), least), 1e-9
    if kind == "laws":
        runs = rng.randint(1, 5)
        p_one, q_one = ([rng.randint(1, 30) for _ in range(3)] for _ in range(2))
        laws = [[Fraction(x, sum(weights)) for x in weights] for weights in (p_one, q_one)]
        p, q = (
            np.array([float(math.prod(row)) for row in product(weights, repeat=runs)])
            for weights in laws
        )
        loss = pld.laws(
            *(Law(dict(enumerate(weights))) for weights in laws), neighbours=pld.ADD_REMOVE
        ).composed(runs)
        one, other = _delta_of(p, q), _delta_of(q, p)
        return kind, loss, largest_mu(lambda x: max(one(x), other(x)), least), 1e-9
    name = rng.choice(["normal", "normal", "Laplace"])
    scale, rate = 2 ** rng.uniform(-0.5, 3), 10 ** rng.uniform(-2.5, -0.5)
    steps = round(10 ** rng.uniform(0.5, 3))
    make = (
        pld.gaussian(sigma=Fraction(scale))
        if name == "normal"
        else pld.laplace(scale=Fraction(scale))
    )
    loss = make.sampled(Fraction(rate)).composed(steps)
    return kind, loss, sampled_mu(SampledNoise(name, scale, rate, steps), least), 1e-4


def _delta_of(p: Floats, q: Floats) -> Callable[[float], float]:
    return lambda epsilon: float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--losses", type=int, default=100)
    count: Counter[tuple[str, str]] = Counter()
    widest = slowest = 0.0
    for seed in range(arguments.parse_args().losses):
        rng = random.Random(seed)
        least = 10 ** rng.uniform(-8, -2)
        kind, loss, exact, error = _case(rng, least)
        start = time.process_time()
        try:
            mu = loss.mu(least_delta=Fraction(least))
        except Undecided as undecided:
            verdict = f"undecided: {undecided}"
        else:
            slowest = max(slowest, time.process_time() - start)
            inside = mu.float_lower() * (1 - error) <= exact <= mu.float_upper() * (1 + error)
            verdict = "inside" if inside else "outside"
            widest = max(widest, float(mu.relative_width)) if mu.lower else widest
        if verdict != "inside":
            print(seed, kind, least, exact, mu if verdict == "outside" else "", verdict, flush=True)
        count[kind, verdict.split(":")[0]] += 1
    print(dict(count), f"widest {widest:.2g}, slowest {slowest:.2f} s of the processor")


if __name__ == "__main__":
    main()
