"""Vectors for private choice: the option with the largest noisy utility, over all utilities.

With Gumbel noise (the exponential mechanism) the worst outcomes have a closed form; with
exponential noise (permute-and-flip) two options attain the worst. The second method searches for
the largest value over the pairs from which the closed forms are derived.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for, settled


def _delta(noise: str, budget: str, epsilon: str) -> Bounds:
    closed, pairs = {
        "gumbel": (_closed_range, _pair_of_range),
        "exponential": (_closed_contest, _pair_of_contest),
    }[noise]
    delta = settled(lambda: closed(number(budget), number(epsilon)))
    with mp.workdps(80):
        width, loss = number(budget), number(epsilon)
        other = _largest(lambda share: pairs(width, loss, share))
    return bracket(delta, (other, "1e-30"), most=1)


def _closed_range(width: mpf, epsilon: mpf) -> mpf:
    return mp.expm1((epsilon - width) / 2) ** 2 / -mp.expm1(-width)


def _closed_contest(width: mpf, epsilon: mpf) -> mpf:
    return -mp.expm1((epsilon - width) / 2)


def _pair_of_range(width: mpf, epsilon: mpf, share: mpf) -> mpf:
    """Two outcomes with the losses top and top - width, epsilon <= top <= width."""
    top = epsilon + share * (width - epsilon)
    chance = (1 - mp.exp(top - width)) / (mp.exp(top) - mp.exp(top - width))
    return (mp.exp(top) - mp.exp(epsilon)) * chance


def _pair_of_contest(width: mpf, epsilon: mpf, share: mpf) -> mpf:
    """Two options; the first leads by share * width, and by one width less without the user."""
    ahead = share * width

    def wins(gap: mpf) -> mpf:  # the difference of two exponential noises has a Laplace law
        return 1 - mp.exp(-gap) / 2 if gap >= 0 else mp.exp(gap) / 2

    return wins(ahead) - mp.exp(epsilon) * wins(ahead - width)


def _largest(value: Callable[[mpf], mpf]) -> mpf:
    """The largest value on [0, 1] of a function with one maximum, by golden sections."""
    ratio, low, high = (mp.sqrt(5) - 1) / 2, mpf(0), mpf(1)
    while high - low > mpf(10) ** -30:
        x, y = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, y) if value(x) > value(y) else (x, high)
    return value((low + high) / 2)


TABLE = [
    # noise, budget, epsilon, comment, flags
    ("gumbel", "1", "0.5", "the exponential mechanism", "Ordinary"),
    ("gumbel", "1", "0", "epsilon 0", "EpsilonZero"),
    ("gumbel", "0.1", "0.05", "a small budget", "SmallEpsilon"),
    ("gumbel", "1", "0.9999999", "near the largest loss", "SmallDelta"),
    ("gumbel", "8", "2", "a large budget", "LargeBudget"),
    ("exponential", "1", "0.5", "permute-and-flip", "NoBoundedRange"),
    ("exponential", "1", "0", "epsilon 0", "NoBoundedRange EpsilonZero"),
    ("exponential", "0.1", "0.05", "a small budget", "NoBoundedRange SmallEpsilon"),
    ("exponential", "8", "2", "a large budget", "NoBoundedRange LargeBudget"),
]


GROUP = Group(
    name="noisy_max",
    description="Report noisy max: the option whose utility plus noise is largest, over all "
    "numbers of options and all utilities. The noise has the scale 2 D/budget, where a user "
    "changes each utility by at most D in either direction. With gumbel noise this is the "
    "exponential mechanism, with exponential noise permute-and-flip.",
    questions={
        "delta": "the least delta of one choice for this epsilon, which is at most the budget"
    },
    source="Dong, Durfee, Rogers 2020, Section 3 (bounded range); Ding et al. 2021 "
    "(permute-and-flip)",
    methods=(
        "mpmath: the closed form of the worst pair, at two precisions",
        "the largest delta over the pairs with two outcomes, by a search",
    ),
    recipes=lambda: recipes_for("delta", ("noise", "budget", "epsilon"), _delta, TABLE),
)
