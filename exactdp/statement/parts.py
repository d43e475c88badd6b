"""Parts of the numbers of keys that a user shares, for the checker's bounds of sparse histograms.

Floats choose the parts; the checker computes its bound in each of them.
"""

from __future__ import annotations

import math
from fractions import Fraction

from exactdp.statement.checker import Release

#: Most parts where no sizes are known to be best.
_MOST = 512

#: The bound of a part may exceed the largest bound of a single case by this share.
_SPARE = 1e-9


def starts_of(release: Release, epsilon: Fraction) -> list[int]:
    """The first number of shared keys of each part; none for a mechanism without parts."""
    if release["mechanism"] == "correlated-sparse-histogram":
        return _dense(release["sparsity"])
    if release["mechanism"] == "discrete-sparse-histogram":
        try:
            return _few(release, float(epsilon)) or _dense(release["k"])
        except ArithmeticError:  # a parameter is beyond the range of floats
            return _dense(release["k"])
    return []


def _dense(k: int) -> list[int]:
    """All of 0..k if k is small, else the starts of parts that are short near both ends."""
    if k < _MOST:
        return list(range(k + 1))
    half = _MOST // 2
    # j = k shares all keys, and parts near both ends are small
    points = {round(k * (i / half) ** 2 / 2) for i in range(half)}
    points |= {k - round(k * (i / half) ** 2 / 2) for i in range(half)}
    return sorted(points | {0, k})


def _few(release: Release, epsilon: float) -> list[int]:
    """The starts of the longest parts whose bounds are at most that of all keys shared, or of none.

    A part's bound has the noise of its last case and the fresh keys of its first. No starts where
    floats are too coarse.
    """
    k, sigma = release["k"], math.sqrt(Fraction(release["sigma2"]))
    hidden = math.log1p(-_tail((math.floor(Fraction(release["tau"])) + 0.5) / sigma))

    def noise(shared: int) -> float:
        mu = math.sqrt(shared) / sigma
        t = epsilon / mu + mu / 2
        return _tail(t - mu) - math.exp(epsilon) * _tail(t)

    def shown(fresh: int) -> float:
        return -math.expm1(fresh * hidden)

    most = max(noise(k), shown(k)) * (1 + _SPARE)
    starts, last = list[int](), k
    while last > 0:
        left = most - noise(last)
        if not left > 0:  # the noise of all cases is rounded to the same number
            return []
        fresh = k if shown(k) <= left else math.floor(math.log1p(-left) / hidden)
        starts.append(max(min(k - fresh, last), 0))
        last = starts[-1] - 1
        if len(starts) > _MOST:
            return []
    return sorted({0, *starts})


def _tail(t: float) -> float:
    return math.erfc(t / math.sqrt(2)) / 2
