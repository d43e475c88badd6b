"""Event: a set of outputs that can be counted in any process, and written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.audit.outputs.batch import as_floats, as_outputs
from exactdp.audit.outputs.features import (
    Feature,
    column,
    described,
    is_pattern,
    listed,
    value_text,
)
from exactdp.audit.outputs.transforms import equal
from exactdp.audit.values import common, decoded, encoded
from exactdp.errors import InvalidParameter

Hits = NDArray[np.bool_]

#: relation -> how it reads
RELATIONS = {
    "at least": ">=",
    "at most": "<=",
    "equals": "is",
    "in": "in",
    "not in": "not in",
    "in intervals": "in",
    "undefined": "is not a number",
}


@dataclass(frozen=True)
class Event:
    """The outputs whose feature stands in a relation to a value; or all, or any, of some events.

    feature: a name and its arguments: ("number", 0) is the first coordinate or the number at key
        0, ("number", "users", 3) the number at output["users"][3]; ("value", ...) is any value at
        such a place, ("has", ...) whether there is one; ("length", feature) and others are
        functions of a feature; ("all",) and ("any",) combine other events, given as value.
    relation: "at least", "at most", "equals", "in", "not in" (value: a tuple), "in intervals"
        (value: the tuple of rising cut points, and the tuple of the numbers of the intervals
        between them), or "undefined" (NaN).
    value: what the feature is compared with.

    >>> event = Event(("number", 0), "at least", 3)
    >>> event.hits(np.array([1, 3, 5])).tolist()
    [False, True, True]
    >>> Event.from_dict(event.as_dict()) == event
    True
    >>> print(Event(("has", "b"), "equals", 1))
    key 'b' is present: yes
    """

    feature: Feature
    relation: str
    value: Any

    def __post_init__(self) -> None:
        if not isinstance(self.feature, tuple | list | str) or not self.feature:
            allowed = "a name and its arguments, such as ('number', 0)"
            raise InvalidParameter("feature", self.feature, allowed)
        if self._joined:
            events = isinstance(self.value, tuple | list)
            if not events or not all(isinstance(one, Event) for one in self.value):
                raise InvalidParameter("value", self.value, "a tuple of events")
            return
        if self.relation not in RELATIONS:
            raise InvalidParameter("relation", self.relation, "one of " + ", ".join(RELATIONS))
        try:
            object.__setattr__(self, "feature", common(self.feature))
            object.__setattr__(self, "value", common(self.value))
        except InvalidParameter as error:
            raise InvalidParameter("event", (self.feature, self.value), error.allowed) from None

    @property
    def _joined(self) -> bool:
        return self.feature[0] in ("all", "any")

    @classmethod
    def present(cls, key: Any) -> Event:
        """The key is in the released histogram."""
        return cls(("has", key), "equals", 1)

    @classmethod
    def output(cls, value: Any) -> Event:
        """The output equals this: a value as run returns it."""
        return cls(("value",), "equals", value)

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
        """For each value in the feature's column, whether the event happens."""
        if self.relation in ("at least", "at most"):
            if isinstance(self.value, int) and abs(self.value) > 2**53:
                values = values.astype(object)  # numpy would round the threshold
            hits = values >= self.value if self.relation == "at least" else values <= self.value
            return np.asarray(hits, dtype=bool)
        if self.relation == "equals":
            return equal(values, self.value)
        if self.relation == "undefined":
            return np.isnan(as_floats(values))
        if self.relation == "in intervals":
            edges, numbers = self.value
            chosen = np.zeros(len(edges) + 1, dtype=bool)
            chosen[list(numbers)] = True
            hits = chosen[np.searchsorted(np.array(edges), values, side="right")]
            return np.asarray(hits & (values == values), dtype=bool)
        inside = _inside(values, self.value)
        return inside if self.relation == "in" else ~inside

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON types; floats are written in hexadecimal, so nothing is rounded."""
        value = [one.as_dict() for one in self.value] if self._joined else encoded(self.value)
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
        if self._joined:
            word = " and " if self.feature[0] == "all" else " or "
            return word.join(f"({event})" for event in self.value)
        text = described(self.feature)
        if self.relation == "undefined":
            return f"{text} {RELATIONS[self.relation]}"
        if text.startswith("whether ") and isinstance(self.value, (int, float)):
            no, yes = self.of(np.array([0, 1])).tolist()
            if no != yes:
                return f"{text.removeprefix('whether ')}: {'yes' if yes else 'no'}"
        relation = ":" if is_pattern(self.feature) else f" {RELATIONS[self.relation]}"
        return f"{text}{relation} {self._value_text()}"

    def _value_text(self) -> str:
        if self.relation == "in intervals":
            edges, numbers = self.value
            ends = [float("-inf"), *edges, float("inf")]
            return listed([f"[{ends[i]:.6g}, {ends[i + 1]:.6g})" for i in numbers], " or ")
        if self.relation in ("in", "not in"):
            return "{" + listed([value_text(self.feature, one) for one in self.value], "; ") + "}"
        if isinstance(self.value, float) and self.relation in ("at least", "at most"):
            return f"{self.value:.6g}"
        return value_text(self.feature, self.value)


def _inside(values: NDArray[Any], members: tuple[Any, ...]) -> Hits:
    if values.dtype != object:
        return np.isin(values, np.array(members))
    known = frozenset(members)
    return np.fromiter((value in known for value in values), dtype=bool, count=len(values))
