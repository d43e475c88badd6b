"""The exact laws of what numpy computes from one uniform double: choice(p=...) and binomial()."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from exactdp.bisection import least

_GRID = 1 << 53


def choice_weights(p: Sequence[float]) -> list[Fraction]:
    """The law of numpy's choice(p=p): the index is the number of entries of the cdf that are at
    most a uniform double."""
    cdf: Any = np.asarray(p, np.float64).cumsum()
    cdf /= cdf[-1]
    return _shares([_cut(partial(operator.le, c)) for c in map(float, cdf[:-1])])


def binomial_weights(n: int, p: float) -> list[Fraction] | None:
    """The law of numpy's binomial(n, p) by inversion of one double.

    None where numpy uses rejection sampling instead.

    Source: numpy/random/src/distributions/distributions.c, random_binomial_inversion.
    """
    if p > 0.5:
        mirrored = binomial_weights(n, 1.0 - p)
        return None if mirrored is None else mirrored[::-1]
    if n == 0 or p == 0:
        return [Fraction(1)] + [Fraction(0)] * n
    if p * n > 30:
        return None
    q = 1.0 - p
    first = math.exp(n * math.log(q))
    mean = n * p
    bound = int(min(float(n), mean + 10.0 * math.sqrt(mean * q + 1)))

    def inverted(u: float) -> int:
        x, px = 0, first
        while u > px:
            x += 1
            if x > bound:
                return x  # numpy draws again
            u -= px
            px = ((n - x + 1) * p * px) / (x * q)
        return x

    def exceeds(x: int, u: float) -> bool:
        return inverted(u) > x

    cuts = [_cut(partial(exceeds, x)) for x in range(bound + 1)]
    shares = _shares(cuts)[:-1]  # without the outcome that numpy draws again
    kept = sum(shares, Fraction(0))
    return [share / kept for share in shares] + [Fraction(0)] * (n - bound)


def _cut(test: Callable[[float], bool]) -> int:
    """The least k such that test(k 2^-53), which every larger k then passes too; or 2^53."""
    return least(0, _GRID, lambda k: test(k * 2.0**-53))


def _shares(cuts: list[int]) -> list[Fraction]:
    """The probabilities of the pieces between ascending cuts of the doubles."""
    return [Fraction(b - a, _GRID) for a, b in pairwise([0, *cuts, _GRID])]
