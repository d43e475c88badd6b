"""Brute force for pairs of neighbours of the CSH, in floats: densities of the released values."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from exactdp.accounting.sparse_histograms.csh_exact import Family
from exactdp_proofs.papers.csh._model import Point, point
from exactdp_proofs.rationals import Fraction

__all__ = ["FAMILIES", "PAIRS", "SETTINGS", "TOLERANCE", "Setting", "by_densities", "settled"]
__all__ += ["setting_of", "side_b"]

#: sigma, tau, epsilon, kappa
Setting = tuple[Fraction, Fraction, Fraction, Fraction]


def _setting(*texts: str) -> Setting:
    sigma, tau, epsilon, kappa = map(Fraction, texts)
    return sigma, tau, epsilon, kappa


SETTINGS = (_setting("2", "5", "0.5", "2"), _setting("0.7", "1", "0.3", "0.5"))

#: (j, a, r): shared counters, changed ones among them, counters of side A only.
PAIRS = ((1, 0, 1), (1, 1, 1), (1, 1, 2), (2, 1, 1), (2, 2, 1), (2, 1, 2))

#: Absolute tolerance of the sums on grids below, which agree with each other to 2e-5.
TOLERANCE = Fraction(3, 10**5)

#: Parameters, kappa (None: sqrt k) and most changes of a user.
FAMILIES = (
    (point(4, "2", "4", "0.25"), None, 4),
    (point(4, "1", "1.3", "0"), Fraction(3, 10), 3),
    (point(3, "3.1", "7", "0.75"), Fraction(30), 3),
    (point(3, "0.8", "8", "0.5"), None, 2),
)


def settled(setting: Setting, k: int = 4) -> Family:
    sigma, tau, epsilon, kappa = setting
    return Family(k, sigma, tau, epsilon, sigma, kappa, k)


def _phi(x: Any) -> Any:
    """The normal distribution function of an array."""
    values = (x / -math.sqrt(2)).ravel().tolist()
    return np.array(list(map(math.erfc, values))).reshape(x.shape) / 2


@cache
def by_densities(
    numbers: tuple[int, int, int], setting: Setting, count: float = math.inf
) -> tuple[Fraction, Fraction]:
    """delta of sides A and B; the shared noise is summed out at every point, for j <= 2.

    count: of the shared counter on side B, for j = 1; infinite: no shared counter is ever hidden.
    """
    (j, a, r), (sigma, tau, epsilon, kappa) = numbers, map(float, setting)
    shared = sigma / math.sqrt(kappa)
    z = np.linspace(-7 * shared, 7 * shared, 71)
    weight = np.exp(-((z / shared) ** 2) / 2)
    weight /= weight.sum()
    reach = 6 * math.hypot(sigma, shared)
    y = np.linspace(-reach, reach + 1, {1: 4001, 2: 401}[j])
    step = (y[1] - y[0]) / (sigma * math.sqrt(2 * math.pi))
    still, moved = (
        np.exp(-(((y[None, :] - x - z[:, None]) / sigma) ** 2) / 2) * step for x in (0, 1)
    )
    hidden = weight * _phi((tau - z) / sigma) ** r
    on_a = [moved] * a + [still] * (j - a)
    if j == 1:
        p_a, p_b = hidden @ on_a[0], weight @ still
    else:
        p_a = (hidden[:, None] * on_a[0]).T @ on_a[1]
        p_b = (weight[:, None] * still).T @ still
    grow, seen = math.exp(epsilon), 1 - p_a.sum()
    if count < math.inf:  # values at most 1 + tau are all the same output
        visible = y + count > 1 + tau
        p_a, p_b = (np.array([*p[visible], p[~visible].sum()]) for p in (p_a, p_b))
    side_a = seen + np.maximum(p_a - grow * p_b, 0).sum()
    return Fraction(float(side_a)), Fraction(float(np.maximum(p_b - grow * p_a, 0).sum()))


@cache
def side_b(numbers: tuple[int, int, int], setting: Setting, shift: float = 1.0) -> Fraction:
    """Formula (B), with G taken at M - shift t: a sum over M of the closed form given M."""
    (j, a, r), (sigma, tau, epsilon, kappa) = numbers, map(float, setting)
    lam, total = 1 / sigma, j + kappa
    variance, t = j / (kappa * total), lam * a / total
    squared = lam**2 * (a - a * a / total)
    width = lam * math.sqrt(a * (j - a) / j)
    x, p = _normal(701)
    m = math.sqrt(variance) * x
    s, q = _normal(61)
    at = m - shift * t
    hidden = _phi(tau / sigma - at[:, None] - s[None, :] / math.sqrt(total)) ** r @ q
    mean = epsilon - squared / 2 + np.log(hidden) + (t / variance) * m
    if width == 0:
        return Fraction(float(p @ np.maximum(1 - np.exp(mean), 0)))
    # E[(1 - e^X)_+] for X normal with this mean and deviation
    top = -mean / width
    return Fraction(float(p @ (_phi(top) - np.exp(mean + width**2 / 2) * _phi(top - width))))


def _normal(number: int) -> tuple[Any, Any]:
    """Nodes on [-7, 7] and their shares of a standard normal law."""
    x = np.linspace(-7, 7, number)
    p = np.exp(-x * x / 2)
    return x, p / p.sum()


def setting_of(at: Point) -> Setting:
    """The paper's kappa = sqrt k, to a double's precision."""
    return at.sigma, at.tau, at.epsilon, Fraction(math.sqrt(at.k))
