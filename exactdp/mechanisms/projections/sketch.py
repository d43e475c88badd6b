"""The released sketch, which estimates any entry, and its file format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.mechanisms.projections.embedding import Bits, peak, peaks
from exactdp.mechanisms.projections.files import packed, unpacked
from exactdp.mechanisms.projections.sparse_vectors import Entry, identifiers
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.mechanisms.released import Estimates

if TYPE_CHECKING:
    from exactdp.mechanisms.projections.unary_projection import UnaryProjection

#: Number of entries that are estimated at a time, so that the arrays stay in cache.
_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Sketch(Estimates):
    """A published vector: ``sketch[i]`` estimates entry i, ``sketch.estimate(ids)`` many entries.

    mechanism: the public parameters. hashes: the hash functions. bits: the noisy array.
    text: None if entries are numbers; if they are byte strings encoded by encode_bytes, the largest
    length in bytes.
    """

    mechanism: UnaryProjection
    hashes: UniversalHashes
    bits: Bits
    text: int | None = None

    def __getitem__(self, i: Entry) -> Fraction:
        """The estimate of one entry, exactly."""
        places, starts, turned = self._walk
        where = self.hashes.rows(self.hashes.keys(identifiers([i], self.mechanism.d)), places)
        where += starts
        return self._limited(peak(self.bits, where, turned))

    @cached_property
    def _walk(self) -> tuple[NDArray[np.intp], NDArray[np.uint64], NDArray[np.bool_]]:
        """The random walk of an estimate: levels, their first bits, and where 1 counts as -1."""
        places, turned = zip(*self.mechanism.walk, strict=True)
        starts = [self.mechanism.layout.start(place) for place in places]
        return np.array(places, np.intp), np.array(starts, np.uint64), np.array(turned, np.bool_)

    def estimate(self, ids: Iterable[Entry] | NDArray[Any]) -> NDArray[np.float64]:
        """The estimates of many entries, as floats."""
        wanted = identifiers(ids, self.mechanism.d)
        return self.mechanism.read(self._levels(wanted, self.mechanism.walk))

    def difference(self, ids: Iterable[Entry] | NDArray[Any]) -> NDArray[np.float64]:
        """For signed vectors: the estimate of the positive part minus that of the negative part.

        At most twice the error of one part. Raises InvalidParameter for unsigned vectors.
        Source: ALP, Section 2, negative values.
        """
        mechanism = self.mechanism
        if not mechanism.signed:
            raise InvalidParameter(
                "mechanism", type(mechanism).__name__, "a mechanism for signed vectors"
            )
        wanted = identifiers(ids, mechanism.d)
        m, top = mechanism.cells.count, float(mechanism.largest)
        parts = []
        for first in (0, m):
            walk = [(first + b, False) for b in range(m)]
            parts.append(np.minimum(mechanism.cells.values(self._levels(wanted, walk)), top))
        return parts[0] - parts[1]

    def _levels(self, ids: NDArray[Any], walk: Sequence[tuple[int, bool]]) -> NDArray[np.float64]:
        """The average time at which each entry's walk is at its maximum."""
        levels, layout = np.empty(len(ids), np.float64), self.mechanism.layout
        for start in range(0, len(ids), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            keys = self.hashes.keys(ids[part])
            total, count = peaks(self.bits, keys, self.hashes, layout, walk)
            levels[part] = total / count
        return levels

    def _limited(self, place: Fraction) -> Fraction:
        """The value of a fractional level, clamped to the range of values (ALP, Section 2)."""
        level, top = place - self.mechanism.middle, self.mechanism.largest
        size = min(self.mechanism.cells.value(abs(level)), top)
        return size if level >= 0 else -size

    @property
    def size(self) -> dict[str, int]:
        """Sizes in bits: the array, the hash functions, and (s + log2 d) m of ALP, Lemma 4.2.

        The Lemma's log2 d has an unspecified constant factor for the hash functions, taken as 1.
        """
        mechanism = self.mechanism
        bits_of_d = max((mechanism.d - 1).bit_length(), 1)
        return {
            "array": mechanism.layout.size,
            "hash functions": 8 * UniversalHashes.size(mechanism.levels, mechanism.d),
            "formula": (mechanism.s + bits_of_d) * mechanism.levels,
        }

    def to_bytes(self) -> bytes:
        """A checked file of parameters, hash functions and bits, read by :func:`read_sketch`."""
        return packed(self.mechanism, self.hashes.to_bytes() + self.bits.tobytes(), self.text)

    @classmethod
    def from_bytes(cls, data: bytes, of: Any) -> Sketch:
        """The sketch from a file of to_bytes. of: mechanism's class. Raises InvalidParameter."""
        mechanism, payload, text = unpacked(data, of)
        start, size = UniversalHashes.size(mechanism.levels, mechanism.d), mechanism.layout.size
        if len(payload) != start + -(-size // 8):
            raise InvalidParameter(
                "data", Described(f"{len(payload)} bytes of bits"), "as long as its header states"
            )
        hashes = UniversalHashes.from_bytes(
            bytes(payload[:start]), mechanism.levels, mechanism.d, mechanism.s
        )
        bits = np.frombuffer(payload, np.uint8, offset=start)
        if size % 8 and bits[-1] >> size % 8:
            raise InvalidParameter("data", Described("non-zero bits"), "zeros after the last bit")
        return cls(mechanism, hashes, bits, text)
