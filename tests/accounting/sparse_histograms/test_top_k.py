from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf, npdf, quad

from exactdp.accounting import csh, top_k


def test_without_base_it_is_the_csh() -> None:
    point: dict[str, Any] = {"sigma": "17.7", "tau": "97", "epsilon": "0.35"}
    assert top_k.delta(top=10, **point) == csh.delta(sparsity=10, **point)


@pytest.mark.parametrize(("k", "sigma", "tau", "epsilon"), [(1, 5, 20, 1), (10, 27, 150, "0.35")])
def test_with_base_against_mpmath(k: int, sigma: int, tau: int, epsilon: str) -> None:
    delta = top_k.delta_with_base(top=k, sigma=sigma, tau=tau, epsilon=epsilon)
    with mp.workdps(30):
        eps, root = mpf(epsilon), mp.sqrt(k)
        mu = mp.sqrt(k + 5 * root) / (2 * sigma)
        noise = ncdf(mu / 2 - eps / mu) - mp.exp(eps) * ncdf(-mu / 2 - eps / mu)
        spread = 1 / mp.sqrt(root)
        cuts = [-12 * spread, -3 * spread, 0, 3 * spread, 6 * spread, 12 * spread]
        shows = quad(lambda z: npdf(z, 0, spread) * (1 - ncdf(mpf(tau) / sigma - z) ** k), cuts)
        value = noise + shows
        assert mpf(delta.lower.numerator) / delta.lower.denominator <= value * (1 + mpf(10) ** -15)
        assert value * (1 - mpf(10) ** -15) <= mpf(delta.upper.numerator) / delta.upper.denominator


def test_the_noise_part_bounds_every_change_of_histogram_and_base() -> None:
    """Mahalanobis distances of all changes, a counters and perhaps the base, by inversion."""
    for k in (1, 2, 5, 9):
        root = k**0.5
        covariance = np.zeros((k + 1, k + 1))
        covariance[:k, :k] = np.eye(k) + 1 / root
        covariance[k, k] = 1 / root
        inverse = np.linalg.inv(covariance)
        for a in range(k + 1):
            for base in (0, 1):
                shift = np.array([1.0] * a + [0.0] * (k - a) + [float(base)])
                assert shift @ inverse @ shift <= (k + 5 * root) / 4 + 1e-9
