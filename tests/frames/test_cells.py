"""How a cell of Python objects is read does not depend on the other cells of the column."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from itertools import product
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from exactdp import InvalidParameter, frames
from exactdp.frames.in_memory import _texts


class _Words(StrEnum):
    HOME = "/home"


class _Numbers(IntEnum):
    SEVEN = 7


#: Name -> (cell, the text that the cell is, or None if the cell is missing)
CELLS: dict[str, tuple[Any, str | None]] = {
    "str": ("/home", "/home"),
    "empty str": ("", ""),
    "str beyond ASCII": ("日本", "日本"),
    "numpy.str_": (np.str_("/home"), "/home"),
    "StrEnum": (_Words.HOME, "/home"),
    "surrogate": ("\ud800", None),
    "bytes": (b"/home", "/home"),
    "numpy.bytes_": (np.bytes_(b"/home"), "/home"),
    "bytes, not UTF-8": (b"\xff", None),
    "bytearray": (bytearray(b"/home"), None),
    "memoryview": (memoryview(b"/home"), None),
    "int": (5, "5"),
    "large int": (10**30, str(10**30)),
    "int of many digits": (10**5000, None),
    "bool": (True, "1"),
    "IntEnum": (_Numbers.SEVEN, "7"),
    "numpy.int64": (np.int64(5), "5"),
    "numpy.uint8": (np.uint8(5), "5"),
    "numpy.bool": (np.bool_(True), None),
    "numpy.timedelta64": (np.timedelta64(5, "ns"), None),
    "numpy.timedelta64, seconds": (np.timedelta64(5, "s"), None),
    "numpy.datetime64": (np.datetime64("2013-01-01"), None),
    "date": (date(2013, 1, 2), "2013-01-02"),
    "datetime": (datetime(2013, 1, 2, tzinfo=UTC), None),
    "pandas.Timestamp": (pd.Timestamp("2013-01-02"), None),
    "pandas.Timedelta": (pd.Timedelta(5), None),
    "time": (time(1), None),
    "timedelta": (timedelta(1), None),
    "float": (1.5, None),
    "NaN": (float("nan"), None),
    "numpy.float64": (np.float64(1), None),
    "Decimal": (Decimal(5), None),
    "Fraction": (Fraction(5), None),
    "complex": (5 + 0j, None),
    "None": (None, None),
    "pandas.NA": (pd.NA, None),
    "pandas.NaT": (pd.NaT, None),
    "UUID": (UUID(int=5), None),
    "path": (PurePosixPath("/home"), None),
    "tuple": (("a",), None),
    "pyarrow text": (pa.scalar("/home"), None),
    "pyarrow integer": (pa.scalar(5), None),
}


def column(cells: list[Any]) -> Any:
    held = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        held[place] = cell
    return pd.Series(held, dtype=object)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_read_alike_beside_any_other_cell(name: str) -> None:
    cell, text = CELLS[name]
    assert _texts(pa, column([cell])).to_pylist() == [text]
    assert _texts(pa, column([cell] * 3)).to_pylist() == [text] * 3
    for other, beside in CELLS.values():
        assert _texts(pa, column([cell, other])).to_pylist() == [text, beside]


#: Alone, a kind of cells that a library may read as one type
_KINDS = [
    "str",
    "bytes",
    "bytearray",
    "memoryview",
    "numpy.timedelta64, seconds",
    "datetime",
    "date",
]


@pytest.mark.few(9)  # each kind in one piece, and all kinds in three, which is slower
@pytest.mark.parametrize(
    ("name", "pieces"), [("all", 0), ("all", 3), *product(_KINDS, [0]), *product(_KINDS, [3])]
)
def test_counts_do_not_depend_on_a_foreign_cell(name: str, pieces: int) -> None:
    """Exact counts of keys, and of the users' rows, with a row of another user and without."""
    kinds = list(CELLS.values()) if name == "all" else [CELLS[name]] * 4
    for more in ([], [CELLS["int"]], [CELLS["bytes, not UTF-8"]]):
        cells, texts = zip(*kinds, *more, strict=True)
        others = column([f"u{i}" for i in range(len(cells))])
        frame = pd.DataFrame({"user": others, "page": column(list(cells))})
        keys = Counter(text for text in texts if text is not None)
        assert _counts(frame, "user", "page", pieces) == keys
        users = {u: 1 for u, text in zip(others, texts, strict=True) if text is not None}
        assert _counts(frame, "page", "user", pieces) == users


def _counts(frame: Any, user: str, by: str, pieces: int) -> Any:
    with dask.config.set({"dataframe.convert-string": False}):
        whole = frame
        if pieces:
            whole = dd.from_pandas(frame, npartitions=pieces)  # type: ignore[no-untyped-call]
        return frames.count_users(whole, user=user, by=by).counts


@pytest.mark.parametrize("name", CELLS)
def test_values_are_never_read_from_objects(name: str) -> None:
    """Not even if all cells are integers, which a row would change."""
    (cell, _), sums = CELLS[name], {"value": frames.Sum(-5, 5, of="sums")}
    for cells in ([cell] * 3, [cell, 5, 5]):
        frame = pd.DataFrame({"user": ["a", "b", "c"], "page": "x", "value": column(cells)})
        with pytest.raises(InvalidParameter, match=r"^sums must be a column of numbers"):
            frames.count_users(frame, user="user", by="page", sums=sums)


@pytest.mark.parametrize("kind", ["category", "string[python]", "string[pyarrow]", "str"])
def test_types_of_text_are_read_as_objects_are(kind: str) -> None:
    cells = ["/home", "", "日本", None, "/home"]
    assert _texts(pa, column(cells).astype(kind)).to_pylist() == cells


def test_categories_are_read_by_their_own_types() -> None:
    kind = pd.CategoricalDtype(["a", b"b", 5, 1.5, date(2013, 1, 2)])
    cells = pd.Series(["a", b"b", 5, 1.5, date(2013, 1, 2), None]).astype(kind)
    assert _texts(pa, cells).to_pylist() == ["a", "b", "5", None, "2013-01-02", None]


#: (cell, the day that the cell is, or None if the cell is missing)
DAYS: list[tuple[Any, date | None]] = [
    (date(9999, 12, 31), date(9999, 12, 31)),
    (pd.Timestamp("2013-01-31T23:59:59.999999999"), date(2013, 1, 31)),
    (datetime(2013, 1, 31, tzinfo=UTC), None),
    (pd.NaT, None),
    (pd.Timestamp(np.datetime64("20000-01-01", "s")), None),
    (pd.Timestamp(np.datetime64("-5000-01-01", "s")), None),
    ("2013-01-31", date(2013, 1, 31)),
    ("2013-W05-4", None),
    ("20130131", None),
    ("0000-01-01", None),
    (20130131, None),
]


@pytest.mark.parametrize(("cell", "day"), DAYS)
def test_a_cell_is_a_day_or_missing(cell: Any, day: date | None) -> None:
    """No cell refuses a release: pandas has times whose year no date of Python has."""
    frame = pd.DataFrame({"uid": [1, 2], "at": pd.Series([cell, date(2020, 1, 1)], dtype=object)})
    counts = frames.count_users(frame, user="uid", by="day:at").counts
    assert counts == {date(2020, 1, 1): 1} | ({day: 1} if day else {})
