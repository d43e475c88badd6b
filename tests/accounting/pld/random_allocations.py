"""Random points of random allocation against oracles that know nothing of lattices.

python -m tests.accounting.pld.random_allocations [LAWS]: of each random law, both bounds of delta
at 50 epsilons in either order; prints points and how many are outside, by kind, and exits with 1 if
any is.

integral: Gaussian noise, 2 or 3 steps: the last step in closed form, the others by trapezoids.
transform: Gaussian noise, 30 to 300 steps: with T the sum of t ratios R, E (c - T)+ is the integral
of e^(s c) L(s)^t/s^2 along a line Re s > 0, where L is the Laplace transform of R.
enumerated: random laws of 2 or 3 outcomes, in fractions, one epoch or two.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.grids import for_delta
from exactdp.accounting.pld.ask.search import composed
from exactdp.balls import precision
from exactdp.errors import InvalidParameter
from tests.accounting.pld.losses.test_allocated import _enumerated, _gaussian_deltas, _random_law

_POINTS = 50

#: What the oracles may err by, absolutely: they are sums of doubles with terms up to e^3.
_ERROR = 1e-12

#: The transform is known at blocks of nodes, and is asked for epsilons up to this.
_BLOCK, _FARTHEST = 500, 2.5

_Deltas = Callable[[float], tuple[float, float]]


def main() -> int:
    """Compare, and print a line for each kind."""
    laws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    points: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    start = time.process_time()
    for seed in range(laws):
        rng = random.Random(seed)
        kind, loss, deltas = rng.choice([_integral, _transform, _finite])(rng)
        for epsilon, low, high, true in _compared(loss, deltas):
            points[kind] += 1
            if not low <= true * (1 + 1e-9) + _ERROR or not high >= true * (1 - 1e-9) - _ERROR:
                outside[kind] += 1
                print(f"seed {seed}, epsilon {epsilon}: {true} is not in [{low}, {high}]")
    for kind in points:
        print(f"{kind}: {points[kind]} points, {outside[kind]} outside")
    print(f"{time.process_time() - start:.0f} s of the processor")
    return int(bool(outside))


def _compared(loss: pld.Pld, deltas: _Deltas) -> Iterator[tuple[float, float, float, float]]:
    """epsilon, both bounds of delta, and the oracle's; without and with the user first."""
    try:
        last = min(loss.epsilon("1e-7", width="0.1").float_upper() * 1.1 + 0.1, _FARTHEST)
    except InvalidParameter:  # losses are infinite with a larger probability
        last = _FARTHEST
    for side, order in enumerate(loss.orders()):
        composition = composed(order, for_delta(order, last / 2, 0.05))
        for i in range(_POINTS):
            epsilon = last * i / _POINTS
            with precision(128):
                low, high = composition.below(arb(epsilon)), composition.above(arb(epsilon))
            true = deltas(math.exp(epsilon))[side]
            yield epsilon, float(low.mid()), float(high.mid()), true


def _integral(rng: random.Random) -> tuple[str, pld.Pld, _Deltas]:
    mu, steps = Fraction(rng.randint(30, 120), 100), rng.choice([2, 3])
    loss = pld.gaussian(sigma=1 / mu).allocated(steps)
    return "integral", loss, lambda x: _gaussian_deltas(float(mu), steps, x)


def _transform(rng: random.Random) -> tuple[str, pld.Pld, _Deltas]:
    mu, steps = Fraction(rng.randint(40, 120), 100), rng.randint(30, 300)
    z = np.arange(-12, 12, 0.02)
    ratios = np.exp(float(mu) * z - float(mu) ** 2 / 2)
    weights = 0.02 * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    most = steps * math.exp(_FARTHEST)
    place = 3 / most
    blocks: list[NDArray[np.complex128]] = []
    while not blocks or abs(blocks[-1][-1]) > 1e-20:
        nodes = np.arange(len(blocks) * _BLOCK, (len(blocks) + 1) * _BLOCK)
        line = place + 1j * nodes * place / 6  # aliasing: about e^(-12 pi)
        blocks.append((np.exp(-np.outer(line, ratios)) @ weights) ** steps)
    powers = np.concatenate(blocks)
    line = place + 1j * np.arange(len(powers)) * place / 6

    def put(c: float) -> float:
        """E (c - T)+."""
        terms = (np.exp(line * c) * powers / line**2).real
        return float((terms.sum() - terms[0] / 2) * place / 6 / math.pi)

    def deltas(x: float) -> tuple[float, float]:
        return put(steps * x) / steps + 1 - x, x * put(steps / x) / steps

    return "transform", pld.gaussian(sigma=1 / mu).allocated(steps), deltas


def _finite(rng: random.Random) -> tuple[str, pld.Pld, _Deltas]:
    p, q = (_random_law(rng, rng.randint(2, 3)) for _ in range(2))
    steps, epochs = rng.choice([(2, 1), (3, 1), (5, 1), (2, 2)])
    runs = [(Fraction(1), Fraction(1))]
    for _ in range(epochs):
        runs = [(a * c, b * d) for a, b in runs for c, d in _enumerated(p, q, steps)]

    def deltas(x: float) -> tuple[float, float]:
        exact = Fraction(x)
        pairs = [
            sum((max(a - exact * b, Fraction(0)) for a, b in side), Fraction(0))
            for side in (runs, [(b, a) for a, b in runs])
        ]
        return float(pairs[0]), float(pairs[1])

    loss = pld.laws(p, q, neighbours=pld.ADD_REMOVE).allocated(steps).composed(epochs)
    return "enumerated", loss, deltas


if __name__ == "__main__":
    sys.exit(main())
