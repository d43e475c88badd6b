"""Features of what lies at one place of an output: a coordinate, a key, the end of a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Column, Outputs, Path, exact, kind, numeric, objects
from exactdp.audit.outputs.features import Feature, column, defined
from exactdp.audit.outputs.values import Table, common

__all__ = ["count_numbers", "paths", "words_of"]

_BYTES = 256  # of a byte string; each is looked at by itself
_DIGITS = 4000  # longest text that is read as an exact integer: Python refuses longer ones
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_MISSING = object()


def paths(item: Any, most: int) -> Iterator[Path]:
    """The paths into a common value, about so many at most: outer ones before inner ones."""
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


def _presence(*path: Any) -> str:
    return "presence of " + _place(*path).removeprefix("value at ")


@defined("value", _place, numeric=False)
def _value(outputs: Outputs, *path: Any) -> Column:
    """The value at the end of a path; None where the path leads nowhere."""
    return objects(outputs.at(path))


@defined("number", _place)
def number_at(outputs: Outputs, *path: Any) -> Column:
    """The number at the end of a path; NaN where there is none."""
    matrix = outputs.matrix
    if matrix is None or len(path) > 1:
        return numeric(outputs.at(path))
    i = path[0] if path else 0
    if type(i) is not int or not 0 <= i < matrix.shape[1]:
        return np.full(len(outputs), np.nan)
    return exact(matrix[:, i])


@defined("has", _presence)
def _has(outputs: Outputs, *path: Any) -> Column:
    return np.array([one is not _MISSING for one in outputs.at(path, _MISSING)], dtype=np.int64)


@defined("length", "length of {0}")
def _length(outputs: Outputs, base: Feature) -> Column:
    """The length of a text, bytes, tuple or table; -1 for what has none."""
    sized = (str, bytes, tuple, Table)
    return np.array([len(one) if isinstance(one, sized) else -1 for one in column(outputs, base)])


@defined("word", "presence of the word {1} in {0}")
def _word(outputs: Outputs, base: Feature, wanted: str) -> Column:
    return np.array([wanted in words_of(one) for one in column(outputs, base)], dtype=np.int64)


@defined("character", "character {1} of {0}", numeric=False)
def _character(outputs: Outputs, base: Feature, i: int) -> Column:
    """The i-th character of a text, from its end for i < 0; "" where it has none."""
    return objects(
        one[i] if isinstance(one, str) and -len(one) <= i < len(one) else ""
        for one in column(outputs, base)
    )


@defined("number in text", "number {1} in {0}")
def _number_in_text(outputs: Outputs, base: Feature, i: int) -> Column:
    """The i-th number in a text, or NaN; integers are exact."""
    return numeric([_number(one, i) for one in column(outputs, base)])


def _number(value: Any, i: int) -> int | float | None:
    found = _NUMBER.findall(value) if isinstance(value, str) else []
    if i >= len(found):
        return None
    whole = len(found[i]) < _DIGITS and found[i].lstrip("+-").isdecimal()
    return int(found[i]) if whole else float(found[i])


def words_of(value: Any) -> frozenset[str]:
    """The words of a text; none for other values."""
    return frozenset(_WORD.findall(value)) if isinstance(value, str) else frozenset()


def count_numbers(text: str) -> int:
    """How many numbers a text has."""
    return len(_NUMBER.findall(text))


@defined("types", "types", numeric=False)
def _types(outputs: Outputs) -> Column:
    return objects(outputs.types)


@defined("keys", "set of keys", numeric=False)
def _keys(outputs: Outputs) -> Column:
    return objects(
        Table.fromkeys(item, True) if type(item) is Table else () for item in outputs.items
    )


@defined("key order", "order of the keys", numeric=False)
def _key_order(outputs: Outputs) -> Column:
    """The keys of each dictionary in its own order; none for other outputs."""
    return objects(common(tuple(one)) if isinstance(one, dict) else () for one in outputs.raw)


@defined("foreign keys", lambda *known: f"number of keys that are not among {known}")
def _foreign_keys(outputs: Outputs, *known: Any) -> Column:
    keys = set(known)
    return np.array(
        [len(item.keys() - keys) if type(item) is Table else 0 for item in outputs.items]
    )


@defined("prefix", "first {0} coordinates", numeric=False)
def _prefix(outputs: Outputs, length: int) -> Column:
    return objects(row[:length] for row in outputs.entries)


@defined("kinds", "kinds of the coordinates", numeric=False)
def _kinds(outputs: Outputs) -> Column:
    return objects(tuple(map(kind, row)) for row in outputs.entries)
