"""Gaussian noisy max and AboveThreshold against all outcomes of random instances, by quadrature."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.neighbours import ADD_REMOVE
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.largest import LargestNormal
from exactdp.parameters import rational
from tests.accounting.pld.curves import Floats, excess

UNIT = 0.01
POINTS = np.arange(-12.0, 14.0, UNIT)
NORMAL = np.exp(-POINTS * POINTS / 2) / math.sqrt(2 * math.pi) * UNIT
EPSILONS = (0.0, 0.25, 1.0)


def _largest(n: int, shift: float) -> Floats:
    """Masses of the largest of n normal numbers, moved."""
    x = POINTS - shift
    return np.asarray(n * ndtr(x) ** (n - 1) * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * UNIT)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "shift"), [(1, "0.5"), (40, "0.25"), (3000, "0.5")])
def test_the_law_of_the_largest_number(n: int, shift: str) -> None:
    law = LargestNormal(n, rational("shift", shift))
    loss = pld.Pld(((Step.alike(law), 1),), ADD_REMOVE, "a test")
    p, q = _largest(n, float(shift)), _largest(n, 0.0)
    for epsilon in EPSILONS:
        known = excess(p, q, epsilon)
        assert float(loss.delta(str(epsilon)).upper) == pytest.approx(known, abs=5e-5)
    twice = loss.composed(2).delta(1)
    p, q = (x.reshape(-1, 10).sum(axis=1) for x in (p, q))
    known = excess(np.multiply.outer(p, p), np.multiply.outer(q, q), 1.0)
    # coarse cells leak a little less
    assert known - 1e-5 <= float(twice.upper) <= known + 1e-2


def _winners(utilities: Sequence[float]) -> Floats:
    """The probability with which each option has the largest sum of utility and noise."""
    return np.array(
        [
            (
                NORMAL
                * np.prod([ndtr(POINTS + u - v) for j, v in enumerate(utilities) if j != i], 0)
            ).sum()
            for i, u in enumerate(utilities)
        ]
    )


@pytest.mark.parametrize("options", [2, 7, pytest.param(30, marks=pytest.mark.slow)])
def test_no_utilities_leak_more(options: int) -> None:
    sigma, rng = 2.0, random.Random(options)
    loss = pld.gaussian_noisy_max(sigma=2, options=options)
    uppers = [float(loss.bound().delta(str(epsilon)).upper) for epsilon in EPSILONS]
    half = [0.0] * (options // 2)
    cases = [([*half, *[g] * (options - len(half))], len(half)) for g in (-1.0, 0.0, 1.0)]
    for _ in range(20):
        spread = rng.choice([0.2, 1, 3])
        cases.append(([rng.gauss(0, spread) for _ in range(options)], rng.randrange(options)))
    for utilities, raised in cases:
        moved = [u + (1 / sigma if i < raised else -1 / sigma) for i, u in enumerate(utilities)]
        p, q = _winners(moved), _winners(utilities)
        for epsilon, upper in zip(EPSILONS, uppers, strict=True):
            assert max(excess(p, q, epsilon), excess(q, p, epsilon)) <= upper + 1e-9


def test_two_options_are_nearly_met() -> None:
    """The difference of both noises is normal, with a deviation of sqrt(2) sigma."""
    delta = pld.gaussian_noisy_max(sigma=2, options=2).delta(0)
    known = math.erf(2 / (2 * math.sqrt(2)) / 2 / math.sqrt(2))
    assert float(delta.lower) <= known * (1 + 1e-9) <= float(delta.upper) * (1 + 2e-9)
    assert float(delta.upper) == pytest.approx(float(delta.lower), rel=1e-6)


def _stops(gaps: Sequence[float], own: float, noise: float) -> Floats:
    """The probability with which each query, or none, is the first above the threshold."""
    left, chances = NORMAL.copy(), []
    for gap in gaps:
        stays = ndtr((own * POINTS + gap) / noise)
        chances.append((left * (1 - stays)).sum())
        left = left * stays
    return np.array([*chances, left.sum()])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("queries", "monotone"),
    [
        (1, True),
        (5, False),
        pytest.param(5, True, marks=pytest.mark.slow),
        pytest.param(40, False, marks=pytest.mark.slow),
    ],
)
def test_no_queries_leak_more(queries: int, monotone: bool) -> None:
    own, noise, rng = 2.0, 3.0, random.Random(queries)
    loss = pld.above_threshold(sigma=3, threshold_sigma=2, queries=queries, monotone=monotone)
    end = loss.bound().delta("0.25", relative_width="1e-3")
    for _ in range(30):
        centre, spread = rng.uniform(0, 9), rng.choice([0, 0, 2])
        gaps = [centre + rng.gauss(0, spread) for _ in range(queries)]
        if monotone:
            moves = [rng.choice([0, 1, 1]) for _ in gaps]
        else:
            moves = [rng.choice([-1, 1, 1]) for _ in gaps]
            moves = moves if rng.random() < 0.5 else [*[1] * (queries - 1), -1]
        p = _stops(gaps, own, noise)
        q = _stops([gap + move for gap, move in zip(gaps, moves, strict=True)], own, noise)
        assert max(excess(p, q, 0.25), excess(q, p, 0.25)) <= float(end.upper) + 1e-9


@pytest.mark.slow
def test_the_lower_ends_are_those_of_queries() -> None:
    """Queries on a fine lattice of values: no lower end is above the worst of them."""
    own, noise, queries = 2.0, 3.0, 4
    low = pld.above_threshold(sigma=3, threshold_sigma=2, queries=queries).delta("0.25").lower
    worst = 0.0
    for one in np.arange(-6, 12, 0.5):
        for last in np.arange(-6, 12, 0.5):
            p = _stops([*[one + 1] * 3, last - 1], own, noise)
            q = _stops([*[one] * 3, last], own, noise)
            r = _stops([*[one - 1] * 3, last - 1], own, noise)
            worst = max(worst, *(excess(*pair, 0.25) for pair in ((p, q), (q, p), (q, r), (r, q))))
    assert 0 < float(low) <= worst * 1.02


def test_epsilon_and_delta_of_many_queries_agree() -> None:
    """About epsilon is guessed from a sketch of the law, which needs many binary digits here."""
    loss = pld.above_threshold(sigma=8, threshold_sigma=4, queries=1000)
    epsilon = loss.epsilon("1e-6")
    assert loss.delta(epsilon.upper).lower <= Fraction(1, 10**6) <= loss.delta(epsilon.lower).upper
