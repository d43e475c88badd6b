"""Plain values as trees: what lies inside them, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exactdp.audit.events.plain import Coded

__all__ = ["Path", "Tree", "at", "grown", "paths", "table"]

#: Steps from a value to one inside it: an index into a tuple or bytes, a key of a dictionary, an
#: element of a set, the name of an attribute.
Path = tuple[Any, ...]
#: A value, and the trees of what lies inside, by the step that leads there.
Tree = tuple[Any, dict[Any, Any]]

_CONTAINERS = frozenset({frozenset, tuple, Coded, bytes})
_NOTHING: dict[Any, Any] = {}
_BYTES = 256  # of which each is looked at by itself


def grown(value: Any) -> Tree:
    """The tree of a plain value."""
    if type(value) not in _CONTAINERS:
        return value, _NOTHING
    return value, {
        step: grown(inner) if type(inner) in _CONTAINERS else (inner, _NOTHING)
        for step, inner in _steps(value).items()
    }


def at(tree: Tree, path: Path) -> Any:
    """The value at the end of a path; None where the path leads nowhere."""
    for step in path:
        if step not in tree[1]:
            return None
        tree = tree[1][step]
    return tree[0]


def paths(tree: Tree, most: int) -> Iterator[Path]:
    """The paths of a tree, about so many at most: outer ones before inner ones."""
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    for path, (_, inner) in waiting:
        yield path
        if len(waiting) < most:
            waiting += [((*path, step), under) for step, under in inner.items()]


def table(item: Any) -> dict[Any, Any]:
    """A plain dictionary or set as a dictionary; a set that is none says which elements it has."""
    if not isinstance(item, frozenset):
        return {}
    if all(type(pair) is tuple and len(pair) == 2 for pair in item):
        found = dict(item)
        if len(found) == len(item):
            return found
    return dict.fromkeys(item, True)


def _steps(value: Any) -> dict[Any, Any]:
    if isinstance(value, frozenset):
        return table(value)
    if isinstance(value, tuple):
        return dict(enumerate(value))
    if isinstance(value, Coded):
        return table(frozenset(value.parts)) if _named(value) else dict(enumerate(value.parts))
    return dict(enumerate(value[:_BYTES]))


def _named(value: Coded) -> bool:
    """Whether the parts are attributes: pairs of a name and a value."""
    return bool(value.parts) and all(
        isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str)
        for part in value.parts
    )
