"""Brute force for pairs of neighbours of the CSH: densities of the released values on a grid."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["by_densities", "side_b"]


def _phi(x: Any) -> Any:
    """The normal distribution function of an array."""
    import numpy as np

    return np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x.ravel()]).reshape(x.shape)


def by_densities(
    j: int,
    a: int,
    r: int,
    sigma: float,
    tau: float,
    epsilon: float,
    kappa: float,
    count: float = math.inf,
) -> tuple[float, float]:
    """delta of sides A and B; the shared noise is summed out at every point, for j <= 2.

    count: of the shared counter on side B, for j = 1; infinite: no shared counter is ever hidden.
    """
    import numpy as np

    size = {1: 4001, 2: 401}[j]
    shared = sigma / math.sqrt(kappa)
    z = np.linspace(-7 * shared, 7 * shared, 71)
    weight = np.exp(-((z / shared) ** 2) / 2)
    weight /= weight.sum()
    reach = 6 * math.hypot(sigma, shared)
    y = np.linspace(-reach, reach + 1, size)
    step = (y[1] - y[0]) / (sigma * math.sqrt(2 * math.pi))
    still = np.exp(-(((y[None, :] - z[:, None]) / sigma) ** 2) / 2) * step
    moved = np.exp(-(((y[None, :] - 1 - z[:, None]) / sigma) ** 2) / 2) * step
    hidden = weight * _phi((tau - z) / sigma) ** r
    on_a, on_b = [moved] * a + [still] * (j - a), [still] * j
    if j == 1:
        p_a, p_b = hidden @ on_a[0], weight @ on_b[0]
    else:
        p_a = (hidden[:, None] * on_a[0]).T @ on_a[1]
        p_b = (weight[:, None] * on_b[0]).T @ on_b[1]
    grow, seen = math.exp(epsilon), 1 - p_a.sum()
    if count < math.inf:  # values at most 1 + tau are all the same output
        shown = y + count > 1 + tau
        p_a, p_b = ([*p[shown], p[~shown].sum()] for p in (p_a, p_b))
        p_a, p_b = np.array(p_a), np.array(p_b)
    side_a = seen + np.maximum(p_a - grow * p_b, 0).sum()
    return float(side_a), float(np.maximum(p_b - grow * p_a, 0).sum())


def side_b(numbers: tuple[int, int, int], setting: list[float], shift: float = 1.0) -> float:
    """Formula (B), with G taken at M - shift t: a sum over M of the closed form given M."""
    import numpy as np

    (j, a, r), (sigma, tau, epsilon, kappa) = numbers, setting
    lam, total = 1 / sigma, j + kappa
    variance, t = j / (kappa * total), lam * a / total
    squared = lam**2 * (a - a * a / total)
    width = lam * math.sqrt(a * (j - a) / j)
    x = np.linspace(-7, 7, 701)
    p = np.exp(-x * x / 2)
    p /= p.sum()
    m = math.sqrt(variance) * x
    s = np.linspace(-7, 7, 85)
    q = np.exp(-s * s / 2)
    q /= q.sum()
    deviation = 1 / math.sqrt(total)
    at = m - shift * t
    hidden = _phi(tau / sigma - at[:, None] - deviation * s[None, :]) ** r @ q
    mean = epsilon - squared / 2 + (t / variance) * m + np.log(hidden)
    if width == 0:
        return float(p @ np.maximum(1 - np.exp(mean), 0))
    # E[(1 - e^X)_+] for X normal with this mean and deviation
    top = -mean / width
    return float(p @ (_phi(top) - np.exp(mean + width**2 / 2) * _phi(top - width)))
