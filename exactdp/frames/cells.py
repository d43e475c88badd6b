"""How many values of each key lie at each point of a grid, with at most m values of a user.

Of a user's n values for a key, sorted, w = min(n, m) count: value number i (from 0) of the w is in
place floor((2 i + 1) n/(2 w)) of the sorted list, so that they are spread evenly. Then of the first
t values ceil(w t/n - 1/2) count, and a point counts as often as this number rises there. Which
values count depends on the user's own rows alone.

The bounds are checked as those of counts are, on the rows that are added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from exactdp.frames.bounding import KEPT, OWN, BoundedPairs, Bounding, divided, share_and_weight
from exactdp.frames.checking import check, engine_fault
from exactdp.frames.columns import USER, collect, nw_, schema_of, value_type_of
from exactdp.frames.engines import over_pairs
from exactdp.frames.keyed_hash import PRIORITY, KeyedHash
from exactdp.frames.parts import Part
from exactdp.frames.question import Question
from exactdp.frames.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw

_CELL, _WEIGHT, _NUMBER = "_cell", "_weight", "_number"


@dataclass(frozen=True)
class Placing(Bounding):
    """The pairs of user and key, each with the points where the user's values lie: one row for
    every user, key and point, and one for a pair without values."""

    @property
    def reading(self) -> Reading:
        """How the single column of values is read."""
        (reading,) = self.question.values.values()
        return reading

    @property
    def of_pairs(self) -> Bounding:
        """The same pairs, without values."""
        question = replace(self.question, values={}, value_types=())
        return Bounding(question, self.k, self.keyed)

    def distinct(self, rows: nw.LazyFrame[Any], part: Part) -> nw.LazyFrame[Any]:
        placed = self._placed(self.counted_rows(rows, part), self._pair)
        return self.of_pairs.distinct(rows, part).join(placed, on=self._pair, how="left")

    def every(self, pairs: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        own = super().every(_each_once(pairs, self._pair))
        return own.join(pairs, on=self._pair, how="inner")

    def choices(self, every: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        marked = super().choices(_each_once(every, [*self._pair, OWN]))
        if marked is None:
            return None
        return marked.join(every.drop(OWN), on=self._pair, how="inner")

    @property
    def _pair(self) -> list[str]:
        return [USER, *self.question.keys]

    def _placed(self, rows: nw.LazyFrame[Any], pair: list[str]) -> nw.LazyFrame[Any]:
        """User, key, point of the grid, and number of values that count there."""
        (name,), reading = self.question.value_columns, self.reading
        value, number = nw_.col(name), nw_.col(_NUMBER)
        if reading.of != "rows":
            both = value.sum(), value.count().alias(f"_number{name}")
            share, weight = share_and_weight(name, reading)
            own = rows.group_by(*pair).agg(*both)
            shares = own.select(*pair, share.alias(_CELL), weight.alias(_WEIGHT))
            return shares.filter(nw_.col(_WEIGHT) > 0)
        cells = rows.filter(~value.is_null()).group_by(*pair, name).agg(nw_.len().alias(_NUMBER))
        counted = cells.with_columns(number.cast(nw_.Int64)).with_columns(
            _upto=number.cum_sum().over(*pair, order_by=name), _all=number.sum().over(*pair)
        )
        every, upto = nw_.col("_all"), nw_.col("_upto")
        most = nw_.when(every < reading.rows).then(every).otherwise(nw_.lit(reading.rows))
        first = counted.with_columns(_most=most).with_columns(
            _high=_spread(upto, every), _low=_spread(upto - number, every)
        )
        weight = (nw_.col("_high") - nw_.col("_low")).cast(nw_.Int64)
        kept = first.select(*pair, value.cast(nw_.Int64).alias(_CELL), weight.alias(_WEIGHT))
        return kept.filter(nw_.col(_WEIGHT) > 0)


def _each_once(frame: nw.LazyFrame[Any], names: list[str]) -> nw.LazyFrame[Any]:
    """The different rows of these columns."""
    return frame.group_by(*names).agg(nw_.len().alias("_rows")).drop("_rows")


def _spread(place: Any, every: Any) -> Any:
    """An expression: how many of the first `place` values count: ceil(most place/every - 1/2)."""
    above = nw_.col("_most") * place * 2 + every - 1
    return divided(above - above % (every * 2), every * 2)


@dataclass(frozen=True)
class Cells:
    """The values of all keys, without noise. reading: of the column. rows: the columns of a key, a
    point of the grid, and the number of values there; a key may have several rows for a point."""

    question: Question
    reading: Reading
    rows: list[tuple[Any, ...]]

    def of_keys(self, keys: Iterable[Any]) -> dict[Any, dict[int, int]]:
        """Key -> point, from 0 on -> number of values, for these keys."""
        points: dict[Any, dict[int, int]] = {key: {} for key in keys}
        low, _ = self.reading.ends
        for *written, cell, number in self.rows:
            of_key = points.get(self.question.key(written))
            if of_key is not None:
                of_key[cell - low] = of_key.get(cell - low, 0) + number
        return points


def cells_of(question: Question, name: str, reading: Reading, k: int, keyed: KeyedHash) -> Cells:
    """The values of a column for each key, of at most k keys of a user; the bounds are checked.

    Raises InvalidParameter, and EngineError if the engine's rows violate the bounds.
    """
    kind = value_type_of(schema_of(question.frame), name, reading.step)
    readings: dict[str, Any] = {name: reading}
    one_column = replace(question, values=readings, value_types=(kind,))
    rows: list[tuple[Any, ...]] = []
    placing = Placing(one_column, k, keyed)

    def count(pairs: BoundedPairs) -> list[tuple[Any, ...]]:
        _check(pairs, placing)
        return _per_point(pairs.counted, question.keys)

    for part_rows in over_pairs(placing, count):
        rows += part_rows
    return Cells(question, reading, rows)


def _per_point(counted: nw.LazyFrame[Any], keys: list[str]) -> list[tuple[Any, ...]]:
    """For every key and point: the columns of the key, the point, and the number of values."""
    kept = counted.filter(~nw_.col(_WEIGHT).is_null())
    held = collect(kept.group_by(*keys, _CELL).agg(nw_.col(_WEIGHT).sum()))
    columns = [held[name].to_list() for name in keys]
    columns += [list(map(int, held[name].to_list())) for name in (_CELL, _WEIGHT)]
    return list(zip(*columns, strict=True))


def _check(pairs: BoundedPairs, placing: Placing) -> None:
    """Raise EngineError unless the rows satisfy the bounds: those of the pairs, at most m values of
    each pair, all on the grid."""
    pair, reading = [USER, *placing.question.keys], placing.reading
    every, choices = _each_once(pairs.every, [*pair, OWN]), pairs.choices
    if choices is not None:
        choices = _each_once(choices, [*pair, OWN, PRIORITY, KEPT])
    check(replace(pairs, every=every, choices=choices), placing.of_pairs.question)
    cell, weight = nw_.col(_CELL), nw_.col(_WEIGHT)
    sums = pairs.counted.group_by(*pair).agg(
        weight.sum().alias("_sum"),
        weight.min().alias("_least"),
        cell.min().alias("_first"),
        cell.max().alias("_last"),
    )
    most, least, first, last = collect(
        sums.select(
            nw_.col("_sum").max(),
            nw_.col("_least").min(),
            nw_.col("_first").min(),
            nw_.col("_last").max(),
        )
    ).row(0)
    low, high = reading.ends
    if first is None:
        return
    if most > reading.rows or least < 1 or first < low or last > high:
        engine = str(pairs.every.implementation.value)
        raise engine_fault(engine, f"a user has more than {reading.rows} values, or values outside")
