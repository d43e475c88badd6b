"""Features of outputs with a structure: what lies inside them, wherever it lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from exactdp.audit.events.features import Feature, column
from exactdp.audit.events.leaves import count_numbers, leaf, words
from exactdp.audit.events.outputs import Outputs, number
from exactdp.audit.events.plain import Coded
from exactdp.audit.events.screen import difference, differing, typical
from exactdp.audit.events.trees import Path, paths

__all__ = ["inner"]

_READ = 300  # outputs of each side whose paths are looked at
_ROWS = 2000  # outputs of each side by which paths are compared
_PATHS = 8000
_STEPS = 400_000  # paths that are read, of all outputs together
_CLOSER = 100  # paths that are looked at more closely: half of them because they are outer ones
_KEPT = 48
_WORDS = 32
_NUMBERS = 32
_LETTERS = 40  # from either end
_FLAT = 24  # coordinates that are looked at without this


def inner(left: Outputs, right: Outputs) -> Iterator[Feature]:
    """Features of the values inside, those that differ most between the sides first."""
    small = [side.take(0, _ROWS) for side in (left, right)]
    about = [feature for path in _telling(small) for feature in _at(path, small)]
    scored = [
        (difference(column(small[0], feature), column(small[1], feature)), -rank, feature)
        for rank, feature in enumerate(about)
    ]
    for _, _, feature in sorted(scored, key=lambda one: one[:2], reverse=True)[:_KEPT]:
        yield feature
        if feature[0] in ("leaf number", "text number") and _broken(left, feature):
            yield ("granularity", feature, 0.0)


def _telling(sides: list[Outputs]) -> list[Path]:
    """The paths to look at: the common ones; of many, the outer ones and those that differ most."""
    found: Counter[Path] = Counter()
    for side in sides:
        for tree in side.trees[:_READ]:
            if _structured(tree.value) and found.total() < _STEPS:
                found.update(paths(tree, _PATHS))
    common = [path for path, _ in found.most_common(_PATHS)]
    if len(common) <= _CLOSER:
        return common
    left, right = sides
    near = differing(
        left, right, lambda side: ([t.at(path) for path in common] for t in side.trees),
        len(common), _CLOSER // 2,
    )  # fmt: skip
    return [common[i] for i in dict.fromkeys([*range(_CLOSER // 2), *near])]


def _structured(item: Any) -> bool:
    """Whether looking at coordinates and keys does not see everything."""
    if isinstance(item, (frozenset, tuple)):
        if isinstance(item, tuple) and len(item) > _FLAT:
            return True
        below = [part for one in item for part in (one if isinstance(item, frozenset)
                 and isinstance(one, tuple) else (one,))]  # fmt: skip
        return any(isinstance(one, (tuple, frozenset, Coded, str, bytes)) for one in below)
    return isinstance(item, (Coded, str, bytes))


def _at(path: Path, sides: list[Outputs]) -> Iterator[Feature]:
    """What to look at where a path ends."""
    ends = [leaf(side, path) for side in sides]
    values = [value for column in ends for value in column[:_READ].tolist()]
    yield ("leaf", path)
    if any(number(value) == number(value) for value in values):
        yield ("leaf number", path)
    if any(isinstance(value, (str, bytes, tuple, frozenset)) for value in values):
        yield ("text length", path)
    if any(isinstance(value, str) for value in values):
        texts = [value for value in values if isinstance(value, str)]
        numbers, letters = max(map(count_numbers, texts)), max(map(len, texts))
        yield from (("text number", path, i) for i in range(min(numbers, _NUMBERS)))
        if letters > 1:
            yield from (("character", path, i) for i in range(min(letters, _LETTERS)))
            yield from (("character", path, -i) for i in range(1, min(letters, _LETTERS) + 1))
        seen = [Counter(one for text in column for one in words(text)) for column in ends]
        common = {one: abs(score) for one, score in typical(*seen).items() if one is not None}
        best = sorted(common, key=lambda one: (-common[one], one))[:_WORDS]
        yield from (("word", path, one) for one in best)


def _broken(outputs: Outputs, feature: Feature) -> bool:
    """Whether some of the numbers are not whole."""
    values = column(outputs.take(0, _READ), feature)
    return values.dtype.kind == "f" and bool((values % 1 > 0).any())
