"""Honest mechanisms whose loss is exactly the claim, on one pair of data sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.audit.broken.case import Mechanism, geometric

#: Odds of 0.525 to 0.475: the bits of RAPPOR with f = 0.95.
WEAK = math.log(0.525 / 0.475)


@dataclass(frozen=True)
class Honest:
    """loss: the largest |ln(p/q)| over all outputs, on the data sets 0 and 1."""

    name: str
    loss: float
    draw: Callable[..., Any]

    def run(self, seed: int) -> Mechanism:
        """run(data, n), with a generator of its own."""
        return Mechanism(self.draw, seed)


def weak_bits(data, n, rng, weak):
    """Twenty bits, of which some tell the data apart by odds of 0.525 to 0.475."""
    p = np.where(np.arange(20) < weak, 0.525 if data else 0.475, 0.5)
    return rng.random((n, 20)) < p


def counters(data, n, rng, epsilon, copies):
    return data + geometric(rng, epsilon / copies, (n, copies))


def answer(data, n, rng, epsilon, answers):
    """The data with probability e^epsilon/(e^epsilon + answers - 1), or any other answer."""
    truth = rng.random(n) < math.exp(epsilon) / (math.exp(epsilon) + answers - 1)
    return np.where(truth, data, (data + rng.integers(1, answers, n)) % answers)


def unary(data, n, rng, epsilon):
    """A bit for each of 20 values, each with half of epsilon."""
    keep = math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))
    return (np.arange(20) == data) ^ (rng.random((n, 20)) >= keep)


def missing_or_noisy(data, n, rng, epsilon):
    """A key that is there more often with the user than without, as a dictionary."""
    there = rng.random(n) < (math.exp(epsilon) if data else 1) / (1 + math.exp(epsilon))
    return [{"key": 1} if one else {} for one in there.tolist()]


HONEST = [
    Honest("geometric noise", 1.0, partial(counters, epsilon=1, copies=1)),
    Honest("five counters", 1.0, partial(counters, epsilon=1, copies=5)),
    Honest("randomized response", 1.0, partial(answer, epsilon=1, answers=2)),
    Honest("response with ten answers", 2.0, partial(answer, epsilon=2, answers=10)),
    Honest("unary encoding of 20 values", 1.0, partial(unary, epsilon=1)),
    Honest("seven weak bits of 20", 7 * WEAK, partial(weak_bits, weak=7)),
    Honest("one weak bit of 20", WEAK, partial(weak_bits, weak=1)),
    Honest("a key that may be missing", 0.5, partial(missing_or_noisy, epsilon=0.5)),
]
