"""The base of all mechanisms for sparse vectors: parameters, neighbours and guarantee.

Source: Aumüller, Lebeda and Pagh, "Representing Sparse Vectors with Differential Privacy, Low
Error, Optimal Space, and Fast Access" (ALP).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, checked
from exactdp.parameters import Real, integer, non_negative, positive
from exactdp.vector import Vector

L1_NEIGHBOURS = "sparse vectors at l1 distance at most 1, both with at most k non-zero entries"
COUNT_NEIGHBOURS = "histograms that differ by 1 in one entry"


@frozen(kw_only=True)
class Projection(ABC):
    """d: number of possible entries; entries are integers in [0, d). k: largest number of non-zero
    entries. largest: largest |value|, > 0. epsilon: > 0. Raises InvalidParameter."""

    d: int = whole(least=1)
    k: int = whole(least=1)
    largest: Number = number(positive)
    epsilon: Number = number(positive)

    #: "positive", "signed", or "counts": whole values, where neighbours differ by 1 in one entry.
    values = "positive"

    #: Paper and number of the statement that the guarantee rests on.
    source: ClassVar[str]

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"<= d = {self.d}")

    @property
    @abstractmethod
    def e_epsilon(self) -> Fraction:
        """The exact largest probability ratio of neighbours, <= e^epsilon; at most 2^-64 above."""

    @abstractmethod
    def error(self, value: Real) -> ErrorLaw:
        """The exact law of estimate - value. Raises InvalidParameter, Undecided."""

    @property
    def signed(self) -> bool:
        """Whether values may be negative."""
        return self.values == "signed"

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the guarantee."""
        return COUNT_NEIGHBOURS if self.values == "counts" else L1_NEIGHBOURS

    @property
    def spread(self) -> int:
        """The largest number of entries that differ between neighbours of equal support."""
        return 1 if self.values == "counts" else self.k

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""
        delta = Enclosure.exact(0)
        return Guarantee(self.epsilon, delta, self.neighbours, self.source, self.e_epsilon)

    def variance(self, value: Real) -> Enclosure:
        """The variance of the estimate of a value. Raises InvalidParameter, Undecided."""
        return self.error(value).variance()

    def checked(self, vector: Vector, k: int | None = None) -> NonzeroEntries:
        """The non-zero entries, at most k of them; raises InvalidParameter."""
        low = -self.largest if self.signed else Fraction(0)
        entries = checked(vector, self.d, self.k if k is None else k, low, self.largest)
        if self.values == "counts" and entries.denominator != 1:
            raise InvalidParameter("vector", Described("values that are not whole"), "counts")
        return entries

    def _inside(self, value: Real) -> Fraction:
        """An exact value from 0 to the largest; the law for -value is symmetric."""
        point = non_negative("value", value)
        if point > self.largest:
            raise InvalidParameter("value", value, f"<= largest = {self.largest}")
        return point


def per_entry(rows: int, parameters: Mapping[str, Any]) -> int:
    """s for this number of rows for each of the k entries. parameters: the others, with k."""
    return integer("rows", rows, least=1) * integer("k", parameters.get("k", 0), least=1)
