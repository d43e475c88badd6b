"""Sensitivities of matrix mechanisms against all sets of steps of one user."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from exactdp.accounting import pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real

Rows = list[list[Fraction]]
Floats = NDArray[np.float64]


def toeplitz(c: Sequence[Fraction | int], n: int) -> Rows:
    return [
        [Fraction(c[i - j]) if 0 <= i - j < len(c) else Fraction(0) for j in range(n)]
        for i in range(n)
    ]


def taken(n: int, k: int, b: int) -> Iterator[tuple[int, ...]]:
    """All sets of at most k steps, at least b apart."""
    for size in range(1, k + 1):
        for chosen in itertools.combinations(range(n), size):
            if all(y - x >= b for x, y in itertools.pairwise(chosen)):
                yield chosen


def largest(rows: Rows, k: int, b: int, signs: Sequence[int] = (1,)) -> Fraction:
    """The largest square of |sum of u_i c_i|, with numbers u_i of the given signs."""
    best = Fraction(0)
    for chosen in taken(len(rows), k, b):
        for u in itertools.product(signs, repeat=len(chosen)):
            moved = [
                sum((s * row[j] for s, j in zip(u, chosen, strict=True)), Fraction(0))
                for row in rows
            ]
            best = max(best, sum((x * x for x in moved), Fraction(0)))
    return best


def overlap(a: Enclosure, b: Enclosure) -> bool:
    return a.lower <= b.upper and b.lower <= a.upper


def agrees(rows: Rows, strategy: Sequence[Fraction] | Rows, k: int, b: int) -> None:
    sensitivity = pld.matrix_sensitivity(
        strategy=strategy, steps=len(rows), participations=k, separation=b
    )
    n = len(rows)
    square = largest(rows, k, b, signs=(1, -1) if k < 4 or n < 7 else (1,))
    assert sensitivity.lower**2 <= square <= sensitivity.upper**2
    assert sensitivity.upper - sensitivity.lower <= Fraction(1, 10**100)


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "k", "b"), [(6, 3, 1), (7, 3, 2), (7, 2, 3), (6, 6, 1), (5, 9, 4)])
def test_falling_toeplitz_strategies(n: int, k: int, b: int) -> None:
    rng = random.Random(n * k * b)
    for _ in range(4):
        c = sorted(
            (Fraction(rng.randrange(0, 9), rng.randrange(1, 9)) for _ in range(n)), reverse=True
        )
        c[0] += 1
        agrees(toeplitz(c, n), c, k, b)


def banded(rng: random.Random, n: int, bands: int) -> list[list[Fraction]]:
    """A lower triangular matrix of this size, with numbers of any sign in its bands."""
    rows = [
        [Fraction(rng.randrange(-9, 9), 3) if 0 <= i - j < bands else Fraction(0) for j in range(n)]
        for i in range(n)
    ]
    rows[0][0] = Fraction(1)
    return rows


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "k", "b"), [(7, 3, 2), (6, 1, 2), (8, 3, 3), (5, 2, 5)])
def test_bands_of_any_sign(n: int, k: int, b: int) -> None:
    rng = random.Random(n + k + b)
    for _ in range(4):
        c = [Fraction(rng.randrange(-9, 9), 4) for _ in range(b if k > 1 else n)] or [Fraction(1)]
        c[0] = c[0] or Fraction(1)
        agrees(toeplitz(c, n), c, k, b)
        wide = b if k > 1 else n
        rows = banded(rng, n, wide)
        agrees(rows, rows, k, b)


def test_square_roots_multiply_to_prefix_sums() -> None:
    n = 12
    c = pld.square_root_strategy(n)
    for j in range(n):
        assert sum(c[i] * c[j - i] for i in range(j + 1)) == 1
    assert pld.square_root_strategy(n, bands=3) == c[:3]


def test_identity_is_the_gaussian_mechanism_repeated() -> None:
    one = pld.gaussian(sigma=2)
    for steps, runs in ((50, 9), (7, 3)):
        loss = pld.matrix(sigma=2, strategy=[1], steps=steps, participations=9, separation=3)
        assert overlap(loss.delta(1), one.composed(runs).delta(1))
        assert overlap(loss.composed(2).delta(1), one.composed(2 * runs).delta(1))


@pytest.mark.few(2)
@pytest.mark.parametrize(("n", "k", "b"), [(8, 3, 2), (7, 2, 1), (9, 3, 3), (6, 6, 1), (8, 2, 3)])
def test_twice_as_many_bands_of_any_sign_and_order(n: int, k: int, b: int) -> None:
    """Only neighbours among the steps of a user share rows, or there are two steps."""
    rng = random.Random(n * k + b)
    wide = n if k == 2 else 2 * b
    for _ in range(4):
        c = [Fraction(rng.randrange(-9, 9), 4) for _ in range(wide)]
        c[-1] = c[-1] or Fraction(1)
        agrees(toeplitz(c, n), c, k, b)
        rows = banded(rng, n, wide)
        agrees(rows, rows, k, b)


@pytest.mark.few(2)
@pytest.mark.parametrize(("n", "k", "b"), [(7, 3, 1), (8, 4, 2), (9, 3, 2)])
def test_other_strategies_are_enclosed(n: int, k: int, b: int) -> None:
    rng = random.Random(n + k + b)
    for _ in range(4):
        c = [Fraction(rng.randrange(-4, 9), 4) for _ in range(n)]
        c[0] = Fraction(2)
        for strategy in (c, toeplitz(c, n)):
            sensitivity = pld.matrix_sensitivity(
                strategy=strategy, steps=n, participations=k, separation=b
            )
            most = largest(toeplitz(c, n), k, b, signs=(1, -1))
            assert sensitivity.lower**2 <= most <= sensitivity.upper**2
            assert sensitivity.upper < 3 * sensitivity.lower


def test_inverses_of_banded_matrices() -> None:
    """Their coefficients rise and fall: the smallest sequence above that does not rise is used."""
    noise, c = [Fraction(1), Fraction(-7, 4), Fraction(7, 8)], [Fraction(1)]
    for i in range(1, 12):
        c.append(-sum((noise[j] * c[i - j] for j in range(1, min(i, 2) + 1)), Fraction(0)))
    assert c[1] > c[0]
    loss = pld.matrix(sigma=20, strategy=c, steps=12, participations=3, separation=4)
    most = largest(toeplitz(c, 12), 3, 4, signs=(1, -1))
    square, delta = float(most) ** 0.5, loss.delta(1)
    exact = pld.gaussian(sigma=20, sensitivity=str(square)).delta(1)
    assert delta.lower < exact.upper
    assert exact.lower < delta.upper


def test_strategies_that_are_not_lower_triangular_are_refused() -> None:
    rows = toeplitz([1, 1, 1], 4)
    rows[0][1] = Fraction(1)  # step 0 would use the future
    for wrong in (rows, rows[:3], [[1, 0], [1]], [], [0, 0]):
        with pytest.raises(InvalidParameter, match="strategy"):
            pld.matrix_sensitivity(strategy=wrong, steps=len(wrong) or 1)


def test_no_amplification_is_claimed() -> None:
    strategy: list[Real] = [1, "0.5"]
    loss = pld.matrix(sigma=2, strategy=strategy, steps=50, participations=9, separation=3)
    draws: tuple[Callable[[], pld.Pld], ...] = (
        lambda: loss.sampled("0.1"),
        lambda: loss.allocated(5),
        lambda: loss.batched("0.1"),
        lambda: loss.replaced().batched("0.1"),
    )
    for draw in draws:
        with pytest.raises(InvalidParameter, match="no amplification"):
            draw()
    with pytest.raises(InvalidParameter, match="got Correlated"):
        pld.together(loss, pld.gaussian(sigma=1))
    assert loss.sampled(1) == loss


def _simulated(rows: Rows, part: int, bands: int, sigma: float, rate: float, x: float) -> Floats:
    """delta in both orders and its error, from the likelihoods of all answers over all bits."""
    rng, taken_steps = np.random.default_rng(3), range(part, len(rows), bands)
    matrix = np.array([[float(entry) for entry in row] for row in rows])
    bits = np.array(list(itertools.product([0, 1], repeat=len(taken_steps))))
    means = bits @ matrix[:, list(taken_steps)].T / sigma
    chances = rate ** bits.sum(axis=1) * (1 - rate) ** (1 - bits).sum(axis=1)
    noise = rng.standard_normal((300_000, len(rows)))
    results = []
    for sign, chosen in ((1, rng.choice(len(bits), len(noise), p=chances)), (-1, 0)):
        answers = noise + means[chosen]
        ratio = np.exp(answers @ means.T - (means**2).sum(axis=1) / 2) @ chances
        gains = np.maximum(1 - x * ratio ** (-sign), 0)
        results.append((gains.mean(), 5 * gains.std() / len(gains) ** 0.5))
    return np.array(results)


ROWS = [["1", "0", "0", "0", "0"], ["1/2", "1", "0", "0", "0"], ["0", "1/4", "1", "0", "0"]]
ROWS += [["0", "0", "-1/2", "1", "0"], ["0", "0", "0", "1/4", "1"]]


@pytest.mark.parametrize("strategy", [["1", "1/2"], ["1", "-1/2"], ROWS], ids=str)
def test_cyclic_samples_are_simulated(strategy: Any) -> None:
    """All users take part in every second step; the worst part is the first one."""
    rows = strategy if strategy is ROWS else toeplitz([Fraction(c) for c in strategy], 5)
    loss = pld.sampled_matrix(sigma=1, strategy=strategy, steps=5, bands=2, rate="0.3")
    for epsilon in (0.2, 1.0):
        delta = loss.delta(str(epsilon))
        simulated = [
            _simulated(
                [[Fraction(x) for x in row] for row in rows], part, 2, 1, 0.3, np.exp(epsilon)
            )
            for part in (0, 1)
        ]
        worst, error = max(tuple(pair) for part in simulated for pair in part)
        assert float(delta.lower) - error < worst < float(delta.upper) + error


def test_without_bands_cyclic_samples_are_training() -> None:
    loss = pld.sampled_matrix(sigma=2, strategy=[1], steps=30, bands=1, rate="0.1")
    assert loss.orders() == pld.sgd(noise_multiplier=2, rate="0.1", steps=30).orders()


def test_strategies_that_cyclic_samples_do_not_fit() -> None:
    with pytest.raises(InvalidParameter, match="bands"):
        pld.sampled_matrix(sigma=1, strategy=[1, 1, 1], steps=9, bands=2, rate="0.1")
    mixed = [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 2]]
    with pytest.raises(InvalidParameter, match="largest"):  # norms (3, 1) and (2, 2)
        pld.sampled_matrix(sigma=1, strategy=mixed, steps=4, bands=2, rate="0.1")


def test_no_loss_of_a_group_is_claimed_on_cyclic_samples() -> None:
    """Blocks of users in different parts overlap, so the proof for one user is none for two."""
    loss = pld.sampled_matrix(sigma=1, strategy=[1, 1], steps=2, rate="0.3")
    assert loss.grouped(1) == loss
    with pytest.raises(InvalidParameter, match="size must be 1 for correlated noise on samples"):
        loss.then(pld.gaussian(sigma=1)).grouped(2)
