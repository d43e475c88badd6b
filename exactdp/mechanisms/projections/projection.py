"""The base of all mechanisms for sparse vectors: parameters, neighbours and guarantee.

Source: Aumüller, Lebeda and Pagh, "Representing Sparse Vectors with Differential Privacy, Low
Error, Optimal Space, and Fast Access" (ALP).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.maximum_error import Sides, maximum_error
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, checked
from exactdp.parameters import Real, integer, non_negative, positive, rational
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

    #: Whether the errors of different entries are independent.
    independent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"<= d = {self.d}")

    @property
    @abstractmethod
    def e_epsilon(self) -> Fraction:
        """The exact largest probability ratio of neighbours, <= e^epsilon; at most 2^-64 above."""

    @abstractmethod
    def error(self, value: Real) -> ErrorLaw:
        """The exact law of estimate - value; negative values for signed mechanisms.

        Raises InvalidParameter, Undecided.
        """

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

    def maximum_error(self, values: Sequence[Real]) -> Fraction:
        """An upper bound of the expected maximum error over all d entries of a vector.

        values: the non-zero entries, at most k of them. The bound adds the tails of all entries, at
        the worst collisions; where errors are independent, it is the expectation itself, rounded
        up. Raises InvalidParameter, Undecided.
        Source: ALP, Section 2 (maximum error), Proposition 2.5.
        """
        independent = self.independent
        return maximum_error(self._sides, values, k=self.k, d=self.d, independent=independent)

    def _sides(self, value: Fraction) -> Sides:
        """The laws with the largest errors above, and below, of one value."""
        law = self.error(value)
        return law, law

    def checked(self, vector: Vector, k: int | None = None) -> NonzeroEntries:
        """The non-zero entries, at most k of them; raises InvalidParameter."""
        low = -self.largest if self.signed else Fraction(0)
        entries = checked(vector, self.d, self.k if k is None else k, low, self.largest)
        if self.values == "counts" and entries.denominator != 1:
            raise InvalidParameter("vector", Described("values that are not whole"), "counts")
        return entries

    def _either_sign(self, value: Real, law: Callable[[Fraction], ErrorLaw]) -> ErrorLaw:
        """The law of a value's error, from that of its size: errors of -value are mirrored."""
        point = rational("value", value) if self.signed else non_negative("value", value)
        if abs(point) > self.largest:
            allowed = f"from -{self.largest} to" if self.signed else "<= largest ="
            raise InvalidParameter("value", value, f"{allowed} {self.largest}")
        positive = law(abs(point))
        return positive if point >= 0 else positive.mapped(np.negative, positive.span)


def per_entry(rows: int, parameters: Mapping[str, Any]) -> int:
    """s for this number of rows for each of the k entries. parameters: the others, with k."""
    return integer("rows", rows, least=1) * integer("k", parameters.get("k", 0), least=1)
