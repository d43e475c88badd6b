"""Histograms of a column of numbers: its intervals between declared edges are keys.

A part of a key may be written as column:edge..edge..edge, as in "age:0..18..65..120". Its value is
the lower edge of the interval that holds the number: from the lower edge on, and below the upper
one; the last interval holds the last edge, too, as in numpy.histogram. Other numbers, NaN and
missing values have no key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.frames.columns import ColumnType, nw_
from exactdp.parameters import decimal_text, rational

#: Largest number of edges.
_MOST = 1000

_FORM = re.compile(r"(?P<column>.+?):(?P<edges>[^:]*\.\.[^:]*)")


@dataclass(frozen=True)
class Intervals(ColumnType):
    """The type of a column of numbers whose intervals are keys; engines hold their numbers."""

    edges: tuple[Fraction, ...] = ()

    @property
    def lower(self) -> list[float]:
        """The lower edges, which name the intervals."""
        return [self.value(i) for i in range(len(self.edges) - 1)]

    @property
    def is_text(self) -> bool:
        return False

    def expression(self, name: str) -> Any:
        """The number of the interval."""
        column = nw_.col(name).cast(nw_.Float64)
        first, *inner, last = map(float, self.edges)
        place = _by_halves(column, inner, list(range(len(inner) + 1)))
        inside = (column >= first) & (column <= last) & ~column.is_nan()
        return nw_.when(inside).then(place).cast(nw_.Int64).alias(name)

    def restored(self, name: str) -> Any:
        """The lower edge of the interval, from its number."""
        edge = _by_halves(nw_.col(name), list(range(1, len(self.lower))), self.lower)
        return edge.cast(getattr(nw_, self.released)).alias(name)

    def written(self, parameter: str, value: Any) -> int | bytes:
        exact = rational(parameter, value)
        if exact not in self.edges[:-1]:
            allowed = f"lower edges of intervals: {', '.join(map(str, self.lower))}"
            raise InvalidParameter(parameter, value, allowed)
        return self.edges.index(exact)


def _by_halves(column: Any, cuts: Sequence[float], values: Sequence[float]) -> Any:
    """The value of the piece between rising cuts in which a number lies.

    Nested by halves, so that a thousand cuts are ten levels: engines read expressions recursively.
    """
    if not cuts:
        return nw_.lit(values[0])
    middle = len(cuts) // 2
    below = _by_halves(column, cuts[:middle], values[: middle + 1])
    above = _by_halves(column, cuts[middle + 1 :], values[middle + 1 :])
    return nw_.when(column >= cuts[middle]).then(above).otherwise(below)


def intervals_of(schema: Mapping[str, Any], label: Any) -> tuple[str, Intervals] | None:
    """The column and the type of a part of a key that names edges; None for another one.

    Raises InvalidParameter.
    """
    form = _FORM.fullmatch(label) if isinstance(label, str) and label not in schema else None
    if form is None:
        return None
    name, texts = form["column"], form["edges"].split("..")
    if name not in schema or not schema[name].is_numeric():
        kind = f"{label}, with {name} of type {schema[name]}" if name in schema else label
        raise InvalidParameter("by", kind, "column:edge..edge, with a column of numbers")
    edges = tuple(rational("by", text) for text in texts)
    rising = all(float(a) < float(b) for a, b in pairwise(edges))
    if not rising or len(edges) > _MOST:
        raise InvalidParameter("by", label, f"at most {_MOST} edges that rise")
    whole = all(edge.denominator == 1 and abs(edge) < 2**53 for edge in edges)
    released = "Int64" if whole else "Float64"

    def value(place: int) -> float:
        return int(edges[place]) if whole else float(edges[place])

    text = f"intervals between {', '.join(map(decimal_text, edges))}"
    return name, Intervals(text, "float64", released, value, edges=edges)
