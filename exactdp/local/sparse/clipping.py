"""The bias of an estimated mean caused by clipping the sums of bins.

Clipping at eta changes the mean by at most E max(1 + S - eta, 0), where S is the sum of k - 1
random signs that each fall into a given bin with probability at most `hit`, 1/b for b equal bins.
For independent signs, as with
keyed hash functions, this holds because a convex function of the entries is largest if all entries
are 1. Under linear hash functions the signs of any items are pairwise uncorrelated, and
E max(S - t, 0) <= (sqrt(Var S + t^2) - t)/2 (Scarf 1958); a user whose items form a subspace
attains the bound.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.sparse.entries import checked
from exactdp.parameters import Real, positive

#: The search tries to clip at multiples of 1/4.
_CLIP_STEPS = 4


def at_most_one(name: str, value: Real) -> Fraction:
    """An exact number > 0 and <= 1."""
    share = positive(name, value)
    if share > 1:
        raise InvalidParameter(name, value, "> 0 and <= 1")
    return share


def clip_bias(k: int, hit: Fraction, eta: Fraction) -> Fraction:
    """E max(1 + S - eta, 0) for independent signs. k: entries. hit: the largest probability of a
    bin. eta: where to clip."""
    a, c = hit.numerator, hit.denominator
    counts = map(int, (fmpz_poly([a, 2 * c - 2 * a, a]) ** (k - 1)).coeffs())
    over = [max(2 + i - k - eta, Fraction(0)) * count for i, count in enumerate(counts)]
    return sum(over, Fraction(0)) / int((2 * c) ** (k - 1))


def clip_bias_of_any_items(k: int, hit: Fraction, eta: Fraction) -> Fraction:
    """Upper bound of E max(1 + S - eta, 0), or, if the user lacks the item, of E max(S - eta, 0).

    For k - 1 or k pairwise uncorrelated signs, by Scarf's inequality.
    """
    return max(_scarf((k - 1) * hit, eta - 1), _scarf(k * hit, eta))


def _scarf(square: Fraction, t: Fraction) -> Fraction:
    """The supremum of E max(S - t, 0) over all S with mean 0 and this mean square."""
    return (refine(lambda: (ball(square) + ball(t) ** 2).sqrt()).upper - t) / 2


@frozen
class Stated:
    """What is stated about the vectors, to choose where to clip: the guarantee does not rest on it.

    entries: number of non-zero entries of a typical vector. share: the largest share of users who
    have the same item, > 0 and <= 1; clipping shrinks the mean of an item by at most this share of
    the bias. The worst vectors have k entries, and share 1.
    """

    entries: int = whole(least=1)
    share: Number = number(at_most_one, default=1)

    @classmethod
    def of(cls, vectors: Any) -> Stated:
        """From a public sample of vectors, as `report_many` takes them."""
        sample = checked(vectors, d=1 << 62, k=1 << 62, grid=1)
        if not len(sample.user):
            raise InvalidParameter("vectors", Described("no entries"), "a sample with entries")
        users = np.bincount(sample.user)
        items = np.unique(sample.item, return_counts=True)[1]
        # a holder of an item has more entries than others: weighted by the number of entries
        return cls(ceil((users**2).sum() / users.sum()), Fraction(int(items.max()), sample.n))

    def clip(self, grid: int, hit: float, users: int, cost: float) -> int:
        """The best eta, in units of 1/grid, estimated in doubles for a variance of cost * eta^2."""
        eta = np.arange(1, _CLIP_STEPS * self.entries + 1) / _CLIP_STEPS
        best = float(eta[np.argmin(cost * eta**2 / users + self.bias(hit, eta) ** 2)])
        return max(round(best * grid), 1)

    def bias(self, hit: float, eta: Any) -> Any:
        """The bias of the item that most users have, in doubles."""
        over = likely_overshoot(self.entries, hit)
        return float(self.share) * np.interp(eta, np.arange(self.entries + 1), over)


@lru_cache(32)
def likely_overshoot(k: int, hit: float) -> NDArray[np.float64]:
    """E max(1 + S - eta, 0) in doubles, for eta = 0, ..., k."""
    size = 2 * k + 1
    angles = 2 * np.pi * np.arange(size) / size
    chances = np.fft.ifft((1 - hit + np.cos(angles) * hit) ** (k - 1)).real
    walk = np.clip(np.array([chances[s % size] for s in range(k)]), 0, None)
    beyond = np.cumsum(walk[::-1])[::-1]  # P(S >= s), s = 0, ..., k - 1
    return np.append(np.cumsum(beyond[::-1])[::-1], 0.0)
