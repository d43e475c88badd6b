"""Histograms as users write them: mappings of elements to counts, made of rows or given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from exactdp.errors import Described, InvalidParameter


def mapping_of(name: str, given: Any) -> Mapping[Any, Any]:
    """The mapping that was given; a list could hold rows, or the counts of 0, 1, 2, ..."""
    if not isinstance(given, Mapping):
        allowed = "a mapping of elements to numbers; counts_of_rows(rows) makes one of rows"
        raise InvalidParameter(name, Described(type(given).__name__), allowed)
    return given


def counts_of_rows(rows: Iterable[int]) -> dict[int, int]:
    """The histogram of a data set given row by row."""
    return dict(Counter(rows))
