"""Event: a set of outputs that can be counted in any process, and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import as_floats, as_outputs
from exactdp.audit.outputs.descriptions import case_text, describe
from exactdp.audit.outputs.features import Feature, column, equal, is_case
from exactdp.audit.outputs.values import common, decoded, encoded
from exactdp.errors import InvalidParameter

__all__ = ["RELATIONS", "Event"]

Hits = NDArray[np.bool_]

_SHOWN = 6  # members of a set that the text of an event lists

#: relation -> how it reads
RELATIONS = {
    "at least": ">=",
    "at most": "<=",
    "equals": "is",
    "in": "in",
    "not in": "not in",
    "in cells": "in cells",
    "undefined": "is undefined",
}


@dataclass(frozen=True)
class Event:
    """The outputs whose feature stands in a relation to a value; or all, or any, of some events.

    feature: a name and its arguments, see features.py: ("coordinate", 0), ("has", "key"), ...
        ("all",) and ("any",) combine other events, given as value.
    relation: "at least", "at most", "equals", "in", "not in" (value: a tuple), "in cells" (value:
        the tuple of rising cut points, and the tuple of the numbers of the cells between them), or
        "undefined" (NaN).
    value: what the feature is compared with.

    >>> event = Event(("coordinate", 0), "at least", 3)
    >>> event.hits(np.array([1, 3, 5])).tolist()
    [False, True, True]
    >>> Event.from_dict(event.as_dict()) == event
    True
    >>> print(Event(("has", "b"), "equals", 1))
    presence of key 'b' is 1
    """

    feature: Feature
    relation: str
    value: Any

    def __post_init__(self) -> None:
        if self.feature[0] in ("all", "any"):
            return
        if self.relation not in RELATIONS:
            raise InvalidParameter("relation", self.relation, "one of " + ", ".join(RELATIONS))

    @classmethod
    def present(cls, key: Any) -> Event:
        """The key is in the released histogram."""
        return cls(("has", common(key)), "equals", 1)

    @classmethod
    def output(cls, value: Any) -> Event:
        """The output equals this: a value as run returns it."""
        return cls(("whole",), "equals", common(value))

    @classmethod
    def all_of(cls, *events: Event) -> Event:
        """Every one of these happens."""
        return cls(("all",), "", events)

    @classmethod
    def any_of(cls, *events: Event) -> Event:
        """At least one of these happens."""
        return cls(("any",), "", events)

    def hits(self, outputs: Any) -> Hits:
        """For each output, whether the event happens: one bool per output.

        outputs: what run(dataset, n) returned. Depends on each output alone.
        """
        outputs = as_outputs(outputs)
        if self.feature[0] == "all":
            return np.asarray(np.logical_and.reduce([event.hits(outputs) for event in self.value]))
        if self.feature[0] == "any":
            return np.asarray(np.logical_or.reduce([event.hits(outputs) for event in self.value]))
        with np.errstate(all="ignore"):
            return self.of(column(outputs, self.feature))

    def of(self, values: NDArray[Any]) -> Hits:
        """The same, from the feature's column."""
        if self.relation == "at least":
            return np.asarray(values >= _comparable(values, self.value, ceil), dtype=bool)
        if self.relation == "at most":
            return np.asarray(values <= _comparable(values, self.value, floor), dtype=bool)
        if self.relation == "equals":
            return equal(values, self.value)
        if self.relation == "undefined":
            return np.isnan(as_floats(values))
        if self.relation == "in cells":
            edges, cells = self.value
            chosen = np.zeros(len(edges) + 1, dtype=bool)
            chosen[list(cells)] = True
            found = chosen[np.searchsorted(_edges(values, edges), values, side="right")]
            return np.asarray(found & (values == values), dtype=bool)
        inside = _inside(values, self.value)
        return inside if self.relation == "in" else ~inside

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON types; floats are written in hexadecimal, so nothing is rounded."""
        joined = self.feature[0] in ("all", "any")
        value = [event.as_dict() for event in self.value] if joined else encoded(self.value)
        return {"feature": encoded(self.feature), "relation": self.relation, "value": value}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Event:
        """The event that as_dict() wrote."""
        try:
            feature, relation = decoded(entry["feature"]), entry["relation"]
            joined = feature[0] in ("all", "any")
            value = entry["value"]
            value = tuple(map(cls.from_dict, value)) if joined else decoded(value)
            event = cls(tuple(feature), str(relation), value)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidParameter("event", entry, "what Event.as_dict() returns") from error
        return event

    def __str__(self) -> str:
        if self.feature[0] in ("all", "any"):
            word = " and " if self.feature[0] == "all" else " or "
            return word.join(f"({event})" for event in self.value)
        if self.relation == "undefined":
            return f"{describe(self.feature)} is undefined"
        relation = ":" if is_case(self.feature) else f" {RELATIONS[self.relation]}"
        return f"{describe(self.feature)}{relation} {_shown(self)}"


def _shown(event: Event) -> str:
    if event.relation == "in cells":
        edges, cells = event.value
        ends = [float("-inf"), *edges, float("inf")]
        return _few([f"[{ends[i]:.6g}, {ends[i + 1]:.6g})" for i in cells], " or ")
    name = event.feature[0]
    text = (lambda value: case_text(name, value)) if is_case(event.feature) else repr
    if event.relation in ("in", "not in"):
        return "{" + _few([*map(text, event.value)], "; " if is_case(event.feature) else ", ") + "}"
    return text(event.value)


def _few(texts: list[str], join: str) -> str:
    """The first texts of a list, and how many more there are."""
    more = [f"{len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return join.join([*texts[:_SHOWN], *more])


def _comparable(values: NDArray[Any], value: Any, rounded: Any) -> Any:
    """A threshold that integers of any size can be compared with exactly."""
    if values.dtype.kind == "i" and isinstance(value, float) and isfinite(value):
        return rounded(value)
    return value


def _edges(values: NDArray[Any], edges: tuple[Any, ...]) -> NDArray[Any]:
    """Cut points as an array in which none is rounded."""
    if values.dtype.kind in "iO":
        exact = [_comparable(values, edge, ceil) for edge in edges]
        return np.array(exact, dtype=np.int64 if _fit(exact) else object)
    return np.array(edges)


def _fit(edges: list[Any]) -> bool:
    return all(isinstance(edge, int) and abs(edge) < 2**63 for edge in edges)


def _inside(values: NDArray[Any], members: tuple[Any, ...]) -> Hits:
    if values.dtype != object:
        return np.isin(values, np.array(members))
    known = frozenset(members)
    return np.fromiter((value in known for value in values), dtype=bool, count=len(values))
