"""One noisy value per row: the Laplace mechanism over a small domain, and maxima of hashed entries.

Both round values randomly to a grid, add discrete Laplace noise to every row, and clamp the noisy
values to [0, largest]. Source: Aumüller, Lebeda and Pagh (ALP), Algorithms 1 and 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.mechanism import Mechanism
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.files import packed, unpacked
from exactdp.mechanisms.projections.grid_noise import GridProjection
from exactdp.mechanisms.projections.projection import per_entry
from exactdp.mechanisms.projections.sparse_vectors import Entry, NonzeroEntries, identifiers
from exactdp.mechanisms.projections.universal_hashing import (
    MOST_BITS,
    HashFunctions,
    UniversalHashes,
)
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import Real
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

#: Largest number of rows; every row is released.
_MOST_ROWS = 10_000_000


def without_collisions(mechanism: object) -> InvalidParameter:
    """The error for a mechanism whose error law is for entries that share no row."""
    allowed = "one whose error law covers collisions: ALP and its variants, or a threshold alone"
    return InvalidParameter("mechanism", Described(type(mechanism).__name__), allowed)


def row_of(ids: NDArray[Any], hashes: HashFunctions | None) -> NDArray[np.intp]:
    """The row of each entry."""
    if hashes is None:
        return ids.astype(np.intp)
    return hashes.rows(hashes.keys(ids), 0).astype(np.intp)


@frozen(kw_only=True)
class DenseLaplace(GridProjection, Mechanism[Vector]):
    """Noise on every entry of a small domain: a baseline without collisions or thresholds.

    d: number of entries, at most 10^7. k, largest, epsilon, grid, values: as for Threshold.
    Source: ALP, Algorithm 1, on a grid.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rows > _MOST_ROWS:
            raise InvalidParameter("d", self.d, f"<= {_MOST_ROWS}: every entry is released")

    source = "ALP Algorithm 1, on a grid"
    independent = True

    @property
    def rows(self) -> int:
        """Number of released noisy values."""
        return self.d

    def hashes(self, source: Source) -> HashFunctions | None:
        """A random function from entries to rows; None if entry i is row i."""
        return None

    def error(self, value: Real) -> ErrorLaw:
        """The exact law of estimate - value, where no larger entry shares the row."""

        def of_size(size: Fraction) -> ErrorLaw:
            law = self.noise.estimates(size, 0)
            return law.mapped(lambda estimates: estimates - float(size), law.span)

        return self._either_sign(value, of_size)

    def project(self, vector: Vector, source: Source) -> NoisyRows:
        """Publish a vector. source: randomness fit for a release, such as SystemSource.

        Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        return self.publish(self.checked(vector), source)

    release = project

    def publish(self, entries: NonzeroEntries, source: Source) -> NoisyRows:
        """The rows of checked entries."""
        hashes = self.hashes(source)
        return NoisyRows(self, hashes, self._draw(entries, hashes, source))

    def draw(
        self, vector: Vector, hashes: HashFunctions | None, source: Source
    ) -> NDArray[np.int64]:
        """The noisy rows in steps of the grid, for a given hash function and any source."""
        return self._draw(self.checked(vector), hashes, source)

    def law(self, vector: Vector, hashes: HashFunctions | None) -> Law[tuple[int, ...]]:
        """The exact law of all rows in steps, by enumeration, for small instances."""
        entries = self.checked(vector)
        return exact_law(lambda s: tuple(self._draw(entries, hashes, s).tolist()), residual=0)

    def _draw(
        self, entries: NonzeroEntries, hashes: HashFunctions | None, source: Source
    ) -> NDArray[np.int64]:
        largest = np.zeros(self.rows, entries.numerators.dtype)
        np.maximum.at(largest, row_of(entries.ids, hashes), entries.numerators)
        every = NonzeroEntries(np.arange(self.rows), largest, entries.denominator)
        return self.noise.noisy(every, 0, source)


@frozen(kw_only=True)
class MaxProjection(DenseLaplace):
    """Hash entries to rows and release the noisy maximum of each row; a query reads one row.

    s: number of rows, at most 10^7; for s >= epsilon |x|_1 the expected error of an entry is
    O(1/epsilon), without strong bounds on its tail. :meth:`of` takes s = rows k.
    d: at most 2^4096. k, largest, epsilon, grid, values: as for Threshold.
    Source: ALP, Algorithm 11, on a grid.
    """

    s: int = whole(least=1, most=_MOST_ROWS)

    @classmethod
    def of(cls, *, rows: int = 8, **parameters: Any) -> MaxProjection:
        """The mechanism with `rows` rows for each of k entries. parameters: all others."""
        return cls(**{"s": per_entry(rows, parameters), **parameters})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d > 1 << MOST_BITS:
            raise InvalidParameter("d", self.d, f"<= 2^{MOST_BITS}")

    @property
    def rows(self) -> int:
        return self.s

    def maximum_error(self, values: Sequence[Real]) -> Fraction:
        """Raises InvalidParameter: the law of the error leaves out entries that share a row."""
        raise without_collisions(self)

    def hashes(self, source: Source) -> HashFunctions | None:
        return UniversalHashes.draw(1, self.d, self.s, source)

    source = "ALP Algorithm 11, Lemma 8.1, on a grid"


@dataclass(frozen=True, eq=False, repr=False)
class NoisyRows(Estimates):
    """A published vector: ``rows[i]`` estimates entry i, ``rows.estimate(ids)`` many entries.

    steps: the noisy rows in steps of the grid. text: as for Sketch.
    """

    mechanism: DenseLaplace
    hashes: HashFunctions | None
    steps: NDArray[np.int64]
    text: int | None = None

    def __getitem__(self, i: Entry) -> Fraction:
        """The estimate of one entry, exactly."""
        row = row_of(identifiers([i], self.mechanism.d), self.hashes)
        return int(self.steps[row][0]) * self.mechanism.step

    def estimate(self, ids: Iterable[Entry] | NDArray[Any]) -> NDArray[np.float64]:
        """The estimates of many entries, as floats."""
        rows = row_of(identifiers(ids, self.mechanism.d), self.hashes)
        return np.asarray(self.steps[rows] * float(self.mechanism.step), np.float64)

    def to_bytes(self) -> bytes:
        """A checked file of parameters, hash function and rows, read by :func:`read_sketch`."""
        function = self.hashes.to_bytes() if isinstance(self.hashes, UniversalHashes) else b""
        return packed(self.mechanism, function + self.steps.astype("<i8").tobytes(), self.text)

    @classmethod
    def from_bytes(cls, data: bytes, of: Any) -> NoisyRows:
        """The rows from a file of to_bytes. of: the mechanism's class. Raises InvalidParameter."""
        mechanism, payload, text = unpacked(data, of)
        start = UniversalHashes.size(1, mechanism.d) if of is MaxProjection else 0
        if len(payload) != start + 8 * mechanism.rows:
            raise InvalidParameter(
                "data", Described(f"{len(payload)} bytes of rows"), "as long as its header states"
            )
        function = bytes(payload[:start])
        hashes = (
            UniversalHashes.from_bytes(function, 1, mechanism.d, mechanism.rows) if start else None
        )
        steps = np.frombuffer(payload, "<i8", offset=start).astype(np.int64)
        if not 0 <= steps.min() <= steps.max() <= mechanism.noise.steps:
            raise InvalidParameter(
                "data", Described("values outside [0, largest]"), "rows written by to_bytes"
            )
        return cls(mechanism, hashes, steps, text)
