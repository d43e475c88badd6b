"""Rows of users and keys in CSV or Parquet files of any size."""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
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
#: Largest number of bytes of a line, and of a part of a file that is held in memory.
_LONGEST_LINE = 16 << 20
_BUFFER = 32 << 20


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
        """The parts of the key: columns of the file, or as in month:date or age:0..18..65."""
        names = self.by.split(",")
        if len(names) > 1 and self.by in columns:
            raise InvalidParameter("by", self.by, "columns whose names have no commas")
        return names

    @contextmanager
    def relation(self, values: Collection[str] = ()) -> Iterator[Any]:
        """The rows in DuckDB. values: columns of numbers."""
        duckdb = optional("duckdb")
        with duckdb.connect() as connection:
            try:
                if self.path.suffix == ".parquet":
                    yield connection.read_parquet(_pattern(self.path))
                else:
                    with _with_line_feeds(self.path) as file:
                        yield self._csv(connection, _pattern(file), values)
            except duckdb.OutOfMemoryException:
                raise MemoryError from None
            except duckdb.Error as error:  # its text may quote the data
                line = re.search(r"(?i)\bline:? (\d+)", str(error))
                place = f"{self.path.name}, row {line[1]}" if line else self.path.name
                raise InvalidParameter("data", place, self._allowed()) from None

    def _allowed(self) -> str:
        if self.path.suffix == ".parquet":
            return "a readable Parquet file"
        return (
            f"readable rows: CSV in UTF-8 with delimiter {self.delimiter!r}, quote {self.quote!r}, "
            f"equally many cells in every row, and less than {_LONGEST_LINE >> 20} MiB per row"
        )

    def _csv(self, connection: Any, name: str, values: Collection[str]) -> Any:
        """Cells as text: 007 is not 7. An empty cell is a missing value, as are other texts in a
        column of numbers, or of dates for a key such as month:date, because an error would tell
        that somebody has them."""
        columns = ", ".join(f"{_quoted(c)}: 'VARCHAR'" for c in self._columns())
        seen = connection.sql(
            f"FROM read_csv({_quoted(name)}, auto_detect = false, columns = {{{columns}}}, "
            f"header = {self.header}, delim = {_quoted(self.delimiter)}, nullstr = '', "
            f"quote = {_quoted(self.quote)}, escape = {_quoted(self.quote)}, new_line = '\\n', "
            "comment = '', encoding = 'utf-8', compression = 'none', hive_partitioning = false, "
            # without threads, DuckDB 1.5 drops the rest of a file after an open quote
            "parallel = true, strict_mode = true, null_padding = false, ignore_errors = false, "
            f"max_line_size = {_LONGEST_LINE}, buffer_size = {_BUFFER})"
        )
        parts = [part for part in self.keys(seen.columns) if part not in seen.columns]
        dates = [name for part in parts if (name := date_column(part))]
        numbers = [*values, *(name for part in parts if (name := number_column(part)))]
        types = {**dict.fromkeys(numbers, "DOUBLE"), **dict.fromkeys(dates, "DATE")}
        for column, kind in types.items():
            if column in seen.columns:
                quoted = '"' + column.replace('"', '""') + '"'
                seen = seen.project(f"* REPLACE (TRY_CAST({quoted} AS {kind}) AS {quoted})")
        return seen

    def _columns(self) -> list[str]:
        """The names in the first line; without a header, 1, 2, 3, ..."""
        usual = csv.field_size_limit(_LONGEST_LINE)
        try:
            # later bytes that are not UTF-8 are reported by DuckDB, with their line
            with self.path.open(encoding="utf-8-sig", errors="replace") as file:
                rows = csv.reader(file, delimiter=self.delimiter, quotechar=self.quote, strict=True)
                first = next(iter(rows) if self.header else filter(None, rows), [])
        except csv.Error:
            raise InvalidParameter("data", f"{self.path.name}, line 1", self._allowed()) from None
        finally:
            csv.field_size_limit(usual)
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


def date_column(part: str) -> str:
    """The column of dates of a part of a key, such as date of month:date; empty if it is none."""
    period, _, column = part.partition(":")
    return column if period in ("day", "week", "month", "year") else ""


def number_column(part: str) -> str:
    """The column of numbers of a part of a key, such as age of age:0..18..65; empty if it is
    none."""
    column, _, edges = part.rpartition(":")
    return column if ".." in edges else ""


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


@contextmanager
def _with_line_feeds(path: Path) -> Iterator[Path]:
    """A file whose lines end with LF: the file itself, or else a temporary copy, where each CR LF
    and each other CR is LF, also between quotes. So no line decides how others are read."""
    with path.open("rb") as file:
        unchanged = not any(b"\r" in part for part in iter(lambda: file.read(_BUFFER), b""))
    if unchanged:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="exactdp-") as folder:
        copy = Path(folder, "rows.csv")
        # every byte is a character of Latin-1
        with (
            path.open(encoding="latin-1") as file,
            copy.open("w", encoding="latin-1", newline="\n") as to,
        ):
            shutil.copyfileobj(file, to, _BUFFER)
        yield copy


def _pattern(path: Path) -> str:
    """The name of one file, even if it contains characters of glob patterns."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _quoted(text: str) -> str:
    """A text as an SQL literal or identifier."""
    return "'" + text.replace("'", "''") + "'"
