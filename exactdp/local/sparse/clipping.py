"""The bias of an estimated mean caused by clipping the sums of bins.

Clipping at eta changes the mean by at most E max(1 + S - eta, 0), where S is the sum of k - 1
random signs that each fall into a given bin with probability at most `hit`, 1/b for b equal bins.
For independent signs, as with keyed hash functions, this holds because a convex function of the
entries is largest if all entries are 1. Under linear hash functions the signs of any items are
pairwise uncorrelated, and E max(S - t, 0) <= (sqrt(Var S + t^2) - t)/2 (Scarf 1958); a user whose
items form a subspace attains the bound.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from exactdp.balls import ball, refine
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.sparse.entries import checked
from exactdp.parameters import Real, integer, positive

#: The search tries to clip at multiples of 1/4.
_CLIP_STEPS = 4

#: The word for the clipping of the code published with SVA.
PUBLISHED = "published"

#: The share in a sample is rounded up to a multiple of 1/_SHARES.
_SHARES = 10_000


def at_most_one(name: str, value: Real) -> Fraction:
    """An exact number > 0 and <= 1."""
    share = positive(name, value)
    if share > 1:
        raise InvalidParameter(name, value, "> 0 and <= 1")
    return share


def published_clip(k: int, users: int) -> Fraction:
    """Where the code published with SVA clips: sqrt(k ln n)/2.5, to 2^-20. users: n."""
    return Fraction(round(sqrt(k * log(users)) / 2.5 * 2**20), 2**20) or Fraction(1)


def clip_at(name: str, value: Real | None, k: int, users: int) -> Fraction | None:
    """Where to clip: a number > 0, or "published"; None leaves the choice to the plan."""
    if value == PUBLISHED:
        return published_clip(k, users)
    return None if value is None else positive(name, value)


def clip_bias(k: int, hit: Fraction, eta: Fraction) -> Fraction:
    """E max(1 + S - eta, 0) for independent signs.

    k: number of entries. hit: the largest probability of a bin. eta: sums are clipped to
    [-eta, eta].
    """
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

    entries: sum of the squares of a typical vector's values, so the number of entries of +-1, which
    is the variance of their sum with random signs. share: the largest mean of an item's values of
    one sign, at most the share of users who have it, > 0 and <= 1: the bias is convex in the item's
    own value and 0 at 0. The worst vectors have k entries, and share 1. The root mean square of all
    items' means in place of the largest gives the least mean square error over all items, where the
    largest means come out too small.
    """

    entries: int = whole(least=1)
    share: Number = number(at_most_one, default=1)

    @classmethod
    def of(cls, vectors: Any, items: int | None = None) -> Stated:
        """From a public sample of vectors, as `report_many` takes them.

        items: None to keep the largest mean right; the number d of all items for the least mean
        square error over all of them.
        """
        sample = checked(vectors, d=1 << 62, k=1 << 62, grid=1)
        if not len(sample.user):
            raise InvalidParameter("vectors", Described("no entries"), "a sample with entries")
        values = sample.floats
        squares = np.bincount(sample.user, values**2)
        own = np.unique(sample.item, return_inverse=True)[1]
        sums = np.maximum(*(np.bincount(own, (sign * values).clip(0)) for sign in (1, -1)))
        if items is None:
            size = float(sums.max())
        else:
            size = sqrt((sums**2).sum() / integer("items", items, least=len(sums)))
        # a holder of an item has more entries than others: users count by the sum of their squares
        entries = max(ceil((squares**2).sum() / squares.sum() * (1 - 1e-9)), 1)
        share = ceil(size / sample.n * _SHARES * (1 - 1e-9))
        return cls(entries, Fraction(share, _SHARES))

    def clip(self, grid: int, hit: float, users: int, cost: float, published: Fraction) -> int:
        """The best eta, in units of 1/grid, estimated in doubles for a variance of cost * eta^2.

        published: where the published code clips, which is tried, too.
        """
        eta = np.arange(1, _CLIP_STEPS * self.entries + 1) / _CLIP_STEPS
        eta = np.append(eta, min(float(published), self.entries))
        best = float(eta[np.argmin(cost * eta**2 / users + self.bias(hit, eta) ** 2)])
        return max(round(best * grid), 1)

    def bias(self, hit: float, eta: Any) -> Any:
        """The bias of the item with the largest mean, in doubles.

        The law of S is symmetric, so clipping at -eta gives back E max(S - 1 - eta, 0) if the
        entries are +-1. For share 1, where the worst vectors count, the bound of all vectors.
        """
        over, at = likely_overshoot(self.entries, hit), np.arange(self.entries + 1)
        back = np.interp(eta + 2, at, over) if self.share < 1 else 0
        return float(self.share) * (np.interp(eta, at, over) - back)


@lru_cache(32)
def likely_overshoot(k: int, hit: float) -> NDArray[np.float64]:
    """E max(1 + S - eta, 0) in doubles, for eta = 0, ..., k."""
    size = 2 * k + 1
    angles = 2 * np.pi * np.arange(size) / size
    chances = np.fft.ifft((1 - hit + np.cos(angles) * hit) ** (k - 1)).real
    walk = np.clip(np.array([chances[s % size] for s in range(k)]), 0, None)
    beyond = np.cumsum(walk[::-1])[::-1]  # P(S >= s), s = 0, ..., k - 1
    return np.append(np.cumsum(beyond[::-1])[::-1], 0.0)
