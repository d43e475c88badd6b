"""Private choice against probabilities of the mechanisms, summed over sets of options."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace

import pytest
from mpmath import mp, mpf

from exactdp.accounting import pld
from exactdp.accounting.interop.reading import loss_of
from exactdp.errors import InvalidParameter
from tests.reference import permute_and_flip

Law = Callable[[Sequence[float]], list[float]]


def _exponential(utilities: Sequence[float]) -> list[float]:
    """Probabilities proportional to e^u, with u in units of the scale of the noise."""
    weights = [math.exp(u) for u in utilities]
    return [weight / sum(weights) for weight in weights]


def _permute_and_flip(utilities: Sequence[float]) -> list[float]:
    """Options in random order; each is taken with probability e^(u - largest u)."""
    return permute_and_flip([math.exp(u - max(utilities)) for u in utilities])


def _laplace_max(utilities: Sequence[float]) -> list[float]:
    """The largest of utilities with Laplace noise of scale 1, by integration."""

    def tail(x: mpf) -> mpf:
        return mp.exp(-x) / 2 if x >= 0 else 1 - mp.exp(x) / 2

    def wins(option: int) -> mpf:
        def density(x: mpf) -> mpf:
            rest = [1 - tail(x - u) for i, u in enumerate(utilities) if i != option]
            return mp.exp(-abs(x - utilities[option])) / 2 * mp.fprod(rest)

        points = sorted({-30, 30, *utilities})
        return mp.quad(density, points)

    return [float(wins(option)) for option in range(len(utilities))]


def _delta(law: Law, utilities: Sequence[float], moves: Sequence[float], epsilon: float) -> float:
    p = law(utilities)
    q = law([u + move for u, move in zip(utilities, moves, strict=True)])
    return sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(p, q, strict=True))


_EXACT: list[tuple[str, Law]] = [("gumbel", _exponential), ("exponential", _permute_and_flip)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("noise", "law"), _EXACT)
@pytest.mark.parametrize("width", [0.3, 1.0, 3.0])
def test_one_run_is_exact(noise: str, law: Law, width: float) -> None:
    """Two options attain delta, at the best distance; more options do not exceed it."""
    loss = pld.noisy_max(epsilon=width, noise=noise)
    rng = random.Random(1)
    for share in (0.0, 0.4, 0.9):
        epsilon = share * width
        delta = loss.delta(epsilon)
        half = width / 2  # utilities move by half of epsilon in units of the noise
        gaps = [i / 1000 for i in range(-8000, 8001)]
        two = max(_delta(law, [gap, 0.0], [-half, half], epsilon) for gap in gaps)
        assert two == pytest.approx(float(delta.upper), rel=1e-4)
        for _ in range(100):
            utilities = [rng.uniform(-2, 2) for _ in range(rng.randint(2, 4))]
            moves = [rng.choice([-half, half]) for _ in utilities]
            assert _delta(law, utilities, moves, epsilon) <= float(delta.upper) * (1 + 1e-9)


@pytest.mark.slow
def test_laplace_noise_stays_below_its_bound() -> None:
    loss, half, rng = pld.noisy_max(epsilon=1, noise="laplace"), 0.5, random.Random(2)
    bound = loss.delta("0.3")
    for count in (2, 2, 3):
        utilities = [rng.uniform(-1, 1) for _ in range(count)]
        moves = [-half, *[half] * (count - 1)]
        assert _delta(_laplace_max, utilities, moves, 0.3) <= float(bound.upper)
    # the pairs of the lower end, in both orders
    gaps = [half + sign * ahead for ahead in (0, 0.25, 0.5, 1, 1.5, 3) for sign in (1, -1)]
    two = max(_delta(_laplace_max, [gap, 0.0], [-half, half], 0.3) for gap in gaps)
    assert float(bound.lower) == pytest.approx(two, rel=1e-6)


def test_the_curve_of_bounded_range() -> None:
    """The largest delta over pairs with losses s and s - 1, on a fine grid of s."""
    with mp.workdps(30):
        for epsilon in ("0", "0.3", "0.99"):
            x, best = mp.exp(mpf(epsilon)), mpf(0)
            for i in range(1, 400):
                s = mpf(i) / 400
                q = (1 - mp.exp(s - 1)) / (mp.exp(s) - mp.exp(s - 1))
                best = max(best, (mp.exp(s) - x) * q)
            delta = pld.exponential(epsilon=1).delta(epsilon)
            assert float(best) <= float(delta.upper)
            assert float(best) >= float(delta.lower) * 0.999
    assert pld.exponential(epsilon=1).delta(1).upper == 0
    both = pld.exponential(epsilon=1).then(pld.exponential(epsilon=2))
    assert (both.delta(3).upper, both.epsilon(0).upper) == (0, 3)


def _adaptive(runs: int, width: float, epsilon: float) -> float:
    """The largest delta of runs of two options whose distance depends on the answers so far."""
    gains = [width * i / 60 for i in range(1, 60)]  # the larger loss s, the smaller is s - width
    if not runs:
        return max(1 - math.exp(epsilon), 0.0)
    chances = [
        (1 - math.exp(s - width)) / (math.exp(s) - math.exp(s - width)) * math.exp(s) for s in gains
    ]
    return max(
        p * _adaptive(runs - 1, width, epsilon - s)
        + (1 - p) * _adaptive(runs - 1, width, epsilon - s + width)
        for s, p in zip(gains, chances, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.5, 2.0])
def test_the_exponential_mechanism_chosen_adaptively(width: float) -> None:
    """The upper end is above all strategies, and near the best one."""
    loss = pld.exponential(epsilon=width).composed(2)
    for share in (0.3, 1.0, 1.5):
        best, delta = _adaptive(2, width, share * width), loss.delta(share * width)
        assert float(delta.lower) * (1 - 1e-9) <= best <= float(delta.upper)
        assert float(delta.upper) <= 1.15 * best


@pytest.mark.few(1)
@pytest.mark.parametrize(("noise", "law"), _EXACT)
def test_two_runs_against_all_sequences(noise: str, law: Law) -> None:
    """Every pair of two-option runs is below the upper end, and the best above the lower end."""
    loss, half = pld.noisy_max(epsilon=1, noise=noise).composed(2), 0.5
    gaps = [i / 4 - 2 for i in range(21)]
    laws = [(law([gap, 0.0]), law([gap - half, half])) for gap in gaps]
    for epsilon in (0.2, 1.6):
        delta = loss.delta(epsilon)
        best = 0.0
        for (p, q), (r, s) in itertools.product(laws, repeat=2):
            masses = [
                (a * c, b * d) for a, b in zip(p, q, strict=True) for c, d in zip(r, s, strict=True)
            ]
            best = max(best, sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in masses))
        assert float(delta.lower) <= best * (1 + 1e-9)
        assert best <= float(delta.upper) * (1 + 1e-9)


@pytest.mark.slow
def test_it_composes_with_other_mechanisms() -> None:
    loss = pld.gaussian(sigma=2).then(pld.exponential(epsilon="0.1").composed(3))
    alone = pld.gaussian(sigma=2).epsilon("1e-6")
    assert alone.upper < loss.epsilon("1e-6").upper < alone.upper + Fraction(3, 10)


def _event(name: str, epsilon: float) -> object:
    return type(name, (SimpleNamespace,), {})(epsilon=epsilon)


def test_events_of_dp_accounting() -> None:
    chosen = loss_of(_event("ExponentialMechanismDpEvent", 0.5), 2)
    assert chosen is not None
    assert chosen.epsilon("1e-6") == pld.exponential(epsilon="0.5").composed(2).epsilon("1e-6")
    flipped = loss_of(_event("PermuteAndFlipDpEvent", 0.5))
    assert flipped is not None
    assert flipped.delta("0.1") == pld.laplace(scale=2).delta("0.1")
    assert loss_of(_event("ExponentialMechanismDpEvent", 0.0)) is None
    with pytest.raises(InvalidParameter, match="differentially private"):
        loss_of(_event("PermuteAndFlipDpEvent", math.inf))
    with pytest.raises(InvalidParameter, match="neighboring_relation"):
        loss_of(_event("PermuteAndFlipDpEvent", 1.0), neighbours=pld.REPLACE_ONE)
