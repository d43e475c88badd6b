"""Samples of a largest size against all data sets of a few users, drawn set by set."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.losses.truncated import Truncated, _draws
from tests.accounting.pld.curves import Floats, excess
from tests.distributions import binomial, binomial_above

SIGMA, LIMIT = 1.0, 2
POINTS = np.arange(-9.0, 9.0, 0.02)


def _sums(values: Sequence[int], rate: float) -> dict[int, float]:
    """The law of the sum over a sample of at most LIMIT users."""
    law: dict[int, float] = defaultdict(float)
    users = range(len(values))
    for sampled in product([False, True], repeat=len(values)):
        members = [i for i in users if sampled[i]]
        chance = math.prod(rate if is_drawn else 1 - rate for is_drawn in sampled)
        kept = list(combinations(members, min(LIMIT, len(members))))
        for part in kept:
            law[sum(values[i] for i in part)] += chance / len(kept)
    return law


def _density(values: Sequence[int], rate: float, points: Floats) -> Floats:
    """Of the sum with Gaussian noise."""
    scale = SIGMA * math.sqrt(2 * math.pi)
    parts = [
        mass * np.exp(-(((points - place) / SIGMA) ** 2) / 2) / scale
        for place, mass in _sums(values, rate).items()
    ]
    return np.sum(parts, axis=0)


def _worst(pairs: Sequence[tuple[Floats, Floats]], epsilon: float) -> float:
    return max(excess(p, q, epsilon) for p, q in pairs) * (POINTS[1] - POINTS[0])


@pytest.mark.parametrize(
    ("users", "rate"), [(3, "0.5"), (4, "0.5"), (4, "0.2"), (5, "0.7"), (4, "1")]
)
def test_no_data_set_of_a_few_users_leaks_more(users: int, rate: str) -> None:
    pairs, exchanged, nulls, without = [], [], [], {}
    for others in combinations_with_replacement((-1, 0, 1), users - 1):
        q = _density(others, float(rate), POINTS)
        with_user = {u: _density((*others, u), float(rate), POINTS) for u in (-1, 0, 1)}
        without[others] = q
        pairs += [(p, q) for p in with_user.values()] + [(q, p) for p in with_user.values()]
        exchanged += [(with_user[u], with_user[v]) for u, v in product((-1, 0, 1), repeat=2)]
        nulls += [(with_user[u], with_user[v]) for u, v in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    loss = pld.gaussian(sigma=SIGMA).sampled(rate, batch_limit=LIMIT, users=users)
    for epsilon in ("0", "0.3", "1", "2"):
        for scheme, known in (
            (loss, pairs),
            (loss.replaced(), exchanged),
            (loss.replaced_by_null(), nulls),
        ):
            delta, worst = scheme.delta(epsilon), _worst(known, float(epsilon))
            assert float(delta.lower) - 2e-5 <= worst <= float(delta.upper) + 2e-5


@pytest.mark.slow
def test_two_steps_of_fixed_data() -> None:
    """Others who are all the opposite of the user: a sum over a plane."""
    others, unit = (-1, -1, -1), POINTS[1] - POINTS[0]
    points = POINTS[::5]
    p, q = (_density(values, 0.5, points) * 5 * unit for values in ((*others, 1), others))
    loss = pld.gaussian(sigma=SIGMA).sampled("0.5", batch_limit=LIMIT, users=4).composed(2)
    both = np.multiply.outer(p, p), np.multiply.outer(q, q)
    for epsilon in ("0.5", "2", "4"):
        known = excess(*both, float(epsilon))
        assert 0 < known <= float(loss.delta(epsilon).upper)


def test_the_probabilities_of_the_draws() -> None:
    draws = _draws(Truncated(Fraction(1), Fraction("0.01"), 2000, 32, True))
    full, more = binomial_above(31, 1999, 0.01), binomial_above(32, 2000, 0.01)
    assert float(draws.full.mid()) == pytest.approx(full, rel=1e-9)
    assert float(draws.displaces) == pytest.approx(more * 32 / 2000 / full, rel=1e-9)
    # by the number of others that are drawn
    others = np.arange(2000)
    taken = 0.01 * (binomial(others, 1999, 0.01) * np.minimum(1, 32 / (others + 1))).sum()
    assert float(draws.taken) == pytest.approx(taken, rel=1e-9)


def test_all_users_in_every_sample_are_the_plain_gaussian() -> None:
    full = pld.gaussian(sigma=2).sampled(1, batch_limit=100, users=100)
    assert full.steps == pld.gaussian(sigma=2).steps
    assert full.composed(3).epsilon("1e-6") == pld.gaussian(sigma=2).composed(3).epsilon("1e-6")


@pytest.mark.slow
def test_a_limit_that_is_never_reached_is_no_limit() -> None:
    free = pld.gaussian(sigma=1).sampled("0.01")
    assert free.steps == pld.gaussian(sigma=1).sampled("0.01", batch_limit=9, users=9).steps
    rare = pld.gaussian(sigma=1).sampled("0.01", batch_limit=60, users=2000).composed(1000)
    assert rare.epsilon("1e-5").upper < free.composed(1000).epsilon("1e-5").upper + Fraction(1, 999)


@pytest.mark.slow
def test_training_on_truncated_samples_is_calibrated() -> None:
    scheme = {"sampling": "truncated", "batch_limit": 32, "users": 2000}
    known = {"rate": "0.01", "steps": 100, "epsilon": 2, "delta": "1e-5", "resolution": "1e-2"}
    calibration = pld.calibrate_sgd(**known, **scheme)  # type: ignore[arg-type]
    free = pld.calibrate_sgd(**known)  # type: ignore[arg-type]
    assert calibration.noise_multiplier > free.noise_multiplier
    noise = pld.gaussian(sigma=calibration.noise_multiplier)
    kept = noise.sampled("0.01", batch_limit=32, users=2000).composed(100)
    assert kept.delta(2).upper <= Fraction("1e-5")
