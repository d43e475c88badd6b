"""What is looked at in an output: one column of numbers, or of values, per feature.

A feature is a tuple of a name and its arguments, so that it can be written down and read back.
Every column depends on each output alone, never on the batch it came in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events import floats
from exactdp.audit.events.outputs import Outputs, kind, number, objects
from exactdp.errors import InvalidParameter

__all__ = ["Feature", "column", "equal", "is_numeric"]

#: A name and its arguments: numbers, strings, None, tuples.
Feature = tuple[Any, ...]
Column = NDArray[Any]


def column(outputs: Outputs, feature: Feature) -> Column:
    """The feature of every output: an array of numbers, or an object array of hashable values."""
    name, *arguments = feature
    if name in _NUMBERS:
        return _NUMBERS[name](outputs, *arguments)
    if name in _VALUES:
        return _VALUES[name](outputs, *arguments)
    known = ", ".join([*_NUMBERS, *_VALUES])
    raise InvalidParameter("feature", name, f"one of {known}")


def is_numeric(feature: Feature) -> bool:
    """Whether the column holds numbers, so that thresholds make sense."""
    return feature[0] in _NUMBERS


def _coordinate(outputs: Outputs, i: int) -> Column:
    if outputs.matrix is not None:
        if i >= outputs.matrix.shape[1]:
            return np.full(outputs.n, np.nan)
        values = outputs.matrix[:, i]
        return values.astype(np.int64) if values.dtype == bool else values
    return np.array([number(row[i]) if i < len(row) else np.nan for row in outputs.rows])


def _both(outputs: Outputs, i: int, j: int) -> tuple[Column, Column]:
    return _coordinate(outputs, i), _coordinate(outputs, j)


def _difference(outputs: Outputs, i: int, j: int) -> Column:
    a, b = _both(outputs, i, j)
    return np.asarray(a.astype(float) - b.astype(float))


def _sum(outputs: Outputs, i: int, j: int) -> Column:
    a, b = _both(outputs, i, j)
    return np.asarray(a.astype(float) + b.astype(float))


def _ratio(outputs: Outputs, i: int, j: int) -> Column:
    a, b = _both(outputs, i, j)
    return np.asarray(np.divide(a, b, out=np.full(outputs.n, np.nan), where=b != 0, dtype=float))


def _matrix(outputs: Outputs, width: int | None = None) -> NDArray[Any]:
    """The numbers of each output, NaN for others; cut or filled up to a width where one is given.

    Codes need a width, because that of a batch of tuples depends on its longest one.
    """
    if outputs.matrix is not None:
        values = outputs.matrix
    else:
        rows = [[number(value) for value in row] for row in outputs.entries]
        most = max(map(len, rows), default=0)
        values = np.array([row + [np.nan] * (most - len(row)) for row in rows], dtype=float)
        values = values.reshape(outputs.n, most)
    if width is None or values.shape[1] == width:
        return values
    values = values[:, :width].astype(float)
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)


def _total(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(_matrix(outputs).astype(float), axis=1))


def _largest(outputs: Outputs) -> Column:
    return np.asarray(_padded(outputs).max(axis=1))


def _smallest(outputs: Outputs) -> Column:
    return np.asarray(-_padded(outputs, -1.0).max(axis=1))


def _padded(outputs: Outputs, sign: float = 1.0) -> NDArray[Any]:
    """Numbers with a column of -infinity, so that a row without numbers has a maximum."""
    matrix = sign * _matrix(outputs).astype(float)
    matrix = np.concatenate([matrix, np.full((outputs.n, 1), -np.inf)], axis=1)
    return np.where(np.isnan(matrix), -np.inf, matrix)


def _spread(outputs: Outputs) -> Column:
    return _largest(outputs) - _smallest(outputs)


def _norm(outputs: Outputs) -> Column:
    return np.asarray(np.nansum(_matrix(outputs).astype(float) ** 2, axis=1))


def _argmax(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs), axis=1))


def _argmin(outputs: Outputs) -> Column:
    return np.asarray(np.argmax(_padded(outputs, -1.0), axis=1))


def _order(outputs: Outputs) -> Column:
    """The permutation that sorts the first twelve coordinates, as one number."""
    return _code(np.argsort(_matrix(outputs, 12).astype(float), axis=1, kind="stable"), 12)


def _signs(outputs: Outputs) -> Column:
    """The signs of the first 24 coordinates, as one number."""
    signs = np.nan_to_num(np.sign(_matrix(outputs, 24).astype(float)), nan=2.0)
    return _code(signs.astype(np.int64) + 1, 4)


def _ties(outputs: Outputs) -> Column:
    """Which pairs of the first eight coordinates are equal, as one number."""
    matrix = _matrix(outputs, 8)
    pairs = [matrix[:, i] == matrix[:, j] for i in range(8) for j in range(i)]
    return _code(np.array(pairs, dtype=np.int64).T, 2)


def _code(digits: NDArray[Any], base: int) -> Column:
    total = np.zeros(len(digits), dtype=np.int64)
    for j in range(digits.shape[1]):
        total = total * base + digits[:, j]
    return total


def _count(outputs: Outputs, what: str) -> Column:
    return np.array([sum(kind(value) == what for value in row) for row in outputs.rows])


def _first(outputs: Outputs, what: str) -> Column:
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


def _length(outputs: Outputs) -> Column:
    if outputs.matrix is not None:
        return np.full(outputs.n, outputs.matrix.shape[1])
    return np.array([len(entries) for entries in outputs.entries])


def _has(outputs: Outputs, key: Any) -> Column:
    return np.array([key in table for table in outputs.tables], dtype=np.int64)


def _get(outputs: Outputs, key: Any) -> Column:
    return np.array([number(table.get(key)) for table in outputs.tables])


def _foreign_keys(outputs: Outputs, *known: Any) -> Column:
    keys = set(known)
    return np.array([sum(key not in keys for key in table) for table in outputs.tables])


def _combination(
    outputs: Outputs, columns: tuple[Feature, ...], weights: tuple[float, ...]
) -> Column:
    total = np.zeros(outputs.n)
    for feature, weight in zip(columns, weights, strict=True):
        total += weight * np.nan_to_num(
            column(outputs, feature).astype(float), nan=0.0, posinf=1e300
        )
    return total


def _is(outputs: Outputs, feature: Feature, value: Any) -> Column:
    return equal(column(outputs, feature), value).astype(np.int64)


def _power(outputs: Outputs, feature: Feature, exponent: int) -> Column:
    values: Column = column(outputs, feature).astype(float) ** exponent
    return values


def _absolute(outputs: Outputs, feature: Feature, centre: float) -> Column:
    return np.abs(column(outputs, feature).astype(float) - centre)


def _granularity(outputs: Outputs, feature: Feature, centre: float) -> Column:
    return floats.granularity(column(outputs, feature), centre)


def _low_bits(outputs: Outputs, feature: Feature, bits: int) -> Column:
    return floats.low_bits(column(outputs, feature), bits)


def _zero_bits(outputs: Outputs, feature: Feature) -> Column:
    return floats.trailing_zeros(column(outputs, feature))


def _reachable(
    outputs: Outputs, feature: Feature, recipe: str, centre: float, scale: float
) -> Column:
    return floats.reachable(column(outputs, feature), recipe, centre, scale)


def _residue(outputs: Outputs, feature: Feature, step: float) -> Column:
    return np.asarray(np.mod(column(outputs, feature).astype(float), step))


def _whole(outputs: Outputs) -> Column:
    if outputs.matrix is not None and outputs.matrix.shape[1] == 1:
        return objects(outputs.matrix[:, 0].tolist())
    return outputs.wholes


def _prefix(outputs: Outputs, length: int) -> Column:
    return objects(row[:length] for row in outputs.rows)


def _kinds(outputs: Outputs) -> Column:
    return objects(tuple(map(kind, row)) for row in outputs.rows)


def _value(outputs: Outputs, i: int) -> Column:
    return objects(row[i] if i < len(row) else None for row in outputs.rows)


def _keys(outputs: Outputs) -> Column:
    return objects(frozenset(table) for table in outputs.tables)


def _key_order(outputs: Outputs) -> Column:
    return objects(tuple(table) for table in outputs.tables)


def equal(values: Column, value: Any) -> NDArray[np.bool_]:
    """Where a column equals a value; True and 1 differ, as do 1 and 1.0 in name only."""
    if values.dtype != object:
        return np.asarray(values == value, dtype=bool)
    return np.fromiter((one == value for one in values), dtype=bool, count=len(values))


_NUMBERS: dict[str, Callable[..., Column]] = {
    "coordinate": _coordinate,
    "difference": _difference,
    "sum": _sum,
    "ratio": _ratio,
    "total": _total,
    "largest": _largest,
    "smallest": _smallest,
    "spread": _spread,
    "norm": _norm,
    "argmax": _argmax,
    "argmin": _argmin,
    "order": _order,
    "signs": _signs,
    "ties": _ties,
    "count": _count,
    "first": _first,
    "length": _length,
    "has": _has,
    "get": _get,
    "foreign keys": _foreign_keys,
    "combination": _combination,
    "is": _is,
    "power": _power,
    "absolute": _absolute,
    "granularity": _granularity,
    "low bits": _low_bits,
    "zero bits": _zero_bits,
    "reachable": _reachable,
    "residue": _residue,
}

_VALUES: dict[str, Callable[..., Column]] = {
    "whole": _whole,
    "prefix": _prefix,
    "kinds": _kinds,
    "value": _value,
    "keys": _keys,
    "key order": _key_order,
}
