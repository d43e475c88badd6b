"""Plain values as trees: what lies inside them, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exactdp.audit.events.plain import Coded

__all__ = ["Path", "Tree", "paths", "table"]

#: Steps from a value to one inside it: an index into a tuple or bytes, a key of a dictionary, an
#: element of a set, the name of an attribute.
Path = tuple[Any, ...]
_CONTAINERS = frozenset({frozenset, tuple, Coded, bytes})
_BYTES = 256  # of which each is looked at by itself


class Tree:
    """A plain value, and what lies inside it, worked out where it is asked for."""

    __slots__ = ("_inside", "_under", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._inside: dict[Any, Any] | None = None
        self._under: dict[Any, Tree] = {}

    @property
    def inside(self) -> dict[Any, Any]:
        """The values inside, by the step that leads there."""
        if self._inside is None:
            self._inside = _steps(self.value) if type(self.value) in _CONTAINERS else {}
        return self._inside

    def under(self, step: Any) -> Tree:
        """The tree of one of them."""
        if step not in self._under:
            self._under[step] = Tree(self.inside[step])
        return self._under[step]

    def at(self, path: Path) -> Any:
        """The value at the end of a path; None where the path leads nowhere."""
        if not path:
            return self.value
        tree = self
        for step in path[:-1]:
            if step not in tree.inside:
                return None
            tree = tree.under(step)
        return tree.inside.get(path[-1])


def paths(tree: Tree, most: int) -> Iterator[Path]:
    """The paths of a tree, about so many at most: outer ones before inner ones."""
    waiting: list[tuple[Path, Tree]] = [((), tree)]
    for path, one in waiting:
        yield path
        if len(waiting) < most:
            waiting += [((*path, step), one.under(step)) for step in one.inside]


def table(item: Any) -> dict[Any, Any]:
    """A plain dictionary or set as a dictionary; a set that is none says which elements it has."""
    if not isinstance(item, frozenset):
        return {}
    if {*map(type, item)} <= {tuple} and {*map(len, item)} <= {2}:
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
