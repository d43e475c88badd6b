"""The pairs of user and key of a part as numbers in memory, sorted, and at most k keys per user.

Engines only read rows then. In sorted numbers equal rows are neighbours and a user's pairs lie
together in the order of the keys, so that nothing is grouped or ranked by an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.extras import optional
from exactdp.frames.columns import USER
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.question import Question

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]

#: Fewer rows than this have numbers of users and keys that fit one integer of 64 bits.
_MOST = 2**29


@dataclass(frozen=True)
class Column:
    """A column as numbers below `size`. values: by number; None for integers from `least` on, each
    of which is its distance from `least`."""

    numbers: Integers
    size: int
    least: int = 0
    values: Any = None

    @classmethod
    def of(cls, column: Any) -> Column:
        """A column of pyarrow, of integers or bytes, without missing values."""
        whole = optional("pyarrow").types.is_integer(column.type)
        if whole and len(column):
            values = column.to_numpy()
            least, largest = int(values.min()), int(values.max())
            if largest - least <= 4 * len(values):
                return cls(values - least, largest - least + 1, least)
        encoded = column.combine_chunks().dictionary_encode()
        numbers = encoded.indices.to_numpy().astype(np.int64)
        return cls(numbers, len(encoded.dictionary), values=encoded.dictionary)

    def in_order(self) -> Column:
        """The column with numbers in the order of the values."""
        if self.values is None:
            return self
        order = optional("pyarrow.compute").sort_indices(self.values).to_numpy()
        ranks = np.empty(self.size, np.int64)
        ranks[order] = np.arange(self.size)
        return Column(ranks[self.numbers], self.size, values=self.values.take(order))

    def at(self, numbers: Integers) -> Any:
        """The values of numbers: an array of integers, or a list of bytes."""
        if self.values is None:
            return numbers + self.least
        taken = self.values.take(optional("pyarrow").array(numbers))
        return taken.to_numpy() if taken.type == "int64" else taken.to_pylist()

    @property
    def values_differ(self) -> bool:
        """Whether different numbers are different values."""
        return self.values is None or len(set(self.values.to_pylist())) == self.size


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs of user and key in the order of both. keys: ranks among the keys that occur."""

    users: Integers
    keys: Integers
    totals: tuple[Integers, ...]

    def only(self, which: Marks) -> NumberedPairs:
        """Some of the pairs."""
        return NumberedPairs(
            self.users[which], self.keys[which], tuple(total[which] for total in self.totals)
        )

    @cached_property
    def starts(self) -> Integers:
        """The place of each user's first pair."""
        return np.flatnonzero(_begins(self.users)).astype(np.int64)

    @cached_property
    def lengths(self) -> Integers:
        """The number of pairs of each user."""
        return np.diff(self.starts, append=len(self.users))


@dataclass(frozen=True)
class Numbering:
    """The rows of some users as numbers. user, columns: those of the table, the latter of the key.
    keys: the rank of each row's key; examples: a row of each key."""

    user: Column
    columns: tuple[Column, ...]
    keys: Integers
    examples: Integers
    totals: tuple[Integers, ...]

    @classmethod
    def of(cls, table: Any, question: Question) -> Numbering:
        """A table of pyarrow with the columns of users, keys, and totals; raises
        InvalidParameter."""
        if len(table) >= _MOST:
            allowed = f"more: {len(table)} rows of a part of the users are too many at a time"
            raise InvalidParameter("passes", question.passes, allowed)
        columns = tuple(Column.of(table[name]).in_order() for name in question.keys)
        keys, examples = _joined(columns, len(table))
        totals = tuple(table[name].to_numpy() for name in question.total_columns)
        numbering = cls(Column.of(table[USER]), columns, keys, examples, totals)
        return numbering if question.listed is None else numbering.only(set(question.listed))

    def only(self, listed: set[tuple[int | bytes, ...]]) -> Numbering:
        """The rows with these keys."""
        written = self.written(np.arange(len(self.examples)))
        which = np.array([key in listed for key in written], np.bool_)[self.keys]
        user = replace(self.user, numbers=self.user.numbers[which])
        totals = tuple(total[which] for total in self.totals)
        return replace(self, user=user, keys=self.keys[which], totals=totals)

    @property
    def values_differ(self) -> bool:
        """Whether different numbers are different users and keys."""
        return all(column.values_differ for column in (self.user, *self.columns))

    def pairs(self) -> NumberedPairs:
        """The pairs in order. Without totals, rows may be equal, and each pair comes once."""
        bits = len(self.examples).bit_length()
        both = self.user.numbers << bits | self.keys
        if self.totals:
            order = np.argsort(both)
            both, totals = both[order], tuple(total[order] for total in self.totals)
        else:
            both, totals = np.sort(both), ()
            both = both[_begins(both)]
        return NumberedPairs(both >> bits, both & ((1 << bits) - 1), totals)

    def places(self, pairs: NumberedPairs, k: int, keyed: KeyedHash) -> Integers:
        """The order of the keys of each user with more than k of them; of other users 0."""
        many = pairs.lengths > k
        which = np.repeat(many, pairs.lengths)
        own = keyed.folded_values(self.user.at(pairs.users[pairs.starts[many]]))
        keys = keyed.folded_keys([c.at(c.numbers[self.examples]) for c in self.columns])
        order = np.zeros(len(pairs.users), np.int64)
        order[which] = keyed.order(np.repeat(own, pairs.lengths[many]), keys[pairs.keys[which]])
        return order

    def written(self, keys: Integers) -> list[tuple[Any, ...]]:
        """The values of keys by their ranks."""
        rows = self.examples[keys]
        return list(zip(*(list(c.at(c.numbers[rows])) for c in self.columns), strict=True))


def first_keys(pairs: NumberedPairs, order: Integers, k: int) -> Marks:
    """Marks on the first k keys of each user; of equal numbers in the order, the earlier pair is
    first. Users with equally many keys are sorted at once."""
    starts, lengths = pairs.starts, pairs.lengths
    kept = np.repeat(lengths <= k, lengths)
    for number in np.unique(lengths[lengths > k]):
        places = starts[lengths == number][:, None] + np.arange(number)
        first = np.argsort(order[places], axis=1, kind="stable")[:, :k]
        kept[np.take_along_axis(places, first, axis=1)] = True
    return kept


def _begins(column: Integers) -> Marks:
    """Marks on the numbers that differ from the one before."""
    marks = np.ones(len(column), np.bool_)
    marks[1:] = column[1:] != column[:-1]
    return marks


def _joined(columns: Sequence[Column], rows: int) -> tuple[Integers, Integers]:
    """The rank of each row among the different rows of the columns, and a row of each rank."""
    ranks, examples = np.zeros(rows, np.int64), np.zeros(1, np.int64)
    for column in columns:
        ranks, examples = _ranks(ranks * column.size + column.numbers, len(examples) * column.size)
    return ranks, examples


def _ranks(codes: Integers, size: int) -> tuple[Integers, Integers]:
    """The rank of each code among the different codes, all below `size`, and a place of each."""
    if size > 8 * len(codes) + 2**16:
        _, examples, ranks = np.unique(codes, return_index=True, return_inverse=True)
        return ranks.astype(np.int64), examples.astype(np.int64)
    places = np.full(size, -1)
    places[codes] = np.arange(len(codes))
    present = np.flatnonzero(places >= 0)
    ranks = np.empty(size, np.int64)
    ranks[present] = np.arange(len(present))
    return ranks[codes], places[present]
