"""The base of the baseline schemes for sparse vectors, each with its exact epsilon.

Source: Zhou et al., "Locally Differentially Private Sparse Vector Aggregation" (SVA), Sections
II-B, II-C and V.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.local.bulk_choices import Integers, coins
from exactdp.local.mechanism import LocalMechanism, public_fields
from exactdp.local.ratio import local_epsilon
from exactdp.local.sparse.clipping import Stated
from exactdp.local.sparse.entries import Scaled, checked
from exactdp.local.sparse.error_bounds import Chebyshev
from exactdp.local.sparse.estimates import Means, Sums
from exactdp.parameters import choice
from exactdp.samplers import Source
from exactdp.vector import Vector

MOST_ITEMS = 1 << 26


def neighbours(level: str, k: int) -> str:
    """The neighbouring relation of a level, as text. k: largest number of entries of a user."""
    if level == "event":
        return "one entry of one user's vector changed in any way (local model, event level)"
    return f"any two vectors of one user with at most {k} entries (local model, user level)"


@frozen
class Baseline(LocalMechanism[Vector]):
    """d: items are 0 to d - 1, d <= 2^26. k: largest number of non-zero entries of a user, <= d.
    epsilon: of one report. Raises InvalidParameter."""

    d: int = whole(least=1, most=MOST_ITEMS)
    k: int = whole(least=1, most=MOST_ITEMS)
    epsilon: Number = number(local_epsilon)

    #: The protected unit: "event" (one entry of a user) or "user" (all entries).
    level = "user"

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"an integer >= 1 and <= {self.d}")
        choice("level", self.level, ("user", "event"))

    @property
    def cells(self) -> int:
        """One counter per item."""
        return self.d

    @property
    @abstractmethod
    def variance(self) -> Fraction:
        """Upper bound of n times the variance of the mean estimated from n users, for any data."""

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The expected contribution of a report to an item's sum, if the value is 1."""

    @property
    def bias(self) -> Fraction:
        """Upper bound of the bias of an estimated mean."""
        return Fraction(0)

    @property
    def bias_of_any_items(self) -> Fraction:
        """Upper bound of the bias for linear hash functions and the worst set of items."""
        return self.bias

    def mean_square(self, users: int) -> Fraction:
        """Upper bound of the mean square error from this number of users, for independent signs."""
        return self.variance / users + self.bias**2

    def stated_error(self, users: int, stated: Stated) -> float:
        """The mean square error of vectors as stated: as for all, without clipping."""
        return float(self.mean_square(users))

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the guarantee."""
        return neighbours(self.level, self.k)

    def configuration(self) -> Mapping[str, str | int]:
        return public_fields(self)

    def _checked(self, values: Any) -> Scaled:
        return checked(values, d=self.d, k=self.k, grid=1)

    def _estimate(self, counts: Integers, n: int, method: str) -> Means:
        return Means(
            self.d, n, self._sums(counts), Chebyshev(self.variance, self.bias_of_any_items)
        )

    def _sums(self, counts: Integers) -> Sums:
        """The sums of all items, from the counters."""
        return Counters(counts, self.scale)


class Counters:
    """Sums that a server counts directly, one per item."""

    def __init__(self, counts: Integers, scale: Fraction) -> None:
        self.scale, self._counts = scale, counts

    def of(self, items: Integers) -> Integers:
        return self._counts[items]

    def every(self) -> Integers:
        return self._counts


def signs(values: Integers, ratio: Fraction, source: Source) -> Integers:
    """Randomized signs of values -1, 0, 1: the true sign is `ratio` times as likely; 0: fair."""
    zero, flip = values == 0, coins(1 / (ratio + 1), len(values), source)
    reported = np.where(flip, -values, values)
    reported[zero] = 1 - 2 * coins(Fraction(1, 2), int(zero.sum()), source)
    return reported


def entry_at(values: Scaled, rounded: Integers, rank: Integers) -> tuple[Integers, Integers]:
    """Item and value of the entry of this rank for every user; 0 and 0 beyond the last entry."""
    counts = np.bincount(values.user, minlength=values.n)
    starts = np.cumsum(counts) - counts
    there = rank < counts
    item, value = np.zeros(values.n, np.int64), np.zeros(values.n, np.int64)
    where = (starts + rank)[there]
    item[there], value[there] = values.item[where], rounded[where]
    return item, value
