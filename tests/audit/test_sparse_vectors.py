"""Algorithms 1 to 6 of Lyu, Su and Li (2017), with discrete Laplace noise and one answer above.

The expected divergence sums over the noise of the threshold, in plain floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from exactdp.audit import private


def noise(scale, rng):
    """Discrete Laplace noise: difference of two geometric numbers."""
    alpha = math.exp(-1 / scale)
    first = 0
    while rng.random() < alpha:
        first += 1
    second = 0
    while rng.random() < alpha:
        second += 1
    return first - second


def algorithm_1(queries, rng):
    epsilon, c = 1, 1
    threshold = 1 + noise(2 * 1 / epsilon, rng)
    answers = []
    count = 0
    for query in queries:
        if query + noise(4 * c / epsilon, rng) >= threshold:
            answers.append(True)
            count += 1
            if count >= c:
                break
        else:
            answers.append(False)
    return answers


def algorithm_2(queries, rng):
    epsilon, c = 1, 1
    threshold = 1 + noise(2 * c / epsilon, rng)
    answers = []
    count = 0
    for query in queries:
        if query + noise(4 * c / epsilon, rng) >= threshold:
            answers.append(True)
            threshold = 1 + noise(2 * c / epsilon, rng)
            count += 1
            if count >= c:
                break
        else:
            answers.append(False)
    return answers


def algorithm_3(queries, rng):
    epsilon, c = 1, 1
    threshold = 1 + noise(2 / epsilon, rng)
    answers = []
    count = 0
    for query in queries:
        noisy = query + noise(2 * c / epsilon, rng)
        if noisy >= threshold:
            answers.append(noisy)
            count += 1
            if count >= c:
                break
        else:
            answers.append(False)
    return answers


def algorithm_4(queries, rng):
    epsilon, c = 1, 1
    threshold = 1 + noise(4 / epsilon, rng)
    answers = []
    count = 0
    for query in queries:
        if query + noise(4 / (3 * epsilon), rng) >= threshold:
            answers.append(True)
            count += 1
            if count >= c:
                break
        else:
            answers.append(False)
    return answers


def algorithm_5(queries, rng):
    epsilon = 1
    threshold = 1 + noise(2 / epsilon, rng)
    answers = []
    for query in queries:
        if query >= threshold:
            answers.append(True)
        else:
            answers.append(False)
    return answers


def algorithm_6(queries, rng):
    epsilon = 1
    threshold = 1 + noise(2 / epsilon, rng)
    answers = []
    for query in queries:
        if query + noise(2 / epsilon, rng) >= threshold:
            answers.append(True)
        else:
            answers.append(False)
    return answers


def by_numpy(queries, rng):
    """Algorithm 1 with geometric numbers of numpy."""
    threshold = 1 + rng.geometric(0.5) - rng.geometric(0.5)
    answers = []
    for query in queries:
        noisy = query + rng.geometric(0.4) - rng.geometric(0.4)
        if noisy >= threshold:
            answers.append(True)
            break
        answers.append(False)
    return answers


REACH = 400  # noise beyond it has probability below 1e-40


def laplace(scale: float) -> dict[int, float]:
    alpha = math.exp(-1 / scale)
    return {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-REACH, REACH + 1)}


def below(law: dict[int, float]) -> Callable[[int], float]:
    """The probability of noise below a number."""
    sums, total = {}, 0.0
    for z, p in law.items():
        sums[z] = total
        total += p
    return lambda z: sums.get(z, 0.0 if z < 0 else 1.0)


#: Scales of the threshold's noise and of the queries', whether the first answer above ends the
#: run, and whether the noisy answer itself is shown.
SCALES = {
    algorithm_1: (2, 4, True, False),
    algorithm_2: (2, 4, True, False),
    algorithm_3: (2, 2, True, True),
    algorithm_4: (4, 4 / 3, True, False),
    algorithm_5: (2, 0, False, False),
    algorithm_6: (2, 2, False, False),
    by_numpy: (-1 / math.log(0.5), -1 / math.log(0.6), True, False),
}


def law(algorithm: Any, queries: list[int]) -> dict[Any, float]:
    """The probabilities of the answers."""
    rho, nu, stops, shows = SCALES[algorithm]
    noise_law = laplace(nu) if nu else {0: 1.0}
    under = below(laplace(nu)) if nu else (lambda z: float(z > 0))
    weights: dict[Any, float] = {}

    def add(answers: tuple[Any, ...], share: float) -> None:
        weights[answers] = weights.get(answers, 0.0) + share

    def go_on(answers: tuple[Any, ...], share: float, bar: int) -> None:
        if len(answers) == len(queries) or (stops and answers and answers[-1] is not False):
            add(answers, share)
            return
        query = queries[len(answers)]
        go_on((*answers, False), share * under(bar - query), bar)
        if shows:
            for z, p in noise_law.items():
                if query + z >= bar:
                    add((*answers, query + z), share * p)
        else:
            go_on((*answers, True), share * (1 - under(bar - query)), bar)

    for z, p in laplace(rho).items():
        go_on((), p, 1 + z)
    return weights


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("algorithm", [algorithm_5, by_numpy, *list(SCALES)[:4], algorithm_6])
def test_variants_of_sparse_vectors(algorithm: Any, number: int) -> None:
    left, right = [0, 1] * (number // 2), [1, 0] * (number // 2)
    laws = law(algorithm, left), law(algorithm, right)
    deltas = [
        sum(max(p - math.e * q.get(answers, 0.0), 0.0) for answers, p in one.items())
        for one, q in (laws, laws[::-1])
    ]
    interface = "numpy" if algorithm is by_numpy else "random"
    privacy = private(
        algorithm, left, right, epsilon=1, delta="1e-6", interface=interface, progress=False
    )
    assert privacy.verdict == ("refuted" if max(deltas) > 1e-6 else "proved")
    for expected, bounds in zip(deltas, privacy.deltas, strict=True):
        assert float(bounds.lower) - 1e-9 <= expected <= float(bounds.upper) + 1e-9
