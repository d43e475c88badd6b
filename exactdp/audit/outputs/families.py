"""Families of features: what to look at, given the shape of the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

import numpy as np

from exactdp.audit.outputs.batch import Outputs, Path, as_floats, kind, number
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.places import count_numbers, paths, words_of
from exactdp.audit.outputs.ranking import difference, excess, most_different, related
from exactdp.audit.outputs.transforms import RECIPES, negative_zeros
from exactdp.audit.values import Table

#: features that are learned from the first half of the outputs: the other half has to judge them
LEARNED = frozenset({"foreign keys"})

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_COORDINATES = 64
_IN_ORDER = 24  # coordinates up to which they are looked at in their own order
_DIVIDED = 4  # coordinates whose residues are looked at
_PAIRS, _RELATED = 28, 12
_MODULI, _POWERS = range(2, 17), tuple(2**k for k in (5, 6, 8, 10, 16, 32))
_BITS = 256
_LOOK = 300  # values that tell what a column holds
_KNOWN = 4000  # most keys of a side for which all other keys are called foreign
_SIGNED = 256
_READ, _STEPS = 4000, 100_000  # outputs of each side whose paths are listed; paths in all of them
_ROWS = 2000  # outputs of each side on which features of places are compared
_PATHS = 8000  # in one output
_CLOSER = 100  # places of which features are made: the outermost half, and those that differ most
_KEPT = 64  # features of places
_WORDS, _NUMBERS = 32, 32  # in one text
_LETTERS = 40  # from either end of a text


def proposals(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float
) -> Iterator[Feature]:
    """Features for outputs of this shape, the simple ones first."""
    if left.matrix is not None and right.matrix is not None:
        yield from _arrays(left, right, data, epsilon)
    else:
        yield from _values(left, right)
    if len({*left.types, *right.types}) > 1:
        yield ("types",)


def half(outputs: Outputs) -> int:
    """How many outputs features are learned from."""
    return (len(outputs) + 1) // 2


def coordinates(left: Outputs, right: Outputs, most: int) -> list[Feature]:
    """The coordinates of arrays that differ most."""
    every = [("number", i) for i in range(min(left.width, right.width))]
    return most_different(left, right, every, most)


def _arrays(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float
) -> Iterator[Feature]:
    assert left.matrix is not None
    assert right.matrix is not None
    near, kinds = coordinates(left, right, _COORDINATES), left.matrix.dtype.kind
    width = max(left.width, right.width)
    yield from (sorted(near) if width <= _IN_ORDER else near)
    for feature in near[: _DIVIDED * (kinds != "b")]:
        yield from _residues(left, feature)
    if width > 1:
        places = [i for _, i in near]
        pairs = islice(combinations(sorted(places[:8]), 2), _PAIRS)
        yield from _vectors(width, dict.fromkeys([*pairs, *related(left, _RELATED)]))
        if kinds == "b":
            yield from (("first", "true"), ("first", "false"))
        if kinds in "iub":
            yield ("value",)
            yield from (("prefix", m) for m in range(2, min(width, 12)))
    if kinds == right.matrix.dtype.kind == "f":
        yield from _floats(left, right, data, epsilon, [i for _, i in near[:8]])


def _vectors(width: int, pairs: dict[tuple[int, int], None]) -> Iterator[Feature]:
    yield from (("argmax",), ("argmin",), ("total",), ("largest",), ("smallest",), ("spread",))
    yield from (("norm",), ("ties",), ("signs",))
    if width <= 6:
        yield ("order",)
    for i, j in pairs:
        yield from (("difference", i, j), ("ratio", i, j), ("sum", i, j))


def _values(left: Outputs, right: Outputs) -> Iterator[Feature]:
    """Features of outputs that are not all arrays of one shape."""
    yield ("value",)
    small = [side.take(0, _ROWS) for side in (left, right)]
    about = [feature for path in _places(left, right) for feature in _at(path, small)]
    scored = [
        (difference(column(small[0], feature), column(small[1], feature)), -rank, feature)
        for rank, feature in enumerate(about)
    ]
    kept = [f for _, _, f in sorted(scored, key=lambda one: one[:2], reverse=True)[:_KEPT]]
    yield from kept
    for feature in kept:
        if feature[0] in ("number", "number in text") and _fractional(left, right, feature):
            yield ("granularity", feature, 0.0)
        if feature[0] == "number":
            yield from _residues(left, feature)
            if any(negative_zeros(as_floats(column(side, feature))).any() for side in small):
                yield ("negative zero", feature)
    items = [*small[0].items, *small[1].items]
    if any(type(item) is Table for item in items):
        yield from (("total",), ("largest",), ("keys",), ("key order",))
        yield from _foreign(left, right)
    else:
        yield from _rows(max(left.width, right.width), small)


def _places(left: Outputs, right: Outputs) -> list[Path]:
    """The paths to look at: of many, the outer ones and those that differ most."""
    listed = [_listed(side) for side in (left, right)]
    every = [path for path, _ in (listed[0] + listed[1]).most_common(_PATHS)]
    if len(every) <= _CLOSER:
        return every
    some = _CLOSER // 2
    present = excess(*listed)
    rare = sorted(every, key=lambda path: -abs(present[path]))[:some]
    values = [("value", *path) for path in every]
    near = [feature[1:] for feature in most_different(left, right, values, some)]
    return [*dict.fromkeys([*every[:some], *near, *rare])]


def _listed(side: Outputs) -> Counter[Path]:
    """How many outputs have each path."""
    counts, steps = Counter[Path](), 0
    for item in side.items[:_READ]:
        if steps < _STEPS:
            before = [*paths(item, _PATHS)]
            counts.update(before)
            steps += len(before)
    return counts


def _at(path: Path, sides: list[Outputs]) -> Iterator[Feature]:
    """The features of the values at the end of a path."""
    base, absent = ("value", *path), object()
    ends = [side.at(path, absent) for side in sides]
    values = [one for side in ends for one in side[:_LOOK] if one is not absent]
    if path:
        yield base
    if any(one is absent for side in ends for one in side):
        yield ("has", *path)
    if any(number(one) == number(one) for one in values):
        yield ("number", *path)
    if any(isinstance(one, (str, bytes, tuple, Table)) for one in values):
        yield ("length", base)
    texts = [one for one in values if isinstance(one, str)]
    if texts:
        numbers, letters = max(map(count_numbers, texts)), max(map(len, texts))
        yield from (("number in text", base, i) for i in range(min(numbers, _NUMBERS)))
        if letters > 1:
            yield from (("character", base, i) for i in range(min(letters, _LETTERS)))
            yield from (("character", base, -i) for i in range(1, min(letters, _LETTERS) + 1))
        seen = [Counter(one for text in side for one in words_of(text)) for side in ends]
        strange = {one: abs(score) for one, score in excess(*seen).items() if one is not None}
        best = sorted(strange, key=lambda one: (-strange[one], one))[:_WORDS]
        yield from (("word", base, one) for one in best)


def _rows(width: int, small: list[Outputs]) -> Iterator[Feature]:
    """Features of tuples as a whole."""
    if width < 2:
        return
    seen = {kind(value) for side in small for row in side.entries for value in row}
    width = min(width, _IN_ORDER)
    yield ("kinds",)
    yield from (("prefix", m) for m in range(2, width))
    for what in sorted(seen)[:8]:
        yield from (("first", what), ("count", what))
    if "number" in seen:
        yield from _vectors(width, dict.fromkeys(combinations(range(min(width, 8)), 2)))


def _foreign(left: Outputs, right: Outputs) -> Iterator[Feature]:
    """Keys that one side never had."""
    for side in (left, right):
        items = side.items[: half(side)]
        known = {key for item in items if type(item) is Table for key in item}
        if len(known) <= _KNOWN:
            yield ("foreign keys", *sorted(known, key=repr))


def _fractional(left: Outputs, right: Outputs, feature: Feature) -> bool:
    """Whether the column has doubles that are not whole numbers."""
    values = np.concatenate(
        [as_floats(column(side.take(0, _LOOK), feature)) for side in (left, right)]
    )
    values = values[np.isfinite(values)]
    return bool((values != np.rint(values)).any())


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


def _floats(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float, near: list[int]
) -> Iterator[Feature]:
    for i in near:
        base = ("number", i)
        centres = sorted({*_centres(data[0], i), *_centres(data[1], i)} - {0.0})
        yield from (("granularity", base, 0.0), ("zero bits", base), ("low bits", base, 3))
        yield from (("absolute", base, centre) for centre in (0.0, *centres))
        yield from (("granularity", base, centre) for centre in centres)
    signed = [negative_zeros(side.numbers).any(axis=0) for side in (left, right)]
    places = np.flatnonzero(signed[0] | signed[1])[:_SIGNED].tolist()
    yield from (("negative zero", ("number", i)) for i in places)
    for i, j in islice(combinations(sorted(near), 2), _PAIRS):
        yield ("granularity", ("difference", i, j), 0.0)
    for i in near[:2]:
        yield from _reachability(left, right, data, epsilon, i)


def _reachability(
    left: Outputs, right: Outputs, data: tuple[Any, Any], epsilon: float, i: int
) -> Iterator[Feature]:
    values = [column(side, ("number", i)) for side in (left, right)]
    medians = [float(np.round(np.median(side))) for side in values]
    spread = float(np.mean(np.abs(values[0] - np.median(values[0]))))
    here, there = _centres(data[0], i), _centres(data[1], i)
    gaps = {1.0, 2.0, 0.5, *(abs(a - b) for a, b in zip(here, there, strict=False))}
    scales = {gap / epsilon for gap in gaps if gap and epsilon}
    scales |= {float(f"{spread:.1g}"), float(f"{spread:.2g}")}
    for recipe in RECIPES:
        for centre in sorted({*here, *there, *medians}):
            for scale in sorted(scales):
                if np.isfinite(scale) and spread / 3 < scale < spread * 3:
                    yield ("reachable", ("number", i), recipe, centre, scale)


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
    centres = [float(values.sum()), float(len(values)), float(values.mean())]
    return [*centres, float(values[i])] if i < len(values) else centres
