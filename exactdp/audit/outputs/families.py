"""Families of features: what to look at, given the shape of the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Outputs, as_floats, kind
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.floats import RECIPES
from exactdp.audit.outputs.ranking import most_different, most_different_places, related
from exactdp.audit.outputs.records import inside

__all__ = ["LEARNED", "half", "proposals"]

#: features that are learned from the first half of the outputs: the other half has to judge them
LEARNED = frozenset({"foreign keys"})

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_COORDINATES = 64
_IN_ORDER = 24  # coordinates up to which they are looked at in their own order
_DIVIDED = 4  # coordinates whose residues are looked at
_PAIRS, _RELATED = 28, 12
_MODULI, _POWERS = range(2, 17), tuple(2**k for k in (5, 6, 8, 10, 16, 32))
_BITS = 256
_LOOK = 200  # values that tell what kind of numbers a column has
_KEYS = 200
_KNOWN = 4000
_SIGNED = 256


def proposals(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float
) -> Iterator[Feature]:
    """Features for outputs of this shape, the simple ones first."""
    yield from _by_shape(left, right, data, epsilon)
    if len({*left.types, *right.types}) > 1:
        yield ("types",)


def _by_shape(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float
) -> Iterator[Feature]:
    if left.matrix is not None and right.matrix is not None:
        near = most_different(left, right, _COORDINATES)
        yield from _numbers(left, right, near)
        if left.matrix.dtype.kind == "f" and right.matrix.dtype.kind == "f":
            yield from _floats(left, right, data, epsilon, near[:8])
        return
    if left.sparse and right.sparse:
        yield from _tables(left, right)
    else:
        yield from _mixed(left, right)
    for feature in inside(left, right):
        yield feature
        if feature[0] == "number inside":
            yield from _residues(left, feature)


def half(outputs: Outputs) -> int:
    """How many outputs features are learned from."""
    return (len(outputs) + 1) // 2


def _numbers(left: Outputs, right: Outputs, near: list[int]) -> Iterator[Feature]:
    assert left.matrix is not None
    width, dtype = max(left.width, right.width), left.matrix.dtype
    binary = dtype.kind == "b"
    yield from (("coordinate", i) for i in (sorted(near) if width <= _IN_ORDER else near))
    for i in near[: _DIVIDED * (not binary)]:
        yield from _residues(left, ("coordinate", i))
    if width == 1:
        return
    yield from _vectors(left, right, near)
    if binary:
        yield from (("first", "true"), ("first", "false"))
    if dtype.kind in "iub":
        yield ("whole",)
        yield from (("prefix", m) for m in range(2, min(width, 12)))


def _residues(outputs: Outputs, feature: Feature) -> Iterator[Feature]:
    """Residues of whole numbers modulo 2 to 16, of wide ones modulo powers of two; their bits.

    Where there are few different numbers, sets of them say as much.
    """
    values = as_floats(column(outputs.take(0, _LOOK), feature))
    values = np.unique(values[np.isfinite(values)])
    if len(values) <= _MODULI[-1] or (values != np.rint(values)).any():
        return
    yield from (("residue", feature, m) for m in _MODULI)
    largest = np.abs(values).max()
    if largest >= 2.0**53:
        yield from (("residue", feature, m) for m in _POWERS)
    yield from (("bit", feature, k) for k in range(4, min(int(np.log2(largest)) + 1, _BITS)))


def _vectors(left: Outputs, right: Outputs, near: list[int]) -> Iterator[Feature]:
    yield from (("argmax",), ("argmin",), ("total",), ("largest",), ("smallest",), ("spread",))
    yield from (("norm",), ("ties",), ("signs",))
    if max(left.width, right.width) <= 6:
        yield ("order",)
    pairs = list(islice(combinations(sorted(near[:8]), 2), _PAIRS))
    if left.matrix is not None and right.matrix is not None:
        pairs += [pair for pair in related(left, _RELATED) if pair not in pairs]
    for i, j in pairs:
        yield ("difference", i, j)
        yield ("ratio", i, j)
        yield ("sum", i, j)


def _mixed(left: Outputs, right: Outputs) -> Iterator[Feature]:
    yield ("whole",)
    width = min(max(left.width, right.width), _IN_ORDER)
    seen = {kind(v) for outputs in (left, right) for row in outputs.rows[:2000] for v in row}
    if width > 1:
        yield ("kinds",)
        yield ("length",)
        yield from (("prefix", m) for m in range(2, width))
        for what in sorted(seen)[:8]:
            yield ("first", what)
            yield ("count", what)
    for i in range(width):
        yield ("value", i)
        if seen & {"number", "true", "nan"}:
            yield ("coordinate", i)
            if _fractional(left, ("coordinate", i)):
                yield ("granularity", ("coordinate", i), 0.0)
            yield from _residues(left, ("coordinate", i))
    if width > 1 and "number" in seen:
        yield from _vectors(left, right, list(range(width)))


def _tables(left: Outputs, right: Outputs) -> Iterator[Feature]:
    yield from (("length",), ("total",), ("largest",))
    counts = [Counter(key for table in side.tables for key in table) for side in (left, right)]
    keys = sorted(
        set(counts[0]) | set(counts[1]),
        key=lambda key: (-abs(counts[0][key] - counts[1][key]), -counts[0][key], repr(key)),
    )
    yield from (("has", key) for key in keys[:_KEYS])
    for key in _got(left, right, keys):
        yield ("get", key)
        if _fractional(left, ("get", key)) or _fractional(right, ("get", key)):
            yield ("granularity", ("get", key), 0.0)
    for side in (left, right):
        known = {key for table in side.take(0, half(side)).tables for key in table}
        if len(known) <= _KNOWN:
            yield ("foreign keys", *sorted(known, key=repr))
    yield ("keys",)
    yield ("whole",)
    yield ("key order",)


def _got(left: Outputs, right: Outputs, keys: list[Any]) -> list[Any]:
    """The keys whose values are looked at: where they are many, the first, and the most telling."""
    some = _KEYS // 4
    if len(keys) <= some:
        return keys
    known = keys[:_KNOWN]
    near = most_different_places(
        left, right, lambda side: ([table.get(key) for key in known] for table in side.tables),
        len(known), some // 2,
    )  # fmt: skip
    return [known[i] for i in dict.fromkeys([*range(some // 2), *near])]


def _fractional(outputs: Outputs, feature: Feature) -> bool:
    """Whether the column has doubles that are not whole numbers."""
    values = column(outputs, feature)
    values = as_floats(values)
    values = values[np.isfinite(values)][:_LOOK]
    return bool(len(values)) and bool((values != np.rint(values)).any())


def _floats(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float, near: list[int]
) -> Iterator[Feature]:
    for i in near:
        base = ("coordinate", i)
        centres = sorted({*_centres(data[0], i), *_centres(data[1], i)} - {0.0})
        yield ("granularity", base, 0.0)
        yield ("zero bits", base)
        yield ("low bits", base, 3)
        for centre in (0.0, *centres):
            yield ("absolute", base, centre)
        yield from (("granularity", base, centre) for centre in centres)
    yield from (("negative zero", ("coordinate", i)) for i in _signed_zeros(left, right))
    for i, j in islice(combinations(sorted(near), 2), _PAIRS):
        yield ("granularity", ("difference", i, j), 0.0)
    for i in near[:2]:
        yield from _reachability(left, right, data, epsilon, i)


def _signed_zeros(left: Outputs, right: Outputs) -> list[int]:
    """The coordinates that have negative zeros, which no comparison tells from others."""
    found: list[int] = []
    for side in (left, right):
        assert side.matrix is not None
        negative = np.signbit(side.matrix) & (side.matrix == 0)
        found += np.flatnonzero(negative.any(axis=0)).tolist()
    return sorted(set(found))[:_SIGNED]


def _reachability(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float, i: int
) -> Iterator[Feature]:
    values = [column(side, ("coordinate", i)) for side in (left, right)]
    medians = [float(np.round(np.median(side))) for side in values]
    spread = float(np.mean(np.abs(values[0] - np.median(values[0]))))
    gaps = {1.0, 2.0, 0.5}
    for a, b in zip(_centres(data[0], i), _centres(data[1], i), strict=False):
        gaps.add(abs(a - b))
    scales = {gap / epsilon for gap in gaps if gap and epsilon}
    scales |= {float(f"{spread:.1g}"), float(f"{spread:.2g}")}
    centres = {*_centres(data[0], i), *_centres(data[1], i), *medians}
    for recipe in RECIPES:
        for centre in sorted(centres):
            for scale in sorted(scales):
                if np.isfinite(scale) and spread / 3 < scale < spread * 3:
                    yield ("reachable", ("coordinate", i), recipe, centre, scale)


def _centres(data: Any, i: int) -> list[float]:
    """Answers the data set may have been asked for: itself, its sum, its size, an entry."""
    if isinstance(data, (int, float, np.number)) and not isinstance(data, bool):
        return [float(data)]
    try:
        values = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        return [float(len(data))] if hasattr(data, "__len__") else []
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        return []
    found = [float(values.sum()), float(len(values)), float(values.mean())]
    return [*found, float(values[i])] if i < len(values) else found
