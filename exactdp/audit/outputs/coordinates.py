"""Features that are functions of several coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Column, Outputs, as_floats, kind, objects
from exactdp.audit.outputs.features import define, listed
from exactdp.audit.outputs.places import number_at

#: Coordinates whose order, signs and ties are looked at.
_ORDERED, _SIGNED, _TIED = 12, 24, 8
_PAIRS = [(i, j) for j in range(_TIED) for i in range(j)]
_SIGNS = {-1: "negative", 0: "zero", 1: "positive"}


def _ratio(outputs: Outputs, i: int, j: int) -> Column:
    a, b = (as_floats(number_at(outputs, k)) for k in (i, j))
    return np.where(b == 0, np.nan, a / b)


def _floats(outputs: Outputs) -> NDArray[np.float64]:
    return outputs.numbers.astype(np.float64)


def _padded(outputs: Outputs, end: float) -> NDArray[np.float64]:
    """Numbers with a column of infinities, so that a row without numbers has a maximum."""
    matrix = np.concatenate([_floats(outputs), np.full((len(outputs), 1), end)], axis=1)
    return np.where(np.isnan(matrix), end, matrix)


def _most(outputs: Outputs) -> Column:
    return np.asarray(_padded(outputs, -np.inf).max(axis=1))


def _least(outputs: Outputs) -> Column:
    return np.asarray(_padded(outputs, np.inf).min(axis=1))


def _rows(values: NDArray[Any]) -> Column:
    """The rows of an array of small numbers as tuples; equal ones are one object."""
    joined, size = np.ascontiguousarray(values, dtype=np.int8).tobytes(), values.shape[1]
    known: dict[bytes, tuple[int, ...]] = {}
    return objects(
        known.get(row) or known.setdefault(row, tuple(np.frombuffer(row, np.int8).tolist()))
        for row in (joined[at : at + size] for at in range(0, len(joined), size))
    )


def _first(outputs: Outputs, most: int) -> NDArray[np.float64]:
    """The first coordinates as numbers, NaN for others and where there are fewer."""
    values = _floats(outputs)[:, :most]
    return np.pad(values, ((0, 0), (0, most - values.shape[1])), constant_values=np.nan)


def _order(outputs: Outputs) -> Column:
    """The permutation that sorts the first coordinates; those that an output lacks come last."""
    return _rows(np.argsort(_first(outputs, _ORDERED), axis=1, kind="stable"))


def _signs(outputs: Outputs) -> Column:
    """The signs of the first coordinates; 2 where there is no number."""
    return _rows(np.nan_to_num(np.sign(_first(outputs, _SIGNED)), nan=2))


def _ties(outputs: Outputs) -> Column:
    """The pairs of equal coordinates among the first ones."""
    values = _first(outputs, _TIED)
    equal = _rows(np.stack([values[:, i] == values[:, j] for i, j in _PAIRS], axis=1))
    return objects(tuple(p for p, yes in zip(_PAIRS, row, strict=True) if yes) for row in equal)


def _signs_text(signs: tuple[int, ...]) -> str:
    groups = [([i for i, x in enumerate(signs) if x == s], word) for s, word in _SIGNS.items()]
    groups = sorted((one for one in groups if one[0]), key=lambda one: (len(one[0]), one[0]))
    if not groups:
        return "undefined"
    *few, (_, most) = groups
    parts = [
        f"coordinate{'s' if len(at) > 1 else ''} {', '.join(map(str, at))} {word}"
        for at, word in few
    ]
    return ", ".join([*parts, f"{'the others' if few else 'all'} {most}"])


def _first_of(outputs: Outputs, what: str) -> Column:
    """The index of the first coordinate of this kind; the number of coordinates where none is."""
    kinds = ([*map(kind, row)] for row in outputs.entries)
    return np.array([row.index(what) if what in row else len(row) for row in kinds])


define(
    "difference",
    "coordinate {0} - coordinate {1}",
    lambda outputs, i, j: number_at(outputs, i) - number_at(outputs, j),
)
define(
    "sum",
    "coordinate {0} + coordinate {1}",
    lambda outputs, i, j: number_at(outputs, i) + number_at(outputs, j),
)
define("ratio", "coordinate {0} / coordinate {1}", _ratio)
define("total", "total of the coordinates", lambda o: np.nansum(_floats(o), axis=1))
define("norm", "sum of squares of the coordinates", lambda o: np.nansum(_floats(o) ** 2, axis=1))
define("largest", "largest coordinate", _most)
define("smallest", "smallest coordinate", _least)
define("spread", "largest - smallest coordinate", lambda outputs: _most(outputs) - _least(outputs))
define(
    "argmax",
    "index of the largest coordinate",
    lambda outputs: np.argmax(_padded(outputs, -np.inf), axis=1),
    numeric=False,
)
define(
    "argmin",
    "index of the smallest coordinate",
    lambda outputs: np.argmin(_padded(outputs, np.inf), axis=1),
    numeric=False,
)
define(
    "order",
    "coordinates from smallest to largest",
    _order,
    numeric=False,
    value=lambda order: ", ".join(map(str, order)),
)
define("signs", "signs of the coordinates", _signs, numeric=False, value=_signs_text)
define(
    "ties",
    "equal coordinates",
    _ties,
    numeric=False,
    value=lambda pairs: listed([f"{i} = {j}" for i, j in pairs]) or "none",
)
define(
    "count",
    "number of {0} coordinates",
    lambda outputs, what: np.array([[*map(kind, row)].count(what) for row in outputs.entries]),
)
define("first", "index of the first {0}", _first_of)
