"""High-probability error bounds of released counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Accuracy:
    """Error bounds that hold with probability at least 1 - beta.

    per_query: |released - true| <= per_query for any single element fixed in advance whose true
    count is greater than per_query_above (-1: for every element). simultaneous: a bound of
    |released - true| for all elements at once. An element that is not released counts as 0.
    """

    beta: Fraction
    per_query: int
    per_query_above: int
    simultaneous: int
