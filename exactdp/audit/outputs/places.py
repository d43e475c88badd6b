"""Features of what lies at one place of an output: a coordinate, a key, the end of a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Column, Outputs, Path, exact, kind, numeric, objects
from exactdp.audit.outputs.features import column, define, listed
from exactdp.audit.values import Table, common

_BYTES = 256  # of a byte string; each is looked at by itself
_DIGITS = 4000  # longest text that is read as an exact integer: Python refuses longer ones
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ABSENT = object()


def paths(item: Any, most: int) -> Iterator[Path]:
    """The paths into a common value, about `most` of them: outer ones before inner ones."""
    waiting: list[tuple[Path, Any]] = [((), item)]
    for path, one in waiting:
        yield path
        if len(waiting) < most:
            waiting += [((*path, step), inner) for step, inner in _inside(one)]


def _inside(value: Any) -> Iterator[tuple[Any, Any]]:
    if type(value) is Table:
        yield from value.items()
    elif type(value) in (tuple, bytes):
        yield from enumerate(value if type(value) is tuple else value[:_BYTES])


def _place(*path: Any) -> str:
    if not path:
        return "the output"
    if len(path) > 1:
        return "value at " + "".join(f"[{step!r}]" for step in path)
    (step,) = path
    return f"coordinate {step}" if type(step) is int else f"value at key {step!r}"


def number_at(outputs: Outputs, *path: Any) -> Column:
    """The number at the end of a path; NaN where there is none."""
    matrix = outputs.matrix
    if matrix is None or len(path) > 1:
        return numeric(outputs.at(path))
    i = path[0] if path else 0
    if type(i) is not int or not 0 <= i < matrix.shape[1]:
        return np.full(len(outputs), np.nan)
    return exact(matrix[:, i])


def _number(value: Any, i: int) -> int | float | None:
    numbers = _NUMBER.findall(value) if isinstance(value, str) else []
    if i >= len(numbers):
        return None
    whole = len(numbers[i]) < _DIGITS and numbers[i].lstrip("+-").isdecimal()
    return int(numbers[i]) if whole else float(numbers[i])


def words_of(value: Any) -> frozenset[str]:
    """The words of a text; none for other values."""
    return frozenset(_WORD.findall(value)) if isinstance(value, str) else frozenset()


def count_numbers(text: str) -> int:
    """How many numbers a text has."""
    return len(_NUMBER.findall(text))


def _character(value: Any, i: int) -> str:
    """The i-th character of a text, from its end for i < 0; "" where it has none."""
    return value[i] if isinstance(value, str) and -len(value) <= i < len(value) else ""


def _length(value: Any) -> int:
    """The length of a text, bytes, tuple or table; -1 for what has none."""
    return len(value) if isinstance(value, (str, bytes, tuple, Table)) else -1


def _keys(outputs: Outputs) -> list[Table]:
    """The keys of each output, as a set; none for what is no table."""
    return [Table(dict.fromkeys(x if type(x) is Table else (), True)) for x in outputs.items]


def _foreign_keys(outputs: Outputs, *known: Any) -> Column:
    keys = set(known)
    return np.array([len(x.keys() - keys) if type(x) is Table else 0 for x in outputs.items])


define("value", _place, lambda outputs, *path: objects(outputs.at(path)), numeric=False)
define("number", _place, number_at)
define(
    "has",
    lambda *path: f"whether {_place(*path).removeprefix('value at ')} is present",
    lambda outputs, *path: np.array([x is not _ABSENT for x in outputs.at(path, _ABSENT)]) + 0,
)
define(
    "length",
    "length of {0}",
    lambda outputs, base: np.array([_length(x) for x in column(outputs, base)]),
)
define(
    "word",
    "whether {0} has the word {1}",
    lambda outputs, base, word: np.array([word in words_of(x) for x in column(outputs, base)]) + 0,
)
define(
    "character",
    "character {1} of {0}",
    lambda outputs, base, i: objects(_character(x, i) for x in column(outputs, base)),
    numeric=False,
)
define(
    "number in text",
    "number {1} in {0}",
    lambda outputs, base, i: numeric([_number(x, i) for x in column(outputs, base)]),
)
define("types", "types", lambda outputs: objects(outputs.types), numeric=False)
define(
    "keys",
    "set of keys",
    lambda outputs: objects(_keys(outputs)),
    numeric=False,
    value=lambda keys: listed([*map(repr, keys)]) or "none",
)
define(
    "key order",
    "order of the keys",
    lambda outputs: objects(common([*x]) if isinstance(x, dict) else () for x in outputs.raw),
    numeric=False,
)
define(
    "foreign keys",
    lambda *known: f"number of keys that are not among {listed([*map(repr, known)])}",
    _foreign_keys,
)
define(
    "prefix",
    "first {0} coordinates",
    lambda outputs, length: objects(row[:length] for row in outputs.entries),
    numeric=False,
)
define(
    "kinds",
    "kinds of the coordinates",
    lambda outputs: objects(tuple(map(kind, row)) for row in outputs.entries),
    numeric=False,
)
