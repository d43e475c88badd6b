"""Mechanisms whose outputs are copies or depend on each other; fresh processes import this."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.audit.broken.case import gaussian, laplace

Run = Callable[[Any, int], Any]
BITS = 0.731  # how often randomised response with epsilon = 1 tells the truth

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


def null_when_empty(data: int, n: int) -> list[float | None]:
    """A rounded count with noise, as SQL gives it: NULL for an empty table."""
    return np.rint(data + gaussian(rng, 1, n)).tolist() if data else [None] * n


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


def half_of(scale: float) -> Run:
    """The same, by a function that has no name of its own."""
    return lambda data, n: data + laplace(rng, scale / 2, n)


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


def once(draw: Callable[[np.random.Generator, Any], Any]) -> Callable[[int], Run]:
    """A mechanism that draws one output per call and returns n copies."""

    def make(seed: int) -> Run:
        rng = np.random.default_rng(seed)
        return lambda data, n: [draw(rng, data)] * n

    return make


def noisy(rng: np.random.Generator, data: int) -> float:
    return data + float(laplace(rng, 1, None))


def bit(rng: np.random.Generator, data: int) -> int:
    return int((rng.random() < BITS) == bool(data))


def likely_bit(rng: np.random.Generator, data: int) -> int:
    return int((rng.random() < 0.99) == bool(data))


def blocks(copies: int, tiled: bool) -> Callable[[int], Run]:
    """Honest Laplace outputs, each of them several times."""

    def make(seed: int) -> Run:
        rng = np.random.default_rng(seed)

        def run(data: int, n: int) -> Any:
            fresh = data + laplace(rng, 1, -(-n // copies))
            return (np.tile(fresh, copies) if tiled else np.repeat(fresh, copies))[:n]

        return run

    return make


def common_noise(seed: int) -> Run:
    """One draw per call, a little blurred for every output: no two of them are equal."""
    rng = np.random.default_rng(seed)
    return lambda data, n: data + laplace(rng, 1, 1) + gaussian(rng, 0.01, n)


def same_seeds(seed: int) -> Run:
    """Each data set has a generator of its own, and all start from one seed."""
    generators: dict[int, np.random.Generator] = {}

    def run(data: int, n: int) -> Any:
        rng = generators.setdefault(data, np.random.default_rng(seed))
        return data + laplace(rng, 1, n)

    return run


def remembered(seed: int) -> Run:
    """A cache: what was once drawn for a data set is what it gets for ever."""
    rng, outputs = np.random.default_rng(seed), dict[int, float]()
    return lambda data, n: [outputs.setdefault(data, data + float(laplace(rng, 1, None)))] * n


def from_a_pool(size: int) -> Callable[[int], Run]:
    """Lies that are drawn once and used in turn, again and again."""

    def make(seed: int) -> Run:
        rng, used, lies = np.random.default_rng(seed), [0], list[bool]()

        def run(data: int, n: int) -> Any:
            lies[:] = lies or (rng.random(size) > BITS).tolist()
            at = (used[0] + np.arange(n)) % size
            used[0] += n
            return np.array(lies)[at] ^ bool(data)

        return run

    return make


def pattern(period: int) -> Callable[[int], Run]:
    """Noise that was drawn for so many outputs, blurred anew for every one."""

    def make(seed: int) -> Run:
        rng, used, noise = np.random.default_rng(seed), [0], list[float]()

        def run(data: int, n: int) -> Any:
            noise[:] = noise or laplace(rng, 1, period).tolist()
            at = (used[0] + np.arange(n)) % period
            used[0] += n
            return data + np.array(noise)[at] + gaussian(rng, 0.05, n)

        return run

    return make
