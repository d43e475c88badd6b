"""At most k keys per user, chosen from the user's own rows only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from exactdp.frames.canonical import canonical
from exactdp.frames.columns import USER, nw_
from exactdp.frames.keyed_hash import PRIORITY, KeyedHash
from exactdp.frames.question import Question
from exactdp.frames.text_hash import with_words

if TYPE_CHECKING:
    import narwhals as nw

#: Name of the column that is 1 for counted pairs and 0 for pairs that are left out.
KEPT = "_kept"


@dataclass(frozen=True)
class Bounding:
    """How rows become distinct pairs of user and key, with marks on the counted pairs.

    k: largest number of keys per user, or None to count every pair. keyed: the random order of a
    user's keys. part: only users whose hash is `part` modulo the number of passes; None for all.
    """

    question: Question
    k: int | None
    keyed: KeyedHash | None
    part: int | None = None

    def pairs(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """One row for every distinct pair of user and key, with marks.

        rows: has the question's columns, on an engine with ordered windows. Pairs that are left out
        stay in the result, so that the choice can be checked.
        """
        counted_rows = self._of_some_users(self._of_public_keys(canonical(rows, self.question)))
        distinct = _distinct(counted_rows, self.question)
        if self.k is None or self.keyed is None:
            return distinct.with_columns(nw_.lit(1).alias(KEPT))
        return _marked(
            self.keyed.with_priority(distinct, self.question.keys), self.question, self.k
        )

    def _of_public_keys(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        listed = self.question.listed
        return rows if listed is None else rows.filter(_among(self.question.keys, listed))

    def _of_some_users(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The rows of the users in this part; the partition of the users does not affect the
        counts."""
        number = self.question.passes
        if self.part is None or number == 1:
            return rows
        word = nw_.col("_part")
        split = with_words(rows, USER, "_part", 0)
        # engines differ in the sign of the remainder of a negative number
        return split.filter((word % number + number) % number == self.part).drop("_part")


def _among(names: list[str], listed: tuple[tuple[int | bytes, ...], ...]) -> Any:
    """An expression: whether the columns equal one of the listed, sorted rows."""
    first, *rest = names
    if not rest:
        return nw_.col(first).is_in([row[0] for row in listed])
    condition = nw_.lit(value=False)
    for value, rows in groupby(listed, key=lambda row: row[0]):
        others = tuple(row[1:] for row in rows)
        condition = condition | ((nw_.col(first) == value) & _among(rest, others))
    return condition


def _distinct(rows: nw.LazyFrame[Any], question: Question) -> nw.LazyFrame[Any]:
    """One row for every pair of user and key, with the user's clipped sums as distances from the
    middle of their range.

    Values are first clipped in each row, which prevents overflow; then the sums are clipped.
    """
    pair = [USER, *question.keys]
    if not question.limits:
        return rows.group_by(*pair).agg(nw_.len().alias("_rows")).drop("_rows")
    ranges = list(zip(question.values, question.limits.values(), strict=True))
    clipped = rows.with_columns(*(nw_.col(n).clip(-r.largest, r.largest) for n, r in ranges))
    summed = clipped.group_by(*pair).agg(*(nw_.col(n).sum() for n, _ in ranges))
    return summed.with_columns(
        *((nw_.col(n).clip(r.low, r.high) - r.middle).cast(nw_.Int64) for n, r in ranges)
    )


def _marked(pairs: nw.LazyFrame[Any], question: Question, k: int) -> nw.LazyFrame[Any]:
    """The pairs with the column KEPT, 1 for each user's first k keys in the keyed order."""
    place = nw_.col(PRIORITY).cum_count().over(USER, order_by=[PRIORITY, *question.keys])
    return pairs.with_columns((place <= k).cast(nw_.Int64).alias(KEPT))
