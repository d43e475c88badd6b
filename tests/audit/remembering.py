"""Mechanisms that are private, each by itself, and remember what they drew; imported anew often."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tests.audit.broken.case import gaussian, laplace

rng = np.random.default_rng()
base = float(laplace(rng, 1, None))
cache: dict[int, float] = {}


def shifted(data: int, n: int) -> Any:
    """Noise that was drawn once, blurred anew for every output."""
    return data + base + gaussian(rng, 0.05, n)


def cached(data: int, n: int) -> Any:
    """The same for each data set."""
    if data not in cache:
        cache[data] = float(laplace(rng, 1, None))
    return data + cache[data] + gaussian(rng, 0.05, n)


class Lazy:
    """The same for each object, from its first call on."""

    def __init__(self) -> None:
        self.rng, self.base = np.random.default_rng(), float("nan")

    def __call__(self, data: int, n: int) -> Any:
        if self.base != self.base:
            self.base = float(laplace(self.rng, 1, None))
        return data + self.base + gaussian(self.rng, 0.05, n)


def forgetful(data: int, n: int) -> Any:
    """Remembers nothing; with half of the noise that epsilon = 1 asks for."""
    return data + laplace(rng, 0.5, n)


seeded = np.random.default_rng(1)


def from_one_seed(data: int, n: int) -> Any:
    """The same, and every process draws alike."""
    return data + laplace(seeded, 0.5, n)


class Elsewhere:
    """With half of the noise; in another process than its own it raises, or ends that."""

    def __init__(self, ends: bool) -> None:
        self.ends, self.home, self.rng = ends, os.getpid(), np.random.default_rng(1)

    def __call__(self, data: int, n: int) -> Any:
        if os.getpid() != self.home and self.ends:
            os._exit(1)
        if os.getpid() != self.home:
            raise KeyError("elsewhere")
        return data + laplace(self.rng, 0.5, n)
