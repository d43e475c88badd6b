"""Whatever an engine or numpy does wrong in bounding users, nothing is released.

Releases of counts number the pairs in memory; Spark, quantiles and `bound_pairs` bound them on the
engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pytest

from exactdp.frames import EngineError, KeyedHash, Sum, bounding, counting, release, release_by
from exactdp.frames.bounding import KEPT, Bounding
from exactdp.frames.checking import check
from exactdp.frames.columns import USER
from exactdp.frames.engines import over_pairs
from exactdp.frames.keyed_hash import PRIORITY
from exactdp.frames.numbered import Column, NumberedPairs, Numbering, first_keys
from exactdp.frames.parts import Part
from exactdp.frames.question import read_question
from exactdp.mechanisms import GSHM, GSHMWithSums
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


def checked_on_engine(frame: Any, passes: int = 1) -> None:
    """The pairs of a frame, at most two keys of a user, bounded and checked on its engine."""
    question = read_question(frame, user="uid", by="url", passes=passes)
    bounds = Bounding(question, 2, KeyedHash.draw(SeededSource(1)))
    over_pairs(bounds, lambda pairs: check(pairs, question))


@pytest.mark.few(2)
@pytest.mark.parametrize("mutant", [one_more, everything, others_decide, other_order, twice])
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_a_broken_choice_of_keys_is_refused(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Mutant
) -> None:
    frame = frame_of(engine, crowd(1, 50, 6), "integers")
    checked_on_engine(frame)
    monkeypatch.setattr(bounding, "_marked", mutant)
    with pytest.raises(EngineError, match=r"nothing was released: .* narwhals \d.* and \w+ \d"):
        checked_on_engine(frame)


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
def test_a_wrong_number_of_keys_is_refused(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Callable[[Pairs], Pairs]
) -> None:
    rows = crowd(1, 50, 6) + [(1000 + u, "k1", 1) for u in range(50)]
    monkeypatch.setattr(bounding, "_with_own", mutant)
    with pytest.raises(EngineError, match=r"some users do not keep min\(k = 2"):
        checked_on_engine(frame_of(engine, rows, "integers"))


def lost(pairs: Pairs, question: Any, k: int) -> Pairs:
    """One user's choices are lost."""
    return _MARKED(pairs.filter(nw.col(USER) != 7), question, k)


def test_lost_choices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "_marked", lost)
    with pytest.raises(EngineError, match="some users do not keep"):
        checked_on_engine(frame_of("polars", crowd(1, 50, 6), "integers"))


#: What marks the kept pairs in memory, each in a wrong way, and what is noticed.
CHOICES: dict[str, tuple[Callable[[NumberedPairs, Any, int], Any], str]] = {
    "one more key": (lambda pairs, order, k: first_keys(pairs, order, k + 1), r"keep min\(k = 2"),
    "every key": (lambda pairs, order, k: order >= 0, r"keep min\(k = 2"),
    "one key is left out": (
        lambda pairs, order, k: first_keys(pairs, order, k) & (pairs.keys != 7),
        r"keep min\(k = 2",
    ),
    "one user is left out": (
        lambda pairs, order, k: first_keys(pairs, order, k) & (pairs.users != 7),
        r"keep min\(k = 2",
    ),
    "the last keys": (lambda pairs, order, k: first_keys(pairs, -order, k), "not the first"),
    "the first keys of all": (lambda pairs, order, k: first_keys(pairs, 0 * order, k), "not the"),
}


@pytest.mark.parametrize("wrong", CHOICES)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_a_broken_choice_of_keys_releases_nothing(
    monkeypatch: pytest.MonkeyPatch, engine: str, wrong: str
) -> None:
    frame, mechanism = frame_of(engine, crowd(1, 50, 6), "integers"), GSHM(2, 1, 3, 2, "0.9")
    call: dict[str, Any] = {"user": "uid", "by": "url", "mechanism": mechanism}
    assert len(release_by(frame, **call, source=SeededSource(1)).guarantee.checked) == 2
    choice, message = CHOICES[wrong]
    monkeypatch.setattr(counting, "first_keys", choice)
    with pytest.raises(EngineError, match=f"nothing was released: .*{message}.* and numpy \\d"):
        release_by(frame, **call, source=SeededSource(1))


def repeated(self: Numbering) -> NumberedPairs:
    """Every row is a pair."""
    both = np.sort(self.user.numbers * len(self.examples) + self.keys)
    return NumberedPairs(*np.divmod(both, len(self.examples)), ())


def unsorted(self: Numbering) -> NumberedPairs:
    """The pairs of a user are apart."""
    half = len(self.user.numbers) // 2
    return NumberedPairs(self.user.numbers[:half], self.keys[:half], ())


@pytest.mark.parametrize("pairs", [repeated, unsorted])
def test_repeated_pairs_release_nothing(monkeypatch: pytest.MonkeyPatch, pairs: Any) -> None:
    frame = frame_of("polars", crowd(1, 50, 6) * 2, "integers")
    monkeypatch.setattr(Numbering, "pairs", pairs)
    with pytest.raises(EngineError, match=r"nothing was released: .* and numpy \d"):
        release_by(
            frame, user="uid", by="url", mechanism=GSHM(2, 1, 3, 2, "0.9"), source=SeededSource(1)
        )


@pytest.mark.parametrize("column", ["user", "key"])
def test_two_numbers_of_a_value_release_nothing(
    monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """A dictionary that holds a text twice makes two users, or two keys, of one."""
    rows = [(f"user {u}", *rest) for u, *rest in crowd(1, 50, 6)]
    frame, number = frame_of("polars", rows, "text"), Column.of

    def doubled(values: Any) -> Column:
        numbered = number(values)
        if values[0].as_py().startswith(b"user") != (column == "user"):
            return numbered
        numbers = numbered.numbers + numbered.size * (np.arange(len(values)) % 2)
        both = numbered.values.take(list(range(numbered.size)) * 2)
        return Column(numbers, 2 * numbered.size, values=both)

    monkeypatch.setattr(Column, "of", doubled)
    with pytest.raises(EngineError, match=r"a pair of user and key occurs twice.* and numpy \d"):
        release_by(
            frame, user="uid", by="url", mechanism=GSHM(2, 1, 3, 2, "0.9"), source=SeededSource(1)
        )


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
    ("mutant", "message"),
    [
        (rows_and_not_pairs, "occurs twice"),
        (unclipped, "exceeds the bound .* sum of amount"),
    ],
)
@pytest.mark.parametrize("engine", few("polars", "duckdb"))
def test_pairs_that_are_none_release_nothing(
    monkeypatch: pytest.MonkeyPatch, engine: str, mutant: Any, message: str
) -> None:
    rows = [(u, x, 4) for u, x, _ in crowd(1, 20, 3)] * 3
    mechanism = GSHMWithSums(2, 2, 3, 4, "0.999", largest=(5,))
    sums = {"amount": Sum(-5, 5, of="sums")}
    call: dict[str, Any] = {"user": "uid", "by": "url", "mechanism": mechanism, "sums": sums}
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
