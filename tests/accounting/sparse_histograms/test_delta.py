"""Every delta against an independent mpmath evaluation that visits every j."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from exactdp import Enclosure
from exactdp.accounting import csh, gaussian, gshm
from exactdp.balls import FLOOR_BITS
from tests import reference
from tests.seeds import seeds

NARROW = Fraction(1, 10**12)
FLOOR = Fraction(1, 2**FLOOR_BITS)


def _csh(*, k: int, **arguments: Any) -> Enclosure:
    return csh.delta(sparsity=k, **arguments)


Reference = Callable[[int, Fraction, Fraction, Fraction], mpmath.mpf]
CASES: list[tuple[str, Callable[..., Enclosure], Reference]] = [
    ("add-the-deltas", _csh, reference.csh_add_the_deltas),
    ("exact", gshm.delta, reference.gshm_exact),
    ("add-the-deltas", gshm.delta, reference.gshm_add_the_deltas),
    ("published", _csh, reference.csh_published),
]
IDS = ["csh-sum", "gshm-exact", "gshm-sum", "csh-published"]


def _random_k(rng: random.Random, largest: int) -> int:
    return int(largest ** (rng.random() ** 6)) + rng.randrange(2)


def random_point(rng: random.Random, largest_k: int) -> tuple[int, Fraction, Fraction, Fraction]:
    """sigma 1e-6..1e15, epsilon 1e-12..1e4, k 1..largest (often small), tau/sigma 0..60."""
    k = _random_k(rng, largest_k)
    sigma = Fraction(f"{10 ** rng.uniform(-6, 15):.6e}")
    epsilon = Fraction(f"{10 ** rng.uniform(-12, 4):.6e}")
    return k, sigma, sigma * Fraction(f"{rng.uniform(0, 60):.4f}"), epsilon


def interesting_point(
    rng: random.Random, largest_k: int
) -> tuple[int, Fraction, Fraction, Fraction]:
    """Points where noise and threshold both matter: sigma a few sqrt(k)/epsilon."""
    k = _random_k(rng, largest_k)
    epsilon = Fraction(f"{10 ** rng.uniform(-2, 1):.6e}")
    sigma = Fraction(f"{k**0.5 * 10 ** rng.uniform(-1, 1.2) / float(epsilon):.6e}")
    return k, sigma, sigma * Fraction(f"{rng.uniform(0, 8):.4f}"), epsilon


def assert_encloses(delta: Enclosure, expected: mpmath.mpf, capped: bool) -> None:
    assert 0 <= delta.lower <= delta.upper <= 1
    assert delta.upper <= delta.lower * (1 + NARROW) or delta.upper <= FLOOR
    if capped and expected >= 1:
        assert delta.upper == 1
    else:
        assert reference.contains(delta.lower, delta.upper, expected)


@pytest.mark.few(1)
@pytest.mark.parametrize(("analysis", "delta", "expected"), CASES, ids=IDS)
@seeds([0], range(1, 10))
def test_random_points(
    analysis: str, delta: Callable[..., Enclosure], expected: Reference, seed: int
) -> None:
    rng = random.Random(seed)
    for draw in (random_point, interesting_point):
        for _ in range(60):
            k, sigma, tau, epsilon = draw(rng, 60)
            bounds = delta(k=k, sigma=sigma, tau=tau, epsilon=epsilon, analysis=analysis)
            assert_encloses(bounds, expected(k, sigma, tau, epsilon), analysis != "exact")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(2))
def test_gaussian(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(500):
        sigma = Fraction(f"{10 ** rng.uniform(-6, 15):.6e}")
        epsilon = Fraction(f"{10 ** rng.uniform(-12, 4):.6e}")
        sensitivity = Fraction(f"{10 ** rng.uniform(-3, 3):.6e}")
        delta = gaussian.delta(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity)
        expected = reference.gaussian_delta(sigma, epsilon, sensitivity)
        assert_encloses(delta, expected, False)


def test_exact_is_at_most_the_sum_and_falls_with_tau_and_epsilon() -> None:
    rng = random.Random(7)
    for _ in range(100):
        k, sigma, tau, epsilon = interesting_point(rng, 500)
        for delta, name in ((gshm.delta, "exact"), (_csh, "published")):
            arguments: dict[str, Any] = {"k": k, "sigma": sigma, "epsilon": epsilon}
            fine = delta(tau=tau, analysis=name, **arguments)
            coarse = delta(tau=tau, analysis="add-the-deltas", **arguments)
            further = delta(tau=tau + sigma / 10, analysis=name, **arguments)
            assert fine.lower <= coarse.upper
            assert further.lower <= fine.upper


EXTREMES = [
    {"k": 3, "sigma": "1", "tau": "1000", "epsilon": "0.1"},
    {"k": 51914, "sigma": "20000", "tau": "20000000", "epsilon": "1"},
    {"k": 51914, "sigma": "1e15", "tau": "1e18", "epsilon": "1e4"},
    {"k": 10, "sigma": "1e-6", "tau": "0", "epsilon": "1e-12"},
    {"k": 10, "sigma": "1e-6", "tau": "0.00006", "epsilon": "1e4"},
    {"k": 7, "sigma": "30", "tau": "2000", "epsilon": "2.5"},
    {"k": 1, "sigma": "68", "tau": "4600", "epsilon": "1"},
    {"k": 10**12, "sigma": "1", "tau": "0", "epsilon": "0"},
    {"k": 10**12, "sigma": "1e-300", "tau": "1e-299", "epsilon": "0.5"},
    {"k": 2, "sigma": "1e300", "tau": "1e302", "epsilon": "1e-300"},
]


@pytest.mark.parametrize("point", EXTREMES, ids=str)
@pytest.mark.parametrize(("analysis", "delta", "expected"), CASES, ids=IDS)
def test_extremes(
    point: dict[str, object], analysis: str, delta: Callable[..., Enclosure], expected: Reference
) -> None:
    bounds = delta(analysis=analysis, **point)
    assert 0 <= bounds.lower <= bounds.upper <= 1
    assert bounds.upper > 0
    assert bounds.float_lower() <= bounds.float_upper()
    if int(str(point["k"])) <= 10 and Fraction(str(point["epsilon"])) < 10**5:
        values = [Fraction(str(point[name])) for name in ("sigma", "tau", "epsilon")]
        assert_encloses(bounds, expected(int(str(point["k"])), *values), analysis != "exact")


def test_beyond_every_exponent() -> None:
    """Nobody's noise shows, so what is left is the threshold: 1 - Phi(0)^2."""
    delta = gshm.delta(k=2, sigma="1e1000", tau=0, epsilon="1e1000")
    assert abs(delta.lower - Fraction(3, 4)) < Fraction(1, 10**12)
    assert abs(delta.upper - Fraction(3, 4)) < Fraction(1, 10**12)


def test_a_delta_of_a_thousandth_power() -> None:
    delta = gshm.delta(k=1, sigma="68", tau="4600", epsilon="1")
    assert Fraction(1, 10**1010) < delta.lower < delta.upper < Fraction(1, 10**990)
    assert delta.relative_width <= NARROW
