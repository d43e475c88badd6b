"""Checks, before noise is drawn, of what a guarantee assumes about the data.

Exactly the counted pairs are checked. On engines the checks use aggregation by user and by key,
whereas the pairs were numbered by windows; in memory they compare neighbours and count, whereas the
pairs were chosen by sorting. The guarantee lists what was checked. A failed check stops the release
and names the engine that returned wrong pairs.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from exactdp.errors import EngineError
from exactdp.frames.bounding import KEPT, BoundedPairs, Bounding
from exactdp.frames.columns import USER, collect, nw_
from exactdp.frames.keyed_hash import PRIME, PRIORITY
from exactdp.frames.numbered import Integers, Marks, NumberedPairs, Numbering
from exactdp.frames.parts import Part
from exactdp.frames.question import Question
from exactdp.frames.values import Total

if TYPE_CHECKING:
    import narwhals as nw


def checked_facts(bounding: Bounding) -> tuple[str, ...]:
    """What :func:`check` verifies, as sentences."""
    question = bounding.question
    sentences = ["every pair of user and key counts once"]
    if bounding.k is not None:
        sentences.append(
            f"every user counts for at most k = {bounding.k} keys, chosen by their own rows alone"
        )
    sentences += [value.described(name) for name, value in question.values.items()]
    return tuple(sentences)


def check(pairs: BoundedPairs, question: Question) -> None:
    """Raise EngineError unless the pairs satisfy the bounds.

    pairs: evaluated, exactly as they will be counted.
    """
    if pairs.choices is not None and pairs.k is not None:
        _check_choices(pairs, pairs.choices, pairs.k)
    _check_keys(pairs, question)


def check_part(rows: nw.LazyFrame[Any], part: Part) -> None:
    """Raise EngineError unless evaluated rows are those of users in the part."""
    if part.of > 1 and _row(part.others(rows).select(nw_.len()))[0]:
        raise engine_fault(str(rows.implementation.value), "the rows of a user are in two parts")


def _check_keys(pairs: BoundedPairs, question: Question) -> None:
    """Raise EngineError unless the counted pairs differ and their totals keep the bounds."""
    col, names = nw_.col, question.total_columns
    keys = pairs.counted.group_by(*question.keys).agg(
        nw_.len().cast(nw_.Int64).alias("_number"),
        col(USER).n_unique().cast(nw_.Int64).alias("_users"),
        *(col(name).min().alias(f"_least{name}") for name in names),
        *(col(name).max().alias(f"_largest{name}") for name in names),
    )
    ends = [end for n in names for end in (col(f"_least{n}").min(), col(f"_largest{n}").max())]
    twice, *totals = _row(keys.select(_some(col("_number") != col("_users"), "_twice"), *ends))
    if twice:
        raise _broken(pairs, _TWICE)
    for total, least, largest in zip(question.totals, totals[::2], totals[1::2], strict=True):
        if least is None:  # there are no pairs
            continue
        if not total.low <= least + total.middle <= largest + total.middle <= total.high:
            raise _broken(pairs, _beyond(total))


def _check_choices(pairs: BoundedPairs, choices: nw.LazyFrame[Any], k: int) -> None:
    """Raise EngineError unless every user keeps the first min(k, number of keys) of their keys.

    Users with choices keep k keys, the first of them; no user keeps more, so no pair of theirs is
    elsewhere. The choice then depends on the user's own rows only, however the engine computed it.
    """
    col = nw_.col
    kept = col(KEPT) == 1
    marked = choices.with_columns(
        _in=nw_.when(kept).then(col(PRIORITY)), _out=nw_.when(~kept).then(col(PRIORITY))
    )
    choosers = marked.group_by(USER).agg(
        col("_in").count().cast(nw_.Int64).alias("_kept_keys"),
        (nw_.len() - col("_in").count()).cast(nw_.Int64).alias("_others"),
        col("_in").max(),
        col("_out").min(),
    )
    wrong, late, left_out = _row(
        choosers.select(
            _some(col("_kept_keys") != k, "_wrong"),
            _some(col("_in") > col("_out"), "_late"),
            col("_others").sum().cast(nw_.Int64),
        )
    )
    users = pairs.counted.group_by(USER).agg(nw_.len().cast(nw_.Int64).alias("_keys"))
    counted_pairs = col("_keys").sum().cast(nw_.Int64)
    most, counted = _row(users.select(col("_keys").max().alias("_most"), counted_pairs))
    (number,) = _row(pairs.every.select(nw_.len()))
    if wrong or (most or 0) > k or (counted or 0) + (left_out or 0) != number:
        raise _broken(pairs, _too_many(k))
    if late:
        raise _broken(pairs, _LATE)


def check_numbered(
    numbering: Numbering, pairs: NumberedPairs, kept: Marks, question: Question
) -> NumberedPairs:
    """The counted pairs in memory. Raises EngineError unless they differ, also as values, and their
    totals keep the bounds. pairs: all pairs. kept: marks on the counted ones."""
    counted = pairs.only(kept)
    users, keys = counted.users, counted.keys
    rising = (users[1:] == users[:-1]) & (keys[1:] > keys[:-1]) | (users[1:] > users[:-1])
    if not (rising.all() and numbering.values_differ):
        raise engine_fault("numpy", _TWICE)
    for total, steps in zip(question.totals, counted.totals, strict=True):
        if not ((steps >= total.low - total.middle) & (steps <= total.high - total.middle)).all():
            raise engine_fault("numpy", _beyond(total))
    return counted


def check_first(pairs: NumberedPairs, kept: Marks, order: Integers, k: int) -> None:
    """Raise EngineError unless every user keeps the first min(k, number of keys) of their keys."""
    number = int(pairs.users.max(initial=-1)) + 1
    every = np.bincount(pairs.users, minlength=number)
    counted = np.bincount(pairs.users[kept], minlength=number)
    if (counted != np.minimum(every, k)).any():
        raise engine_fault("numpy", _too_many(k))
    cut = (counted < every)[pairs.users]
    last, next_ = np.full(number, -1), np.full(number, PRIME)
    np.maximum.at(last, pairs.users[cut & kept], order[cut & kept])
    np.minimum.at(next_, pairs.users[~kept], order[~kept])
    if (last > next_).any():
        raise engine_fault("numpy", _LATE)


_TWICE = "a pair of user and key occurs twice"
_LATE = "some users keep keys that are not the first in their order"


def _too_many(k: int) -> str:
    return f"some users do not keep min(k = {k}, number of their keys) keys"


def _beyond(total: Total) -> str:
    return f"a user exceeds the bound of a total ({total.what})"


def _some(fault: Any, name: str) -> Any:
    """An expression: 1 if some row has a fault, else 0; missing if there are no rows."""
    return fault.cast(nw_.Int64).max().alias(name)


def _row(frame: nw.LazyFrame[Any]) -> tuple[Any, ...]:
    """The single row of a frame."""
    row: tuple[Any, ...] = collect(frame).row(0)
    return row


def _broken(pairs: BoundedPairs, what: str) -> EngineError:
    return engine_fault(str(pairs.every.implementation.value), what)


def engine_fault(engine: str, what: str) -> EngineError:
    """The error for a fault in the answer of an engine, with the engine's version."""
    package = next((p for p in ("duckdb", "polars", "dask", "numpy") if p in engine), "pyspark")
    used = " and ".join(f"{name} {_version(name)}" for name in ("narwhals", package))
    return EngineError(
        f"nothing was released: {what}, in the answer of {used}. This is a bug of the engine or of "
        "exactdp: please report it, and read the rows with another engine"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"
