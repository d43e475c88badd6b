"""Two releases about one vector: stored values or a size, and a sketch.

Source: Aumüller, Lebeda and Pagh (ALP), Algorithm 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.guarantee import Guarantee
from exactdp.container import Kind
from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.projections.noisy_rows import NoisyRows
from exactdp.mechanisms.projections.sparse_vectors import Entry, identifiers
from exactdp.mechanisms.projections.unary_projection import Sketch
from exactdp.mechanisms.released import Estimates, Released

KIND = Kind("combined sketch", 1, ("first",))


@dataclass(frozen=True, eq=False, repr=False)
class CombinedSketch(Estimates):
    """Two releases about one vector. ``sketch[i]`` is the stored value of entry i, if there is one,
    or else its estimate.

    first: the stored values, or the noisy size that a sketch was made for. small: the sketch.
    """

    first: Any
    small: Sketch | NoisyRows

    @classmethod
    def checked(cls, first: Any, small: Any) -> CombinedSketch:
        """The release from its two parts, read from a file. Raises InvalidParameter."""
        parts = isinstance(first, Released) and isinstance(small, Sketch | NoisyRows)
        if not parts or first.mechanism.d != small.mechanism.d:
            raise InvalidParameter("data", Described("parts that do not fit"), "two of one vector")
        return cls(first, small)

    @property
    def text(self) -> int | None:
        """None if entries are numbers; for byte strings, their largest length in bytes."""
        return self.small.text

    def of_texts(self, longest: int | None) -> CombinedSketch:
        return replace(self, small=self.small.of_texts(longest))

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of both together."""
        both: Guarantee = self.first.guarantee + self.small.guarantee
        return both

    def __getitem__(self, i: Entry) -> Fraction:
        """The estimate of one entry, exactly."""
        estimate = self.small[i]
        stored: Fraction | None = self.first.get(int(identifiers([i], self._d)[0]))
        return estimate if stored is None else stored

    def estimate(self, ids: Iterable[Entry] | NDArray[Any]) -> NDArray[np.float64]:
        """The estimates of many entries, as floats."""
        wanted = identifiers(ids, self._d)
        estimates = self.small.estimate(wanted)
        if self.first:
            places = np.array(list(self.first), wanted.dtype)
            values = np.array(list(map(float, self.first.values())))
            at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            hit = places[at] == wanted
            estimates[hit] = values[at[hit]]
        return estimates

    @property
    def _d(self) -> int:
        return self.small.mechanism.d

    @property
    def size(self) -> dict[str, int]:
        """Sizes of the sketch and of the first part, in bits."""
        return {**getattr(self.small, "size", {}), "stored": 8 * len(self.first.to_bytes())}

    def to_bytes(self) -> bytes:
        """A checked file of both releases, read by :func:`read_sketch`."""
        first: bytes = self.first.to_bytes()
        return KIND.pack({"first": len(first)}, first + self.small.to_bytes())
