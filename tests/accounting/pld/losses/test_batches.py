"""Batches of fixed size: all pairs of neighbours, and runs that choose their pair."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.adaptive import worst_runs
from exactdp.accounting.pld.losses.batches import BatchFamily
from exactdp.errors import Undecided
from tests.accounting.pld.curves import Floats, excess
from tests.seeds import seeds

RATE, SIGMA = 0.1, 2.0
FAMILY = BatchFamily(Fraction(1), Fraction(1, 10))
POINTS = np.arange(-6.0, 6.01, 0.05)


def _excess(u: Floats, v: Floats, w: Floats, epsilon: float) -> float:
    """D of the pair with these vectors, all of length <= 1, by a sum over the plane."""
    x, y = np.meshgrid(POINTS, POINTS)

    def density(place: Floats) -> Floats:
        square = (x - place[0] / SIGMA) ** 2 + (y - place[1] / SIGMA) ** 2
        return np.asarray(np.exp(-square / 2) / (2 * math.pi) * 0.05**2)

    none = (1 - RATE) * density(w)
    p, q = none + RATE * density(u), none + RATE * density(v)
    return excess(p, q, epsilon)


def _vector(rng: random.Random) -> Floats:
    angle, length = rng.uniform(0, 2 * math.pi), rng.choice([1.0, 1.0, rng.random() ** 0.5])
    return length * np.array([math.cos(angle), math.sin(angle)])


@pytest.mark.few(1)
@seeds(range(3), range(3, 150))
def test_every_pair_is_in_a_set(seed: int) -> None:
    """Some set of the family is above the pair in both orders (three points lie in a plane)."""
    rng = random.Random(seed)
    u, v, w = (_vector(rng) for _ in range(3))
    losses = [Fraction(0), Fraction(1, 20), Fraction(1, 5)]
    rows = FAMILY.deltas(losses)
    orders = [[_excess(*pair, w, float(x)) for x in losses] for pair in ((u, v), (v, u))]
    assert any(
        all(
            float(bound) >= exact - 2e-5
            for row, known in zip((rows[k], rows[FAMILY.reversed(k)]), orders, strict=True)
            for bound, exact in zip(row, known, strict=True)
        )
        for k in range(len(rows))
    )


def test_every_set_has_an_upper_bound_for_any_noise() -> None:
    """At 0 no pair exceeds the total variation of two vectors at distance 2, times the rate."""
    for sigma in (Fraction(3), Fraction(100)):
        rows = BatchFamily(2 / sigma, Fraction(1, 100)).deltas([Fraction(0)])
        most = 0.01 * math.erf(1 / float(sigma) / math.sqrt(2))
        assert all(0 < float(row[0]) <= most * (1 + 1e-6) for row in rows)


@pytest.mark.parametrize("mu", [20, 200])
def test_losses_that_fill_too_many_nodes_are_left_to_single_runs(mu: int) -> None:
    with pytest.raises(Undecided):
        worst_runs(BatchFamily(Fraction(mu), Fraction(1, 2)), 1000)


def _removed(epsilon: Floats) -> Floats:
    """D of a Poisson sample with the user against without, at any epsilon."""
    x, mu = np.exp(epsilon), 2 / SIGMA
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.log((x - 1 + RATE) / RATE) / mu + mu / 2
    z = np.where(x > 1 - RATE, z, -np.inf)
    tails = ndtr(-z), ndtr(mu - z)
    return np.asarray((1 - RATE - x) * tails[0] + RATE * tails[1])


def _added(epsilon: Floats) -> Floats:
    x = np.exp(epsilon)
    return np.asarray(1 - x + x * _removed(-epsilon))


@pytest.mark.slow
def test_two_runs_that_choose_their_pair() -> None:
    """The second run with or without the user, as its first answer says: a lower bound."""
    loss = pld.gaussian(sigma=SIGMA).batched("0.1").composed(2)
    z = np.arange(-9.0, 10.0, 0.01)
    mu = 2 / SIGMA
    grown = np.log(1 - RATE + RATE * np.exp(mu * z - mu * mu / 2))
    without = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * 0.01
    for epsilon in (0.1, 0.5, 1.0):
        best = max(
            float((mass * np.maximum(_removed(rest), _added(rest))).sum())
            for mass, rest in (
                (without * np.exp(grown), epsilon - grown),
                (without, epsilon + grown),
            )
        )
        delta = loss.delta(str(epsilon))
        assert float(delta.lower) * (1 - 1e-3) <= best <= float(delta.upper)
        assert float(delta.upper) <= 1.1 * best


@pytest.mark.slow
def test_the_ends_of_a_hundred_batches_are_near() -> None:
    epsilon = pld.gaussian(sigma=4).batched("0.01").composed(100).epsilon("1e-5")
    assert Fraction("0.189") < epsilon.lower < epsilon.upper < Fraction("0.197")
