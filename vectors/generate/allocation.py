"""Vectors for random allocation: a user takes part in one of t steps, chosen uniformly.

Gaussian noise, two steps: the set of outputs whose ratio passes e^epsilon has a boundary in closed
form, so its two probabilities are integrals over the first step's output. A second method computes
the mean of the positive part, with the second step in the closed form of Black and Scholes.
Randomised response: the number of answers with the larger ratio has a binomial law.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import comb

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, Recipe, bracket, number, settled

#: Beyond this number of standard deviations lies less than 1e-80.
_FAR = 20


def _delta(
    mechanism: str, steps: str, epsilon: str, sigma: str = "", epsilon_each: str = ""
) -> Bounds:
    if mechanism == "gaussian":
        if steps != "2":
            raise ValueError("only two steps of Gaussian noise")
        return _of_two(sigma, epsilon)
    count = int(steps)
    delta = settled(lambda: max(_of_counts(number(epsilon_each), count, number(epsilon))))
    with mp.workdps(80):
        other = max(_of_sets(number(epsilon_each), count, number(epsilon)))
    return bracket(delta, (other, "1e-30"), most=1)


def _of_two(sigma: str, epsilon: str) -> Bounds:
    def value() -> mpf:
        return max(_by_sets(1 / number(sigma), mp.exp(number(epsilon))))

    delta = settled(value, bits=192)
    with mp.workdps(40):
        other = max(_by_calls(1 / number(sigma), mp.exp(number(epsilon))))
    return bracket(delta, (other, "1e-30"), most=1)


def _place(mu: mpf, ratio: mpf) -> mpf:
    """The output z, without the user, at which e^(mu z - mu^2/2) equals this ratio."""
    return mp.log(ratio) / mu + mu / 2


def _mean(function: Callable[[mpf], mpf], end: mpf, centre: mpf) -> mpf:
    """The mean of a function of a normal number around a centre, over the numbers below an end."""
    start = min(centre, end) - _FAR
    places = [start + i * (end - start) / 6 for i in range(7)]
    return mp.quad(lambda z: mp.npdf(z - centre) * function(z), places)


def _by_sets(mu: mpf, x: mpf) -> tuple[mpf, mpf]:
    """With the user first: P(S > x) - x Q(S > x). Without: Q(S < 1/x) - x P(S < 1/x)."""

    def chances(total: mpf) -> tuple[mpf, mpf]:
        """P and Q of r_1 + r_2 < total; by symmetry the user is in the first step."""

        def below(z: mpf) -> mpf:
            rest = total - mp.exp(mu * z - mu * mu / 2)
            return mp.ncdf(_place(mu, rest)) if rest > 0 else mpf(0)

        end = _place(mu, total)
        return _mean(below, end, mu), _mean(below, end, mpf(0))

    (p, q), (p_low, q_low) = chances(2 * x), chances(2 / x)
    return (1 - p) - x * (1 - q), q_low - x * p_low


def _by_calls(mu: mpf, x: mpf) -> tuple[mpf, mpf]:
    """E (S - x)+ and E (1 - x S)+ under Q."""

    def call(c: mpf) -> mpf:
        return mp.ncdf(mu - _place(mu, c)) - c * mp.ncdf(-_place(mu, c)) if c > 0 else 1 - c

    def ratio(z: mpf) -> mpf:
        return mp.exp(mu * z - mu * mu / 2)

    def upper(z: mpf) -> mpf:
        return call(2 * x - ratio(z)) / 2

    def lower(z: mpf) -> mpf:
        c = 2 / x - ratio(z)
        return x / 2 * (call(c) - 1 + c)

    end = _place(mu, 2 * x)
    far = mp.ncdf(mu - end) / 2 + (mpf(1) / 2 - x) * mp.ncdf(-end)  # here r_1 alone passes
    return _mean(upper, end, mpf(0)) + far, _mean(lower, _place(mu, 2 / x), mpf(0))


def _of_counts(each: mpf, steps: int, epsilon: mpf) -> tuple[mpf, mpf]:
    """By the number of answers that are likelier with the user."""
    likely, x = 1 / (1 + mp.exp(-each)), mp.exp(epsilon)
    first = second = mpf(0)
    for i in range(steps + 1):
        without = comb(steps, i) * (1 - likely) ** i * likely ** (steps - i)
        with_user = without * (i * mp.exp(each) + (steps - i) * mp.exp(-each)) / steps
        first += max(with_user - x * without, mpf(0))
        second += max(without - x * with_user, mpf(0))
    return first, second


def _of_sets(each: mpf, steps: int, epsilon: mpf) -> tuple[mpf, mpf]:
    """The same numbers, where with the user one answer has another law than the rest."""
    likely, x = 1 / (1 + mp.exp(-each)), mp.exp(epsilon)

    def law(count: int, chance: mpf) -> list[mpf]:
        masses = [mpf(1)]
        for _ in range(count):
            padded = [mpf(0), *masses, mpf(0)]
            masses = [(1 - chance) * right + chance * left for left, right in pairwise(padded)]
        return masses

    others, without = law(steps - 1, 1 - likely), law(steps, 1 - likely)
    padded = [mpf(0), *others, mpf(0)]
    with_user = [(1 - likely) * right + likely * left for left, right in pairwise(padded)]
    pairs = list(zip(with_user, without, strict=True))
    first, second = (
        sum((max(p - x * q, mpf(0)) for p, q in chosen), mpf(0))
        for chosen in (pairs, [(q, p) for p, q in pairs])
    )
    return first, second


TABLE = [
    # mechanism, steps, noise, epsilon, comment, flags
    ("gaussian", "2", "1", "1", "two steps", "OneOfSteps"),
    ("gaussian", "2", "2", "0.5", "two steps", "OneOfSteps"),
    ("gaussian", "2", "1", "0", "epsilon 0", "OneOfSteps EpsilonZero"),
    ("gaussian", "2", "0.75", "2", "little noise", "OneOfSteps TinyNoise"),
    ("gaussian", "2", "2", "3", "far out", "OneOfSteps SmallDelta"),
    ("randomized_response", "2", "1", "0.25", "two answers", "OneOfSteps"),
    ("randomized_response", "3", "0.5", "0", "epsilon 0", "OneOfSteps EpsilonZero"),
    ("randomized_response", "4", "1", "0.125", "four answers", "OneOfSteps"),
    ("randomized_response", "5", "2", "1", "five answers", "OneOfSteps"),
    ("randomized_response", "10", "3", "1", "ten answers", "OneOfSteps LargeBudget"),
]


def _recipe(row: tuple[str, ...]) -> Recipe:
    mechanism, steps, noise, epsilon, comment, flags = row
    name = "sigma" if mechanism == "gaussian" else "epsilon_each"
    parameters = {"mechanism": mechanism, "steps": steps, name: noise, "epsilon": epsilon}
    return Recipe("delta", parameters, comment, tuple(flags.split()), lambda: _delta(**parameters))


GROUP = Group(
    name="allocation",
    description="Random allocation (balls in bins): a user takes part in one of t steps, chosen "
    "uniformly and kept secret. Gaussian noise has standard deviation sigma, and what a user adds "
    "is at most 1 in size; a randomised response has epsilon_each. Neighbours: with the user in "
    "one of the steps, or without the user in any.",
    questions={
        "delta": "the least delta of one epoch of t steps for this epsilon, the larger one of "
        "both orders"
    },
    source="Chua et al. 2024 (arXiv 2412.16802); Feldman, Shenfeld 2025 (arXiv 2502.08202)",
    methods=(
        "mpmath: probabilities of the outputs whose ratio passes e^epsilon, as integrals over one "
        "step, at two precisions; binomial sums",
        "the mean of the positive part of the ratio, with the other step in closed form; the law "
        "of the number of likely answers, answer by answer",
    ),
    recipes=lambda: [_recipe(row) for row in TABLE],
)
