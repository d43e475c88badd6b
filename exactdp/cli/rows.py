"""Rows of users and keys in CSV or Parquet files of any size."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from exactdp.errors import InvalidParameter
from exactdp.extras import optional

#: Approximate number of bytes of a file that are processed per pass.
_PART = 256 << 20
_MOST_PARTS = 256


@dataclass(frozen=True)
class RowsFile:
    """A file of rows and how to read it; nothing in the file changes how it is read.

    user: column of users. by: columns of the key, separated by commas. delimiter, quote, header:
    the dialect of CSV. Raises InvalidParameter.
    """

    path: Path
    user: str
    by: str
    delimiter: str = ","
    quote: str = '"'
    header: bool = True

    def __post_init__(self) -> None:
        for name, text in (("delimiter", self.delimiter), ("quote", self.quote)):
            if len(text) != 1 or text in "\r\n\0" or ord(text) > 127:
                raise InvalidParameter(name, text, "one ASCII character")
        if self.delimiter == self.quote:
            raise InvalidParameter("quote", self.quote, "a character other than the delimiter")

    def keys(self, columns: list[str]) -> list[str]:
        """The columns of the key, among those of the file."""
        names = self.by.split(",")
        if len(names) > 1 and self.by in columns:
            raise InvalidParameter("by", self.by, "columns whose names have no commas")
        return names

    @contextmanager
    def relation(self, values: Mapping[str, bool]) -> Iterator[Any]:
        """The rows in DuckDB. values: columns of numbers -> whether integers are wanted."""
        duckdb = optional("duckdb")
        with duckdb.connect() as connection:
            try:
                # the name of one file, even if it contains characters of glob patterns
                name = "".join(f"[{c}]" if c in "*?[" else c for c in str(self.path))
                if self.path.suffix == ".parquet":
                    yield connection.read_parquet(name)
                else:
                    yield self._csv(connection, name, values)
            except duckdb.OutOfMemoryException:
                raise MemoryError from None
            except duckdb.Error as error:  # its text may quote the data
                line = re.search(r"(?i)\bline:? (\d+)", str(error))
                place = f"{self.path.name}, line {line[1]}" if line else self.path.name
                raise InvalidParameter("data", place, self._allowed()) from None

    def _allowed(self) -> str:
        if self.path.suffix == ".parquet":
            return "a readable Parquet file"
        return (
            f"readable rows: CSV in UTF-8 with delimiter {self.delimiter!r}, quote {self.quote!r} "
            "and equally many cells in every row"
        )

    def _csv(self, connection: Any, name: str, values: Mapping[str, bool]) -> Any:
        """Cells as text: 007 is not 7. An empty cell is a missing value, as are other texts in a
        column of numbers, because an error would tell that somebody has them."""
        columns = ", ".join(f"{_quoted(c)}: 'VARCHAR'" for c in self._columns())
        seen = connection.sql(
            f"FROM read_csv({_quoted(name)}, auto_detect = false, columns = {{{columns}}}, "
            f"header = {self.header}, delim = {_quoted(self.delimiter)}, nullstr = '', "
            f"quote = {_quoted(self.quote)}, escape = {_quoted(self.quote)})"
        )
        for column, whole in values.items():
            if column in seen.columns:
                quoted = '"' + column.replace('"', '""') + '"'
                cast = f"TRY_CAST({quoted} AS DOUBLE)"
                cast = f"TRY_CAST(round({cast}) AS BIGINT)" if whole else cast
                seen = seen.project(f"* REPLACE ({cast} AS {quoted})")
        return seen

    def _columns(self) -> list[str]:
        """The names in the first line; without a header, 1, 2, 3, ..."""
        # later bytes that are not UTF-8 are reported by DuckDB, with their line
        with self.path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            try:
                rows = csv.reader(file, delimiter=self.delimiter, quotechar=self.quote, strict=True)
                first = next(rows, [])
            except csv.Error:
                raise InvalidParameter(
                    "data", f"{self.path.name}, line 1", self._allowed()
                ) from None
        if not first:
            raise InvalidParameter("data", self.path.name, "a file with a first line")
        if not self.header:
            return [str(i + 1) for i in range(len(first))]
        lowered = [name.lower() for name in first]  # as DuckDB compares them
        if len(set(lowered)) < len(first) or "" in first:
            allowed = "different names in the header, none empty"
            raise InvalidParameter("data", f"{self.path.name}, line 1", allowed)
        return first

    @property
    def passes(self) -> int:
        """Number of times the rows are read, each time for a part of the users."""
        return min(max(1, self.path.stat().st_size // _PART), _MOST_PARTS)


def dialect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --delimiter, --quote and --no-header, which set how CSV rows are read."""
    for flag, default, text in (
        ("--quote", '"', "Character around cells of CSV rows that contain delimiters."),
        ("--delimiter", ",", "Character between cells of CSV rows."),
    ):
        option = click.option(
            flag, default=default, metavar="CHARACTER", show_default=True, help=text
        )
        command = option(command)
    text = "CSV rows have no header; the columns are named 1, 2, 3, ..."
    return click.option("--no-header", is_flag=True, help=text)(command)


def _quoted(text: str) -> str:
    """A text as an SQL literal or identifier."""
    return "'" + text.replace("'", "''") + "'"
