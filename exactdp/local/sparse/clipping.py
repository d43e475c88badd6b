"""What clipping the sums of bins does to an estimated mean.

Clipping at eta moves the mean by at most E max(1 + S - eta, 0), where S is the sum of k - 1 signs
that each fall into a given bin with probability 1/b: convex functions of the entries are largest
where all entries are 1, if signs are independent, as keyed functions have them. Under linear
functions any two are uncorrelated, whatever items a user has, and E max(S - t, 0) is at most
(sqrt(Var S + t^2) - t)/2 (Scarf 1958): a user whose items are a subspace comes up to that.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpz_poly

from exactdp.balls import ball, refine

#: Clipping is tried at multiples of 1/4.
_CLIP_STEPS = 4


def clip_bias(k: int, bins: int, eta: Fraction) -> Fraction:
    """E max(1 + S - eta, 0) for the sum S of k - 1 signs that each fall into a bin."""
    counts = map(int, (fmpz_poly([1, 2 * bins - 2, 1]) ** (k - 1)).coeffs())
    over = [max(2 + i - k - eta, Fraction(0)) * count for i, count in enumerate(counts)]
    return sum(over, Fraction(0)) / int((2 * bins) ** (k - 1))


def clip_bias_of_any_items(k: int, bins: int, eta: Fraction) -> Fraction:
    """E max(1 + S - eta, 0) or, where the item is no entry, E max(S - eta, 0), at most.

    For k - 1 or k signs of which any two are uncorrelated, by Scarf's inequality.
    """
    return max(_scarf(Fraction(k - 1, bins), eta - 1), _scarf(Fraction(k, bins), eta))


def _scarf(square: Fraction, t: Fraction) -> Fraction:
    """The least upper bound of E max(S - t, 0) over all S with mean 0 and this mean square."""
    return (refine(lambda: (ball(square) + ball(t) ** 2).sqrt()).upper - t) / 2


def likely_clip(k: int, grid: int, bins: int, users: int, cost: float) -> int:
    """Where to clip, in units, by the error that doubles predict: the variance is cost eta^2."""
    eta = np.arange(1, _CLIP_STEPS * k + 1) / _CLIP_STEPS
    bias = np.interp(eta, np.arange(k + 1), likely_overshoot(k, bins))
    best = float(eta[np.argmin(cost * eta**2 / users + bias**2)])
    return max(round(best * grid), 1)


@lru_cache(32)
def likely_overshoot(k: int, bins: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """About E max(1 + S - eta, 0) for eta = 0, ..., k."""
    size = 2 * k + 1
    angles = 2 * np.pi * np.arange(size) / size
    chances = np.fft.ifft((1 - 1 / bins + np.cos(angles) / bins) ** (k - 1)).real
    walk = np.clip(np.array([chances[s % size] for s in range(k)]), 0, None)
    beyond = np.cumsum(walk[::-1])[::-1]  # P(S >= s), s = 0, ..., k - 1
    return np.append(np.cumsum(beyond[::-1])[::-1], 0.0)
