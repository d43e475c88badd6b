"""The law of the largest of many errors of Algorithm 3, from path counts (verdict: supported)."""

from __future__ import annotations

import math
from functools import cache

__all__ = ["largest_between"]

_LAST = 420  # columns; farther peaks have probability below 1e-15 for p, q <= 0.27
_HIGH = 90  # heights of the peak that are summed


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@cache
def _peaks(p: float, q: float) -> tuple[list[float], list[float]]:
    """P(the first peak is at y + n or later), P(the last one is), n = 0, 1, ...

    q: chance of a one to the right of y, p: of a zero to the left. The walk to the right reaches
    its maximum h first, or last, after n steps; the walk to the left stays below (or at most at) h.
    """
    own, other = q / (1 - q), p / (1 - p)  # chances that a walk ever gains one
    first, last = [0.0], [0.0]
    for n in range(1, _LAST):
        total = [0.0, 0.0]
        for h in range(n % 2, min(n, _HIGH) + 1, 2):
            ups = (n + h) // 2
            walk = ups * math.log(q) + (n - ups) * math.log(1 - q)
            reached = math.exp(_log_binomial(n, ups) + walk) * h / n  # first time at h
            staying = math.exp(_log_binomial(n + 1, ups + 1) + walk) * (h + 1) / (n + 1)
            total[0] += reached * (1 - own) * (1 - other**h)
            total[1] += staying * (1 - 2 * q) * (1 - other ** (h + 1))
        first.append(total[0])
        last.append(total[1])
    return _tails(first), _tails(last)


def _tails(masses: list[float]) -> list[float]:
    sums = [0.0]
    for mass in reversed(masses):
        sums.append(sums[-1] + mass)
    return sums[::-1]


def _beyond(p: float, q: float, error: float, alpha: float) -> tuple[float, float]:
    """Bounds on P(one error >= error): by the first and by the last peak.

    The rounding of x/alpha moves the error by r columns, r triangular on (-1, 1); the average over
    r is taken at the far and at the near end of 40 intervals.
    """
    first, last = _peaks(p, q)
    low = high = 0.0
    for i in range(-20, 20):
        near, far = i / 20, (i + 1) / 20
        share = abs((far - near) * (1 - abs(near + far) / 2))
        low += share * first[math.ceil(error / alpha + far)]
        high += share * last[math.ceil(error / alpha + near)]
    return low, high


def largest_between(
    p: float, q: float, printed: float, *, runs: int = 10**6, alpha: float = 3.0
) -> tuple[float, float]:
    """Lower bounds on P(largest error >= printed + 1/2) and P(largest error < printed - 1/2)."""
    at_least = _beyond(p, q, printed + 0.5, alpha)[0]
    reached = _beyond(p, q, printed - 0.5, alpha)[1]
    return -math.expm1(runs * math.log1p(-at_least)), math.exp(runs * math.log1p(-reached))
