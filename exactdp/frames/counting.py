"""Counting users per key on the engine that holds the rows, in passes where memory is short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exactdp.errors import InvalidParameter
from exactdp.frames.bounding import chosen_pairs
from exactdp.frames.columns import KEY, USER, limits, narwhals, rows, value_name
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.words import with_words
from exactdp.parameters import integer

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Totals", "counted"]

#: Of the integers that a column holds.
_LEAST = -(1 << 63)


@dataclass(frozen=True)
class Totals:
    """Users per key, and per key the sum of the users' clipped values in every column of sums."""

    counts: dict[Any, int]
    sums: dict[Any, tuple[int, ...]]


def counted(
    frame: Any,
    *,
    user: str,
    by: str,
    k: int | None = None,
    keyed: KeyedHash | None = None,
    sums: Mapping[str, int] | None = None,
    keys: Sequence[Any] | None = None,
    passes: int = 1,
) -> Totals:
    """Users per key, every user counted for at most k keys; not private before noise is added.

    frame, user, by, keyed: as for bounded; k: >= 1, or None to count every key of every user.
    sums: column of integers -> limit >= 1 of the size of one user's value for one key; larger ones
    are clipped. keys: a public list, of integers (or such in digits) where the column's are, else
    of text; rows with other keys are left out before users are bounded.
    passes: >= 1; the rows are read so often, for a part of the users each time, which takes so much
    less memory. Raises InvalidParameter.

    >>> import polars as pl
    >>> from exactdp.frames import counted
    >>> visits = pl.DataFrame({"uid": [1, 1, 1, 2], "url": ["a", "a", "b", "a"], "s": [1, 5, 2, 3]})
    >>> counted(visits, user="uid", by="url", sums={"s": 4})
    Totals(counts={'a': 2, 'b': 1}, sums={'a': (7,), 'b': (2,)})
    """
    from tqdm import tqdm

    caps = limits(sums)
    seen = rows(frame, user=user, by=by, sums=list(caps))
    if (k is None) != (keyed is None):
        raise InvalidParameter("keyed", keyed, "given together with k")
    most = None if k is None else integer("k", k, least=1)
    if keys is not None:
        listed = _listed(keys, whole=seen.collect_schema()[KEY].is_integer())
        seen = seen.filter(narwhals().col(KEY).is_in(listed))
    number = integer("passes", passes, least=1)
    counts: dict[Any, int] = {}
    totals: dict[Any, list[int]] = {}
    # disable=None: no bar unless standard error is a terminal
    for part in tqdm(range(number), desc="users", unit="part", delay=1, disable=None):
        chosen = chosen_pairs(_part(seen, part, number), list(caps.values()), most, keyed)
        _add(_per_key(chosen, len(caps)), counts, totals)
    ordered = sorted(counts)
    return Totals(
        {x: counts[x] for x in ordered}, {x: tuple(totals[x]) for x in ordered} if caps else {}
    )


def _listed(keys: Sequence[Any], *, whole: bool) -> list[int] | list[str]:
    """Public keys of the type that the column has: engines differ in what equals what."""
    if isinstance(keys, str):
        raise InvalidParameter("keys", keys, "a list of keys")
    if whole:
        numbers = [integer("keys", key, least=_LEAST) for key in keys]
        if max(numbers, default=0) >= -_LEAST:
            raise InvalidParameter("keys", max(numbers), "integers below 2^63")
        return numbers
    for key in keys:
        if not isinstance(key, str):
            raise InvalidParameter("keys", key, "texts, as the column's keys are")
    return list(keys)


def _part(frame: nw.LazyFrame[Any], part: int, number: int) -> nw.LazyFrame[Any]:
    """The rows of one part of the users; which part a user is in changes no count."""
    if number == 1:
        return frame
    word = narwhals().col("_part")
    split = with_words(frame, USER, "_part", 0).with_columns(
        _part=(word % number + number) % number
    )
    return split.filter(word == part).drop("_part")


def _per_key(frame: nw.LazyFrame[Any], columns: int) -> list[tuple[Any, ...]]:
    """(key, users, sums) for every key."""
    nw_ = narwhals()
    summed = [nw_.col(value_name(i)).sum().alias(f"_sum_{i}") for i in range(columns)]
    grouped = frame.group_by(KEY).agg(nw_.len().alias("_users"), *summed)
    streamed = frame.implementation.is_polars()
    held = grouped.collect(engine="streaming") if streamed else grouped.collect()
    names = [KEY, "_users", *(f"_sum_{i}" for i in range(columns))]
    return list(zip(*(held[name].to_list() for name in names), strict=True))


def _add(
    found: list[tuple[Any, ...]], counts: dict[Any, int], totals: dict[Any, list[int]]
) -> None:
    for key, users, *sums in found:
        counts[key] = counts.get(key, 0) + int(users)
        if sums:
            before = totals.get(key, [0] * len(sums))
            totals[key] = [a + int(b) for a, b in zip(before, sums, strict=True)]
