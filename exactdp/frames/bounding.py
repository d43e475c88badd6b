"""At most k keys of every user, chosen within the user's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from exactdp.frames.columns import KEY, USER, is_sql, narwhals, rows, value_name
from exactdp.frames.keyed_hash import PRIORITY, KeyedHash
from exactdp.parameters import integer

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["bounded", "chosen_pairs"]


def bounded(frame: Any, *, user: str, by: str, k: int, keyed: KeyedHash) -> Any:
    """The distinct (user, key) pairs of a frame, at most k of every user, as a frame of its kind.

    frame: a frame of any kind that narwhals knows. user, by: names of columns of integers or text;
    rows without a user or a key are left out. k: >= 1. keyed: the order of a user's keys.
    Whatever the order, the pairs of one user depend on no other user's rows. Lazy frames stay lazy,
    eager ones come back eager. Raises InvalidParameter.

    >>> import polars as pl
    >>> from exactdp.frames import KeyedHash, bounded
    >>> from exactdp.samplers import SeededSource
    >>> visits = pl.DataFrame({"uid": [1, 1, 1, 1, 2], "url": ["a", "a", "b", "c", "a"]})
    >>> keyed = KeyedHash.drawn(SeededSource(1))
    >>> bounded(visits, user="uid", by="url", k=2, keyed=keyed).sort("uid").rows()
    [(1, 'a'), (1, 'c'), (2, 'a')]
    """
    nw_ = narwhals()
    chosen = chosen_pairs(rows(frame, user=user, by=by), [], integer("k", k, least=1), keyed)
    named = chosen.select(nw_.col(USER).alias(user), nw_.col(KEY).alias(by))
    eager = isinstance(nw_.from_native(frame), nw_.DataFrame)
    return (named.collect() if eager else named).to_native()


def chosen_pairs(
    frame: nw.LazyFrame[Any], caps: Sequence[int], k: int | None, keyed: KeyedHash | None
) -> nw.LazyFrame[Any]:
    """One row for every (user, key) with the clipped sums, at most k keys of every user."""
    if frame.implementation.is_dask():
        return _partition_by_partition(frame, caps, k, keyed)
    found = _pairs(frame, caps)
    return found if k is None or keyed is None else _first_keys(found, k, keyed)


def _partition_by_partition(
    frame: nw.LazyFrame[Any], caps: Sequence[int], k: int | None, keyed: KeyedHash | None
) -> nw.LazyFrame[Any]:
    """The same on Dask: all rows of a user in one partition, which pandas then deals with."""
    nw_ = narwhals()

    def one(part: Any) -> Any:
        held = nw_.from_native(part).lazy()
        return chosen_pairs(held, caps, k, keyed).collect().to_native().reset_index(drop=True)

    native = frame.to_native().shuffle(on=USER)
    made: nw.LazyFrame[Any] = nw_.from_native(native.map_partitions(one, meta=one(native._meta)))
    return made


def _pairs(frame: nw.LazyFrame[Any], caps: Sequence[int]) -> nw.LazyFrame[Any]:
    """One row for every (user, key), with this user's clipped sums for the key.

    Values are clipped row by row first, so that no sum leaves the engine's integers, and then the
    sum is clipped.
    """
    nw_ = narwhals()
    if not caps:
        return frame.group_by(USER, KEY).agg(nw_.len().alias("_rows")).drop("_rows")
    names = [value_name(i) for i in range(len(caps))]
    clipped = [nw_.col(n).clip(-cap, cap) for n, cap in zip(names, caps, strict=True)]
    summed = (
        frame.with_columns(*clipped).group_by(USER, KEY).agg(*(nw_.col(n).sum() for n in names))
    )
    return summed.with_columns(
        *(nw_.col(n).clip(-cap, cap).cast(nw_.Int64) for n, cap in zip(names, caps, strict=True))
    )


def _first_keys(frame: nw.LazyFrame[Any], k: int, keyed: KeyedHash) -> nw.LazyFrame[Any]:
    """The k pairs of every user that come first in the keyed order, out of distinct pairs."""
    nw_ = narwhals()
    col, order = nw_.col, [PRIORITY, KEY]
    ranked = keyed.with_priority(frame)
    if is_sql(ranked):
        place = col(KEY).cum_count().over(USER, order_by=order)
        ranked = ranked.with_columns(place.alias("_place")).filter(col("_place") <= k)
    else:  # rows in order, counted from the user's first
        ranked = ranked.with_row_index("_place", order_by=[USER, *order])
        ranked = ranked.with_columns(col("_place").cast(nw_.Int64))
        ranked = ranked.with_columns(_first=col("_place").min().over(USER))
        ranked = ranked.filter(col("_place") - col("_first") < k).drop("_first")
    return ranked.drop("_place", PRIORITY)
