"""At most k keys per user, chosen from the user's own rows only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exactdp.frames.canonical import canonical
from exactdp.frames.columns import USER, nw_
from exactdp.frames.keyed_hash import PRIORITY, KeyedHash
from exactdp.frames.parts import Part
from exactdp.frames.question import Question
from exactdp.frames.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw

#: Name of the column of the number of keys of a pair's user.
OWN = "_own"

#: Name of the column that is 1 for counted pairs and 0 for pairs that are left out.
KEPT = "_kept"


@dataclass(frozen=True)
class BoundedPairs:
    """The distinct pairs of user and key of the users in a part.

    every: all pairs, with the number of their user's keys if k bounds it. choices: the pairs of
    users with more than k keys, with marks on the counted ones; None if k is None.
    """

    every: nw.LazyFrame[Any]
    choices: nw.LazyFrame[Any] | None = None
    k: int | None = None

    @property
    def counted(self) -> nw.LazyFrame[Any]:
        """The counted pairs: all of users with few keys, and the marked ones of the others."""
        if self.choices is None:
            return self.every
        few = self.every.filter(nw_.col(OWN) <= self.k).drop(OWN)
        marked = self.choices.filter(nw_.col(KEPT) == 1).drop(OWN, PRIORITY, KEPT)
        counted_pairs: nw.LazyFrame[Any] = nw_.concat([few, marked])
        return counted_pairs


@dataclass(frozen=True)
class Bounding:
    """How rows become distinct pairs of user and key, with marks on the counted pairs.

    k: largest number of keys per user, or None to count every pair. keyed: the random order of a
    user's keys.
    """

    question: Question
    k: int | None = None
    keyed: KeyedHash | None = None

    def distinct(self, rows: nw.LazyFrame[Any], part: Part) -> nw.LazyFrame[Any]:
        """One row for every pair of user and key of the users in a part.

        rows: has the question's columns, on an engine with ordered windows.
        """
        return _distinct(self.counted_rows(rows, part), self.question)

    def every(self, pairs: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """All pairs, with the column OWN if k is a number."""
        return pairs if self.k is None else _with_own(pairs)

    def choices(self, every: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        """The pairs of users with more than k keys, with the column KEPT.

        Pairs that are left out stay in the result, so that the choice can be checked.
        """
        if self.k is None or self.keyed is None:
            return None
        many = every.filter(nw_.col(OWN) > self.k)
        return _marked(self.keyed.with_priority(many, self.question.keys), self.question, self.k)

    def counted_rows(self, rows: nw.LazyFrame[Any], part: Part) -> nw.LazyFrame[Any]:
        """The rows of the users of a part in canonical form; of public keys, each column holds
        values of some public key."""
        plain, listed = canonical(rows, self.question), self.question.listed
        if listed is not None:
            for i, name in enumerate(self.question.keys):
                plain = plain.filter(nw_.col(name).is_in(list({key[i] for key in listed})))
        return part.rows(plain)

    def of_public_keys(self, pairs: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The pairs whose key is public, of those of :meth:`counted_rows`."""
        keys, listed = self.question.keys, self.question.listed
        return pairs if listed is None or len(keys) == 1 else pairs.filter(_among(keys, listed))


def _among(names: list[str], listed: tuple[tuple[int | bytes, ...], ...]) -> Any:
    """An expression: whether the columns equal one of the listed, sorted rows.

    First values with the same other parts share a term, so that a product of columns is one.
    """
    first, *rest = names
    if not rest or not listed:
        return nw_.col(first).is_in([row[0] for row in listed])
    values: dict[tuple[tuple[int | bytes, ...], ...], list[int | bytes]] = {}
    for value, rows in groupby(listed, key=lambda row: row[0]):
        values.setdefault(tuple(row[1:] for row in rows), []).append(value)
    terms = [nw_.col(first).is_in(equal) & _among(rest, others) for others, equal in values.items()]
    return _any(terms)


def _any(terms: list[Any]) -> Any:
    """An expression: whether one of the terms holds; nested by halves, as engines read expressions
    recursively."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return _any(terms[:middle]) | _any(terms[middle:])


def _distinct(rows: nw.LazyFrame[Any], question: Question) -> nw.LazyFrame[Any]:
    """One row for every pair of user and key, with the distances of the user's totals from their
    middles: see exactdp.frames.values."""
    pair = [USER, *question.keys]
    if not question.values:
        return rows.group_by(*pair).agg(nw_.len().alias("_rows")).drop("_rows")
    sums = [nw_.col(name).sum() for name in question.value_columns]
    numbers = [nw_.col(name).count().alias(f"_number{name}") for name in question.value_columns]
    summed = rows.group_by(*pair).agg(*sums, *numbers)
    parts = [
        part
        for name, value in zip(question.value_columns, question.values.values(), strict=True)
        for part in value.parts(*share_and_weight(name, value))
    ]
    named = zip(parts, question.total_columns, strict=True)
    return summed.select(*pair, *(part.cast(nw_.Int64).alias(name) for part, name in named))


def share_and_weight(name: str, value: Reading) -> tuple[Any, Any]:
    """Expressions: a user's share of a total, and weight, from the sum and the number of values."""
    number = nw_.col(f"_number{name}").cast(nw_.Int64)
    weight = nw_.when(number < value.rows).then(number).otherwise(nw_.lit(value.rows))
    (low, high), total = value.ends, nw_.col(name).fill_null(0).cast(nw_.Int64)
    if value.of == "sums":
        return nw_.when(number > 0).then(total.clip(low, high)).otherwise(nw_.lit(0)), weight
    # the mean above low is whole + rest/size; times weight it is rounded, and halves up
    size = nw_.when(number > 0).then(number).otherwise(nw_.lit(1))
    above = total - number * low
    rest = above % size
    whole = divided(above - rest, size)
    doubled = rest * weight * 2 + size
    return (whole + low) * weight + divided(doubled - doubled % (size * 2), size * 2), weight


def divided(multiple: Any, divisor: Any) -> Any:
    """multiple/divisor, an integer below 2^41; some engines floor a quotient of doubles, which may
    be off by 1."""
    return (multiple / divisor).round(0).cast(nw_.Int64)


def _with_own(pairs: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The pairs with the column OWN."""
    return pairs.with_columns(nw_.len().over(USER).cast(nw_.Int64).alias(OWN))


def _marked(pairs: nw.LazyFrame[Any], question: Question, k: int) -> nw.LazyFrame[Any]:
    """The pairs with the column KEPT, 1 for each user's first k keys in the keyed order."""
    place = nw_.col(PRIORITY).cum_count().over(USER, order_by=[PRIORITY, *question.keys])
    return pairs.with_columns((place <= k).cast(nw_.Int64).alias(KEPT))
