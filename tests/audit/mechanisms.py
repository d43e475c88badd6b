"""Small mechanisms for the tests: importable, so that worker processes can run them."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np


def geometric(rng: np.random.Generator, n: int, epsilon: float = 1.0) -> Any:
    """Two-sided geometric noise of sensitivity 1."""
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p, n) - rng.geometric(p, n)


class Counter:
    """A noisy count; correct for epsilon = 1 unless told otherwise."""

    def __init__(self, seed: int, epsilon: float = 1.0) -> None:
        self.rng, self.epsilon = np.random.default_rng(seed), epsilon

    def __call__(self, data: int, n: int) -> Any:
        return data + geometric(self.rng, n, self.epsilon)


class Thresholded:
    """A noisy counter released at or above a threshold: the key is present or not."""

    def __init__(self, seed: int, threshold: int) -> None:
        self.rng, self.threshold = np.random.default_rng(seed), threshold

    def __call__(self, data: dict[str, int], n: int) -> list[frozenset[tuple[str, int]]]:
        noise = {key: geometric(self.rng, n) + count for key, count in data.items()}
        return [
            frozenset((key, int(v[i])) for key, v in noise.items() if v[i] >= self.threshold)
            for i in range(n)
        ]


class Response:
    """Randomised response with epsilon = 1."""

    def __init__(self, seed: int) -> None:
        self.rng, self.truth = np.random.default_rng(seed), math.e / (1 + math.e)

    def __call__(self, data: bool, n: int) -> list[bool]:
        same = self.rng.random(n) < self.truth
        return [bool(data) == bool(one) for one in same]


class Vector:
    """Three noisy counters."""

    def __init__(self, seed: int, epsilon: float = 1.0) -> None:
        self.rng, self.epsilon = np.random.default_rng(seed), epsilon

    def __call__(self, data: tuple[int, ...], n: int) -> Any:
        columns = [value + geometric(self.rng, n, self.epsilon) for value in data]
        return np.stack(columns, axis=1)


def fresh(data: int, n: int) -> Any:
    """Noise from the operating system's randomness: for worker processes."""
    return data + geometric(np.random.default_rng(), n)


def fresh_wrong(data: int, n: int) -> Any:
    """The same with too little noise."""
    return data + geometric(np.random.default_rng(), n, 1.3)


def global_state(data: int, n: int) -> Any:
    """Noise from numpy's global generator, which a fork copies."""
    p = 1 - math.exp(-1)
    return data + np.random.geometric(p, n) - np.random.geometric(p, n)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Told:
    """Randomised response with the wrong odds, in two values of any type."""

    def __init__(self, seed: int, values: tuple[Any, Any]) -> None:
        self.rng, self.values = np.random.default_rng(seed), values

    def __call__(self, data: int, n: int) -> list[Any]:
        lies = self.rng.random(n) < 0.1
        return [self.values[int(bool(lie) != bool(data))] for lie in lies]


def exact(data: int, n: int) -> list[int]:
    """No noise at all."""
    return [data] * n


class Unsendable:
    """No noise, in an object that no other process can make again."""

    def __init__(self) -> None:
        self.lock = Lock()

    def __call__(self, data: int, n: int) -> list[int]:
        return [data] * n


class Sealed:
    """An output whose type the audit does not know."""

    def __init__(self, value: float) -> None:
        self.value = value


def sealed(data: int, n: int) -> list[Sealed]:
    """Laplace noise with scale 1/2, in such outputs."""
    return [Sealed(value) for value in (data + np.random.default_rng().laplace(0, 0.5, n)).tolist()]


def opened(one: Sealed) -> dict[str, float]:
    """What such an output holds."""
    return {"value": one.value}


class Clipped:
    """A sum of values, noised for values up to 1; values above 5 are forgotten to be clipped."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, data: tuple[int, ...], n: int) -> Any:
        total = sum(value if value > 5 else min(value, 1) for value in data)
        return total + geometric(self.rng, n)


class Keys:
    """Noisy counts of a histogram; one key is released without noise."""

    def __init__(self, seed: int, exempt: int | None) -> None:
        self.rng, self.exempt = np.random.default_rng(seed), exempt

    def __call__(self, data: dict[int, int], n: int) -> list[tuple[int, ...]]:
        columns = [
            np.full(n, data.get(key, 0))
            if key == self.exempt
            else data.get(key, 0) + geometric(self.rng, n)
            for key in range(3)
        ]
        return [tuple(row) for row in np.stack(columns, axis=1).tolist()]
