"""The algorithms on which StatDP and DP-Sniper were evaluated, written anew from their papers.

StatDP: Ding, Wang, Wang, Zhang, Kifer, CCS 2018. DP-Sniper: Bichsel, Steffen, Bogunovic, Vechev,
S&P 2021. The sparse vector technique: Lyu, Su, Li, VLDB 2017, Algorithms 1 to 6. Queries have
sensitivity 1. Noise is rounded to multiples of 1/1024 where it is released: that keeps the
promises of the correct algorithms, whose floating-point forms break them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.audit.broken.case import GRID, Mechanism

BELOW, ENDED = -1000.0, -2000.0
THRESHOLD = 1


@dataclass(frozen=True)
class Algorithm:
    """paper: StatDP or DP-Sniper. keeps: whether it keeps the promise. pairs: neighbours."""

    paper: str
    name: str
    draw: Callable[..., Any]
    epsilon: str
    keeps: bool
    pairs: list[tuple[Any, Any]]

    def run(self, seed: int) -> Mechanism:
        """run(data, n), with a generator of its own."""
        return Mechanism(self.draw, seed)


def differ_in_one(n: int) -> list[tuple[Any, Any]]:
    """The pairs of StatDP of n queries of which one changes."""
    return [((1,) * n, (x,) + (1,) * (n - 1)) for x in (0, 2)]


def differ_in_all(n: int) -> list[tuple[Any, Any]]:
    """The pairs of StatDP of n queries that may all change."""
    ones, half = (1,) * n, n // 2
    others = [(2, *(0,) * (n - 1)), (0, *(2,) * (n - 1)), (2,) * half + (0,) * (n - half)]
    crossed = (1,) * half + (0,) * (n - half), (0,) * half + (1,) * (n - half)
    return [
        *differ_in_one(n), *((ones, other) for other in [*others, (2,) * n, (0,) * n]), crossed
    ]  # fmt: skip


def rounded(values: Any) -> Any:
    return np.rint(values * GRID) / GRID


def noisy_max(data, n, rng, epsilon, noise, released):
    values = np.array(data) + getattr(rng, noise)(scale=2 / epsilon, size=(n, len(data)))
    return np.argmax(values, axis=1) if released == "index" else rounded(values.max(axis=1))


def histogram(data, n, rng, scale, first):
    values = np.array(data) + rounded(rng.laplace(0, scale, (n, len(data))))
    return values[:, 0] if first else values


def until(above, most, ended):
    """Answers after the last that is allowed are replaced."""
    answered = np.cumsum(above, axis=1) - above >= most
    return lambda answers: np.where(answered, ended, answers)


def sparse_vector(
    data, n, rng, rho, nu, most=None, values=False, summary: Callable[..., Any] | None = None
):
    """Threshold noise of scale rho, query noise of scale nu; values: noisy answers are released."""
    queries = np.array(data) + (rounded(rng.laplace(0, nu, (n, len(data)))) if nu else 0)
    above = queries >= THRESHOLD + rng.laplace(0, rho, (n, 1))
    answers = np.where(above, queries, BELOW) if values else above.astype(int)
    if most is not None:
        answers = until(above, most, ENDED if values else -1)(answers)
    return summary(answers) if summary else answers


def sparse_vector_renewed(data, n, rng, rho, nu, most):
    """Algorithm 2: the threshold's noise is drawn anew after each answer above."""
    queries = np.array(data) + rng.laplace(0, nu, (n, len(data)))
    threshold, columns = THRESHOLD + rng.laplace(0, rho, n), []
    for query in queries.T:
        columns.append(query >= threshold)
        threshold = np.where(columns[-1], THRESHOLD + rng.laplace(0, rho, n), threshold)
    above = np.stack(columns, axis=1)
    return until(above, most, -1)(above.astype(int))


def numerical_sparse_vector(data, n, rng, epsilon, most):
    """Answers above get noise of their own."""
    shape = (n, len(data))
    threshold = THRESHOLD + rng.laplace(0, 3 / epsilon, (n, 1))
    above = np.array(data) + rng.laplace(0, 6 * most / epsilon, shape) >= threshold
    answers = np.array(data) + rounded(rng.laplace(0, 3 * most / epsilon, shape))
    return until(above, most, ENDED)(np.where(above, answers, 0))


def count_below(answers):
    return (answers == 0).sum(axis=1)


def distance_from_half(answers):
    """How many answers, of those that were given, differ from: the first half above, others not."""
    expected = np.arange(answers.shape[1]) < answers.shape[1] // 2
    return (answers != expected).sum(axis=1)


def below_and_last(answers):
    answered = answers != ENDED
    last = answers.shape[1] - 1 - np.argmax(answered[:, ::-1], axis=1)
    return np.stack(
        [(answers == BELOW).sum(axis=1), answers[np.arange(len(answers)), last]], axis=1
    )


def two_in_parallel(data, n, rng, one, two):
    return np.concatenate([one(data, n, rng), two(data, n, rng)], axis=1)


def prefix_sums(data, n, rng, epsilon):
    return np.cumsum(histogram(data, n, rng, 1 / epsilon, first=False), axis=1)


def parallel_laplace(data, n, rng, epsilon, copies):
    return data[0] + rounded(rng.laplace(0, 1 / epsilon, (n, copies)))


def truncated_geometric(data, n, rng, epsilon, most):
    """GeoSample of Balcer and Vadhan: odds of 2^k to 1 of a step, cut off at 0 and at `most`."""
    k = math.ceil(math.log2(2 / epsilon))
    stop = 1 - 2.0**k / (2.0**k + 1)
    return np.clip(data[0] + rng.geometric(stop, n) - rng.geometric(stop, n), 0, most)


def rappor(data, n, rng, f, p, q):
    """Bits of a Bloom filter are kept, or drawn with probability f; each is reported with noise.

    data: the bits that a value sets, among 20.
    """
    uniform = rng.random((n, 20))
    bits = np.where(uniform < f, uniform < f / 2, np.isin(np.arange(20), data))
    return rng.random((n, 20)) < np.where(bits, q, p)


def statdp(epsilon: float) -> list[tuple[str, bool, Callable[..., Any], list[tuple[Any, Any]]]]:
    one, every = differ_in_one(5), differ_in_all(5)
    e, svt = epsilon, partial(sparse_vector, rho=2 / epsilon)
    largest = partial(noisy_max, epsilon=e)
    return [
        ("noisy max, index", True, partial(largest, noise="laplace", released="index"), every),
        ("noisy max, value", False, partial(largest, noise="laplace", released="value"), every),
        ("exponential noisy max, index", True,
         partial(largest, noise="exponential", released="index"), every),
        ("exponential noisy max, value", False,
         partial(largest, noise="exponential", released="value"), every),
        ("histogram", True, partial(histogram, scale=1 / e, first=True), one),
        ("histogram, scale epsilon", False, partial(histogram, scale=e, first=True), one),
        ("sparse vector", True, partial(svt, nu=4 / e, most=1, summary=count_below), every),
        ("sparse vector, bare queries", False, partial(svt, nu=0, summary=distance_from_half),
         differ_in_all(10)),
        ("sparse vector, no limit", False, partial(svt, nu=2 / e, summary=distance_from_half),
         differ_in_all(10)),
        ("sparse vector, small noise", False,
         partial(sparse_vector, rho=4 / e, nu=4 / (3 * e), most=1, summary=count_below),
         differ_in_all(10)),
        ("sparse vector, noisy answers", False,
         partial(svt, nu=2 / e, most=1, values=True, summary=below_and_last), every),
    ]  # fmt: skip


def dpsniper(epsilon: float) -> list[tuple[str, bool, Callable[..., Any], list[tuple[Any, Any]]]]:
    one, five, ten = [((0,), (1,))], differ_in_all(5), differ_in_all(10)
    e, svt = epsilon, partial(sparse_vector, rho=2 / epsilon)
    largest, noisy = partial(noisy_max, epsilon=e), partial(histogram, first=False)
    third = partial(svt, nu=2 / e, most=1, values=True)
    fourth = partial(sparse_vector, rho=4 / e, nu=4 / (3 * e), most=1)
    users = [((0, 1, 2, 3), (4, 5, 6, 7))]
    return [
        ("Laplace", True, partial(histogram, scale=1 / e, first=True), one),
        ("truncated geometric", True, partial(truncated_geometric, epsilon=e, most=5), one),
        ("NoisyHist1", True, partial(noisy, scale=1 / e), differ_in_one(5)),
        ("NoisyHist2", False, partial(noisy, scale=e), differ_in_one(5)),
        ("ReportNoisyMax1", True, partial(largest, noise="laplace", released="index"), five),
        ("ReportNoisyMax2", True, partial(largest, noise="exponential", released="index"), five),
        ("ReportNoisyMax3", False, partial(largest, noise="laplace", released="value"), five),
        ("ReportNoisyMax4", False, partial(largest, noise="exponential", released="value"), five),
        ("SVT1", True, partial(svt, nu=4 / e, most=1), ten),
        ("SVT2", True, partial(sparse_vector_renewed, rho=2 / e, nu=4 / e, most=1), ten),
        ("SVT3", False, third, ten),
        ("SVT4", False, fourth, ten),
        ("SVT5", False, partial(svt, nu=0), ten),
        ("SVT6", False, partial(svt, nu=2 / e), ten),
        ("Rappor", True, partial(rappor, f=0.75, p=0.45, q=0.55), users),
        ("OneTimeRappor", True, partial(rappor, f=0.95, p=0, q=1), users),
        ("LaplaceParallel", True, partial(parallel_laplace, epsilon=e / 20, copies=20), one),
        ("SVT34Parallel", False, partial(two_in_parallel, one=third, two=fourth), ten),
        ("PrefixSum", True, partial(prefix_sums, epsilon=e), differ_in_one(10)),
        ("NumericalSVT", True, partial(numerical_sparse_vector, epsilon=e, most=1), ten),
    ]  # fmt: skip


#: Claims that are those of the noise: eight bits that differ, each told with odds of f.
_RAPPORS = {"Rappor": "0.40009", "OneTimeRappor": "0.80067"}

ALGORITHMS = [
    *(Algorithm("StatDP", n, d, "0.7", k, p) for n, k, d, p in statdp(0.7)),
    *(Algorithm("DP-Sniper", n, d, _RAPPORS.get(n, "0.7"), k, p) for n, k, d, p in dpsniper(0.7)),
]
