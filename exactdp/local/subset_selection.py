"""Subset selection: a random set of d values that is more likely to contain the user's value.

CP: Xiong et al., "Compressive Privatization".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.local.bulk_choices import Integers, coins, own_bits, with_own
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.random_sets import ones_of, random_sets
from exactdp.local.report_formats import BitVector, Form, Numbers, Report, Reports
from exactdp.local.unary_encoding import column_sums, portions_of
from exactdp.samplers import Source

#: Largest k, and largest number of sets of an explicit law.
_LARGEST, _LISTED = 1 << 24, 1 << 16

#: Bits of sets that are drawn at a time: many users, because a round of guesses serves all of them.
_AT_ONCE = 1 << 26


@frozen
class SubsetSelection(FrequencyOracle):
    """A random set of d values; each set with the user's value is r times as likely as others.

    k: values are 0 to k - 1. epsilon: of one report. size: d; by default the size with the least
    total variance, near k/(r + 1). A report is the set as k bits or as d numbers in ascending
    order, whichever is shorter. Raises InvalidParameter.
    Source: Wang et al. 2016; Ye, Barg 2018; CP, Section 5.

    >>> from exactdp.local import SubsetSelection
    >>> m = SubsetSelection(k=10_000, epsilon=5)
    >>> m.size, m.bits
    (67, 938)
    """

    size: int = whole(least=1, default=None)

    def __post_init__(self) -> None:
        if self.k > _LARGEST:
            raise InvalidParameter("k", self.k, f"<= {_LARGEST}")
        if self.size is None:
            object.__setattr__(self, "size", self._best_size())
        if self.size >= self.k:
            raise InvalidParameter("size", self.size, f"< k = {self.k}")

    def _best_size(self) -> int:
        near = int(self.k / (self.e_epsilon + 1))
        sizes = [d for d in (near - 1, near, near + 1, near + 2) if 1 <= d < self.k]
        return min(sizes, key=lambda d: type(self)(self.k, self.epsilon, d).total_variance())

    source = "Ye, Barg 2018: two laws of sets differ by a factor r"

    @cached_property
    def form(self) -> Form:
        """The format of a report: k bits, or d numbers."""
        listed = _Ascending((self.k,) * self.size)
        return listed if listed.bits < self.k else _Marked(self.k, self.size)

    @property
    def cells(self) -> int:
        """One counter per value: the number of sets that contain the value."""
        return self.k

    @cached_property
    def kept(self) -> Fraction:
        """The probability that the user's value is in the set."""
        weight = self.size * self.e_epsilon
        return weight / (weight + self.k - self.size)

    @property
    def background(self) -> Fraction:
        """The probability that another value is in the set."""
        return (self.size - self.kept) / (self.k - 1)

    @property
    def gain(self) -> Fraction:
        """kept - background."""
        return self.kept - self.background

    def law(self, value: int) -> Law[Report]:
        """The exact law of the set; raises InvalidParameter if there are more than 2^16 sets."""
        own = int(self._checked([value])[0])
        if comb(self.k, self.size) > _LISTED:
            raise InvalidParameter("k, size", (self.k, self.size), f"at most {_LISTED} sets")
        total = comb(self.k - 1, self.size - 1) * self.e_epsilon + comb(self.k - 1, self.size)
        weights = {
            self._report(chosen): (self.e_epsilon if own in chosen else 1) / total
            for chosen in combinations(range(self.k), self.size)
        }
        return Law[Report](dict(weights.items()))

    def _report(self, chosen: tuple[int, ...]) -> Report:
        if isinstance(self.form, BitVector):
            return sum(1 << x for x in chosen)
        return chosen if self.size > 1 else chosen[0]

    def _respond(self, values: Integers, source: Source) -> Reports:
        parts = [values[part] for part in portions_of(len(values), self.k, _AT_ONCE)]
        rows = [self._rows(part, source) for part in parts or [values]]
        return rows[0] if len(rows) == 1 else np.concatenate(rows)

    def _rows(self, values: Integers, source: Source) -> Reports:
        sets = self._sets(values, source)
        return sets if isinstance(self.form, BitVector) else self._listed(sets)

    def _sets(self, values: Integers, source: Source) -> NDArray[np.uint8]:
        """One row of k packed bits per user."""
        own = coins(self.kept, len(values), source)
        others = random_sets(self.k - 1, self.size - own.astype(np.int64), source)
        last = np.full(len(values), self.k - 1)
        if self.k % 8 == 1:  # the last value is the first bit of a byte
            others = np.pad(others, ((0, 0), (0, 1)))
        # the last value takes the place of the user's value
        return with_own(with_own(others, last, own_bits(others, values)), values, own)

    def _listed(self, sets: NDArray[np.uint8]) -> Reports:
        marks = np.unpackbits(sets, axis=1, count=self.k, bitorder="little")
        listed = np.flatnonzero(marks).reshape(len(sets), self.size) % self.k
        return listed if self.size > 1 else listed[:, 0]

    def _tally(self, reports: Reports) -> Integers:
        if isinstance(self.form, BitVector):
            return column_sums(reports, self.k)
        return np.bincount(reports.reshape(-1), minlength=self.k).astype(np.int64)

    def _possible(self, counts: Integers, n: int) -> bool:
        within = bool(((counts >= 0) & (counts <= n)).all())
        return within and int(counts.sum()) == n * self.size

    def _scores(self, counts: Integers) -> Integers:
        return counts


@dataclass(frozen=True)
class _Marked(BitVector):
    """The format of a set of a given size as k bits."""

    size: int

    def rows(self, reports: Any) -> Reports:
        rows = super().rows(reports)
        sizes = ones_of(rows)
        if (sizes != self.size).any():
            user = int(np.argmax(sizes != self.size))
            wrong_set = Described(f"a set of {sizes[user]} values")
            raise InvalidParameter(f"reports[{user}]", wrong_set, f"a set of {self.size} values")
        return rows

    def of_bits(self, bits: NDArray[np.uint8]) -> Reports:
        return self.rows(super().of_bits(bits))


@dataclass(frozen=True)
class _Ascending(Numbers):
    """The format of a set as its values in ascending order."""

    def rows(self, reports: Any) -> Reports:
        rows = super().rows(reports)
        wrong = (np.diff(rows, axis=1) <= 0).any(axis=1) if rows.ndim == 2 else np.array([False])
        if wrong.any():
            user = int(np.argmax(wrong))
            raise InvalidParameter(f"reports[{user}]", rows[user], "a set in ascending order")
        return rows
