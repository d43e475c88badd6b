"""What a case of the suite is, and the noise its mechanisms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

_NOT_KEPT = -1000  # below every noisy count

#: draw(data, n, rng) -> n outputs.
Draw = Callable[[Any, int, np.random.Generator], Any]

#: Real-valued noise is rounded to multiples of 1/GRID. Added to integers it is then private by
#: post-processing, and leaks nothing through its low bits.
GRID = 1024


@dataclass
class Mechanism:
    """A mechanism with its own generator, seeded by the operating system unless a seed is given."""

    draw: Draw
    seed: int | None = None
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def __call__(self, data: Any, n: int) -> Any:
        return self.draw(data, n, self.rng)


@dataclass(frozen=True)
class Case:
    """A broken mechanism beside its correct twin, and neighbours on which it breaks its promise.

    mistake: what went wrong, in a line. samples: enough for the audit to find it at alpha = 0.01.
    """

    name: str
    mistake: str
    broken: Draw
    correct: Draw
    left: Any
    right: Any
    epsilon: str
    delta: str = "0"
    samples: int = 200_000

    def make_broken(self, seed: int | None = None) -> Mechanism:
        """run(data, n) of the broken mechanism."""
        return Mechanism(self.broken, seed)

    def make_correct(self, seed: int | None = None) -> Mechanism:
        """run(data, n) of its correct twin."""
        return Mechanism(self.correct, seed)


#: Every case, in the order of the modules.
CASES: list[Case] = []


def against(
    correct: Draw, left: Any, right: Any, epsilon: str = "1", delta: str = "0",
    samples: int = 200_000, **parameters: Any,
) -> Callable[[Draw], Draw]:  # fmt: skip
    """Make a case of a broken mechanism, whose docstring says what went wrong, and its twin.

    parameters: of the twin.
    """
    twin = partial(correct, **parameters) if parameters else correct

    def add(broken: Draw) -> Draw:
        name, mistake = broken.__name__.replace("_", "-"), str(broken.__doc__)
        CASES.append(Case(name, mistake, broken, twin, left, right, epsilon, delta, samples))
        return broken

    return add


def laplace(rng: np.random.Generator, scale: float, size: Any) -> Any:
    """Laplace noise, rounded to the grid."""
    return np.rint(rng.laplace(0, scale, size) * GRID) / GRID


def gaussian(rng: np.random.Generator, sigma: float, size: Any) -> Any:
    """Gaussian noise, rounded to the grid."""
    return np.rint(rng.normal(0, sigma, size) * GRID) / GRID


def geometric(rng: np.random.Generator, epsilon: float, size: Any) -> Any:
    """Two-sided geometric noise: P(z) proportional to e^(-epsilon |z|)."""
    p = -np.expm1(-epsilon)
    return rng.geometric(p, size) - rng.geometric(p, size)


def sparse(keys: list[Any], counts: Any, kept: Any) -> list[Any]:
    """Rows of integer counts as dictionaries of the kept ones; equal rows share one dictionary."""
    rows = np.where(kept, counts, _NOT_KEPT)
    if not keys:
        return [{}] * len(rows)
    radix = int(rows.max()) - _NOT_KEPT + 1
    codes = (rows - _NOT_KEPT) @ radix ** np.arange(len(keys))
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    table = np.empty(len(first), dtype=object)
    for i, row in enumerate(rows[first].tolist()):
        table[i] = {k: v for k, v in zip(keys, row, strict=True) if v != _NOT_KEPT}
    return list(table[inverse])
