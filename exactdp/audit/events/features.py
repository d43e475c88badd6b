"""What is looked at in an output: one column of numbers, or of values, per feature.

A feature is a tuple of a name and its arguments, so that it can be written down and read back.
Every column depends on each output alone, never on the batch it came in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.events import floats, leaves, vectors
from exactdp.audit.events.outputs import Outputs, as_floats, kind, numeric, objects
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


def _has(outputs: Outputs, key: Any) -> Column:
    return np.array([key in table for table in outputs.tables], dtype=np.int64)


def _get(outputs: Outputs, key: Any) -> Column:
    return numeric([table.get(key) for table in outputs.tables])


def _foreign_keys(outputs: Outputs, *known: Any) -> Column:
    keys = set(known)
    return np.array([sum(key not in keys for key in table) for table in outputs.tables])


def _combination(
    outputs: Outputs, columns: tuple[Feature, ...], weights: tuple[float, ...]
) -> Column:
    total = np.zeros(outputs.n)
    for feature, weight in zip(columns, weights, strict=True):
        total += weight * np.nan_to_num(as_floats(column(outputs, feature)), nan=0.0, posinf=1e300)
    return total


def _is(outputs: Outputs, feature: Feature, value: Any) -> Column:
    return equal(column(outputs, feature), value).astype(np.int64)


def _power(outputs: Outputs, feature: Feature, exponent: int) -> Column:
    values: Column = as_floats(column(outputs, feature)) ** exponent
    return values


def _absolute(outputs: Outputs, feature: Feature, centre: float) -> Column:
    return np.abs(as_floats(column(outputs, feature)) - centre)


def _granularity(outputs: Outputs, feature: Feature, centre: float) -> Column:
    return floats.granularity(as_floats(column(outputs, feature)), centre)


def _low_bits(outputs: Outputs, feature: Feature, bits: int) -> Column:
    return floats.low_bits(as_floats(column(outputs, feature)), bits)


def _zero_bits(outputs: Outputs, feature: Feature) -> Column:
    return floats.trailing_zeros(as_floats(column(outputs, feature)))


def _reachable(
    outputs: Outputs, feature: Feature, recipe: str, centre: float, scale: float
) -> Column:
    return floats.reachable(as_floats(column(outputs, feature)), recipe, centre, scale)


def _residue(outputs: Outputs, feature: Feature, step: int) -> Column:
    """What is left of a number modulo a whole one: exact, however wide the number is."""
    values = column(outputs, feature)
    if values.dtype != object:
        return np.asarray(np.mod(values, step))
    return np.array([v % step if isinstance(v, int) else np.mod(v, step) for v in values.tolist()])


def _bit(outputs: Outputs, feature: Feature, k: int) -> Column:
    """A binary digit of a whole number; NaN for others."""
    values = column(outputs, feature)
    if values.dtype.kind == "i" and k < 63:
        return np.asarray(values >> k & 1)
    return numeric([int(v) >> k & 1 if v == v // 1 else None for v in values.tolist()])


def _negative_zero(outputs: Outputs, feature: Feature) -> Column:
    values = as_floats(column(outputs, feature))
    return np.asarray(np.signbit(values) & (values == 0), dtype=np.int64)


def _form(outputs: Outputs) -> Column:
    return objects(outputs.forms)


def _whole(outputs: Outputs) -> Column:
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
    return objects(outputs.key_orders)


def equal(values: Column, value: Any) -> NDArray[np.bool_]:
    """Where a column equals a value; True and 1 differ, as do 1 and 1.0 in name only."""
    if values.dtype != object:
        return np.asarray(values == value, dtype=bool)
    return np.fromiter((one == value for one in values), dtype=bool, count=len(values))


_NUMBERS: dict[str, Callable[..., Column]] = {
    "coordinate": vectors.coordinate,
    "difference": vectors.difference,
    "sum": vectors.added,
    "ratio": vectors.ratio,
    "total": vectors.total,
    "largest": vectors.largest,
    "smallest": vectors.smallest,
    "spread": vectors.spread,
    "norm": vectors.norm,
    "argmax": vectors.argmax,
    "argmin": vectors.argmin,
    "order": vectors.order,
    "signs": vectors.signs,
    "ties": vectors.ties,
    "count": vectors.count,
    "first": vectors.first,
    "length": vectors.length,
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
    "bit": _bit,
    "negative zero": _negative_zero,
    "leaf number": leaves.leaf_number,
    "text number": leaves.text_number,
    "text length": leaves.text_length,
    "word": leaves.word,
}

_VALUES: dict[str, Callable[..., Column]] = {
    "whole": _whole,
    "prefix": _prefix,
    "kinds": _kinds,
    "value": _value,
    "keys": _keys,
    "key order": _key_order,
    "form": _form,
    "leaf": leaves.leaf,
    "character": leaves.character,
}
