from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtri

from exactdp import frames
from exactdp.accounting import correlated_gaussian
from exactdp.mechanisms import CorrelatedGaussian, KnownKeys
from exactdp.samplers import SeededSource
from tests.reference import discrete_gaussian, gaussian, leaked


@pytest.mark.parametrize("seed", range(10))
def test_continuous_noise_against_the_inverse_of_its_covariance(seed: int) -> None:
    draw = random.Random(seed)
    k, sigma, epsilon = draw.randint(1, 9), draw.uniform(0.5, 4), draw.uniform(0, 1)
    kappa = draw.choice([None, draw.uniform(0.2, 5)])
    most = draw.randint(1, k)
    covariance = sigma**2 * (np.eye(k) + 1 / (kappa or math.sqrt(k)))
    inverse = np.linalg.inv(covariance)
    shifts = [np.array([1] * a + [0] * (k - a)) for a in range(1, most + 1)]
    expected = max(float(gaussian(epsilon, math.sqrt(s @ inverse @ s))) for s in shifts)
    delta = correlated_gaussian.delta(
        keys=k,
        sigma=sigma,
        epsilon=epsilon,
        noise="continuous",
        correlation=kappa,
        contributions=most,
    )
    assert float(delta.lower) == pytest.approx(expected, rel=1e-9)
    assert delta.upper <= delta.lower * (1 + Fraction(1, 10**12))


def doubled(counts: tuple[int, ...], sigma: float) -> dict[tuple[int, ...], float]:
    """The law of twice the released counts."""
    own, shared = (discrete_gaussian(4 * sigma**2 / root, 18) for root in (1, len(counts) ** 0.5))
    law: dict[tuple[int, ...], float] = defaultdict(float)
    for (z, p), *rest in product(shared.items(), *[own.items()] * len(counts)):
        chance = p * math.prod(q for _, q in rest)
        if chance > 1e-12:
            law[tuple(2 * c + z + o for c, (o, _) in zip(counts, rest, strict=True))] += chance
    return law


def test_discrete_noise_against_the_law_of_two_counts() -> None:
    sigma, epsilon = 1.25, 0.5
    start = doubled((0, 0), sigma)

    def leaks(*counts: int) -> float:
        return leaked(start, doubled(counts, sigma), epsilon)

    arguments = {"keys": 2, "sigma": "1.25", "epsilon": "0.5"}
    one, both = leaks(1, 0), leaks(1, 1)
    bound = correlated_gaussian.delta(**arguments)  # type: ignore[arg-type]
    assert max(one, both) <= bound.lower < 1.3 * max(one, both)
    alone = correlated_gaussian.delta(contributions=1, **arguments)  # type: ignore[arg-type]
    assert one <= alone.lower <= bound.lower


def test_the_law_of_a_release() -> None:
    """A chi-square test at level 1e-6, on values that are expected at least 8 times."""
    mechanism = CorrelatedGaussian(keys=2, k=2, sigma="0.5", epsilon=9, delta="0.9")
    source, number = SeededSource(7), 3000
    seen = Counter(
        tuple(mechanism.noisy_counts({"a": 3, "b": 0}, source).numerators) for _ in range(number)
    )
    law = {x: number * p for x, p in doubled((3, 0), 0.5).items() if number * p >= 8}
    squares = [(seen[x] - often) ** 2 / often for x, often in law.items()]
    rest = number - sum(law.values())
    squares.append((number - sum(seen[x] for x in law) - rest) ** 2 / rest)
    assert sum(squares) < chdtri(len(squares) - 1, 1e-6)


def test_stated_errors_against_the_law() -> None:
    mechanism = CorrelatedGaussian(keys=2, k=2, sigma="1.25", epsilon=9, delta="0.9")
    errors: dict[int, float] = defaultdict(float)
    for (x, _), chance in doubled((0, 0), 1.25).items():
        errors[abs(x)] += chance
    for beta in (0.5, 0.1, 0.01):
        least = next(e for e in range(99) if sum(p for x, p in errors.items() if x > 2 * e) <= beta)
        assert mechanism.accuracy(beta).per_query == least


def test_calibration_is_least_and_half_of_independent_noise() -> None:
    calibration = correlated_gaussian.calibrate(
        keys=100, epsilon=1, delta="1e-6", resolution="1e-3"
    )
    assert calibration.refuted is not None
    again = {"keys": 100, "epsilon": 1}
    assert correlated_gaussian.delta(sigma=calibration.sigma, **again) <= "1e-6"  # type: ignore[arg-type]
    assert correlated_gaussian.delta(sigma=calibration.refuted.value, **again) > "1e-6"  # type: ignore[arg-type]
    mechanism = CorrelatedGaussian.for_target(keys=100, k=100, epsilon=1, delta="1e-6")
    assert mechanism.scale < 0.56 * KnownKeys.for_target(k=100, epsilon=1, delta="1e-6").scale


@pytest.mark.slow
def test_many_known_keys_of_a_frame_get_correlated_noise() -> None:
    rows = pl.DataFrame(
        {"uid": [u for u in range(50) for _ in range(30)], "key": [*range(30)] * 50}
    )
    out = frames.release(
        rows, user="uid", by="key", keys=[*range(40)], k=30, epsilon=2, delta="1e-6"
    )
    assert isinstance(out.mechanism, CorrelatedGaussian)
    assert out.frame["key"].to_list() == [*range(40)]
    error = out.mechanism.accuracy("1e-9", counters=40).simultaneous
    true = [50] * 30 + [0] * 10
    assert all(abs(c - t) <= error for c, t in zip(out.frame["count"], true, strict=True))
    assert "correlated" in str(out.choice)
