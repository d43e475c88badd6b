"""Checks, before noise is drawn, of what a guarantee assumes about the data.

Exactly the counted pairs are checked. The checks use aggregation by user, whereas the pairs were
made by windows that order them. The guarantee lists what was checked. A failed check stops the
release and names the engine that returned wrong pairs.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from exactdp.errors import EngineError
from exactdp.frames.bounding import KEPT, Bounding
from exactdp.frames.columns import USER, collect, nw_
from exactdp.frames.keyed_hash import PRIORITY

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


def check(pairs: nw.LazyFrame[Any], bounding: Bounding) -> None:
    """Raise EngineError unless the pairs satisfy the bounds.

    pairs: as Bounding.pairs returns them, evaluated, exactly as they will be counted.
    """
    question = bounding.question
    if not _all_differ(pairs, bounding):
        raise _broken(pairs, "a pair of user and key occurs twice")
    if bounding.k is not None:
        _check_choice(pairs, bounding.k)
    for name, total in zip(question.total_columns, question.totals, strict=True):
        col = nw_.col(name)
        least, largest = _row(pairs.select(col.min().alias("least"), col.max().alias("largest")))
        if least is None:
            continue
        if not total.low <= least + total.middle <= largest + total.middle <= total.high:
            raise _broken(pairs, f"a user exceeds the bound of a total ({total.what})")


def _all_differ(pairs: nw.LazyFrame[Any], bounding: Bounding) -> bool:
    """Whether every pair of user and key occurs once."""
    if bounding.k is not None:  # equal pairs have equal priorities, few others do
        priorities = nw_.col(PRIORITY)
        number, different = _row(
            pairs.select(
                priorities.count().alias("_number"), priorities.n_unique().alias("_different")
            )
        )
        if number == different:
            return True
    times = pairs.group_by(USER, *bounding.question.keys).agg(nw_.len().alias("_times"))
    return _row(times.select(nw_.col("_times").max()))[0] in (None, 1)


def _check_choice(pairs: nw.LazyFrame[Any], k: int) -> None:
    """Raise EngineError unless every user keeps the first min(k, number of keys) of their keys.

    The choice then depends on the user's own rows only, however the engine computed it.
    """
    col = nw_.col
    kept = col(KEPT) == 1
    marked = pairs.with_columns(
        _in=nw_.when(kept).then(col(PRIORITY)), _out=nw_.when(~kept).then(col(PRIORITY))
    )
    users = marked.group_by(USER).agg(
        nw_.len().cast(nw_.Int64).alias("_own"),
        col(KEPT).sum().cast(nw_.Int64).alias("_number"),
        col("_in").max(),
        col("_out").min(),
    )
    due = nw_.when(col("_own") < k).then(col("_own")).otherwise(nw_.lit(k))
    judged = users.select(
        (col("_number") != due).cast(nw_.Int64).alias("_wrong"),
        (col("_in") > col("_out")).fill_null(value=False).cast(nw_.Int64).alias("_late"),
    )
    wrong, late = _row(judged.select(col("_wrong").max(), col("_late").max()))
    if wrong:
        raise _broken(pairs, f"some users do not keep min(k = {k}, number of their keys) keys")
    if late:
        raise _broken(pairs, "some users keep keys that are not the first in their order")


def _row(frame: nw.LazyFrame[Any]) -> tuple[Any, ...]:
    """The single row of a frame."""
    row: tuple[Any, ...] = collect(frame).row(0)
    return row


def _broken(pairs: nw.LazyFrame[Any], what: str) -> EngineError:
    return engine_fault(str(pairs.implementation.value), what)


def engine_fault(engine: str, what: str) -> EngineError:
    """The error for a fault in the answer of an engine, with the engine's version."""
    package = next((p for p in ("duckdb", "polars", "dask") if p in engine), "pyspark")
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
