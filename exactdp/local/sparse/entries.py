"""Checked sparse vectors of many users, and random rounding to a grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.local.bulk_choices import Integers
from exactdp.parameters import integer, rational
from exactdp.samplers import Source
from exactdp.vector import Vector, by_entry

#: Number of bits of a fraction that are compared in bulk.
_WORD = 62


@dataclass(frozen=True)
class Entries:
    """The vectors of n users as three arrays: entry i is value[i] of user[i] at item[i].

    user: integers in [0, n). item: integers >= 0. value: integers, or floats, which are read as
    their exact binary fractions (not as the decimals they print).
    """

    n: int
    user: NDArray[Any]
    item: NDArray[Any]
    value: NDArray[Any]

    def __len__(self) -> int:
        return self.n

    @property
    def floats(self) -> NDArray[np.float64]:
        """The values as doubles."""
        return np.asarray(self.value, np.float64)


@dataclass(frozen=True)
class Scaled:
    """Checked entries in ascending order of users; value * grid = floor + (word + rest)/2^62.

    rest: index -> rest, >= 0 and < 1, for the few entries with bits beyond the 62nd.
    """

    n: int
    user: Integers
    item: Integers
    floor: Integers
    word: Integers
    rest: Mapping[int, Fraction]

    def __len__(self) -> int:
        return self.n

    def rounded(self, source: Source) -> Integers:
        """Every value * grid rounded independently at random, without bias."""
        result = self.floor.copy()
        short = np.flatnonzero(self.word)
        short = short[~np.isin(short, list(self.rest))]
        result[short] += source.uneven_coins(self.word[short], 1 << _WORD)
        for i, beyond in self.rest.items():
            result[i] += source.bernoulli((int(self.word[i]) + beyond) / (1 << _WORD))
        return result


def checked(values: Any, *, d: int, k: int, grid: int) -> Scaled:
    """Check the vectors of many users. values: a sequence of vectors, or Entries.

    d: items are integers in [0, d). k: largest number of non-zero entries of a user. grid: integer
    >= 1. Raises InvalidParameter, which names the user.
    """
    entries = values if isinstance(values, Entries) else None
    if entries is None:
        n, user, item, exact = _of_mappings(values)
        floor, word, rest = _split_fractions(exact, grid, user)
    else:
        n, user, item = entries.n, _whole("user", entries.user), _whole("item", entries.item)
        _require_users(n, user, item, entries.value)
        floor, word, rest = _split_array(np.asarray(entries.value), grid, user)
    _refuse(user, (item < 0) | (item >= d), "item", item, f"an integer in [0, {d})")
    kept = (floor != 0) | (word != 0)
    kept[list(rest)] = True
    if _ascending(user, item):
        order = np.flatnonzero(kept)
    else:
        order = np.lexsort((item, user))
        order = order[kept[order]]
    place = {int(old): new for new, old in enumerate(order)} if rest else {}
    moved = {place[i]: part for i, part in rest.items()}
    scaled = Scaled(n, user[order], item[order], floor[order], word[order], moved)
    _require_sparse(scaled, k)
    return scaled


def _ascending(user: Integers, item: Integers) -> bool:
    """Whether entries are sorted by user and item."""
    later = user[1:] > user[:-1]
    return bool((later | ((user[1:] == user[:-1]) & (item[1:] >= item[:-1]))).all())


def _of_mappings(values: Sequence[Vector]) -> tuple[int, Integers, Integers, list[Fraction]]:
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        found = Described(type(values).__name__)
        raise InvalidParameter("values", found, "one vector per user, or Entries")
    vectors = [by_entry(f"vector of user {i}", vector) for i, vector in enumerate(values)]
    users, items, exact = [], [], []
    for i, vector in enumerate(vectors):
        for x, value in vector.items():
            users.append(i)
            items.append(min(integer(f"item of user {i}", x, least=0), 2**63 - 1))
            exact.append(rational(f"value of user {i}", value))
    return len(vectors), np.array(users, np.int64), np.array(items, np.int64), exact


def _split_fractions(
    exact: list[Fraction], grid: int, user: Integers
) -> tuple[Integers, Integers, dict[int, Fraction]]:
    floor, word = np.zeros(len(exact), np.int64), np.zeros(len(exact), np.int64)
    rest = {}
    for i, value in enumerate(exact):
        if not -1 <= value <= 1:
            raise InvalidParameter(f"value of user {user[i]}", value, "between -1 and 1")
        whole, part = divmod(value * grid, 1)
        bits, beyond = divmod(part * (1 << _WORD), 1)
        floor[i], word[i] = whole, bits
        if beyond:
            rest[i] = beyond
    return floor, word, rest


def _split_array(
    value: NDArray[Any], grid: int, user: Integers
) -> tuple[Integers, Integers, dict[int, Fraction]]:
    if value.dtype.kind in "iu":
        _refuse(user, (value < -1) | (value > 1), "value", value, "between -1 and 1")
        return value.astype(np.int64) * grid, np.zeros(len(value), np.int64), {}
    if value.dtype.kind != "f" or value.dtype.itemsize > 8:
        raise InvalidParameter(
            "value", Described(f"an array of {value.dtype}"), "integers or doubles"
        )
    exact = value.astype(np.float64)
    _refuse(user, ~(np.abs(exact) <= 1), "value", exact, "between -1 and 1")
    if grid & (grid - 1) or grid > 1 << 52:  # value * grid is not exact in doubles
        return _split_fractions([Fraction(x) for x in exact.tolist()], grid, user)
    scaled = np.abs(exact) * grid
    whole = np.floor(scaled)
    bits = np.ldexp(scaled - whole, _WORD)  # exact, and an integer if the fraction is >= 2^-9
    tiny = np.flatnonzero((scaled < 2.0**-9) & (scaled > 0))
    bits[tiny] = 0
    word, below = bits.astype(np.int64), (exact < 0) & (bits > 0)
    floor = (np.where(exact < 0, -whole, whole) - below).astype(np.int64)
    word = np.where(below, (1 << _WORD) - word, word)
    exactly = _split_fractions([Fraction(x) for x in exact[tiny].tolist()], grid, user[tiny])
    floor[tiny], word[tiny] = exactly[0], exactly[1]
    return floor, word, {int(tiny[i]): beyond for i, beyond in exactly[2].items()}


def _whole(name: str, values: Any) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidParameter(
            name, Described(f"an array of {array.dtype}"), "an array of integers"
        )
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1))
    return array.astype(np.int64)


def _require_users(n: int, user: Integers, item: Integers, value: Any) -> None:
    integer("n", n, least=0)
    if not len(user) == len(item) == len(value):
        lengths = f"{len(user)}, {len(item)} and {len(value)}"
        raise InvalidParameter("user, item, value", lengths, "arrays of one length")
    if len(user) and not (user.min() >= 0 and user.max() < n):
        outside = user[(user < 0) | (user >= n)][0]
        raise InvalidParameter("user", outside, f"an integer in [0, {n})")


def _refuse(
    user: Integers, wrong: NDArray[np.bool_], name: str, value: NDArray[Any], allowed: str
) -> None:
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InvalidParameter(f"{name} of user {user[i]}", value[i], allowed)


def _require_sparse(scaled: Scaled, k: int) -> None:
    user, item = scaled.user, scaled.item
    twice = np.flatnonzero((user[1:] == user[:-1]) & (item[1:] == item[:-1]))
    if twice.size:
        i = twice[0]
        raise InvalidParameter(
            f"item of user {user[i]}", Described(f"{item[i]} twice"), "one entry per item"
        )
    counts = np.bincount(user, minlength=1)
    if counts.max() > k:
        i = int(np.argmax(counts > k))
        raise InvalidParameter(
            f"entries of user {i}", int(counts[i]), f"at most {k} non-zero entries"
        )
