"""Vectors for DP-SGD: Gaussian noise on Poisson samples, from one step to a million."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from mpmath import mp, mpf

from vectors.generate.common import (
    Bounds,
    Group,
    Recipe,
    both_ways,
    bracket,
    number,
    root,
    settled,
)
from vectors.generate.contour import Rules, composed, solved
from vectors.generate.normal import hockey, hockey_integral
from vectors.generate.rules import gaussian, pair
from vectors.generate.shares import in_integers

_DIGITS = 75


def _one(epsilon: mpf, rate: mpf, mu: mpf, plain: Callable[[mpf, mpf], mpf] = hockey) -> mpf:
    """One step, the worse of both orders (Balle, Barthe, Gaboardi 2018, Theorem 2)."""
    removed = rate * plain(mp.log1p(mp.expm1(epsilon) / rate), mu)
    c = mp.expm1(-epsilon) + rate
    return max(removed, c * mp.exp(epsilon) * plain(-mp.log(c / rate), mu) if c > 0 else mpf(0))


def orders(k: str, sigma: str, rate: str, neighbours: str) -> Iterator[Rules]:
    """The laws of the loss of k steps, for each order of the neighbours."""

    def rules(order: str, level: int) -> list[tuple[list[tuple[mpf, mpf]], int]]:
        shifts = [(mpf(1), 1 / number(sigma))]
        return [(gaussian(*pair(shifts, number(rate), order), level // 2), int(k))]

    for order in ("replace",) if neighbours == "replace-one" else ("remove", "add"):
        yield partial(rules, order)


def _delta(k: str, sigma: str, rate: str, neighbours: str, epsilon: str) -> Bounds:
    if k == "1":
        return _delta_of_one(sigma, rate, epsilon)
    with mp.workdps(_DIGITS):
        deltas = []
        for rules in orders(k, sigma, rate, neighbours):
            line, value = composed(rules, number(epsilon))
            deltas.append((value, line, rules))
        value, line, rules = max(deltas, key=lambda each: each[0])
        second = in_integers(rules, number(epsilon), line.theta, value)
        return bracket(value, *second, most=1)


def _delta_of_one(sigma: str, rate: str, epsilon: str) -> Bounds:
    def numbers() -> tuple[mpf, mpf, mpf]:
        return number(epsilon), number(rate), 1 / number(sigma)

    value = settled(lambda: _one(*numbers()))
    with mp.workdps(60):
        other = _one(*numbers(), hockey_integral)
    return bracket(value, (other, "1e-30"), most=1)


def _epsilon(k: str, sigma: str, rate: str, neighbours: str, delta: str) -> Bounds:
    """The least epsilon at delta, which is the larger one of both orders."""
    if k == "1":
        return _epsilon_of_one(sigma, rate, delta)
    with mp.workdps(_DIGITS):
        target = number(delta)
        solutions = [solved(rules, target) for rules in orders(k, sigma, rate, neighbours)]
        line, epsilon = max(solutions, key=lambda each: each[1])
        ends = bracket(epsilon)
        if not line.delta(number(ends[0])) > target >= line.delta(number(ends[1])):
            raise ArithmeticError("delta does not pass the target between the ends of the bracket")
        return ends


def _epsilon_of_one(sigma: str, rate: str, delta: str) -> Bounds:
    def enough(epsilon: mpf) -> bool:
        return bool(_one(epsilon, number(rate), 1 / number(sigma)) <= number(delta))

    with mp.workprec(1200):
        if enough(mpf(0)):
            return "0", "0"
    return root(enough, mpf(1), 1200)


_AR, _RO = "add-remove", "replace-one"

DELTAS = [
    # k, sigma, rate, neighbours, epsilon, comment, flags
    ("1", "1", "0.0625", _AR, "1", "one step", "FewCompositions"),
    ("1", "0.5", "0.01", _AR, "2", "one step, little noise", "FewCompositions"),
    ("1", "1", "0.5", _AR, "0", "total variation", "FewCompositions EpsilonZero"),
    ("1", "1", "0.5", _AR, "0.5", "near the largest loss of addition", "FewCompositions"),
    ("1", "4", "0.001", _AR, "0.001", "losses of 1e-3", "FewCompositions"),
    ("1", "9.4", "0.07", _AR, "6.7", "one step, far out", "FewCompositions TinyDelta"),
    ("1", "4", "0.0001", _AR, "1", "small rate, far out", "FewCompositions TinyDelta"),
    ("1", "50", "0.01", _AR, "0.0625", "much noise, far out", "FewCompositions TinyDelta"),
    ("1", "0.3", "0.9", _AR, "20", "hardly any noise", "FewCompositions TinyNoise"),
    ("100", "2", "0.1", _AR, "2", "a hundred steps", "Ordinary"),
    ("100", "4", "0.1", _AR, "1.8", "a hundred steps, 2e-12", "Ordinary"),
    ("1000", "1", "0.01", _AR, "1.8282", "a thousand steps", "Ordinary"),
    ("1000", "2", "0.05", _AR, "0", "a thousand steps, epsilon 0", "EpsilonZero"),
    ("1000", "1", "0.01", _RO, "3", "a thousand steps, replaced", "Relation"),
    ("1000", "4", "0.1", _AR, "16", "a thousand steps, far out", "TinyDelta"),
    ("10000", "1", "0.01", _AR, "6.1877", "ten thousand steps", "ManyCompositions"),
    ("10000", "1", "0.01", _AR, "8", "ten thousand steps", "ManyCompositions"),
    ("10000", "8", "0.01", _AR, "0.5", "ten thousand steps", "ManyCompositions"),
    ("10000", "4", "0.1", _AR, "50", "ten thousand steps, far out", "ManyCompositions TinyDelta"),
    ("10000", "1", "0.01", _RO, "10", "ten thousand steps, replaced", "ManyCompositions Relation"),
    ("100000", "1", "0.01", _AR, "25.5", "a hundred thousand steps", "ManyCompositions"),
    ("100000", "20", "0.01", _AR, "1", "a hundred thousand steps", "ManyCompositions"),
    ("1000000", "1", "0.01", _AR, "139", "a million steps", "ManyCompositions"),
    ("1000000", "1", "0.01", _AR, "64", "a million, nearly no privacy", "ManyCompositions"),
    ("1000000", "1", "0.01", _AR, "400", "a million, far out", "ManyCompositions TinyDelta"),
    ("1000000", "50", "0.001", _AR, "0.125", "a million steps", "ManyCompositions SmallDelta"),
]  # fmt: skip

EPSILONS = [
    # k, sigma, rate, neighbours, delta, comment, flags
    ("1", "1", "0.0625", _AR, "1e-5", "one step", "FewCompositions"),
    ("1", "4", "0.25", _AR, "1e-15", "one step, delta 1e-15", "FewCompositions SmallDelta"),
    ("1", "1", "0.125", _AR, "1e-100", "one step, delta 1e-100", "FewCompositions TinyDelta"),
    ("1", "2", "0.001", _AR, "0.001", "epsilon is 0", "FewCompositions Boundary EpsilonZero"),
    ("100", "2", "0.1", _AR, "1e-5", "a hundred steps", "Ordinary"),
    ("1000", "1", "0.01", _AR, "1e-5", "a thousand steps", "Ordinary"),
    ("1000", "4", "0.1", _AR, "1e-100", "a thousand, delta 1e-100", "TinyDelta"),
    ("10000", "1", "0.01", _AR, "1e-5", "ten thousand steps", "ManyCompositions"),
    ("10000", "1", "0.01", _RO, "1e-5", "ten thousand, replaced", "ManyCompositions Relation"),
    ("10000", "4", "0.1", _AR, "1e-15", "ten thousand, 1e-15", "ManyCompositions SmallDelta"),
    ("10000", "4", "0.1", _AR, "1e-300", "ten thousand, 1e-300", "ManyCompositions TinyDelta"),
    ("100000", "1", "0.01", _AR, "1e-5", "a hundred thousand steps", "ManyCompositions"),
    ("1000000", "1", "0.01", _AR, "1e-5", "a million steps", "ManyCompositions"),
    ("1000000", "50", "0.001", _AR, "1e-6", "a million steps", "ManyCompositions"),
]  # fmt: skip


def _recipes() -> list[Recipe]:
    names = ("k", "sigma", "rate", "neighbours")
    return both_ways(names, _delta, DELTAS, _epsilon, EPSILONS)


GROUP = Group(
    name="sampled_gaussian",
    description="k steps, each with Gaussian noise of deviation `sigma` on the sum of a Poisson "
    "sample, in which every user is with probability `rate` and adds at most 1 in l2 norm. "
    "Neighbours: a user takes part or not, or one user's data is replaced.",
    questions={
        "delta": "the least delta at epsilon for all k steps together, the larger one of both "
        "orders",
        "epsilon": "the least epsilon >= 0 at delta",
    },
    source="Abadi et al. 2016; Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022",
    methods=(
        "one step: the closed form at two precisions, and with the normal tail by quadrature",
        "many: the integral of the k-th power of the transform of one step's loss along a line in "
        "the complex plane, on two lines, agreeing to 1e-43",
        "the same by integers on grids, where at most 300000 nodes suffice, agreeing to 1e-4",
        "epsilon: Newton's method along such a line; both ends checked",
    ),
    recipes=_recipes,
)
