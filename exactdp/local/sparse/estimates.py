"""Estimates of a server: the means of chosen items, of all items, or the largest means."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.local.bulk_choices import Integers
from exactdp.local.report_formats import integers
from exactdp.local.sparse.error_bounds import Tail
from exactdp.local.sparse.hashes import Keyed, Linear
from exactdp.local.walsh import walsh
from exactdp.parameters import Real, all_between, delta_target, integer

#: Largest number of items whose means are listed together: 2^28 means are two gigabytes.
_MOST_AT_ONCE = 1 << 28


class Sums(Protocol):
    """For each item, the sum over users of their estimates of the value, as integers / scale."""

    scale: Fraction

    def of(self, items: Integers) -> Integers:
        """The integers for chosen items."""

    def every(self) -> Integers:
        """The integers for all items."""


class Spectrum:
    """Sums by a Walsh-Hadamard transform of counters at its frequencies."""

    def __init__(self, family: Linear, counts: Integers, scale: Fraction) -> None:
        self.scale = scale
        self._family, self._counts = family, counts

    def of(self, items: Integers) -> Integers:
        return self._decoded[self._family.mixed(items)]

    def every(self) -> Integers:
        return self.of(np.arange(self._family.d))

    @cached_property
    def _decoded(self) -> Integers:
        return walsh(self._counts)


class Listed:
    """Sums by evaluating the hash functions of all users at every item.

    functions, bins: one row per user, with the hash function and with the noisy bins.
    """

    def __init__(
        self, family: Linear | Keyed, functions: Integers, bins: Integers, scale: Fraction
    ) -> None:
        self.scale = scale
        self._family, self._functions, self._bins = family, functions, bins

    def of(self, items: Integers) -> Integers:
        users = np.arange(len(self._bins))
        sums = np.empty(len(items), np.int64)
        for i, item in enumerate(items):
            place, sign = self._family.places(self._functions, np.full(len(users), item))
            sums[i] = (sign * self._bins[users, place]).sum()
        return sums

    def every(self) -> Integers:
        if not isinstance(self._family, Keyed):
            return self.of(np.arange(self._family.d))
        sums = np.zeros(self._family.d, np.int64)
        for function, bins in zip(self._functions, self._bins, strict=True):
            place, sign = self._family.all_places(function)
            sums += sign * bins[place]
        return sums


class Means:
    """Estimated means over n users; unbiased unless the plan clips.

    ``means[item]`` and ``means[[3, 17]]`` are the fractions of :meth:`exact` rounded to doubles.
    """

    def __init__(self, d: int, n: int, sums: Sums, tail: Tail) -> None:
        self.d = d
        self.n = n
        self._sums = sums
        self._tail = tail

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The means of all d items; raises InvalidParameter for d > 2^28."""
        if self.d > _MOST_AT_ONCE:
            raise InvalidParameter("d", self.d, "<= 2^28 for the means of all items")
        return self._sums.every() / float(self._sums.scale * self.n)

    def __getitem__(self, items: Any) -> Any:
        means = self._sums.of(self._checked(items)) / float(self._sums.scale * self.n)
        return float(means[0]) if np.ndim(items) == 0 else means

    def exact(self, items: Any) -> list[Fraction]:
        """The means of chosen items as exact fractions."""
        sums = self._sums.of(self._checked(items)).tolist()
        return [total / (self._sums.scale * self.n) for total in sums]

    def top(self, m: int) -> list[tuple[int, float]]:
        """Pairs (item, mean) of the m largest means; equal means in ascending order of items."""
        number = min(integer("m", m, least=1), self.d)
        values = self.values
        level = np.partition(values, -number)[-number]
        likely = np.flatnonzero(values >= level)
        ordered = likely[np.argsort(-values[likely], kind="stable")][:number]
        return [(int(x), float(values[x])) for x in ordered]

    @property
    def deviation(self) -> float:
        """Upper bound of the standard deviation of an estimated mean, for any vectors."""
        return sqrt(self._tail.variance / self.n) * (1 + 1e-12)

    def accuracy(self, beta: Real, items: int = 1) -> Fraction:
        """A bound that the error exceeds with probability at most beta, for any vectors.

        beta: > 0 and < 1. items: number of means, chosen in advance, that the bound covers
        simultaneously. The bound includes the largest bias by clipping: for keyed hash functions
        that of independent signs, for linear functions that of the worst set of items, which is
        far more than the bias of most items. Raises InvalidParameter.
        """
        chance = delta_target("beta", beta) / integer("items", items, least=1)
        return self._tail.within(self.n, chance)

    def _checked(self, items: Any) -> Integers:
        listed = np.atleast_1d(integers("items", items))
        all_between("items", listed, 0, self.d - 1)
        return listed
