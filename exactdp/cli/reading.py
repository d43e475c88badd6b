"""Reading input files; every malformed file is refused with one line."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from exactdp.errors import Described, InvalidParameter


def existing(name: str, parameter: str = "file") -> Path:
    """The path of an existing file; raises InvalidParameter."""
    path = Path(name)
    if "\0" in name or not path.is_file():
        raise InvalidParameter(parameter, name, "a file that exists")
    return path


def counts_in(path: Path) -> list[tuple[str, str]]:
    """The (element, count) rows of a CSV file after its header; refuses repeated elements."""
    rows: dict[str, str] = {}
    for element, count in table_in(path, ("element", "count")):
        if element in rows:
            raise InvalidParameter("element", element, "listed once")
        rows[element] = count
    return list(rows.items())


def table_in(path: Path, header: tuple[str, ...]) -> Iterator[list[str]]:
    """The rows of a CSV file that starts with this header; all rows have the header's length."""
    lines = _lines(path)
    first = next(lines, (0, []))[1]
    if [cell.strip().lower() for cell in first] != list(header):
        allowed = f"a CSV file with the header {','.join(header)}"
        raise InvalidParameter("file", path.name, allowed)
    for number, row in lines:
        if len(row) != len(header):
            place = f"line {number} of {path.name}"
            raise InvalidParameter(place, len(row), f"{len(header)} cells")
        yield row


def text_in(path: Path) -> str:
    """The whole of a text file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _no_utf8(path) from None


def listed(path: Path) -> set[str]:
    """The first cells of a CSV file: a public list of elements, one per line, without a header."""
    return {cell for (cell,) in listed_rows(path, 1)}


def listed_rows(path: Path, width: int) -> list[list[str]]:
    """The first `width` cells of every line of a CSV file without a header."""
    rows = []
    for number, row in _lines(path):
        if row and len(row) < width:
            raise InvalidParameter(f"line {number} of {path.name}", len(row), f"{width} cells")
        rows.append(row[:width])
    return [row for row in rows if row]


def column(path: Path) -> list[str]:
    """The first cells of a CSV file without a header, in order, with repetitions."""
    return [cell for (cell,) in listed_rows(path, 1)]


def standard_input() -> Iterator[str]:
    """The lines of standard input."""
    try:
        yield from sys.stdin
    except UnicodeDecodeError:
        raise InvalidParameter("standard input", Described("invalid bytes"), "UTF-8 text") from None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    # utf-8-sig: spreadsheets write a byte order mark
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:
            place = f"line {rows.line_num} of {path.name} ({error})"
            raise InvalidParameter("file", place, "CSV text") from None
        except UnicodeDecodeError:
            raise _no_utf8(path) from None


def _no_utf8(path: Path) -> InvalidParameter:
    return InvalidParameter("file", Described(f"invalid bytes in {path.name}"), "UTF-8 text")
