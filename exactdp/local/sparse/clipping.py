"""The bias of an estimated mean caused by clipping the sums of bins.

Clipping at eta changes the mean by at most E max(1 + S - eta, 0), where S is the sum of k - 1
random signs that each fall into a given bin with probability 1/b. For independent signs, as with
keyed hash functions, this holds because a convex function of the entries is largest if all entries
are 1. Under linear hash functions the signs of any items are pairwise uncorrelated, and
E max(S - t, 0) <= (sqrt(Var S + t^2) - t)/2 (Scarf 1958); a user whose items form a subspace
attains the bound.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpz_poly

from exactdp.balls import ball, refine

#: The search tries to clip at multiples of 1/4.
_CLIP_STEPS = 4


def clip_bias(k: int, bins: int, eta: Fraction) -> Fraction:
    """E max(1 + S - eta, 0) for independent signs. k: entries. bins: b. eta: where to clip."""
    counts = map(int, (fmpz_poly([1, 2 * bins - 2, 1]) ** (k - 1)).coeffs())
    over = [max(2 + i - k - eta, Fraction(0)) * count for i, count in enumerate(counts)]
    return sum(over, Fraction(0)) / int((2 * bins) ** (k - 1))


def clip_bias_of_any_items(k: int, bins: int, eta: Fraction) -> Fraction:
    """Upper bound of E max(1 + S - eta, 0), or, if the user lacks the item, of E max(S - eta, 0).

    For k - 1 or k pairwise uncorrelated signs, by Scarf's inequality.
    """
    return max(_scarf(Fraction(k - 1, bins), eta - 1), _scarf(Fraction(k, bins), eta))


def _scarf(square: Fraction, t: Fraction) -> Fraction:
    """The supremum of E max(S - t, 0) over all S with mean 0 and this mean square."""
    return (refine(lambda: (ball(square) + ball(t) ** 2).sqrt()).upper - t) / 2


def likely_clip(k: int, grid: int, bins: int, users: int, cost: float) -> int:
    """The best eta, in units of 1/grid, estimated in doubles for a variance of cost * eta^2."""
    eta = np.arange(1, _CLIP_STEPS * k + 1) / _CLIP_STEPS
    bias = np.interp(eta, np.arange(k + 1), likely_overshoot(k, bins))
    best = float(eta[np.argmin(cost * eta**2 / users + bias**2)])
    return max(round(best * grid), 1)


@lru_cache(32)
def likely_overshoot(k: int, bins: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """E max(1 + S - eta, 0) in doubles, for eta = 0, ..., k."""
    size = 2 * k + 1
    angles = 2 * np.pi * np.arange(size) / size
    chances = np.fft.ifft((1 - 1 / bins + np.cos(angles) / bins) ** (k - 1)).real
    walk = np.clip(np.array([chances[s % size] for s in range(k)]), 0, None)
    beyond = np.cumsum(walk[::-1])[::-1]  # P(S >= s), s = 0, ..., k - 1
    return np.append(np.cumsum(beyond[::-1])[::-1], 0.0)
