"""Features that are functions of several coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import Column, Outputs, as_floats, kind, objects
from exactdp.audit.outputs.features import defined, listed
from exactdp.audit.outputs.places import number_at

__all__: list[str] = []

#: Coordinates whose order, signs and ties are looked at.
_ORDERED, _SIGNED, _TIED = 12, 24, 8
_SIGNS = {-1: "negative", 0: "zero", 1: "positive"}


@defined("difference", "coordinate {0} - coordinate {1}")
def _difference(outputs: Outputs, i: int, j: int) -> Column:
    return np.asarray(number_at(outputs, i) - number_at(outputs, j))


@defined("sum", "coordinate {0} + coordinate {1}")
def _sum(outputs: Outputs, i: int, j: int) -> Column:
    return np.asarray(number_at(outputs, i) + number_at(outputs, j))


@defined("ratio", "coordinate {0} / coordinate {1}")
def _ratio(outputs: Outputs, i: int, j: int) -> Column:
    a, b = (as_floats(number_at(outputs, k)) for k in (i, j))
    return np.where(b == 0, np.nan, a / b)


@defined("total", "total of the coordinates")
def _total(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(outputs.numbers.astype(float), axis=1))


@defined("norm", "sum of squares of the coordinates")
def _norm(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(outputs.numbers.astype(float) ** 2, axis=1))


def _padded(outputs: Outputs, sign: float = 1.0) -> NDArray[Any]:
    """Numbers with a column of -infinity, so that a row without numbers has a maximum."""
    matrix = sign * outputs.numbers.astype(float)
    matrix = np.concatenate([matrix, np.full((len(outputs), 1), -np.inf)], axis=1)
    return np.where(np.isnan(matrix), -np.inf, matrix)


@defined("largest", "largest coordinate")
def _largest(outputs: Outputs) -> Column:
    return np.asarray(_padded(outputs).max(axis=1))


@defined("smallest", "smallest coordinate")
def _smallest(outputs: Outputs) -> Column:
    return np.asarray(-_padded(outputs, -1.0).max(axis=1))


@defined("spread", "largest - smallest coordinate")
def _spread(outputs: Outputs) -> Column:
    return _largest(outputs) - _smallest(outputs)


@defined("argmax", "index of the largest coordinate", numeric=False)
def _argmax(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs), axis=1))


@defined("argmin", "index of the smallest coordinate", numeric=False)
def _argmin(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs, -1.0), axis=1))


def _rows(values: NDArray[Any]) -> Column:
    """The rows of an array of small numbers as tuples; equal ones are one object."""
    small = np.ascontiguousarray(values, dtype=np.int8)
    known: dict[bytes, tuple[int, ...]] = {}
    size = small.shape[1]
    joined = small.tobytes()
    return objects(
        known.get(row) or known.setdefault(row, tuple(np.frombuffer(row, np.int8).tolist()))
        for row in (joined[at : at + size] for at in range(0, len(joined), size))
    )


def _first(outputs: Outputs, most: int) -> NDArray[Any]:
    """The first coordinates as numbers, NaN for others and where there are fewer."""
    values = outputs.numbers[:, :most].astype(float)
    missing = most - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing)), constant_values=np.nan)


def _order_text(order: tuple[int, ...]) -> str:
    return ", ".join(map(str, order))


@defined("order", "coordinates from smallest to largest", numeric=False, value=_order_text)
def _order(outputs: Outputs) -> Column:
    """The permutation that sorts the first coordinates; those that an output lacks come last."""
    return _rows(np.argsort(_first(outputs, _ORDERED), axis=1, kind="stable"))


def _coordinates(at: list[int]) -> str:
    return f"coordinate{'s' if len(at) > 1 else ''} {', '.join(map(str, at))}"


def _signs_text(signs: tuple[int, ...]) -> str:
    by_sign: dict[int, list[int]] = {}
    for i, sign in enumerate(signs):
        by_sign.setdefault(sign, []).append(i)
    found = sorted(((at, s) for s, at in by_sign.items() if s in _SIGNS), key=lambda x: len(x[0]))
    if not found:
        return "undefined"
    *few, (_, most) = found
    told = [f"{_coordinates(at)} {_SIGNS[sign]}" for at, sign in few]
    return ", ".join([*told, f"{'the others' if few else 'all'} {_SIGNS[most]}"])


@defined("signs", "signs of the coordinates", numeric=False, value=_signs_text)
def _signs(outputs: Outputs) -> Column:
    """The signs of the first coordinates; 2 where there is no number."""
    return _rows(np.nan_to_num(np.sign(_first(outputs, _SIGNED)), nan=2))


def _ties_text(pairs: tuple[tuple[int, int], ...]) -> str:
    return listed([f"{i} = {j}" for i, j in pairs]) or "none"


@defined("ties", "equal coordinates", numeric=False, value=_ties_text)
def _ties(outputs: Outputs) -> Column:
    """The pairs of equal coordinates among the first ones."""
    values = _first(outputs, _TIED)
    pairs = [(i, j) for j in range(_TIED) for i in range(j)]
    equal = _rows(np.stack([values[:, i] == values[:, j] for i, j in pairs], axis=1))
    return objects(
        tuple(pair for pair, yes in zip(pairs, row, strict=True) if yes) for row in equal
    )


@defined("count", "number of {0} coordinates")
def _count(outputs: Outputs, what: str) -> Column:
    return np.array([sum(kind(value) == what for value in row) for row in outputs.entries])


@defined("first", "index of the first {0}")
def _first_of(outputs: Outputs, what: str) -> Column:
    """The index of the first coordinate of this kind; the number of coordinates where none is."""
    matrix = outputs.matrix
    if matrix is None or matrix.dtype != bool or what not in ("true", "false"):
        return np.array([_index(map(kind, row), what, len(row)) for row in outputs.entries])
    same = np.concatenate(
        [matrix == (what == "true"), np.ones((len(outputs), 1), dtype=bool)], axis=1
    )
    return np.asarray(np.argmax(same, axis=1))


def _index(kinds: Iterable[str], what: str, otherwise: int) -> int:
    return next((i for i, one in enumerate(kinds) if one == what), otherwise)
