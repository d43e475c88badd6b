"""Random points of the certified losses against oracles that share no code with the calculator.

python -m tests.accounting.pld.random_points results.jsonl --points 10000: points and how many are
outside, by kind. What the file holds already is not asked again, so that it can be stopped and
started.

closed: Gaussian noise alone, or one sampled step, any size: mpmath's closed form, 60 digits.
integers: compositions in doubles and in balls against the same ones in exact integers.
fine grid: what users ask of 2 to 40 sampled steps. Every loss is shared between the two nodes of a
cell so that its masses under P and Q stay (from mpmath's normal distribution alone), composed in
integers; half the step, and Richardson's extrapolation, leave a relative error below 1e-5.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from exactdp.accounting.pld.compose.integers import Integers
from flint import fmpz_poly
from mpmath import mp, mpf, ncdf
from tabulate import tabulate

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.search import measures
from exactdp.accounting.pld.compose.balls import Balls
from exactdp.accounting.pld.compose.doubles import Doubles
from exactdp.accounting.pld.compose.engine import compose
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

_Row = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--points", type=int, default=10_000)
    options = arguments.parse_args()
    done = _read(options.results)
    with options.results.open("a", encoding="utf-8") as file:
        for seed in _missing(done, options.points):
            row = _row(seed)
            done.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
    _report(done)


def _read(path: Path) -> list[_Row]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _missing(done: list[_Row], points: int) -> Iterator[int]:
    known = {row["seed"] for row in done}
    seed = 0
    while sum(row["points"] for row in done) < points:
        if seed not in known:
            yield seed
        seed += 1


def _row(seed: int) -> _Row:
    draw = random.Random(seed)
    kind, ask = _KINDS[seed % len(_KINDS)]
    start = time.perf_counter()
    row: _Row = {"seed": seed, "kind": kind, "points": 0, "outside": 0, "undecided": 0}
    for point, kept in ask(draw, row):
        row["points"] += 1
        row["outside"] += not kept
        if not kept:
            row.setdefault("where", []).append(point)
    return row | {"seconds": round(time.perf_counter() - start, 2)}


def _log_uniform(draw: random.Random, low: float, high: float) -> str:
    return f"{math.exp(draw.uniform(math.log(low), math.log(high))):.3g}"


_Points = Iterator[tuple[str, bool]]


def _closed(draw: random.Random, row: _Row) -> _Points:
    """Ten questions where mpmath has a closed form."""
    for _ in range(10):
        sigma, steps = _log_uniform(draw, 0.3, 50), 1
        rate = _log_uniform(draw, 1e-4, 1)
        if draw.random() < 0.5:
            rate, steps = "1", round(float(_log_uniform(draw, 1, 1e6)))
        point = f"sigma={sigma} rate={rate} steps={steps}"
        loss = pld.gaussian(sigma=sigma).sampled(rate).composed(steps)
        with mp.workdps(60 + 30):
            mu, q = mp.sqrt(steps) / mpf(sigma), mpf(rate)
            epsilon = str(draw.choice([0.0, draw.uniform(0, 30), math.exp(draw.uniform(-9, 3.4))]))
            target = math.exp(draw.uniform(math.log(1e-300), math.log(0.5)))
            bounds = loss.delta(epsilon)
            yield f"{point} epsilon={epsilon}", _around(bounds, delta_of_one(mpf(epsilon), q, mu))
            at = loss.epsilon(target)
            ends = [delta_of_one(_number(end), q, mu) for end in (at.lower, at.upper)]
            kept = (ends[0] >= mpf(target) or at.lower == 0) and ends[1] <= mpf(target)
            yield f"{point} delta={target}", kept and at.width <= Fraction(1, 1000)


def delta_of_one(epsilon: mpf, rate: mpf, mu: mpf) -> mpf:
    """delta(epsilon) of one sampled step, the worse of both orders."""
    x = mp.exp(epsilon)
    t = mp.log((x - 1 + rate) / rate) / mu + mu / 2
    removed = rate * ncdf(mu - t) - (x - 1 + rate) * ncdf(-t)
    part = 1 / x - 1 + rate
    if part <= 0:
        return removed
    t = mp.log(part / rate) / mu + mu / 2
    return max(removed, ncdf(t) - x * ((1 - rate) * ncdf(t) + rate * ncdf(t - mu)))


def _number(value: Fraction) -> mpf:
    return mpf(value.numerator) / mpf(value.denominator)


def _around(bounds: Enclosure, exact_: mpf) -> bool:
    slack = mpf(10) ** -40
    low, high = _number(bounds.lower), _number(bounds.upper)
    return bool(low <= exact_ * (1 + slack) and exact_ * (1 - slack) <= high)


def _integers(draw: random.Random, row: _Row) -> _Points:
    """Ten losses asked of one composition, tilted at random or not at all."""
    mu = Fraction(_log_uniform(draw, 0.2, 3))
    rate = Fraction(_log_uniform(draw, 0.02, 1))
    steps = 2 ** draw.randrange(0, 6)
    loss = pld.gaussian(sigma=1, sensitivity=mu).sampled(rate).composed(steps)
    order = draw.choice(loss.orders())
    parts = measures(order, Fraction(1, 16), 96)
    tilt = draw.random() * 0.4
    in_balls = draw.random() < 0.3
    tilted = compose(parts, 0.0, Balls(200)) if in_balls else compose(parts, tilt, Doubles())
    whole = compose(parts, 0.0, Integers(640))
    for _ in range(10):
        epsilon = Fraction(draw.randrange(-300, 3000), 100)
        with precision(700):  # more than either has
            kept = tilted.below(ball(epsilon)) <= whole.below(ball(epsilon))
            kept = kept and tilted.above(ball(epsilon)) >= whole.above(ball(epsilon))
        yield f"mu={mu} rate={rate} steps={steps} epsilon={epsilon} tilt={tilt}", bool(kept)


def _fine_grid(draw: random.Random, row: _Row) -> _Points:
    """Two questions that a user may ask."""
    sigma, rate = _log_uniform(draw, 0.5, 20), _log_uniform(draw, 1e-3, 1)
    steps = draw.choice([2, 3, 5, 8, 13, 20, 40])
    loss = pld.gaussian(sigma=sigma).sampled(rate).composed(steps)
    target = Fraction(_log_uniform(draw, 1e-60, 0.1))
    point = f"sigma={sigma} rate={rate} steps={steps} delta={target}"
    try:
        at = loss.epsilon(target)
        epsilon = at.upper
        delta = loss.delta(epsilon) if epsilon else None
    except Undecided:
        row["undecided"] += 1
        return
    if delta is None or delta.upper == 0:
        return
    slope = _slope(loss, epsilon, delta)
    bits = 80 - math.floor(math.log2(delta.lower)) if delta.lower else 400
    curve = Shared(1 / mpf(sigma), mpf(rate), steps, bits)
    true, doubt = curve.extrapolated(float(epsilon), slope)
    if not doubt < true / 10**4:  # the oracle's grid is too coarse to tell
        row["unsettled"] = row.get("unsettled", 0) + 1
        return
    low, high = _number(delta.lower), _number(delta.upper)
    yield f"{point}: delta", bool(low <= true + doubt and true - doubt <= high)
    yield point, bool(true - doubt <= _number(target))


def _slope(loss: pld.Pld, epsilon: Fraction, delta: Enclosure) -> float:
    """About -d log delta/d epsilon, to choose a grid."""
    beyond = loss.delta(epsilon * Fraction(101, 100))
    ratio = math.log(delta.upper / max(beyond.upper, delta.upper / 10**9))
    return max(ratio / float(epsilon / 100), 0.5)


class Shared:
    """Upper bounds of delta by shares of cells, composed in integers with 2^-bits as unit."""

    def __init__(self, mu: mpf, rate: mpf, steps: int, bits: int) -> None:
        self.mu, self.rate, self.steps, self.bits = mu, rate, steps, bits

    def extrapolated(self, epsilon: float, slope: float) -> tuple[mpf, mpf]:
        """delta, and how far off it may be."""
        step = 0.1 / math.sqrt(self.steps * slope * (slope + 1))
        with mp.workdps(40 + self.bits // 3):
            coarse, fine = (max(self._delta(epsilon, h)) for h in (step, step / 2))
            return fine - (coarse - fine) / 3, abs(coarse - fine) / 10

    def _delta(self, epsilon: float, step: float) -> list[mpf]:
        h = mpf(step)
        return [self._excess(self._masses(h, side), mpf(epsilon), h) for side in (1, -1)]

    def _excess(self, row: tuple[int, list[int]], epsilon: mpf, h: mpf) -> mpf:
        first, masses = row
        result, square, left = fmpz_poly([1 << self.bits]), fmpz_poly(masses), self.steps
        while left:
            if left & 1:
                result = self._product(result, square)
            left >>= 1
            if left:
                square = self._product(square, square)
        total = mpf(0)
        for j, mass in enumerate(result.coeffs(), self.steps * first):
            if j * h > epsilon and mass:
                total += int(mass) * -mp.expm1(epsilon - j * h)
        return total / mpf(2) ** self.bits

    def _product(self, a: fmpz_poly, b: fmpz_poly) -> fmpz_poly:
        return fmpz_poly([int(c) >> self.bits for c in (a * b).coeffs()])

    def _masses(self, h: mpf, side: int) -> tuple[int, list[int]]:
        """Node of the first, and masses; side 1: removal, -1: addition."""
        reach = mp.sqrt(2 * mp.log(2) * self.bits)
        losses = sorted(self._loss(x, side) for x in (-reach, reach + self.mu))
        first, last = math.floor(losses[0] / h), math.ceil(losses[1] / h)
        below = [self._below(i * h, side) for i in range(first, last + 1)]
        fall, nodes = mp.exp(-h), [mpf(0)] * (last - first + 1)
        for i, ((p, q), (p_next, q_next)) in enumerate(itertools.pairwise(below)):
            in_p, in_q = p_next - p, q_next - q
            to_left = (in_q * mp.exp((first + i) * h) - in_p * fall) / (1 - fall)
            nodes[i] += to_left
            nodes[i + 1] += in_p - to_left
        return first, [int(mp.floor(m * mpf(2) ** self.bits)) if m > 0 else 0 for m in nodes]

    def _loss(self, x: mpf, side: int) -> mpf:
        return side * mp.log(1 - self.rate + self.rate * mp.exp(self.mu * x - self.mu**2 / 2))

    def _below(self, loss: mpf, side: int) -> tuple[mpf, mpf]:
        """Masses under P and Q of losses <= loss."""
        part = mp.exp(side * loss) - 1 + self.rate
        if part <= 0:
            return (mpf(0), mpf(0)) if side > 0 else (mpf(1), mpf(1))
        t = mp.log(part / self.rate) / self.mu + self.mu / 2
        if side < 0:
            t, mu = -t, -self.mu
        else:
            mu = self.mu
        plain, moved = ncdf(t), ncdf(t - mu)
        mixed = (1 - self.rate) * plain + self.rate * moved
        return (mixed, plain) if side > 0 else (plain, mixed)


_KINDS: list[tuple[str, Callable[[random.Random, _Row], _Points]]] = [
    *[("closed", _closed)] * 8,
    *[("integers", _integers)] * 12,
    ("fine grid", _fine_grid),  # takes most of the time
]


def _report(done: list[_Row]) -> None:
    totals: dict[str, Counter[str]] = {}
    for row in done:
        counted = {k: row.get(k, 0) for k in ("points", "outside", "undecided", "unsettled")}
        totals.setdefault(row["kind"], Counter()).update(counted)
        for where in row.get("where", []):
            print("outside:", row["kind"], where)
    lines: list[list[Any]] = [
        [k, *(c[n] for n in ("points", "outside", "undecided", "unsettled"))]
        for k, c in totals.items()
    ]
    lines.append(["all", *(sum(line[i] for line in lines) for i in range(1, 5))])
    print(tabulate(lines, ["oracle", "points", "outside", "undecided", "oracle too coarse"]))


if __name__ == "__main__":
    main()
