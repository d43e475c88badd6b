"""Features of outputs: each gives one column of numbers, or of values.

A feature is a tuple of a name and its arguments, so that it can be written down and read back.
Every column depends on each output alone, never on the batch it came in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs import floats, paths, vectors
from exactdp.audit.outputs.batch import Outputs, as_floats, kind, numeric, objects
from exactdp.errors import InvalidParameter

__all__ = ["Feature", "column", "equal", "is_case", "is_numeric"]

#: A name and its arguments: numbers, strings, None, tuples.
Feature = tuple[Any, ...]
Column = NDArray[Any]
#: Location and scale of the noise of each of some columns.
Fit = tuple[tuple[float, float], ...]


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
    """Whether the column holds numbers of which thresholds make sense."""
    return feature[0] in _NUMBERS and feature[0] not in _CASES


def is_case(feature: Feature) -> bool:
    """Whether the column holds integers that name cases, see descriptions.case_text."""
    return feature[0] in _CASES


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
    """A number modulo an integer: exact, however large the number is."""
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


def _likelihood_ratio(
    outputs: Outputs, law: str, features: tuple[Feature, ...], left: Fit, right: Fit
) -> Column:
    """ln of the density that a law fitted to the left side has here over that of the right side.

    Rounded to nine decimals, so that sums that are equal but for rounding errors are equal.
    """
    total = np.zeros(outputs.n)
    power = {"Laplace": 1, "Gaussian": 2}[law]
    for feature, (a, s), (b, t) in zip(features, left, right, strict=True):
        values = as_floats(column(outputs, feature))
        here, there = (np.abs((values - x) / y) ** power / power for x, y in ((a, s), (b, t)))
        total += np.nan_to_num(there - here + np.log(t / s), nan=0.0, posinf=1e300, neginf=-1e300)
    return np.asarray(np.round(total, 9))


def _types(outputs: Outputs) -> Column:
    return objects(outputs.types)


def _whole(outputs: Outputs) -> Column:
    return objects(outputs.items)


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
    """Where a column equals a value, as Python compares them: 1, 1.0 and True are equal."""
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
    "likelihood ratio": _likelihood_ratio,
    "number inside": paths.number_inside,
    "number in text": paths.number_in_text,
    "length inside": paths.length_inside,
    "word": paths.has_word,
}

#: Integers that name a case: thresholds make no sense of them.
_CASES = frozenset({"argmax", "argmin", "order", "signs", "ties"})

_VALUES: dict[str, Callable[..., Column]] = {
    "whole": _whole,
    "prefix": _prefix,
    "kinds": _kinds,
    "value": _value,
    "keys": _keys,
    "key order": _key_order,
    "types": _types,
    "value inside": paths.value_inside,
    "character": paths.character,
}
