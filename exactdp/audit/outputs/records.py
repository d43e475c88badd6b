"""Features of outputs that contain other values: what lies inside, at any depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from exactdp.audit.outputs.batch import Outputs, number
from exactdp.audit.outputs.features import Feature, column
from exactdp.audit.outputs.paths import Path, count_numbers, follow, paths, value_inside, words_of
from exactdp.audit.outputs.ranking import difference, excess, most_different_places

__all__ = ["inside"]

# Limits on the work of the search. They decide what is looked at, never what is concluded.
_READ = 300  # outputs of each side whose paths are listed
_ROWS = 2000  # outputs of each side on which paths are compared
_PATHS = 8000  # in one output
_STEPS = 400_000  # paths in all outputs together
_CLOSER = 100  # paths of which features are made: the outermost half, and those that differ most
_KEPT = 48  # features
_WORDS = 32
_NUMBERS = 32  # in one text
_LETTERS = 40  # from either end of a text
_FLAT = 24  # coordinates that the features of vectors see by themselves


def inside(left: Outputs, right: Outputs) -> Iterator[Feature]:
    """Features of the values inside, those that differ most between the sides first."""
    small = [side.take(0, _ROWS) for side in (left, right)]
    about = [feature for path in _candidates(small) for feature in _at(path, small)]
    scored = [
        (difference(column(small[0], feature), column(small[1], feature)), -rank, feature)
        for rank, feature in enumerate(about)
    ]
    for _, _, feature in sorted(scored, key=lambda one: one[:2], reverse=True)[:_KEPT]:
        yield feature
        if feature[0] in ("number inside", "number in text") and _fractional(left, feature):
            yield ("granularity", feature, 0.0)


def _candidates(sides: list[Outputs]) -> list[Path]:
    """The paths to look at: the common ones; of many, the outer ones and those that differ most."""
    found: Counter[Path] = Counter()
    for side in sides:
        for raw, item in zip(side.raw[:_READ], side.items, strict=False):
            if _is_nested(item) and found.total() < _STEPS:
                found.update(paths(raw, _PATHS))
    common = [path for path, _ in found.most_common(_PATHS)]
    if len(common) <= _CLOSER:
        return common
    left, right = sides
    near = most_different_places(
        left, right, lambda side: ([follow(one, path) for path in common] for one in side.raw),
        len(common), _CLOSER // 2,
    )  # fmt: skip
    return [common[i] for i in dict.fromkeys([*range(_CLOSER // 2), *near])]


def _is_nested(item: Any) -> bool:
    """Whether the features of vectors and of sparse histograms do not see everything."""
    if isinstance(item, (str, bytes)) or (isinstance(item, tuple) and len(item) > _FLAT):
        return True
    if not isinstance(item, (tuple, frozenset)):
        return False
    pairs = isinstance(item, frozenset)
    below = [part for one in item for part in (one if pairs and type(one) is tuple else (one,))]
    return any(isinstance(one, (tuple, frozenset, str, bytes)) for one in below)


def _at(path: Path, sides: list[Outputs]) -> Iterator[Feature]:
    """The features of the values at the end of a path."""
    ends = [value_inside(side, path) for side in sides]
    values = [value for column in ends for value in column[:_READ].tolist()]
    yield ("value inside", path)
    if any(number(value) == number(value) for value in values):
        yield ("number inside", path)
    if any(isinstance(value, (str, bytes, tuple, frozenset)) for value in values):
        yield ("length inside", path)
    if any(isinstance(value, str) for value in values):
        texts = [value for value in values if isinstance(value, str)]
        numbers, letters = max(map(count_numbers, texts)), max(map(len, texts))
        yield from (("number in text", path, i) for i in range(min(numbers, _NUMBERS)))
        if letters > 1:
            yield from (("character", path, i) for i in range(min(letters, _LETTERS)))
            yield from (("character", path, -i) for i in range(1, min(letters, _LETTERS) + 1))
        seen = [Counter(one for text in column for one in words_of(text)) for column in ends]
        strange = {one: abs(score) for one, score in excess(*seen).items() if one is not None}
        best = sorted(strange, key=lambda one: (-strange[one], one))[:_WORDS]
        yield from (("word", path, one) for one in best)


def _fractional(outputs: Outputs, feature: Feature) -> bool:
    """Whether some of the numbers are not integers."""
    values = column(outputs.take(0, _READ), feature)
    return values.dtype.kind == "f" and bool((values % 1 > 0).any())
