"""Checked sparse vectors of many users, and random rounding to a grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.local.bulk_choices import Integers
from exactdp.parameters import integer, rational
from exactdp.samplers import Source
from exactdp.vector import by_entry

#: Number of bits of a fraction that are compared in bulk.
_WORD = 62

#: Integers up to this fit an array of int64.
_WHOLE = (1 << 63) - 1


@dataclass(frozen=True)
class Entries:
    """The vectors of n users as three arrays: entry i is value[i] of user[i] at item[i].

    user: integers in [0, n). item: integers >= 0. value: integers, or floats, which are read as
    their exact binary fractions (not as the decimals they print), here and in mappings and lists.
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

    @property
    def floats(self) -> NDArray[np.float64]:
        """Every value * grid as a double."""
        return self.floor + self.word / float(1 << _WORD)

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
    entries = values if isinstance(values, Entries) else _of_vectors(values)
    n, user, item = entries.n, _whole("user", entries.user), _whole("item", entries.item)
    _require_users(n, user, item, entries.value)
    floor, word, rest = _split(entries.value, grid, user)
    _refuse(user, (item < 0) | (item >= d), "item", item, f"an integer in [0, {d})")
    kept = (floor != 0) | (word != 0)
    kept[list(rest)] = True
    if _ascending(user, item):
        order = np.flatnonzero(kept)
    else:
        both = n * d <= _WHOLE  # one number for user and item is sorted four times as fast
        order = np.argsort(user * d + item, kind="stable") if both else np.lexsort((item, user))
        order = order[kept[order]]
    place = np.empty(len(user), np.int64)
    place[order] = np.arange(len(order))
    moved = {int(place[i]): part for i, part in rest.items()}
    scaled = Scaled(n, user[order], item[order], floor[order], word[order], moved)
    _require_sparse(scaled, k)
    return scaled


def _ascending(user: Integers, item: Integers) -> bool:
    """Whether entries are sorted by user and item."""
    later = user[1:] > user[:-1]
    return bool((later | ((user[1:] == user[:-1]) & (item[1:] >= item[:-1]))).all())


def _of_vectors(values: Any) -> Entries:
    """The vectors as arrays; values that are neither ints nor floats stay objects."""
    one = isinstance(values, Mapping) or not isinstance(values, Iterable)
    if one or hasattr(values, "columns"):  # a data frame would be read column by column
        type_name = Described(type(values).__name__)
        raise InvalidParameter("values", type_name, "one vector per user, or Entries")
    vectors = [
        vector if type(vector) is dict else by_entry(f"vector of user {i}", vector)
        for i, vector in enumerate(values)
    ]
    counts = np.fromiter(map(len, vectors), np.int64, len(vectors))
    user = np.repeat(np.arange(len(vectors)), counts)
    items = list(chain.from_iterable(vectors))
    if not set(map(type, items)) <= {int} or max(items, default=0) >= 2**63:
        whole = (integer(f"item of user {i}", x, least=0) for i, x in zip(user, items, strict=True))
        items = [min(x, 2**63 - 1) for x in whole]
    entry_values: list[Any] = list(chain.from_iterable(vector.values() for vector in vectors))
    kinds = set(map(type, entry_values))
    kind: Any = np.int64 if kinds == {int} else np.float64 if kinds <= {int, float} else object
    try:
        array = np.fromiter(entry_values, kind, len(entry_values))
    except OverflowError:
        array = np.fromiter(entry_values, object, len(entry_values))
    return Entries(len(vectors), user, np.fromiter(items, np.int64, len(items)), array)


def _split(value: Any, grid: int, user: Integers) -> tuple[Integers, Integers, dict[int, Fraction]]:
    """floor, word and rest of every value * grid."""
    array = np.asarray(value)
    return (
        _split_fractions(array, grid, user)
        if array.dtype == object
        else _split_array(array, grid, user)
    )


def _split_fractions(
    values: NDArray[Any], grid: int, user: Integers
) -> tuple[Integers, Integers, dict[int, Fraction]]:
    floor, word = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    rest, known = {}, dict[str, tuple[int, int, Fraction]]()  # many texts are the same
    for i, value in enumerate(values.tolist()):
        split = known.get(value) if type(value) is str else None
        if split is None:
            exact = rational(f"value of user {user[i]}", value)
            if not -1 <= exact <= 1:
                raise InvalidParameter(f"value of user {user[i]}", value, "between -1 and 1")
            whole, part = divmod(exact * grid, 1)
            split = (whole, *divmod(part * (1 << _WORD), 1))
            if type(value) is str:
                known[value] = split
        floor[i], word[i] = split[:2]
        if split[2]:
            rest[i] = split[2]
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
        return _split_fractions(_exactly(exact), grid, user)
    scaled = np.abs(exact) * grid
    whole = np.floor(scaled)
    bits = np.ldexp(scaled - whole, _WORD)  # exact, and an integer if the fraction is >= 2^-9
    tiny = np.flatnonzero((scaled < 2.0**-9) & (scaled > 0))
    bits[tiny] = 0
    word, below = bits.astype(np.int64), (exact < 0) & (bits > 0)
    floor = (np.where(exact < 0, -whole, whole) - below).astype(np.int64)
    word = np.where(below, (1 << _WORD) - word, word)
    exactly = _split_fractions(_exactly(exact[tiny]), grid, user[tiny])
    floor[tiny], word[tiny] = exactly[0], exactly[1]
    return floor, word, {int(tiny[i]): beyond for i, beyond in exactly[2].items()}


def _exactly(values: NDArray[np.float64]) -> NDArray[Any]:
    return np.fromiter(map(Fraction, values.tolist()), object, len(values))


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
