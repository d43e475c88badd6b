"""Columns of outputs that are vectors: coordinates, and functions of several coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import (
    Outputs,
    as_floats,
    kind,
    numeric,
    objects,
)

__all__ = [
    "ORDERED",
    "SIGNED",
    "TIED",
    "added",
    "argmax",
    "argmin",
    "coordinate",
    "count",
    "difference",
    "first",
    "largest",
    "length",
    "norm",
    "order",
    "ratio",
    "signs",
    "smallest",
    "spread",
    "ties",
    "total",
]

Column = NDArray[Any]

#: Coordinates whose order, signs and ties are looked at: 12 digits of base 12, 24 of base 4 and
#: the 28 bits of pairs of 8 coordinates fit into 64 bits.
ORDERED, SIGNED, TIED = 12, 24, 8


def coordinate(outputs: Outputs, i: int) -> Column:
    if outputs.matrix is not None:
        if i >= outputs.matrix.shape[1]:
            return np.full(outputs.n, np.nan)
        return _whole_numbers(outputs.matrix[:, i])
    return numeric([row[i] if i < len(row) else None for row in outputs.rows])


def _whole_numbers(values: Column) -> Column:
    """Booleans and unsigned integers as signed ones, so that comparisons stay exact."""
    if values.dtype == np.uint64 and len(values) and int(values.max()) >= 2**63:
        return objects(values.tolist())
    return values.astype(np.int64) if values.dtype.kind in "bu" else values


def _both(outputs: Outputs, i: int, j: int) -> tuple[Column, Column]:
    """Two coordinates whose sums are exact where both are whole numbers: wide ones as objects."""
    pair = coordinate(outputs, i), coordinate(outputs, j)
    if all(one.dtype.kind == "i" and _narrow(one) for one in pair):
        return pair[0].astype(np.int64), pair[1].astype(np.int64)
    if any(one.dtype == object or (one.dtype.kind == "i" and not _narrow(one)) for one in pair):
        return pair[0].astype(object), pair[1].astype(object)
    return as_floats(pair[0]), as_floats(pair[1])


def _narrow(values: Column) -> bool:
    return not len(values) or max(abs(int(values.min())), abs(int(values.max()))) < 2**52


def difference(outputs: Outputs, i: int, j: int) -> Column:
    a, b = _both(outputs, i, j)
    return np.asarray(a - b)


def added(outputs: Outputs, i: int, j: int) -> Column:
    a, b = _both(outputs, i, j)
    return np.asarray(a + b)


def ratio(outputs: Outputs, i: int, j: int) -> Column:
    a, b = map(as_floats, _both(outputs, i, j))
    return np.asarray(np.divide(a, b, out=np.full(outputs.n, np.nan), where=b != 0, dtype=float))


def _matrix(outputs: Outputs, width: int | None = None) -> NDArray[Any]:
    """The numbers of each output, NaN for others; cut or filled up to a width where one is given.

    Codes need a width, because that of a batch of tuples depends on its longest one.
    """
    values = outputs.numbers
    if width is None or values.shape[1] == width:
        return values
    values = values[:, :width].astype(float)
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)


def total(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(_matrix(outputs).astype(float), axis=1))


def largest(outputs: Outputs) -> Column:
    return np.asarray(_padded(outputs).max(axis=1))


def smallest(outputs: Outputs) -> Column:
    return np.asarray(-_padded(outputs, -1.0).max(axis=1))


def _padded(outputs: Outputs, sign: float = 1.0) -> NDArray[Any]:
    """Numbers with a column of -infinity, so that a row without numbers has a maximum."""
    matrix = sign * _matrix(outputs).astype(float)
    matrix = np.concatenate([matrix, np.full((outputs.n, 1), -np.inf)], axis=1)
    return np.where(np.isnan(matrix), -np.inf, matrix)


def spread(outputs: Outputs) -> Column:
    return largest(outputs) - smallest(outputs)


def norm(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(_matrix(outputs).astype(float) ** 2, axis=1))


def argmax(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs), axis=1))


def argmin(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs, -1.0), axis=1))


def order(outputs: Outputs) -> Column:
    """The permutation that sorts the first twelve coordinates, as one number."""
    ranks = np.argsort(_matrix(outputs, ORDERED).astype(float), axis=1, kind="stable")
    return _code(ranks, ORDERED)


def signs(outputs: Outputs) -> Column:
    """The signs of the first 24 coordinates, as one number."""
    signs = np.nan_to_num(np.sign(_matrix(outputs, SIGNED).astype(float)), nan=2.0)
    return _code(signs.astype(np.int64) + 1, 4)


def ties(outputs: Outputs) -> Column:
    """Which pairs of the first eight coordinates are equal, as one number."""
    matrix = _matrix(outputs, TIED)
    pairs = [matrix[:, i] == matrix[:, j] for i in range(TIED) for j in range(i)]
    return _code(np.array(pairs, dtype=np.int64).T, 2)


def _code(digits: NDArray[Any], base: int) -> Column:
    """Digits as one number; descriptions.py reads them again."""
    total = np.zeros(len(digits), dtype=np.int64)
    for j in range(digits.shape[1]):
        total = total * base + digits[:, j]
    return total


def count(outputs: Outputs, what: str) -> Column:
    return np.array([sum(kind(value) == what for value in row) for row in outputs.rows])


def first(outputs: Outputs, what: str) -> Column:
    """The index of the first coordinate of this kind; the number of coordinates where none is."""
    matrix = outputs.matrix
    if matrix is None:
        return np.array([_index(row, what) for row in outputs.rows])
    if matrix.dtype == bool:
        same = matrix == (what == "true") if what in ("true", "false") else matrix & False
    elif what in ("number", "nan"):
        same = np.isnan(matrix.astype(float)) == (what == "nan")
    else:
        same = np.zeros(matrix.shape, dtype=bool)
    return _first_where(same)


def _first_where(mask: NDArray[Any]) -> Column:
    return np.asarray(
        np.argmax(np.concatenate([mask, np.ones((len(mask), 1), dtype=bool)], axis=1), axis=1)
    )


def _index(row: tuple[Any, ...], what: str) -> int:
    return next((i for i, value in enumerate(row) if kind(value) == what), len(row))


def length(outputs: Outputs) -> Column:
    if outputs.matrix is not None:
        return np.full(outputs.n, outputs.matrix.shape[1])
    return np.array([len(entries) for entries in outputs.entries])
