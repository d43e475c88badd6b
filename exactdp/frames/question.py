"""The question of a release: a frame, its columns, and the bounds, read once from arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

from exactdp.errors import Described, InvalidParameter
from exactdp.frames.columns import (
    USER,
    ColumnType,
    key_of,
    of_pandas,
    rows_in_memory,
    schema_of,
    type_of,
    value_type_of,
)
from exactdp.frames.edges import Intervals, intervals_of
from exactdp.frames.parts import parts_for
from exactdp.frames.quantiles import Quantile, quantiles_of
from exactdp.frames.values import Mean, Sum, Total, Value, values_of
from exactdp.parameters import integer

#: Largest number of keys that edges make; drawing noise for them takes about a minute.
_MOST_INTERVALS = 10**6


@dataclass(frozen=True)
class Question:
    """What is counted in a frame: the columns by the caller's names, their types, and the bounds.

    frame: the rows. user: column of users. by: names of the columns of the key, released under
    these names; sources: the columns of the frame. single: whether a key is the value of a single
    column instead of a tuple. values, quantiles: column -> what is read of it. listed: public
    keys as they are represented in engines, each once, in order; None for all keys. passes: number
    of times the rows are read, each time for other users; more for large frames in memory.
    """

    frame: Any
    user: str
    by: tuple[str, ...]
    sources: tuple[str, ...]
    single: bool
    values: Mapping[str, Value]
    user_type: ColumnType
    key_types: tuple[ColumnType, ...]
    value_types: tuple[ColumnType, ...]
    listed: tuple[tuple[int | bytes, ...], ...] | None = None
    passes: int = 1
    quantiles: Mapping[str, Quantile] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """Internal names of the columns of the key."""
        return [f"_key_{i}" for i in range(len(self.by))]

    @property
    def value_columns(self) -> list[str]:
        """Internal names of the columns of values."""
        return [f"_value_{i}" for i in range(len(self.values))]

    @property
    def totals(self) -> tuple[Total, ...]:
        """What is added up over the users of each key."""
        return tuple(total for name, value in self.values.items() for total in value.totals(name))

    @property
    def total_columns(self) -> list[str]:
        """Internal names of the columns of the totals."""
        return [f"_total_{i}" for i in range(len(self.totals))]

    @property
    def texts(self) -> list[str]:
        """Internal names of the columns that become text, and then bytes."""
        return [name for name, (_, kind) in self.columns.items() if kind.is_text]

    @property
    def columns(self) -> dict[str, tuple[str, ColumnType]]:
        """Internal name -> (the caller's name, type)."""
        by_name = {USER: (self.user, self.user_type)}
        by_name |= dict(zip(self.keys, zip(self.sources, self.key_types, strict=True), strict=True))
        columns = zip(self.values, self.value_types, strict=True)
        return by_name | dict(zip(self.value_columns, columns, strict=True))

    def key(self, written: Sequence[Any]) -> Any:
        """The key, in the caller's types, from the key columns of a row."""
        parts = [kind.value(part) for kind, part in zip(self.key_types, written, strict=True)]
        return parts[0] if self.single else tuple(parts)

    def columns_of(self, keys: Sequence[Any]) -> list[list[Any]]:
        """The values of each key column, from a list of keys."""
        if self.single:
            return [list(keys)]
        return [list(column) for column in zip(*keys, strict=True)] or [[] for _ in self.by]

    @property
    def public_keys(self) -> list[Any]:
        """The public list of keys, in the caller's types and in order."""
        return [self.key(written) for written in self.listed or ()]

    def written_key(self, key: Any) -> tuple[int | bytes, ...]:
        """The representation of a public key; raises InvalidParameter."""
        parts = (key,) if self.single else key
        if not isinstance(parts, tuple) or len(parts) != len(self.by):
            raise InvalidParameter("keys", key, f"tuples of {len(self.by)} parts: {self.by}")
        return tuple(t.written("keys", part) for t, part in zip(self.key_types, parts, strict=True))


def read_question(
    frame: Any,
    *,
    user: str,
    by: str | Sequence[str],
    sums: Mapping[str, Sum] | None = None,
    means: Mapping[str, Mean] | None = None,
    quantiles: Mapping[str, Quantile] | None = None,
    keys: Iterable[Any] | None = None,
    passes: int = 1,
) -> Question:
    """The question that arguments ask, checked against the frame's columns.

    keys: may be a generator, an array or a column of a frame, which is read here and only here.
    Raises InvalidParameter.
    """
    schema = schema_of(frame)
    names = (by,) if isinstance(by, str) or not isinstance(by, Iterable) else tuple(by)
    if not names or len(set(map(str, names))) < len(names) or user in names:
        raise InvalidParameter("by", by, f"one or more columns other than the user's, {user}")
    values, columns = values_of(sums, means), quantiles_of(quantiles)
    for name, each in columns.items():
        value_type_of(schema, name, each.step, "quantiles")  # refuses other columns
    user_type, cells = type_of(schema, "user", user), of_pandas(frame)
    parts = [intervals_of(schema, name) or key_of(schema, name, cells=cells) for name in names]
    released = tuple(
        source if isinstance(kind, Intervals) else name
        for name, (source, kind) in zip(names, parts, strict=True)
    )
    if user in (source for source, _ in parts):
        raise InvalidParameter("by", by, f"one or more columns other than the user's, {user}")
    question = Question(
        frame,
        user,
        released,
        tuple(source for source, _ in parts),
        isinstance(by, str),
        values,
        user_type,
        tuple(kind for _, kind in parts),
        tuple(value_type_of(schema, name, value.step) for name, value in values.items()),
        None,
        max(integer("passes", passes, least=1), parts_for(rows_in_memory(frame))),
        columns,
    )
    intervals = [kind for kind in question.key_types if isinstance(kind, Intervals)]
    if keys is None and len(intervals) == len(names):
        number = prod(len(kind.edges) - 1 for kind in intervals)
        if number > _MOST_INTERVALS:
            allowed = f"at most {_MOST_INTERVALS} keys, all of which are released: fewer edges"
            raise InvalidParameter("by", Described(f"edges of {number} keys"), allowed)
        places = (range(len(kind.edges) - 1) for kind in intervals)
        return replace(question, listed=tuple(product(*places)))
    if keys is None:
        return question
    if isinstance(keys, str):
        raise InvalidParameter("keys", keys, "a list of keys")
    return replace(question, listed=tuple(sorted({question.written_key(key) for key in keys})))
