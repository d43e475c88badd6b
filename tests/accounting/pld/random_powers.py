"""Random losses and false-alarm rates against oracles that share no code with the library.

python -m tests.accounting.pld.random_powers results.jsonl --losses 500: the power at 20 rates from
1e-9 to 1/2 for every loss, and how many are outside, by kind. What the file holds already is not
asked again, so that the program can be stopped and started.

closed: Gaussian noise, Laplace noise, randomised response with a failure, by formulas (mpmath).
responses: up to 60 randomised responses, by binomial sums in exact fractions.
laws: up to 5 runs of laws with 3 or 4 outputs, one by one in exact fractions, both orders.
noise: sampled Gaussian or Laplace noise, 2 to 1000 steps. Losses are shared between the nodes of a
grid, tilted, and composed by numpy's FFT; two grids, and Richardson's extrapolation, leave a
relative error, which is estimated from their difference and allowed.
simulated: sampled Gaussian noise, 1 to 20 steps, at rates of 1 % and more, by a million sums of
losses drawn in each order; five standard errors are allowed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from tabulate import tabulate

from exactdp.accounting import pld
from exactdp.accounting.pld import Pld
from exactdp.errors import Undecided
from exactdp.law import Law

Floats = NDArray[np.float64]
Point = tuple[Any, Any]

_RATES = 20
_CELLS, _MERGED = 1 << 18, 64


def concave(points: list[Point]) -> list[Point]:
    """The upper concave hull of (false alarms, power) and of the opposite tests."""
    hull: list[Point] = []
    for x, y in sorted({*points, *((1 - y, 1 - x) for x, y in points)}):
        while len(hull) > 1:
            (a, b), (c, d) = hull[-2:]
            if (d - b) * (x - a) > (y - b) * (c - a):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def power_at(hull: list[Point], alpha: Any) -> Any:
    """The height of a hull."""
    place = min(max(bisect_right([x for x, _ in hull], alpha), 1), len(hull) - 1)
    (a, b), (c, d) = hull[place - 1 : place + 1]
    return b + (d - b) * (alpha - a) / (c - a)


@dataclass(frozen=True)
class SampledNoise:
    """Steps of noise, "normal" or "Laplace", of a scale, on samples with a rate."""

    kind: str
    scale: float
    rate: float
    steps: int

    def power(self, alpha: float) -> tuple[float, float]:
        """The power at a rate of false alarms, and about the relative error."""
        losses, with_user, without = cells = self.cells
        some = [_merged(masses, losses) for masses in cells[1:]]
        tilt = _tilt_of_rate(*some[0], self.steps, alpha)
        mean = _moments(*some[0], tilt)[1]
        opposite = _tilt_of_mean(-some[1][0], some[1][1], mean)
        step = math.sqrt(5e-4 / self.steps) / (tilt + 1)
        at_end = math.inf
        if self.kind == "Laplace":  # the largest loss has a mass of its own: let it be a node
            largest = math.log1p(self.rate * math.expm1(1 / self.scale))
            step = largest / math.ceil(largest / step)
            at_end = alpha * math.exp(self.steps * largest)

        def on_grid(step: float) -> float:
            first, curve = _curve(losses, with_user, self.steps, tilt, step)
            other_first, other = _curve(-losses, without, self.steps, opposite, step)
            nodes = first + np.arange(len(curve))
            place = nodes - other_first
            both = np.maximum(
                curve, np.where(place < len(other), other[np.clip(place, 0, len(other) - 1)], 0)
            )
            both = np.where(place < 0, curve, both)
            values = both + np.exp(nodes * step) * alpha
            best = int(np.argmin(values))
            if at_end < values[best]:
                return at_end
            assert 0 < best < len(values) - 1
            return float(values[best])

        coarse, fine = on_grid(step), on_grid(step / 2)
        return (4 * fine - coarse) / 3, abs(fine - coarse) / fine / 3 + 1e-5

    @cached_property
    def cells(self) -> tuple[Floats, Floats, Floats]:
        """The losses of cells of the noise, and their masses with the user and without."""
        reach = 9.5 if self.kind == "normal" else 40.0
        edges = np.linspace(-reach, reach + 1 / self.scale, _CELLS + 1)
        edges = np.sort(np.append(edges, [0.0, 1 / self.scale]))
        none, shifted = (self._masses(edges - x) for x in (0.0, 1 / self.scale))
        mixed = (1 - self.rate) * none + self.rate * shifted
        kept = none > 0
        return np.log(mixed[kept] / none[kept]), mixed[kept], none[kept]

    def _masses(self, edges: Floats) -> Floats:
        low, high = edges[:-1], edges[1:]
        if self.kind == "normal":
            return np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        return (
            np.where(
                low >= 0,
                np.exp(-np.abs(low)) - np.exp(-np.abs(high)),
                np.exp(-np.abs(high)) - np.exp(-np.abs(low)),
            )
            / 2
        )


def _merged(masses: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Mean losses and masses of blocks of cells, to guess a tilt."""
    size = len(masses) // _MERGED * _MERGED
    blocks = masses[:size].reshape(-1, _MERGED)
    total = np.maximum(blocks.sum(axis=1), 1e-300)
    return (blocks * losses[:size].reshape(-1, _MERGED)).sum(axis=1) / total, total


def _moments(losses: Floats, masses: Floats, tilt: float) -> tuple[float, float, float]:
    """log E e^(tilt L), and the mean and the variance of the tilted loss."""
    top = float((tilt * losses).max())
    weights = masses * np.exp(tilt * losses - top)
    total = float(weights.sum())
    mean = float((weights * losses).sum()) / total
    return math.log(total) + top, mean, float((weights * (losses - mean) ** 2).sum()) / total


def _tilt_of_rate(losses: Floats, masses: Floats, steps: int, alpha: float) -> float:
    """The tilt that brings the mean of the sum near the threshold of this rate, or 0."""
    low, high = 0.0, 200.0
    for _ in range(40):
        middle = (low + high) / 2
        log, mean, variance = _moments(losses, masses, middle)
        spread = (1 + middle) * math.sqrt(2 * math.pi * steps * variance)
        rate = steps * (log - (1 + middle) * mean) - math.log1p(spread)
        low, high = (low, middle) if rate < math.log(alpha) else (middle, high)
    return low


def _tilt_of_mean(losses: Floats, masses: Floats, mean: float) -> float:
    low, high = 0.0, 200.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _moments(losses, masses, middle)[1] > mean else (middle, high)
    return low


def _curve(
    losses: Floats, masses: Floats, steps: int, tilt: float, step: float
) -> tuple[int, Floats]:
    """delta at the nodes from `first` on, near the mean of the tilted sum."""
    log, _, variance = _moments(losses, masses, tilt)
    place = np.floor(losses / step).astype(int)
    least, size = int(place.min()), int(np.ptp(place)) + 2
    # shares for both neighbouring nodes that keep the mass in both laws
    left = np.expm1((place + 1) * step - losses) / math.expm1(step)
    left *= np.exp(tilt * place * step - log)
    right = np.exp(tilt * (place + 1) * step - log) - left * math.exp(tilt * step)
    one = np.bincount(place - least, masses * left, size)
    one += np.bincount(place - least + 1, masses * right, size)
    total = float(one.sum())
    mean = float((one * np.arange(size)).sum()) / total * steps
    spread = 24 * math.sqrt(steps * variance) / step + 4 * size
    points = 1 << math.ceil(math.log2(spread))
    sums = np.fft.irfft(np.fft.rfft(one / total, points) ** steps, points)
    start = int(mean) - points // 2
    sums = np.maximum(np.roll(sums, -(start % points)), 0)
    # rounding leaves about 1e-16 of the largest mass at every node
    sums[sums < sums.max() * 1e-13] = 0
    first = steps * least + start
    away = np.arange(points) - points // 2  # in nodes from the middle, so that nothing overflows
    middle = (first + points // 2) * step
    scale = steps * (log + math.log(total)) - tilt * middle
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        p = np.where(sums > 0, sums * np.exp(scale - tilt * away * step), 0)
        beyond = np.append(np.cumsum(p[::-1])[::-1][1:], 0.0)
        q = np.append(np.cumsum((p * np.exp(-away * step))[::-1])[::-1][1:], 0.0)
        delta = beyond - np.exp(away * step) * q
    near = sums > sums.max() * 1e-4
    begin, end = int(np.argmax(near)), len(near) - int(np.argmax(near[::-1]))
    return first + begin, delta[begin:end]


@dataclass(frozen=True)
class Case:
    """A loss of the library, and its powers by other code, each with a relative error."""

    kind: str
    name: str
    loss: Pld
    powers: list[tuple[float, Any, float]]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--losses", type=int, default=500)
    arguments.add_argument("--first", type=int, default=0, help="the seed of the first loss")
    options = arguments.parse_args()
    done = []
    if options.results.exists():
        done = [
            json.loads(line) for line in options.results.read_text(encoding="utf-8").splitlines()
        ]
    seen = {row["seed"] for row in done}
    with options.results.open("a", encoding="utf-8") as file:
        for seed in range(options.first, options.first + options.losses):
            if seed not in seen:
                rows = list(_rows(seed))
                done += rows
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
    _report(done)


def _report(rows: list[dict[str, Any]]) -> None:
    kinds = sorted({row["kind"] for row in rows})
    table = []
    for kind in kinds:
        here = [row for row in rows if row["kind"] == kind]
        count = Counter(row["verdict"] for row in here)
        known = [row["width"] for row in here if row["width"] is not None]
        seconds = sum(row["seconds"] for row in here)
        table.append([kind, len(here), *(count[x] for x in _VERDICTS), max(known), seconds])
    print(tabulate(table, ["kind", "points", *_VERDICTS, "largest width", "seconds"]))


_VERDICTS = ("inside", "outside", "undecided")


def _rows(seed: int) -> list[dict[str, Any]]:
    case = _case(random.Random(seed))
    rows = []
    for alpha, exact, error in case.powers:
        start, width, verdict = time.perf_counter(), None, "undecided"
        try:
            power = case.loss.power(Fraction(alpha))
        except Undecided:
            pass
        else:
            low, high = (mpf(x.numerator) / x.denominator for x in (power.lower, power.upper))
            is_inside = low * (1 - error) <= exact <= high * (1 + error) and power.lower >= alpha
            width, verdict = float(high / low - 1), "inside" if is_inside else "outside"
        row = {"seed": seed, "kind": case.kind, "name": case.name, "alpha": alpha}
        row |= {"verdict": verdict, "width": width, "seconds": time.perf_counter() - start}
        rows.append(row)
    return rows


def _case(rng: random.Random) -> Case:
    alphas = sorted(10 ** rng.uniform(-9, math.log10(0.5)) for _ in range(_RATES))
    kind = rng.choices(["closed", "responses", "laws", "noise", "simulated"], [14, 12, 12, 5, 1])[0]
    return _CASES[kind](rng, alphas)


def _closed(rng: random.Random, alphas: list[float]) -> Case:
    size = 10 ** rng.uniform(-2, 0.8)
    match rng.randrange(3):
        case 0:
            loss = pld.gaussian(sigma=1 / Fraction(size))
            powers = [_gaussian(mpf(alpha), mpf(size)) for alpha in alphas]
        case 1:
            loss = pld.laplace(scale=1 / Fraction(size))
            powers = [_laplace(mpf(alpha), mpf(size)) for alpha in alphas]
        case _:
            delta = rng.choice([0.0, 10 ** rng.uniform(-12, -1)])
            loss = pld.approximate(epsilon=Fraction(size), delta=Fraction(delta))
            powers = [_approximate(mpf(alpha), mpf(size), mpf(delta)) for alpha in alphas]
    return Case("closed", str(loss.steps), loss, _with_error(alphas, powers, 1e-15))


def _with_error(
    alphas: list[float], powers: list[Any], error: float
) -> list[tuple[float, Any, float]]:
    return [(alpha, power, error) for alpha, power in zip(alphas, powers, strict=True)]


def _gaussian(alpha: Any, mu: Any) -> Any:
    with mp.workdps(50):
        start = float(ndtri(1 - float(alpha))) if alpha > 1e-12 else 8.0
        quantile = mp.findroot(lambda z: mp.log(mp.ncdf(-z) / alpha), start)
        return +mp.ncdf(mu - quantile)


def _laplace(alpha: Any, mu: Any) -> Any:
    """By the quantiles of noise of scale 1 moved by mu."""
    with mp.workdps(50):
        if alpha <= mp.exp(-mu) / 2:
            return +(mp.exp(mu) * alpha)
        if alpha < mpf(1) / 2:
            return +(1 - mp.exp(-mu) / (4 * alpha))
        return +(1 - mp.exp(-mu) * (1 - alpha))


def _approximate(alpha: Any, epsilon: Any, delta: Any) -> Any:
    """What all (epsilon, delta)-private mechanisms together allow."""
    with mp.workdps(50):
        lines = delta + mp.exp(epsilon) * alpha, 1 - mp.exp(-epsilon) * (1 - delta - alpha)
        return +min(*lines, mpf(1))


def _responses(rng: random.Random, alphas: list[float]) -> Case:
    size, count = Fraction(rng.randint(1, 3000), 1000), rng.randint(2, 60)
    loss = pld.randomized_response(epsilon=size).composed(count)
    with mp.workdps(60):
        yes = 1 / (1 + mp.exp(-mpf(size.numerator) / size.denominator))
        rows = [
            (mp.binomial(count, k) * yes**k * (1 - yes) ** (count - k)) for k in range(count + 1)
        ]
        points = _best_tests(list(zip(rows, rows[::-1], strict=True)))
        powers = [power_at(concave(points), mpf(alpha)) for alpha in alphas]
    return Case("responses", f"{size} {count}", loss, _with_error(alphas, powers, 1e-15))


def _laws(rng: random.Random, alphas: list[float]) -> Case:
    size, count = rng.randint(3, 4), rng.randint(1, 5)
    p, q = ([Fraction(rng.randint(1, 40)) for _ in range(size)] for _ in range(2))
    p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
    laws = (Law(dict(enumerate(weights))) for weights in (p, q))
    loss = pld.laws(*laws, neighbours=pld.ADD_REMOVE).composed(count)
    rows = [
        (math.prod(p[i] for i in outputs), math.prod(q[i] for i in outputs))
        for outputs in product(range(size), repeat=count)
    ]
    hull = concave(_best_tests(rows) + _best_tests([(b, a) for a, b in rows]))
    powers = [power_at(hull, Fraction(alpha)) for alpha in alphas]
    exact = [mpf(x.numerator) / x.denominator for x in powers]
    return Case("laws", f"{p} {q} {count}", loss, _with_error(alphas, exact, 1e-14))


def _best_tests(rows: list[Point]) -> list[Point]:
    """(false alarms, power) of the best tests without randomness."""
    alarms = power = rows[0][0] * 0
    points = [(alarms, power)]
    for p, q in sorted(rows, key=lambda row: row[0] / (row[0] + row[1]), reverse=True):
        alarms, power = alarms + q, power + p
        points.append((alarms, power))
    return points


def _noise(rng: random.Random, alphas: list[float]) -> Case:
    kind = rng.choice(["normal", "normal", "Laplace"])
    scale, rate = 2 ** rng.uniform(-0.5, 3), 10 ** rng.uniform(-2.5, -0.5)
    steps = round(10 ** rng.uniform(0.3, 3))
    make = (
        pld.gaussian(sigma=Fraction(scale))
        if kind == "normal"
        else pld.laplace(scale=Fraction(scale))
    )
    loss = make.sampled(Fraction(rate)).composed(steps)
    oracle = SampledNoise(kind, scale, rate, steps)
    powers = []
    for alpha in alphas:
        try:
            powers.append((alpha, *oracle.power(alpha)))
        except AssertionError:  # the oracle sees no minimum
            continue
    return Case("noise", f"{kind} {scale} {rate} {steps}", loss, powers)


def _simulated(rng: random.Random, alphas: list[float]) -> Case:
    scale, rate, steps = rng.uniform(0.6, 2), rng.uniform(0.02, 0.5), rng.randint(1, 20)
    loss = pld.gaussian(sigma=Fraction(scale)).sampled(Fraction(rate)).composed(steps)
    generator = np.random.default_rng(rng.randrange(2**32))
    without, with_user = (
        _draw_losses(generator, scale, rate if x else 0.0, rate, steps) for x in (0, 1)
    )
    rates = [10 ** rng.uniform(-2, math.log10(0.4)) for _ in alphas]
    powers = [(alpha, *_simulated_power(with_user, -without, alpha)) for alpha in rates]
    return Case("simulated", f"{scale} {rate} {steps}", loss, powers)


def _simulated_power(removed: Floats, added: Floats, alpha: float) -> tuple[float, float]:
    """The minimum of the larger delta + e^epsilon alpha, from losses drawn in both orders."""

    def value(epsilon: float) -> float:
        deltas = (np.maximum(-np.expm1(epsilon - x), 0).mean() for x in (removed, added))
        return float(max(deltas)) + math.exp(epsilon) * alpha

    low, high = -8.0, 12.0
    for _ in range(4):
        places = np.linspace(low, high, 13)
        values = [value(epsilon) for epsilon in places]
        best = int(np.argmin(values))
        low, high = places[max(best - 1, 0)], places[min(best + 1, 12)]
    power = min(values)
    return power, 5 * math.sqrt(1 / len(removed)) / math.sqrt(power)


def _draw_losses(
    generator: np.random.Generator, scale: float, share: float, rate: float, steps: int
) -> Floats:
    total = np.zeros(1_000_000)
    for _ in range(steps):
        x = generator.normal(size=len(total)) + (generator.random(len(total)) < share) / scale
        total += np.log1p(rate * np.expm1(x / scale - 1 / (2 * scale**2)))
    return total


_CASES = {
    "closed": _closed,
    "responses": _responses,
    "laws": _laws,
    "noise": _noise,
    "simulated": _simulated,
}

if __name__ == "__main__":
    main()
