"""Vectors for the best output of a random number of runs: the least epsilon with delta 0.

Let F and G be the probabilities that a run is worse than an output. For runs of epsilon = budget,
G >= max(e^-budget F, 1 - e^budget (1 - F)), and the loss of the best of K runs is at most budget +
ln f'(F)/f'(G), f(x) = E x^K. The largest value is at F = e^budget/(1 + e^budget), where worse
outputs are those with the largest loss; mechanisms whose outputs have nearly these F and G come as
near to it as one likes. The second method searches over F, with f' as a sum over the numbers of
runs.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for, settled

_TERMS = 60_000


def _epsilon(budget: str, mean: str, shape: str) -> Bounds:
    largest = settled(lambda: _closed(number(budget), number(mean), shape))
    with mp.workdps(40):
        other = _searched(number(budget), number(mean), shape)
    return bracket(largest, (other, "1e-12"))


def _closed(budget: mpf, mean: mpf, shape: str) -> mpf:
    if shape == "poisson":  # F - G = tanh(budget/2)
        return budget + mean * mp.tanh(budget / 2)
    gamma, grown = _gamma(mean, number(shape)), mp.exp(budget)
    return budget + (number(shape) + 1) * mp.log((grown + gamma) / (1 + gamma * grown))


def _gamma(mean: mpf, shape: mpf) -> mpf:
    def mean_at(gamma: mpf) -> mpf:
        if not shape:
            return (1 / gamma - 1) / mp.log(1 / gamma)
        return shape * (1 - gamma) / (gamma * (1 - gamma**shape))

    low, high = mpf(2) ** -40, 1 - mpf(2) ** -40
    for _ in range(mp.prec + 40):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_at(middle) > mean else (low, middle)
    return low


def _searched(budget: mpf, mean: mpf, shape: str) -> mpf:
    slope = _slope(mean, shape)

    def loss(worse: mpf) -> mpf:
        least = max(mp.exp(-budget) * worse, 1 - mp.exp(budget) * (1 - worse))
        return budget + mp.log(slope(worse) / slope(least))

    ratio, low, high = (mp.sqrt(5) - 1) / 2, mpf(0), mpf(1)
    while high - low > mpf(10) ** -16:
        x, y = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, y) if loss(x) > loss(y) else (x, high)
    return loss((low + high) / 2)


def _slope(mean: mpf, shape: str) -> Callable[[mpf], mpf]:
    """f', as the sum of k P(K = k) x^(k - 1); each probability follows from the one before."""
    step: Callable[[int], mpf]
    if shape == "poisson":
        first, step = mean * mp.exp(-mean), lambda k: mean / (k + 1)
    else:
        eta = number(shape)
        gamma = _gamma(mean, eta)
        share = 1 / mp.log(1 / gamma) if not eta else eta / (gamma**-eta - 1)
        first, step = (1 - gamma) * share, lambda k: (1 - gamma) * (k + eta) / (k + 1)
    probabilities = [first]
    while probabilities[-1] > mpf(10) ** -25 and len(probabilities) < _TERMS:
        k = len(probabilities)
        probabilities.append(probabilities[-1] * step(k))
    falling = [k * p for k, p in enumerate(probabilities, 1)][::-1]
    return lambda x: mp.polyval(falling, x)


TABLE = [
    # budget, mean, shape, comment, flags
    ("1", "10", "1", "geometric", "Ordinary"),
    ("1", "10", "0", "logarithmic", "Ordinary"),
    ("1", "10", "poisson", "Poisson", "Ordinary"),
    ("1", "10", "0.5", "between logarithmic and geometric", "Ordinary"),
    ("0.1", "100", "1", "a small budget, many runs", "SmallEpsilon"),
    ("0.125", "30", "2", "more regular than geometric", "Ordinary"),
    ("3", "5", "1", "a large budget", "LargeBudget"),
    ("0.5", "0.5", "poisson", "fewer than one run, on average", "Boundary"),
    ("0.5", "1.5", "0", "hardly more than one run", "Boundary"),
]


GROUP = Group(
    name="repeated",
    description="A mechanism runs K times, and only the best of the K outputs is published; "
    "outputs are compared in some order that is fixed without the data. Every run is "
    "(budget, 0)-DP. K is secret and has the mean `mean`: its law is Poisson (nothing is "
    "published for K = 0), or truncated negative binomial of this `shape` (1: geometric, 0: "
    "logarithmic), as in the source. The answer holds for all such mechanisms and all orders, "
    "and no smaller one does.",
    questions={"epsilon": "the least epsilon for which the published output is (epsilon, 0)-DP"},
    source="Papernot, Steinke 2022 (arXiv 2110.03620), Definitions 1 and 5, with a sharper bound",
    methods=(
        "the closed form, with gamma by halving, at two precisions",
        "search over the probability of worse outputs, with f' summed over the numbers of runs",
    ),
    recipes=lambda: recipes_for("epsilon", ("budget", "mean", "shape"), _epsilon, TABLE),
)
