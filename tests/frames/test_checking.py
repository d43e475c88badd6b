"""Whatever an engine does wrong in bounding users, nothing is released."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import pytest

from exactdp.frames import EngineError, Sum, bounding, release, release_by
from exactdp.frames.bounding import KEPT
from exactdp.frames.columns import USER
from exactdp.frames.keyed_hash import PRIORITY
from exactdp.frames.parts import Part
from exactdp.mechanisms import GSHM, GSHMWithSums, TopK
from exactdp.samplers import SeededSource
from tests.frames.reference import crowd, few, frame_of

Pairs = Any
Mutant = Callable[[Pairs, Any, int], Pairs]

_MARKED = bounding._marked
_WITH_OWN = bounding._with_own


def one_more(pairs: Pairs, question: Any, k: int) -> Pairs:
    """Every user keeps k + 1 keys."""
    return _MARKED(pairs, question, k + 1)


def everything(pairs: Pairs, question: Any, k: int) -> Pairs:
    """No key is left out."""
    return _MARKED(pairs, question, 1000)


def others_decide(pairs: Pairs, question: Any, k: int) -> Pairs:
    """A key that some other user has is left out, and one fewer is kept."""
    marked = _MARKED(pairs, question, k)
    fewer = nw.when(nw.col(question.keys[0]) == "k7").then(nw.lit(0)).otherwise(nw.col(KEPT))
    return marked.with_columns(fewer.cast(nw.Int64).alias(KEPT))


def other_order(pairs: Pairs, question: Any, k: int) -> Pairs:
    """The last k keys are kept and not the first, as an order of somebody else's rows would."""
    back = pairs.with_columns(_turned=nw.col(PRIORITY) * -1)
    place = nw.col(PRIORITY).cum_count().over(USER, order_by=["_turned"])
    return back.with_columns((place <= k).cast(nw.Int64).alias(KEPT)).drop("_turned")


def twice(pairs: Pairs, question: Any, k: int) -> Pairs:
    """Every pair comes twice, as rows of a join do."""
    doubled = nw.concat([pairs, pairs])
    return _MARKED(doubled, question, k)


@pytest.mark.few(2)
@pytest.mark.parametrize("mutant", [one_more, everything, others_decide, other_order, twice])
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_a_broken_choice_of_keys_releases_nothing(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Mutant
) -> None:
    frame, mechanism = frame_of(engine, crowd(1, 50, 6), "integers"), GSHM(2, 1, 3, 2, "0.9")
    question = {"user": "uid", "by": "url", "mechanism": mechanism}
    assert len(release_by(frame, **question, source=SeededSource(1)).guarantee.checked) == 2
    monkeypatch.setattr(bounding, "_marked", mutant)
    with pytest.raises(EngineError, match=r"nothing was released: .* narwhals \d.* and \w+ \d"):
        release_by(frame, **question, source=SeededSource(1))


def halves(pairs: Pairs) -> Pairs:
    """The keys of a user are counted apart in two halves, as by a window that splits users."""
    apart = nw.when(nw.col("_key_0") < b"k2").then(nw.col(USER)).otherwise(-1 - nw.col(USER))
    return (
        _WITH_OWN(pairs.with_columns(_true=nw.col(USER), _user=apart))
        .with_columns(_user=nw.col("_true"))
        .drop("_true")
    )


def few_keys(pairs: Pairs) -> Pairs:
    """Users seem to have one key each."""
    return pairs.with_columns(_own=nw.lit(1, nw.Int64))


def too_many_keys(pairs: Pairs) -> Pairs:
    """Users with few keys are treated as if they had many, and keep fewer than k."""
    return pairs.with_columns(_own=nw.lit(1000, nw.Int64))


@pytest.mark.few(3)
@pytest.mark.parametrize("mutant", [halves, few_keys, too_many_keys])
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_a_wrong_number_of_keys_releases_nothing(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Callable[[Pairs], Pairs]
) -> None:
    rows = crowd(1, 50, 6) + [(1000 + u, "k1", 1) for u in range(50)]
    question = {"user": "uid", "by": "url", "mechanism": GSHM(2, 1, 3, 2, "0.9")}
    monkeypatch.setattr(bounding, "_with_own", mutant)
    with pytest.raises(EngineError, match=r"some users do not keep min\(k = 2"):
        release_by(frame_of(engine, rows, "integers"), **question, source=SeededSource(1))


def lost(pairs: Pairs, question: Any, k: int) -> Pairs:
    """One user's choices are lost."""
    return _MARKED(pairs.filter(nw.col(USER) != 7), question, k)


def test_lost_choices_release_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, mechanism = frame_of("polars", crowd(1, 50, 6), "integers"), GSHM(2, 1, 3, 2, "0.9")
    monkeypatch.setattr(bounding, "_marked", lost)
    with pytest.raises(EngineError, match="some users do not keep"):
        release_by(frame, user="uid", by="url", mechanism=mechanism, source=SeededSource(1))


@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_users_in_two_parts_release_nothing(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """A part that takes all rows."""
    frame = frame_of(engine, crowd(1, 50, 6), "integers")
    monkeypatch.setattr(Part, "rows", lambda self, frame: frame)
    with pytest.raises(EngineError, match="the rows of a user are in two parts"):
        release(frame, user="uid", by="url", k=2, epsilon=1, delta="1e-6", passes=2)


def rows_and_not_pairs(rows: Pairs, question: Any) -> Pairs:
    """Rows are taken for pairs."""
    totals = zip(question.value_columns, question.total_columns, strict=True)
    columns = [nw.col(name).alias(total) for name, total in totals]
    return rows.with_columns(*columns) if columns else rows


def unclipped(rows: Pairs, question: Any) -> Pairs:
    """Sums are not clipped."""
    sums = [
        nw.col(name).sum().alias(total)
        for name, total in zip(question.value_columns, question.total_columns, strict=True)
    ]
    return rows.group_by(USER, *question.keys).agg(*sums)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mutant", "mechanism", "message"),
    [
        (rows_and_not_pairs, TopK(4, 1, 2, 3, "0.9"), "occurs twice"),
        (rows_and_not_pairs, GSHM(2, 1, 3, 2, "0.9"), "occurs twice"),
        (
            unclipped,
            GSHMWithSums(2, 2, 3, 4, "0.999", largest=(5,)),
            "exceeds the bound .* sum of amount",
        ),
    ],
)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_pairs_that_are_none_release_nothing(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Any, mechanism: Any, message: str
) -> None:
    rows = [(u, x, 4) for u, x, _ in crowd(1, 20, 3)] * 3
    sums = {"amount": Sum(-5, 5, of="sums")} if isinstance(mechanism, GSHMWithSums) else None
    call = {"user": "uid", "by": "url", "mechanism": mechanism, "sums": sums}
    frame = frame_of(engine, rows, "integers")
    assert release_by(frame, **call, source=SeededSource(1)).guarantee.checked
    monkeypatch.setattr(bounding, "_distinct", mutant)
    with pytest.raises(EngineError, match=message):
        release_by(frame, **call, source=SeededSource(1))


@pytest.mark.slow
def test_users_in_two_dask_partitions_release_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shuffle that leaves rows where they are."""
    frame = frame_of("dask", crowd(1, 50, 6), "integers")
    monkeypatch.setattr(type(frame), "shuffle", lambda self, on: self)
    with pytest.raises(EngineError, match="the rows of a user are in two partitions"):
        release(frame, user="uid", by="url", k=2, epsilon=1, delta="1e-6")
