"""Files that are read: whatever is in them, one line of complaint."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from exactdp.errors import InvalidParameter

__all__ = ["column", "counts_in", "existing", "listed"]


def existing(name: str, parameter: str = "file") -> Path:
    """The path of a file that is there."""
    path = Path(name)
    if "\0" in name or not path.is_file():
        raise InvalidParameter(parameter, name, "a file that exists")
    return path


def counts_in(path: Path) -> list[tuple[str, str]]:
    """The (element, count) rows of a CSV file, after its header; elements are listed once."""
    lines = _lines(path)
    header = next(lines, (0, []))[1]
    if [cell.strip().lower() for cell in header] != ["element", "count"]:
        raise InvalidParameter("counts", path.name, "a CSV file with the header element,count")
    rows: dict[str, str] = {}
    for number, row in lines:
        if len(row) != 2:
            raise InvalidParameter("counts", f"line {number} of {path.name}", "two cells per line")
        if row[0] in rows:
            raise InvalidParameter("element", row[0], "listed once")
        rows[row[0]] = row[1]
    return list(rows.items())


def listed(path: Path) -> set[str]:
    """The first cells of a CSV file: a public list of elements, one per line, without a header."""
    return {row[0] for _, row in _lines(path) if row}


def column(path: Path) -> list[str]:
    """The first cells of a CSV file without a header, in order, and repeated where they are."""
    return [row[0] for _, row in _lines(path) if row]


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    # utf-8-sig: spreadsheets write a byte order mark first
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:
            place = f"line {rows.line_num} of {path.name} ({error})"
            raise InvalidParameter("file", place, "CSV text") from None
        except UnicodeDecodeError:
            raise InvalidParameter("file", f"other bytes in {path.name}", "UTF-8 text") from None
