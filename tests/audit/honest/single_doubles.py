"""Mechanisms that draw floats of which only few values are seen.

A logarithm, an inverse distribution function, one uniform number among sums of probabilities.
"""

import bisect
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from tests.audit.honest.case import Probabilities, add, mapped, product, truthful

STYLE = "floats that end in few values"
TOP = 6
LN2, LN3 = "0.69315", "1.0987"
#: A little more than one double of 2^53 can change.
SLACK = "1e-12"
Q = math.exp(-1)  # the ratio of geometric noise of epsilon = 1


def clamped(value: Any) -> int:
    return int(min(max(value, 0), TOP))


def noisy(value: int, noise: Callable[[int], float]) -> Probabilities:
    """The law of a count with noise, clamped to 0 ... TOP."""
    law = {value + z: Fraction(noise(z)) for z in range(-80, 81)}
    return mapped(law, clamped)


def two_sided(value: int) -> Probabilities:
    return noisy(value, lambda z: (1 - Q) / (1 + Q) * Q ** abs(z))


def rounded_laplace(value: int) -> Probabilities:
    def cdf(x: float) -> float:
        return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2

    return noisy(value, lambda z: cdf(z + 0.5) - cdf(z - 0.5))


def case(honest: Any, bugged: Any, law: Any, **options: Any) -> None:
    """Counts 2 and 3, with numpy, unless the options say something else."""
    usual = {"left": 2, "right": 3, "epsilon": "1.000001", "delta": SLACK, "interface": "numpy"}
    add(STYLE, honest=honest, bugged=bugged, law=law, **usual | options)


def shifted_twice(honest: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A twin that counts every user twice."""
    return lambda count, rng: honest(2 * count, rng)


# 1. Geometric noise by the logarithm of a double, with numpy.
def log_of_random(count: int, rng: np.random.Generator) -> int:
    u = rng.random() - 0.5
    u *= 1 + np.exp(-1.0)
    sign = -1 if u < 0 else 1
    return clamped(int(np.round(count + sign * np.floor(np.log(sign * u + 2.0**-60) / -1.0))))


case(log_of_random, shifted_twice(log_of_random), two_sided)


# 2. The same with math, from Python's generator.
def geometric_by_math(rng: Any) -> int:
    return math.floor(math.log(1.0 - rng.random()) / -1.0)


def difference_by_math(count: int, rng: Any) -> int:
    return clamped(count + geometric_by_math(rng) - geometric_by_math(rng))


def one_sided_by_math(count: int, rng: Any) -> int:
    return clamped(count + geometric_by_math(rng))


case(difference_by_math, one_sided_by_math, two_sided, interface="random")


# 3. The logarithm of two doubles at once.
def log_of_an_array(count: int, rng: np.random.Generator) -> int:
    first, second = np.floor(np.log1p(-rng.random(2)) / -1.0).astype(int)
    return clamped(count + int(first) - int(second))


case(log_of_an_array, shifted_twice(log_of_an_array), two_sided)


# 4. Laplace noise by the inverse of its distribution function, rounded.
def inverse_laplace(count: int, rng: Any) -> int:
    u = rng.uniform(-0.5, 0.5)
    noise = math.copysign(1.0, u) * -math.log(1.0 - 2.0 * abs(u) + 2.0**-60)
    return clamped(round(count + noise))


case(inverse_laplace, shifted_twice(inverse_laplace), rounded_laplace, interface="random")


# 5. numpy's own Laplace noise, rounded.
def rounded(count: int, rng: np.random.Generator) -> int:
    return clamped(round(count + rng.laplace(0.0, 1.0)))


def rounded_with_small_noise(count: int, rng: np.random.Generator) -> int:
    return clamped(round(count + rng.laplace(0.0, 0.5)))


case(rounded, rounded_with_small_noise, rounded_laplace)


# 6. numpy's uniform().
def answers_by_uniform(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.uniform(0.0, 4.0) < 3.0 else 1 - bit


def answers_by_wrong_uniform(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.uniform(0.0, 5.0) < 4.0 else 1 - bit


case(
    answers_by_uniform, answers_by_wrong_uniform, truthful(Fraction(3, 4), 2),
    left=0, right=1, epsilon=LN3,
)  # fmt: skip


# 7. The difference of two geometric draws.
def geometric_difference(count: int, rng: np.random.Generator) -> int:
    p = -np.expm1(-1.0)
    return clamped(count + rng.geometric(p) - rng.geometric(p))


def geometric_alone(count: int, rng: np.random.Generator) -> int:
    return clamped(count + rng.geometric(-np.expm1(-1.0)) - 1)


case(geometric_difference, geometric_alone, two_sided)


# 8. Several geometric draws at once.
def geometric_pair(count: int, rng: np.random.Generator) -> int:
    up, down = rng.geometric(0.75, size=2)
    return clamped(count + int(up) - int(down))


def _quarter(count: int) -> Probabilities:
    return noisy(count, lambda z: 0.6 * 0.25 ** abs(z))


case(geometric_pair, shifted_twice(geometric_pair), _quarter, epsilon="1.3863")


# 9. The exponential mechanism: one uniform number against an array of sums.
SCORES = {"left": [3, 2, 0], "right": [2, 3, 1], "epsilon": "1.3863"}  # ln 4


def weights_of(scores: list[int]) -> np.ndarray:
    weights = np.exp2(np.asarray(scores, dtype=float))
    return weights / weights.sum()


def _selected(scores: list[int]) -> Probabilities:
    weights = [2**score for score in scores]
    return {i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}


def sharply(select: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A twin that doubles the scores."""
    return lambda scores, rng: select([2 * score for score in scores], rng)


def first_sum_above(scores: list[int], rng: np.random.Generator) -> int:
    return int(np.argmax(rng.random() <= np.cumsum(weights_of(scores)) + 1e-15))


case(first_sum_above, sharply(first_sum_above), _selected, **SCORES)


# 10. The number of sums that are below.
def sums_below(scores: list[int], rng: np.random.Generator) -> int:
    sums = np.cumsum(weights_of(scores))
    return int((rng.uniform() > sums[:-1]).sum())


case(sums_below, sharply(sums_below), _selected, **SCORES)


# 11. searchsorted.
def searched(scores: list[int], rng: np.random.Generator) -> int:
    return int(np.searchsorted(np.cumsum(weights_of(scores))[:-1], rng.random()))


case(searched, sharply(searched), _selected, **SCORES)


# 12. searchsorted of several numbers.
def searched_twice(scores: list[int], rng: np.random.Generator) -> list[int]:
    return np.searchsorted(np.cumsum(weights_of(scores))[:-1], rng.random(2), "right").tolist()


case(
    searched_twice, sharply(searched_twice),
    lambda scores: product(_selected(scores), _selected(scores)), **SCORES | {"epsilon": "2.7726"},
)  # fmt: skip


# 13. digitize.
def digitized(scores: list[int], rng: np.random.Generator) -> int:
    return int(np.digitize(rng.random(), np.cumsum(weights_of(scores))[:-1]))


case(digitized, sharply(digitized), _selected, **SCORES)


# 14. bisect in a list, from Python's generator.
def bisected(scores: list[int], rng: Any) -> int:
    sums = list(itertools.accumulate(2**score for score in scores))
    return bisect.bisect(sums, rng.random() * sums[-1])


case(bisected, sharply(bisected), _selected, **SCORES, interface="random")


# 15. choices with weights.
def chosen_by_weights(scores: list[int], rng: Any) -> int:
    return int(rng.choices(range(len(scores)), weights=[2**score for score in scores])[0])


case(chosen_by_weights, sharply(chosen_by_weights), _selected, **SCORES, interface="random")


# 16. choice(p=) of labels, twice.
def labels(scores: list[int], rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(map(str, rng.choice(["a", "b", "c"], size=2, p=weights_of(scores))))


def _labels(scores: list[int]) -> Probabilities:
    law = mapped(_selected(scores), lambda i: "abc"[i])
    return product(law, law)


case(labels, sharply(labels), _labels, **SCORES | {"epsilon": "2.7726"})


# 17. multinomial with one trial.
def one_trial(scores: list[int], rng: np.random.Generator) -> int:
    return int(np.argmax(rng.multinomial(1, weights_of(scores))))


case(one_trial, sharply(one_trial), _selected, **SCORES)


# 18. Gumbel noise on two scores, one of which is public.
def gumbel_of_two(score: int, rng: np.random.Generator) -> bool:
    return bool(score + rng.logistic() > 0)


def _logistic(score: int) -> Probabilities:
    p = Fraction(1 / (1 + math.exp(-score)))
    return {True: p, False: 1 - p}


case(gumbel_of_two, shifted_twice(gumbel_of_two), _logistic, left=0, right=1)


# 19. Gumbel noise against a threshold.
def gumbel_threshold(count: int, rng: np.random.Generator) -> bool:
    return bool(count + rng.gumbel() > 3)


def _gumbel(count: int) -> Probabilities:
    p = Fraction(math.exp(-math.exp(count - 3)))
    return {True: 1 - p, False: p}


case(
    gumbel_threshold, shifted_twice(gumbel_threshold), _gumbel, left=0, right=1,
    epsilon="1.000001",
)  # fmt: skip


# 20. An exponential number of Python's.
def exponential_difference(count: int, rng: Any) -> int:
    return clamped(count + int(rng.expovariate(1.0)) - int(rng.expovariate(1.0)))


case(exponential_difference, shifted_twice(exponential_difference), two_sided, interface="random")


# 21. A mask of doubles, and where().
def masked(bits: list[int], rng: np.random.Generator) -> list[int]:
    data = np.asarray(bits)
    return np.where(rng.random(len(data)) < 0.75, data, 1 - data).tolist()


def masked_once(bits: list[int], rng: np.random.Generator) -> list[int]:
    data = np.asarray(bits)
    return np.where(rng.random(1) < 0.75, data, 1 - data).tolist()


case(
    masked, masked_once,
    lambda bits: product(*(truthful(Fraction(3, 4), 2)(bit) for bit in bits)),
    left=[0, 1], right=[1, 1], epsilon=LN3,
)  # fmt: skip


# 22. A column of pandas with a uniform number for each row.
def column(frame: Any, rng: np.random.Generator) -> list[int]:
    keep = rng.uniform(size=len(frame)) < 0.75
    return [int(x) for x in frame["smokes"].where(keep, 1 - frame["smokes"])]


def column_of_smokers(frame: Any, rng: np.random.Generator) -> list[int]:
    keep = rng.uniform(size=len(frame)) < 0.75
    return [int(x) for x in frame["smokes"] * keep]


def _frame(bits: list[int]) -> Any:
    import pandas as pd

    return pd.DataFrame({"smokes": bits})


case(
    column, column_of_smokers,
    lambda frame: product(*(truthful(Fraction(3, 4), 2)(int(x)) for x in frame["smokes"])),
    left=lambda: _frame([0, 1]), right=lambda: _frame([1, 1]), epsilon=LN3,
)  # fmt: skip


# 23. A Bernoulli variable of scipy.
def bernoulli(bit: int, rng: np.random.Generator) -> int:
    return int(stats.bernoulli.rvs(0.75 if bit else 0.25, random_state=rng))


def certain_bernoulli(bit: int, rng: np.random.Generator) -> int:
    return int(stats.bernoulli.rvs(1.0 if bit else 0.25, random_state=rng))


case(
    bernoulli, certain_bernoulli, truthful(Fraction(3, 4), 2), left=0, right=1, epsilon=LN3,
)  # fmt: skip


# 24. A discrete Laplace variable of scipy.
def discrete_laplace(count: int, rng: np.random.Generator) -> int:
    return clamped(count + int(stats.dlaplace.rvs(1.0, random_state=rng)))


case(discrete_laplace, shifted_twice(discrete_laplace), two_sided)


# 25. The logit of a double, by scipy.
def logit(score: int, rng: np.random.Generator) -> bool:
    u = rng.random() + 2.0**-60
    return bool(score + math.log(u) - math.log1p(-u) > 0)


case(logit, shifted_twice(logit), _logistic, left=0, right=1)


# 26. Stochastic rounding.
def stochastically(value: float, rng: np.random.Generator) -> int:
    return int(np.floor(value + rng.random()))


def stochastically_by_halves(value: float, rng: np.random.Generator) -> int:
    return int(np.floor(value + rng.random() / 2))


def _stochastic(value: float) -> Probabilities:
    p = Fraction(value) % 1
    return {int(value): 1 - p, int(value) + 1: p}


case(
    stochastically, stochastically_by_halves, _stochastic, left=0.25, right=0.75, epsilon=LN3,
)  # fmt: skip
