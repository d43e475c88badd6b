"""Columns of nested outputs: what lies at the end of a path, and the words of texts there."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events.outputs import Outputs, numeric, objects
from exactdp.audit.events.trees import Path

__all__ = [
    "character",
    "count_numbers",
    "leaf",
    "leaf_number",
    "text_length",
    "text_number",
    "word",
    "words",
]

Column = NDArray[Any]

_DIGITS = 4000  # the most that are read as an exact integer
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def leaf(outputs: Outputs, path: Path) -> Column:
    """The value at the end of a path; None where the path leads nowhere."""
    return objects(tree.at(path) for tree in outputs.trees)


def leaf_number(outputs: Outputs, path: Path) -> Column:
    """The same as a number; NaN for what is none."""
    return numeric([tree.at(path) for tree in outputs.trees])


def word(outputs: Outputs, path: Path, wanted: str) -> Column:
    """1 where the text at a path has the word, else 0."""
    return np.array([wanted in words(tree.at(path)) for tree in outputs.trees], dtype=np.int64)


def text_number(outputs: Outputs, path: Path, i: int) -> Column:
    """The i-th number in the text at a path, or NaN; whole ones are exact."""
    return numeric([_number(tree.at(path), i) for tree in outputs.trees])


def character(outputs: Outputs, path: Path, i: int) -> Column:
    """The i-th character of the text at a path, from its end for i < 0; "" where it has none."""
    texts = (tree.at(path) for tree in outputs.trees)
    return objects(
        one[i] if isinstance(one, str) and -len(one) <= i < len(one) else "" for one in texts
    )


def text_length(outputs: Outputs, path: Path) -> Column:
    """The length of the text, bytes, tuple or set at a path; -1 for what has none."""
    found = (tree.at(path) for tree in outputs.trees)
    return np.array(
        [len(one) if isinstance(one, (str, bytes, tuple, frozenset)) else -1 for one in found]
    )


def words(value: Any) -> frozenset[str]:
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
