"""Parts of all users, by the engine's own hash of users: each part is bounded and counted alone.

What a part is does not affect the counts, as long as all rows of a user are in one part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exactdp.frames.columns import USER, nw_

if TYPE_CHECKING:
    import narwhals as nw

_NUMBER = "_part"

#: So many rows at a time fit processors and memory, but more than so many parts are slow to select,
#: unless so many rows of a part need too much memory.
_ROWS, _MOST, _MOST_ROWS = 2_000_000, 16, 16_000_000


@dataclass(frozen=True)
class Part:
    """The users whose hash is `place` modulo `of`."""

    place: int
    of: int

    def split(self, number: int) -> list[Part]:
        """Disjoint parts that together are this part."""
        return [Part(self.place + self.of * i, self.of * number) for i in range(number)]

    def rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The rows of these users; the column of users is one of integers or bytes."""
        if self.of == 1:
            return frame
        return _numbered(frame, self.of).filter(nw_.col(_NUMBER) == self.place).drop(_NUMBER)

    def others(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The rows of other users."""
        return _numbered(frame, self.of).filter(nw_.col(_NUMBER) != self.place)


#: All users.
ALL = Part(0, 1)


def parts_for(rows: int) -> int:
    """How many parts of rows in memory take little time and memory; each part reads all rows."""
    return max(min(max(1, -(-rows // _ROWS)), _MOST), -(-rows // _MOST_ROWS))


def _numbered(frame: nw.LazyFrame[Any], number: int) -> nw.LazyFrame[Any]:
    """The frame with a column of hashes of users modulo a number; narwhals has no such function."""
    native, kind = frame.to_native(), frame.implementation
    if kind.is_duckdb():
        native = native.project(f"*, CAST(hash({USER}) % {number} AS BIGINT) AS {_NUMBER}")
    elif kind.is_spark_like():
        from pyspark.sql import functions

        hashed = functions.xxhash64(USER)
        native = native.withColumn(_NUMBER, functions.pmod(hashed, functions.lit(number)))
    else:
        import polars as pl

        native = native.with_columns((pl.col(USER).hash() % number).cast(pl.Int64).alias(_NUMBER))
    numbered_frame: nw.LazyFrame[Any] = nw_.from_native(native)
    return numbered_frame
