"""Histograms as users pass them: mappings of elements to counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from exactdp.errors import Described, InvalidParameter
from exactdp.vector import labelled


def mapping_of(name: str, data: Any) -> Mapping[Any, Any]:
    """A mapping unchanged, or a column with labels; raises InvalidParameter for anything else.

    A list is ambiguous: it could hold rows, or the counts of 0, 1, 2, ...
    """
    mapping = labelled(name, data)
    if mapping is None:
        allowed = "a mapping of elements to numbers; counts_of_rows(rows) counts rows"
        raise InvalidParameter(name, Described(type(data).__name__), allowed)
    return mapping


def counts_of_rows(rows: Iterable[int]) -> dict[int, int]:
    """The histogram of a data set: element -> number of rows that hold the element."""
    return dict(Counter(rows))
