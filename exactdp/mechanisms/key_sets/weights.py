"""The weights that users give to keys: integers, so that their sensitivity is exact.

Every user keeps at most k keys, the first in an order of their own, and gives the j-th of them the
weight c_j, where c_1^2 + c_2^2 + ... <= 1 and c_j >= 1/sqrt k (up to a grid). Rerouting moves
weight away from keys that have more than enough: a user offers the part a_j of c_j; a key keeps the
first `enough` of what is offered to it, in an order of its pairs, and returns the rest. A user
gives 1/D of all that is returned to them to each of their keys, of which they have at most D.

If one more user takes part, the squares of all changes of keys' weights add up to at most 1, if

    a_j <= min(c_j, 2 (c_j - C/D)),    C = c_1 + c_2 + ... .

Proof. Let the new user's key j return b_j <= a_j more than before, B = b_1 + b_2 + ... in all. No
user is returned less than before. So rerouting adds a vector r >= 0 of sum at most B, with entries
of at most B/D, hence |r|^2 <= B^2/D. The change is c_j - b_j + r at the user's keys, and r
elsewhere. Its square is at most

    sum_j (c_j - b_j)^2 + 2 (B/D) sum_j (c_j - b_j) + B^2/D
        = sum_j c_j^2 + sum_j b_j (b_j - 2 c_j + 2 C/D) - B^2/D  <=  1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import ExactDPError

Integers = NDArray[np.int64]

#: An odd number: products modulo 2^64 put the pairs of a key in an order unlike the users' own.
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Pairs:
    """Distinct pairs of user and key. users, keys: numbers 0, 1, ..., in the order of the names.

    order: a user's keys are kept from the least number on, ties in the order of the keys. The
    number of a pair must not depend on other users' pairs.
    """

    users: Integers
    keys: Integers
    order: NDArray[np.uint64]

    @classmethod
    def of(cls, sets: Mapping[Any, Iterable[Any]]) -> tuple[Pairs, list[Any]]:
        """The pairs of a mapping from users to their keys, and the keys; both in ascending order.

        The order of each user's keys is that of the keys.
        """
        own = [sorted(set(sets[user])) for user in sorted(sets)]
        named = sorted({key for keys in own for key in keys})
        places = {key: i for i, key in enumerate(named)}
        users = np.repeat(np.arange(len(own)), [len(keys) for keys in own])
        numbers = np.array([places[key] for keys in own for key in keys], np.int64)
        return cls(users, numbers, np.zeros(len(numbers), np.uint64)), named

    def __len__(self) -> int:
        return len(self.users)

    def only(self, which: NDArray[Any]) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.users[which], self.keys[which], self.order[which])

    def firsts(self, k: int) -> Integers:
        """The places of the first k pairs of every user, in the order of the users."""
        sorted_ = np.lexsort((self.keys, self.order, self.users))
        return sorted_[_earlier(self.users[sorted_], np.ones(len(self), np.int64)) < k]


@dataclass(frozen=True)
class Weights:
    """shares: c of every pair, offered: a, returned: b, in units of 1/grid.

    keys: the weight of every key, in units of 1/(grid D).
    """

    shares: Integers
    offered: Integers
    returned: Integers
    keys: Integers


@dataclass(frozen=True)
class Rule:
    """k: most keys of a user in one round. grid: unit of shares. degree: D, 1 for no rerouting."""

    k: int
    grid: int
    degree: int

    @property
    def unit(self) -> int:
        """The weight 1 of a key."""
        return self.grid * self.degree

    @property
    def least(self) -> int:
        """The least share of a kept pair, in units of 1/grid."""
        return isqrt(self.grid**2 // self.k)

    def weights(
        self, pairs: Pairs, count: int, enough: int, expected: Integers, needed: int
    ) -> Weights:
        """The weights of `count` keys. Raises ExactDPError if they break what the proof assumes.

        pairs: at most k of every user. enough: of offered weight, >= grid. expected: for every pair
        about the weight of its key, of which `needed` is enough; of more, users give less.
        """
        shares = self._shares(pairs.users, expected, needed)
        offered = self._offered(pairs.users, shares)
        sorted_ = np.lexsort((pairs.users, pairs.order * _ODD, pairs.keys))
        before = np.empty_like(offered)
        before[sorted_] = _earlier(pairs.keys[sorted_], offered[sorted_])
        returned = offered - np.clip(enough - before, 0, offered)
        back = _totals(pairs.users, returned)
        keys = _totals(pairs.keys, self.degree * (shares - returned) + back[pairs.users], count)
        weights = Weights(shares, offered, returned, keys)
        self._check(pairs, weights, enough)
        return weights

    def _shares(self, users: Integers, expected: Integers, needed: int) -> Integers:
        """1/sqrt d each for a user with d keys; less for keys that will have more than needed."""
        even = _root(self.grid**2 // _totals(users, _ones(users))[users])
        rich = expected > needed
        less = even * needed // np.maximum(expected, 1)
        less = np.where(rich, np.maximum(less, self.least), 0)
        left = self.grid**2 - _totals(users, less * less)[users]
        others = _totals(users, (~rich).astype(np.int64))[users]
        return np.where(rich, less, _root(left // np.maximum(others, 1)))

    def _offered(self, users: Integers, shares: Integers) -> Integers:
        """The largest a that the proof allows."""
        if self.degree == 1:
            return np.zeros_like(shares)
        most = 2 * (self.degree * shares - _totals(users, shares)[users]) // self.degree
        few = _totals(users, _ones(users))[users] <= self.degree
        return np.where(few, np.clip(most, 0, shares), 0)

    def _check(self, pairs: Pairs, weights: Weights, enough: int) -> None:
        """Compare with sums over sorted runs of pairs, and over all pairs."""
        by_user, by_key = np.lexsort((pairs.keys, pairs.users)), np.argsort(pairs.keys)
        users, keys = _Runs(pairs.users[by_user]), _Runs(pairs.keys[by_key])
        c, a, b = (x[by_user] for x in (weights.shares, weights.offered, weights.returned))
        kept = weights.offered - weights.returned
        place = (pairs.order * _ODD)[by_key]
        last_kept = keys.largest(np.where(kept[by_key] > 0, place, 0))
        first_back = keys.least(np.where(weights.returned[by_key] > 0, place, ~np.uint64(0)))
        doubles = np.diff(pairs.users[by_user]) | np.diff(pairs.keys[by_user])
        total = self.degree * (c.sum() - b.sum()) + (users.sums(b) * users.sizes).sum()
        faults = {
            "a pair counts twice": doubles == 0,
            "a user keeps more than k keys": users.sizes > self.k,
            "a user's squared weights exceed 1": users.sums(c * c) > self.grid**2,
            "a weight is too small": c < self.least,
            "a user offers too much": (a > c)
            | ((a > 0) & (self.degree * (2 * c - a) < 2 * users.spread(users.sums(c))))
            | ((a > 0) & (users.spread(users.sizes) > self.degree)),
            "a key keeps too much": keys.sums(kept[by_key])
            != np.minimum(keys.sums(weights.offered[by_key]), enough),
            "a key keeps the wrong pairs": last_kept > first_back,
            "weight is lost or made": weights.keys.sum() != total,
        }
        for what, where in faults.items():
            if np.any(where):
                raise ExactDPError(f"nothing was released: {what}. Please report this bug")


class _Runs:
    """Runs of equal numbers in a sorted array."""

    def __init__(self, numbers: Integers) -> None:
        self._starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        self.sizes = np.diff(self._starts, append=len(numbers))

    def spread(self, values: Any) -> Any:
        """The value of its run for every place. values: one for each run."""
        return np.repeat(values, self.sizes)

    def sums(self, values: Any) -> Any:
        return self._reduced(np.add, values)

    def largest(self, values: Any) -> Any:
        return self._reduced(np.maximum, values)

    def least(self, values: Any) -> Any:
        return self._reduced(np.minimum, values)

    def _reduced(self, with_: np.ufunc, values: Any) -> Any:
        return with_.reduceat(values, self._starts) if len(self._starts) else values


def _ones(like: Integers) -> Integers:
    return np.ones(len(like), np.int64)


def _earlier(groups: Integers, values: Integers) -> Integers:
    """For every place the sum of the earlier values of its group, where groups are runs."""
    sums = np.cumsum(values) - values
    return sums - np.maximum.accumulate(np.where(np.diff(groups, prepend=-1) != 0, sums, 0))


def _totals(groups: Integers, values: Integers, count: int = 0) -> Integers:
    """The sum of the values of every group, for at least `count` groups."""
    totals = np.zeros(max(count, int(groups.max(initial=-1)) + 1), np.int64)
    np.add.at(totals, groups, values)
    return totals


def _root(squares: Integers) -> Integers:
    """The integer parts of square roots; exact below 2^52."""
    root = np.sqrt(squares).astype(np.int64)
    root -= root * root > squares
    return root + ((root + 1) ** 2 <= squares)
