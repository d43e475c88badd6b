"""Counting users per key, a part of the users at a time: in memory, and for Spark on the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.frames.bounding import BoundedPairs, Bounding
from exactdp.frames.canonical import as_texts
from exactdp.frames.checking import check, check_first, check_numbered, checked_facts
from exactdp.frames.columns import collect, is_dask, is_spark, nw_
from exactdp.frames.engines import lazy_pairs, over_pairs, over_tables, same_kind
from exactdp.frames.keyed_hash import KeyedHash
from exactdp.frames.numbered import Numbering, first_keys
from exactdp.frames.question import Question, read_question
from exactdp.frames.values import Mean, Sum
from exactdp.parameters import integer
from exactdp.progress import stages

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Totals:
    """Totals per key, without noise. counts: key -> number of users. sums: key -> the totals of
    columns of values (see exactdp.frames.values).

    checked: the statements that were verified on the counted pairs of user and key.
    """

    counts: dict[Any, int]
    sums: dict[Any, tuple[int, ...]]
    checked: tuple[str, ...]


def count_users(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    k: int | None = None,
    keyed: KeyedHash | None = None,
    sums: Mapping[str, Sum] | None = None,
    means: Mapping[str, Mean] | None = None,
    keys: Iterable[Any] | None = None,
    passes: int = 1,
) -> Totals:
    """Count users per key, each user for at most k keys; the result is not private without noise.

    frame, user, by, keyed: as for bound_pairs. k: >= 1, or None to count every key of every user.
    sums, means: column -> Sum or Mean; totals are sums of distances from middles, in steps: see
    exactdp.frames.values.
    keys: a public list of keys (values of the column's type, or tuples for several columns); rows
    with other keys are dropped before users are bounded.
    passes: number of times the rows are read, >= 1; more passes need less memory.
    Raises InvalidParameter, and EngineError if the engine's pairs violate the bounds.

    >>> import polars as pl
    >>> from exactdp.frames import Sum, count_users
    >>> visits = pl.DataFrame({"uid": [1, 1, 1, 2], "url": ["a", "a", "b", "a"], "s": [1, 5, 2, 3]})
    >>> sums = {"s": Sum(-4, 4, of="sums")}
    >>> totals = count_users(visits, user="uid", by="url", sums=sums)
    >>> totals.counts, totals.sums
    ({'a': 2, 'b': 1}, {'a': (7,), 'b': (2,)})
    """
    if (k is None) != (keyed is None):
        raise InvalidParameter("keyed", keyed, "given together with k")
    question = read_question(
        frame, user=user, by=by, sums=sums, means=means, keys=keys, passes=passes
    )
    return totals(question, None if k is None else integer("k", k, least=1), keyed)


def totals(question: Question, k: int | None, keyed: KeyedHash | None) -> Totals:
    """The answer of :func:`count_users` to a question."""
    rows: dict[Any, list[int]] = {}
    bounding = Bounding(question, k, keyed)
    with stages(question.passes * len(_STAGES), "counting") as begin_stage:

        def on_engine(pairs: BoundedPairs) -> list[tuple[Any, ...]]:
            begin_stage(_STAGES[1])
            check(pairs, question)
            begin_stage(_STAGES[2])
            counted = _per_key(pairs.counted, question)
            begin_stage(_STAGES[0])
            return counted

        def in_memory(table: Any) -> list[tuple[Any, ...]]:
            begin_stage(_STAGES[1])
            counted = _of_table(table, bounding)
            begin_stage(_STAGES[0])
            return counted

        begin_stage(_STAGES[0])
        parts = (
            over_pairs(bounding, on_engine)
            if is_spark(question.frame)
            else over_tables(bounding, in_memory)
        )
        for part_rows in parts:
            _add(rows, question, part_rows)
    ordered = {x: rows[x] for x in sorted(rows)}
    sums_of = {x: tuple(row[1:]) for x, row in ordered.items()} if question.values else {}
    return Totals({x: row[0] for x, row in ordered.items()}, sums_of, checked_facts(bounding))


#: The stages of a pass, for the progress bar.
_STAGES = ("reading and bounding rows", "checking the bounds", "counting keys")


def _of_table(table: Any, bounding: Bounding) -> list[tuple[Any, ...]]:
    """For every key: the columns of the key, the number of users, and the sums."""
    numbering = Numbering.of(table, bounding.question)
    pairs = numbering.pairs()
    kept = np.ones(len(pairs.users), np.bool_)
    if bounding.k is not None and bounding.keyed is not None:
        order = numbering.places(pairs, bounding.k, bounding.keyed)
        kept = first_keys(pairs, order, bounding.k)
        check_first(pairs, kept, order, bounding.k)
    counted = check_numbered(numbering, pairs, kept, bounding.question)
    users = np.bincount(counted.keys)
    keys = np.flatnonzero(users)
    sums = [np.zeros(len(users), np.int64) for _ in counted.totals]
    for total, steps in zip(sums, counted.totals, strict=True):
        np.add.at(total, counted.keys, steps)
    numbers = (column[keys].tolist() for column in (users, *sums))
    return [(*key, *row) for key, *row in zip(numbering.written(keys), *numbers, strict=True)]


def bound_pairs(frame: Any, *, user: str, by: str | Sequence[str], k: int, keyed: KeyedHash) -> Any:
    """The distinct (user, key) pairs of a frame, at most k per user, as a frame of the same kind.

    frame: of pandas, polars, pyarrow, DuckDB, Dask or PySpark. user: name of a column of integers
    or text. by: name or names of columns of integers, text or dates; rows without a user or a key
    are dropped. k: largest number of keys per user, >= 1. keyed: the random order of a user's keys.
    The pairs of a user do not depend on other users' rows. For frames in memory the pairs are
    checked; lazy frames stay lazy, and `release` checks the pairs that it counts.
    Raises InvalidParameter, EngineError.

    >>> import polars as pl
    >>> from exactdp.frames import KeyedHash, bound_pairs
    >>> from exactdp.samplers import SeededSource
    >>> visits = pl.DataFrame({"uid": [1, 1, 1, 1, 2], "url": ["a", "a", "b", "c", "a"]})
    >>> keyed = KeyedHash.draw(SeededSource(1))
    >>> bound_pairs(visits, user="uid", by="url", k=2, keyed=keyed).sort("uid", "url").rows()
    [(1, 'a'), (1, 'c'), (2, 'a')]
    """
    question = read_question(frame, user=user, by=by)
    bounding = Bounding(question, integer("k", k, least=1), keyed)
    if is_dask(frame) or isinstance(nw_.from_native(frame), nw_.LazyFrame):
        return lazy_pairs(bounding, lambda pairs: _kept(pairs, question))

    def checked_pairs(pairs: BoundedPairs) -> nw.DataFrame[Any]:
        check(pairs, question)
        return _kept(pairs, question).collect("pyarrow")

    held = nw_.concat(over_pairs(bounding, checked_pairs))
    names, kinds = held.columns, [str(kind) for kind in held.schema.dtypes()]
    return same_kind(frame, names, kinds, [held[name].to_list() for name in names])


def _kept(pairs: BoundedPairs, question: Question) -> nw.LazyFrame[Any]:
    """The users and keys of the counted pairs, with the caller's names and types."""
    labels = dict(zip(question.keys, question.by, strict=True))
    columns = {n: c for n, c in question.columns.items() if n not in question.value_columns}
    named = [kind.restored(n).alias(labels.get(n, name)) for n, (name, kind) in columns.items()]
    return as_texts(pairs.counted, question.texts).select(*named)


def _per_key(counted: nw.LazyFrame[Any], question: Question) -> list[tuple[Any, ...]]:
    """For every key: the columns of the key, the number of users, and the sums."""
    sums = [
        nw_.col(name).sum().cast(nw_.Int64).alias(f"_sum{name}") for name in question.total_columns
    ]
    held = collect(counted.group_by(*question.keys).agg(nw_.len().alias("_users"), *sums))
    names = [*question.keys, "_users", *(f"_sum{name}" for name in question.total_columns)]
    return list(zip(*(held[name].to_list() for name in names), strict=True))


def _add(rows: dict[Any, list[int]], question: Question, part_rows: list[tuple[Any, ...]]) -> None:
    """Add the users and sums per key of one part of the users to those of earlier parts."""
    width = len(question.by)
    for row in part_rows:
        key, numbers = question.key(row[:width]), [int(number) for number in row[width:]]
        before = rows.get(key, [0] * len(numbers))
        rows[key] = [a + b for a, b in zip(before, numbers, strict=True)]
