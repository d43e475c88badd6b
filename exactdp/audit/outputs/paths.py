"""Columns of outputs that contain other values: what lies at the end of a path inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Outputs, numeric, objects
from exactdp.audit.outputs.values import common, contents

__all__ = [
    "Path",
    "character",
    "count_numbers",
    "follow",
    "has_word",
    "length_inside",
    "number_in_text",
    "number_inside",
    "paths",
    "value_inside",
    "words_of",
]

Column = NDArray[Any]

#: Steps from a value to one inside it: an index into a sequence, bytes or an array, a key of a
#: dictionary, the name of a field, an element of a set.
Path = tuple[Any, ...]

_BYTES = 256  # of a byte string; each is looked at by itself
_DIGITS = 4000  # longest text that is read as an exact integer: Python refuses longer ones
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def follow(value: Any, path: Path) -> Any:
    """The common value at the end of a path; None where the path leads nowhere."""
    for step in path:
        kind = type(value)
        if kind in (tuple, list, bytes):
            if not isinstance(step, int) or not 0 <= step < len(value):
                return None
            value = value[step]
        elif kind is dict and step in value:
            value = value[step]
        else:
            inner = _inside(value)
            if step not in inner:
                return None
            value = inner[step]
    return common(value)


def paths(value: Any, most: int) -> Iterator[Path]:
    """The paths into a value, about so many at most: outer ones before inner ones."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    for path, one in waiting:
        yield path
        if len(waiting) < most:
            waiting += [((*path, step), inner) for step, inner in _inside(one).items()]


def _inside(value: Any) -> dict[Any, Any]:
    inner = list(value[:_BYTES]) if isinstance(value, bytes) else contents(value)
    return dict(enumerate(inner)) if isinstance(inner, list) else inner or {}


def _at(outputs: Outputs, path: Path) -> list[Any]:
    if not path:
        return outputs.items
    return [follow(one, path) for one in outputs.raw]


def value_inside(outputs: Outputs, path: Path) -> Column:
    """The value at the end of a path; None where the path leads nowhere."""
    return objects(_at(outputs, path))


def number_inside(outputs: Outputs, path: Path) -> Column:
    """The number at the end of a path; NaN where there is none."""
    return numeric(_at(outputs, path))


def has_word(outputs: Outputs, path: Path, wanted: str) -> Column:
    """1 where the text at a path has the word, else 0."""
    return np.array([wanted in words_of(one) for one in _at(outputs, path)], dtype=np.int64)


def number_in_text(outputs: Outputs, path: Path, i: int) -> Column:
    """The i-th number in the text at a path, or NaN; integers are exact."""
    return numeric([_number(one, i) for one in _at(outputs, path)])


def character(outputs: Outputs, path: Path, i: int) -> Column:
    """The i-th character of the text at a path, from its end for i < 0; "" where it has none."""
    return objects(
        one[i] if isinstance(one, str) and -len(one) <= i < len(one) else ""
        for one in _at(outputs, path)
    )


def length_inside(outputs: Outputs, path: Path) -> Column:
    """The length of the text, bytes, tuple or set at a path; -1 for what has none."""
    sized = (str, bytes, tuple, frozenset)
    return np.array([len(one) if isinstance(one, sized) else -1 for one in _at(outputs, path)])


def words_of(value: Any) -> frozenset[str]:
    """The words of a text; none for other values."""
    return frozenset(_WORD.findall(value)) if isinstance(value, str) else frozenset()


def count_numbers(text: str) -> int:
    """How many numbers a text has."""
    return len(_NUMBER.findall(text))


def _number(value: Any, i: int) -> int | float | None:
    found = _NUMBER.findall(value) if isinstance(value, str) else []
    if i >= len(found):
        return None
    whole = len(found[i]) < _DIGITS and found[i].lstrip("+-").isdecimal()
    return int(found[i]) if whole else float(found[i])
