"""The exact laws of what numpy computes from one uniform double: choice(p=...) and binomial()."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from exactdp.audit.code.forced import FORCED
from exactdp.bisection import least
from exactdp.errors import NotEnumerable

_GRID = 1 << 53


def choice_weights(p: Sequence[float]) -> list[Fraction]:
    """The law of numpy's choice(p=p): the index is the number of entries of the cdf that are at
    most a uniform double."""
    cdf: Any = np.asarray(p, np.float64).cumsum()
    cdf /= cdf[-1]
    return _shares([_cut(partial(operator.le, c)) for c in map(float, cdf[:-1])])


@lru_cache(maxsize=1 << 8)
def binomial_weights(n: int, p: float) -> tuple[Fraction, ...] | None:
    """The law of numpy's binomial(n, p), of numpy's own answers to single doubles.

    None where numpy uses rejection sampling instead.

    numpy subtracts probabilities from the double until it is at most the next one. They do not
    depend on the double, and differences are rounded monotonically, so a larger double gives no
    smaller number of successes (of failures, for p above 1/2). A number beyond a bound is drawn
    again from the next double.
    Source: numpy/random/src/distributions/distributions.c, random_binomial_inversion.
    """
    if n == 0 or p == 0:
        return (Fraction(1), *[Fraction(0)] * n)
    if (1.0 - p if p > 0.5 else p) * n > 30:
        return None

    def place(k: int) -> int:
        """The number of successes or failures for a double; n + 1 if it is drawn again."""
        number = FORCED.answer("binomial", (n, p), k)
        if number is None:
            return n + 1
        return n - int(number) if p > 0.5 else int(number)

    def is_after(here: int, k: int) -> bool:
        return place(k) > here

    weights, first = [Fraction(0)] * (n + 2), 0
    while first < _GRID:
        here = place(first)
        after = least(first, _GRID, partial(is_after, here))
        if weights[here] or (after < _GRID and place(after - 1) != here):
            raise NotEnumerable("numpy's binomial() does not rise with its double here")
        weights[here] = Fraction(after - first, _GRID)
        first = after
    kept = 1 - weights.pop()
    law = [weight / kept for weight in weights]
    return tuple(reversed(law) if p > 0.5 else law)


def _cut(test: Callable[[float], bool]) -> int:
    """The least k such that test(k 2^-53), which every larger k then passes too; or 2^53."""
    return least(0, _GRID, lambda k: test(k * 2.0**-53))


def _shares(cuts: list[int]) -> list[Fraction]:
    """The probabilities of the pieces between ascending cuts of the doubles."""
    return [Fraction(b - a, _GRID) for a, b in pairwise([0, *cuts, _GRID])]
