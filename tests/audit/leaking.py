"""Mechanisms that leak grossly, or in a part of their outputs; fresh processes import this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np

Make = Callable[[np.random.Generator, int], Any]


def letters(rng: np.random.Generator, many: int) -> str:
    return bytes(rng.integers(0, 256, many, dtype=np.uint8)).hex()


def odd_digit(rng: np.random.Generator, bit: int) -> str:
    return f"{2 * int(rng.integers(0, 8)) + bit:x}"


def odd_byte(rng: np.random.Generator, bit: int) -> bytes:
    return bytes([2 * int(rng.integers(0, 128)) + bit])


def number(rng: np.random.Generator, bit: int, place: int, bits: int) -> int:
    value = int(rng.integers(0, 1 << min(bits, 62))) << max(bits - 62, 0)
    return value & ~(1 << place) | bit << place


LEAKS: dict[str, Make] = {
    "the first letter": lambda rng, bit: odd_digit(rng, bit) + letters(rng, 8),
    "the last letter": lambda rng, bit: letters(rng, 8) + odd_digit(rng, bit),
    "the last letter of a field": lambda rng, bit: {"id": letters(rng, 8) + odd_digit(rng, bit)},
    "byte 100": lambda rng, bit: rng.bytes(100) + odd_byte(rng, bit) + rng.bytes(20),
    "the tenth number": lambda rng, bit: ",".join(
        f"{x:.6f}" for x in (*rng.random(9), (rng.random() + bit) / 2, *rng.random(5))
    ),
    "bit 9 of 16": lambda rng, bit: number(rng, bit, 9, 16),
    "bit 40 of 62": lambda rng, bit: number(rng, bit, 40, 62),
    "bit 100 of 128": lambda rng, bit: number(rng, bit, 100, 128),
    "item 90 of a list": lambda rng, bit: [*rng.bytes(90), bit, *rng.bytes(9)],
    "item 600 of a list": lambda rng, bit: [*rng.bytes(600), bit, *rng.bytes(99)],
    "key 600 of a dictionary": lambda rng, bit: dict(enumerate([*rng.bytes(600), bit, 7])),
    "item 600 of a nested list": lambda rng, bit: {"a": [*rng.bytes(600), bit], "b": 1},
    "bit 77 of a UUID": lambda rng, bit: UUID(int=number(rng, bit, 77, 128)),
    "a rare key": lambda rng, bit: {*rng.integers(0, 10**6, 3).tolist(), *[-1] * bit, bit - 3},
}


class Leak:
    """One of the leaks, of a bit that is a lie once in ten times."""

    def __init__(self, seed: int, name: str) -> None:
        self.rng, self.name = np.random.default_rng(seed), name

    def __call__(self, data: int, n: int) -> list[Any]:
        lies = self.rng.random(n) < 0.1
        return [LEAKS[self.name](self.rng, int(lie) ^ data) for lie in lies]


class Open:
    """The data beside a noisy number."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, data: int, n: int) -> list[tuple[int, float]]:
        return [(data, self.rng.random()) for _ in range(n)]


def float_laplace(rng: np.random.Generator) -> Callable[[Any, int], Any]:
    def run(data: float, n: int) -> Any:
        u = rng.random(n) - 0.5
        return data - np.sign(u) * np.log(1 - 2 * np.abs(u))

    return run


def reused_noise(rng: np.random.Generator) -> Callable[[Any, int], Any]:
    return lambda data, n: np.array(data) + rng.normal(0, 10, (n, 1))


def no_noise_on_size(rng: np.random.Generator) -> Callable[[Any, int], Any]:
    return lambda data, n: [{**data, "total": sum(data.values()) + rng.normal()} for _ in range(n)]


def endless_answers(rng: np.random.Generator) -> Callable[[Any, int], Any]:
    """A sparse vector technique that does not add noise to the queries."""

    def run(data: tuple[int, ...], n: int) -> Any:
        above = np.array(data) >= rng.laplace(0, 1, (n, 1))
        return [tuple(True if one else None for one in row) for row in above]

    return run
