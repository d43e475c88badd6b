"""Probabilities of standard distributions and tests, in doubles.

By scipy.special, which is imported in a third of the time and memory of scipy.stats: audits fork
the process that runs their tests.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, bdtrc, betaln, chdtrc, xlog1py, xlogy


def binomial(k: Any, n: int, p: float) -> Any:
    """P(X = k) for X ~ Bin(n, p)."""
    ways = -betaln(k + 1, n - k + 1) - np.log(n + 1)
    return np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p))


def binomial_above(k: int, n: int, p: float) -> float:
    """P(X > k)."""
    return float(bdtrc(k, n, p))


def binomial_quantile(n: int, p: float, alpha: float) -> int:
    """The least k with P(X > k) <= alpha."""
    return next(k for k in count() if binomial_above(k, n, p) <= alpha)


def binomial_test(k: int, n: int, p: float) -> float:
    """The p-value: twice the smaller tail that begins at k."""
    return min(1.0, 2 * min(float(bdtr(k, n, p)), binomial_above(k - 1, n, p)))


def chi_square(seen: ArrayLike, expected: ArrayLike) -> float:
    """The p-value of Pearson's test of counts."""
    seen, expected = np.asarray(seen, float), np.asarray(expected, float)
    return float(chdtrc(seen.size - 1, ((seen - expected) ** 2 / expected).sum()))
