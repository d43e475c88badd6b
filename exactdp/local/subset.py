"""Subset selection: a random set of d values that holds the own one more often than others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.local.choices import Bits, Integers, coins
from exactdp.local.frequency import FrequencyOracle
from exactdp.local.unary import column_sums
from exactdp.local.wire import BitVector, Form, Numbers, Report, Reports
from exactdp.parameters import integer
from exactdp.samplers import Source

__all__ = ["SubsetSelection", "random_sets"]

#: Largest k, and most sets that a law lists.
_LARGEST, _LISTED = 1 << 24, 1 << 16

#: Marks that are kept in memory while sets are drawn.
_AT_ONCE = 1 << 23


@dataclass(frozen=True)
class SubsetSelection(FrequencyOracle):
    """A uniform set of d values, sets that hold the own one r times as likely as others.

    size: d; by default the one with the least total variance, near k/(r + 1). A report is the set
    as k bits or as d numbers in ascending order, whichever is shorter.
    Source: Wang et al. 2016; Ye, Barg 2018; CP, Section 5.

    >>> from exactdp.local import SubsetSelection
    >>> m = SubsetSelection(k=10_000, epsilon=5)
    >>> m.size, m.bits
    (67, 938)
    """

    size: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > _LARGEST:
            raise InvalidParameter("k", self.k, f"<= {_LARGEST}")
        if self.size is None:
            object.__setattr__(self, "size", self._best_size())
        object.__setattr__(self, "size", integer("size", self.size or 0, least=1))
        if self._size >= self.k:
            raise InvalidParameter("size", self.size, f"< k = {self.k}")

    def _best_size(self) -> int:
        near = int(self.k / (self.e_epsilon + 1))
        sizes = [d for d in (near - 1, near, near + 1, near + 2) if 1 <= d < self.k]
        return min(sizes, key=lambda d: type(self)(self.k, self.epsilon, d).total_variance())

    @property
    def source(self) -> str:
        """Where the guarantee comes from."""
        return "Ye, Barg 2018: two laws of sets differ by a factor r"

    @cached_property
    def form(self) -> Form:
        """k bits, or d numbers."""
        listed = _Ascending((self.k,) * self._size)
        return listed if listed.bits < self.k else BitVector(self.k)

    @property
    def cells(self) -> int:
        """In how many sets every value is."""
        return self.k

    @cached_property
    def kept(self) -> Fraction:
        """The chance that the own value is in the set."""
        weight = self._size * self.e_epsilon
        return weight / (weight + self.k - self._size)

    @property
    def background(self) -> Fraction:
        """The chance that another value is: d - 1 or d out of k - 1."""
        return (self._size - self.kept) / (self.k - 1)

    @property
    def gain(self) -> Fraction:
        """The own chance beyond that."""
        return self.kept - self.background

    def law(self, value: int) -> Law[Report]:
        """The exact law of the set; only where there are at most 2^16 sets."""
        own = int(self._checked([value])[0])
        if comb(self.k, self._size) > _LISTED:
            raise InvalidParameter("k, size", (self.k, self._size), f"at most {_LISTED} sets")
        total = comb(self.k - 1, self._size - 1) * self.e_epsilon + comb(self.k - 1, self._size)
        weights = {
            self._report(chosen): (self.e_epsilon if own in chosen else 1) / total
            for chosen in combinations(range(self.k), self._size)
        }
        return Law[Report](dict(weights.items()))

    @property
    def _size(self) -> int:
        return int(self.size or 1)

    def _report(self, chosen: tuple[int, ...]) -> Report:
        if isinstance(self.form, BitVector):
            return sum(1 << x for x in chosen)
        return chosen if self._size > 1 else chosen[0]

    def _respond(self, values: Integers, source: Source) -> Reports:
        step = max(_AT_ONCE // self.k, 1)
        parts = [values[i : i + step] for i in range(0, len(values), step)]
        rows = [self._rows(self._sets(part, source)) for part in parts]
        return np.concatenate([self._rows(np.zeros((0, self.k), bool)), *rows])

    def _sets(self, values: Integers, source: Source) -> Bits:
        """An array of one row of k marks per user."""
        users = np.arange(len(values))
        own = coins(self.kept, len(values), source)
        marks = np.zeros((len(values), self.k), bool)
        marks[:, :-1] = random_sets(self.k - 1, self._size - own.astype(np.int64), source)
        marks[:, -1] = marks[users, values]  # the last value stands in for the own one
        marks[users, values] = own
        return marks

    def _rows(self, marks: Bits) -> Reports:
        if isinstance(self.form, BitVector):
            return np.packbits(marks, axis=1, bitorder="little")
        listed = np.nonzero(marks)[1].reshape(len(marks), self._size).astype(np.int64)
        return listed if self._size > 1 else listed[:, 0]

    def _tally(self, reports: Reports) -> Integers:
        if isinstance(self.form, BitVector):
            return column_sums(reports, self.k)
        return np.bincount(reports.reshape(-1), minlength=self.k).astype(np.int64)

    def _possible(self, counts: Integers, n: int) -> bool:
        within = bool(((counts >= 0) & (counts <= n)).all())
        return within and int(counts.sum()) == n * self._size

    def _scores(self, counts: Integers) -> Integers:
        return counts


@dataclass(frozen=True)
class _Ascending(Numbers):
    """A set as its numbers in ascending order."""

    def rows(self, reports: Any) -> Reports:
        rows = super().rows(reports)
        if rows.ndim == 2 and (np.diff(rows, axis=1) <= 0).any():
            raise InvalidParameter("reports", "others", "sets in ascending order")
        return rows


def random_sets(population: int, sizes: Integers, source: Source) -> Bits:
    """One uniform subset of [0, population) of a given size for every user, as rows of marks.

    A coin for every element makes a set that is uniform given its size; then uniform ones of its
    elements are taken out, or of the others put in, until the size is right. The coin's chance is
    of no consequence for the law, only for how much is left to do.
    """
    chance = Fraction(round(256 * float(sizes.mean()) / population), 256) if len(sizes) else 0
    marks = coins(Fraction(chance), len(sizes) * population, source)
    marks = marks.reshape(len(sizes), population)
    found = marks.sum(axis=1)
    change, grow = np.abs(found - sizes), found < sizes
    pool = marks ^ grow[:, None]  # what may change sides
    amount = np.where(grow, population - found, found)
    places, start = np.flatnonzero(pool), np.cumsum(amount) - amount
    flat = marks.reshape(-1)
    for users, ranks in _distinct(amount, change, source):
        flat[places[start[users] + ranks]] ^= True
    return marks


def _distinct(
    pools: Integers, sizes: Integers, source: Source
) -> Iterator[tuple[Integers, Integers]]:
    """sizes[i] distinct uniform integers below pools[i], for all users side by side.

    Yields users and one integer each. Source: Floyd's algorithm (Bentley, Floyd 1987).
    """
    chosen = np.full((len(pools), int(sizes.max(initial=0))), -1, np.int64)
    for step in range(chosen.shape[1]):
        users = np.flatnonzero(sizes > step)
        last = pools[users] - sizes[users] + step
        drawn = source.below_each(last + 1)
        taken = (chosen[users, :step] == drawn[:, None]).any(axis=1)
        drawn[taken] = last[taken]
        chosen[users, step] = drawn
        yield users, drawn
