"""The base of the ALP mechanisms: sparse vectors as arrays of noisy bits, and the law of errors.

ALP: Aumüller, Lebeda and Pagh.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from exactdp.errors import Described, InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.law import Law
from exactdp.mechanism import Mechanism
from exactdp.mechanisms.projections.embedding import Bits, Layer, Layout, embed, peak, peaks
from exactdp.mechanisms.projections.error_law import ErrorLaw, estimate_law, level_law
from exactdp.mechanisms.projections.files import packed, unpacked
from exactdp.mechanisms.projections.maximum_error import Sides
from exactdp.mechanisms.projections.projection import Projection, per_entry
from exactdp.mechanisms.projections.ramp import Ramp
from exactdp.mechanisms.projections.rounding import Cells
from exactdp.mechanisms.projections.sparse_vectors import Entry, NonzeroEntries, identifiers
from exactdp.mechanisms.projections.universal_hashing import (
    MOST_BITS,
    HashFunctions,
    UniversalHashes,
    collision_bound,
)
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import Real, delta_target, integer, rational
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

#: Most rows, levels and bits of an array.
MOST_ROWS = 1 << 31
_MOST_LEVELS = 1 << 20
_MOST_BITS = 1 << 40
#: Number of entries that are estimated at a time, so that the arrays stay in cache.
_AT_ONCE = 1 << 14


@frozen(kw_only=True)
class UnaryProjection(Projection, Mechanism[Vector]):
    """s: rows per level, > 2k. d: at most 2^4096. Raises InvalidParameter."""

    s: int = whole(least=1, most=MOST_ROWS)

    #: Whether all cells have equal width, so that a level is a fixed unit of error.
    equal: ClassVar[bool] = True

    @classmethod
    def of(cls, *, rows: int = 8, **parameters: Any) -> Self:
        """The mechanism with `rows` rows per level for each of k entries: s = rows k.

        parameters: all others, or s itself. Raises InvalidParameter.
        """
        return cls(**{"s": per_entry(rows, parameters), **parameters})

    @classmethod
    def for_target(cls, *, bits: int, **parameters: Any) -> Self:
        """The mechanism with the most rows whose array has at most this many bits.

        parameters: all except s. Raises InvalidParameter, also if 2 k + 1 rows do not fit.
        """
        room, least = integer("bits", bits, least=1), 2 * per_entry(1, parameters) + 1
        levels = cls(s=least, **parameters).levels
        if room < least * levels:
            allowed = f">= {least * levels}, for {levels} levels of more than 2 k rows"
            raise InvalidParameter("bits", bits, allowed)
        return cls(s=room // levels, **parameters)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d > 1 << MOST_BITS:
            raise InvalidParameter("d", self.d, f"<= 2^{MOST_BITS}")
        self._check_rows()
        self._check()
        if self.levels > _MOST_LEVELS:
            raise InvalidParameter("largest", self.largest, f"at most {_MOST_LEVELS} levels wide")
        if self.layout.size > _MOST_BITS:
            raise InvalidParameter("s", self.s, f"with {self.levels} levels, <= 2^40 bits")

    def _check_rows(self) -> None:
        if self.s <= 2 * self.k:
            raise InvalidParameter("s", self.s, f"> 2 k = {2 * self.k} and <= {MOST_ROWS}")

    @abstractmethod
    def _check(self) -> None:
        """Check the parameters of the subclass; raises InvalidParameter."""

    @property
    @abstractmethod
    def ramp(self) -> Ramp:
        """The probabilities of a 1 across a cell, from p up to 1 - p."""

    @property
    @abstractmethod
    def cells(self) -> Cells:
        """The cells whose ends are the levels of rounded values."""

    @cached_property
    def flip(self) -> Fraction:
        """p: the probability that a bit is flipped."""
        return self.ramp.flip

    @property
    def levels(self) -> int:
        """Number of levels of the array, of s bits each."""
        return self.cells.count * (2 if self.signed else 1)

    @cached_property
    def layout(self) -> Layout:
        """The layout of the array."""
        return Layout(self.s, self.levels)

    @property
    def collision(self) -> Fraction:
        """Upper bound of the probability of a collision, at any level and for any data."""
        return self.k * collision_bound(self.s)

    def project(self, vector: Vector, source: Source) -> Sketch:
        """Publish a vector.

        vector: a mapping of entries (integers below d, or texts) to values, or a list or array of
        the values of entries 0, 1, 2, ...; values are read exactly. source: randomness fit for a
        release, such as SystemSource. Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        return self.publish(self.checked(vector), source)

    release = project

    def publish(self, entries: NonzeroEntries, source: Source) -> Sketch:
        """The sketch of checked entries."""
        hashes = UniversalHashes.draw(self.levels, self.d, self.s, source)
        return Sketch(self, hashes, self._draw(entries, hashes, source))

    def draw(self, vector: Vector, hashes: HashFunctions, source: Source) -> Bits:
        """The noisy array for given hash functions, with randomness from any source."""
        return self._draw(self.checked(vector), hashes, source)

    def law(self, vector: Vector, hashes: HashFunctions) -> Law[tuple[int, ...]]:
        """The exact law of all bits, level by level, by enumeration, for small instances."""
        return self.bits_law(self.checked(vector), hashes)

    def bits_law(self, entries: NonzeroEntries, hashes: HashFunctions) -> Law[tuple[int, ...]]:
        """The law of all bits for checked entries."""
        size = self.layout.size

        def program(source: Source) -> tuple[int, ...]:
            bits = np.unpackbits(self._draw(entries, hashes, source), bitorder="little")
            return tuple(bits[:size].tolist())

        return exact_law(program, residual=0)

    def _draw(self, entries: NonzeroEntries, hashes: HashFunctions, source: Source) -> Bits:
        layers = []
        for sign in (1, -1) if self.signed else (1,):
            part = entries.map(entries.ids, np.maximum(sign * entries.numerators, 0))
            layers.append(Layer(part.ids, self.cells.level(part, source), hashes))
        return embed(layers, self.layout, self.cells.count, self.flip, source)

    def error(self, value: Real, collision: Real | None = None) -> ErrorLaw:
        """The exact law of estimate - value.

        value: from 0 to `largest`, or from -`largest` for signed values. collision: probability
        that another entry has set a bit, at each level; by default the largest possible.
        Raises InvalidParameter, Undecided. Source: ALP, Section 9, computed instead of simulated.
        """

        def of_size(size: Fraction) -> ErrorLaw:
            law = self._estimates(size, collision)
            return law.mapped(lambda estimates: estimates - float(size), 2 * self._top)

        return self._either_sign(value, of_size)

    @property
    def collisions(self) -> tuple[Fraction, Fraction]:
        """The probabilities of collisions with the largest errors above, and below.

        Collisions raise estimates; for signed values, those of negative levels lower them.
        """
        return self.collision, self.collision if self.signed else Fraction(0)

    def _sides(self, value: Fraction) -> Sides:
        above, below = (self.error(value, chance) for chance in self.collisions)
        return above, below

    def error_bound(self, beta: Real) -> float:
        """A bound that |estimate - value| exceeds with probability at most beta, for any data.

        For cells of equal width; LogALP has factor_bound instead. Raises InvalidParameter.
        """
        if not self.equal:
            raise InvalidParameter(
                "mechanism", type(self).__name__, "a mechanism with cells of equal width"
            )
        return (self._levels_off(delta_target("beta", beta)) + 1) * float(self.cells.width)

    def read(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of fractional levels, clamped to the range of values (ALP, Section 2)."""
        above = levels - self.middle
        values = np.copysign(self.cells.values(np.abs(above)), above)
        return np.clip(values, -self._top, self._top)

    def _estimates(self, value: Fraction, collision: Real | None) -> ErrorLaw:
        """The law of the estimate."""
        chance = self.collision if collision is None else rational("collision", collision)
        levels = self.cells.places(value)
        law = level_law(levels, self.cells.count, self.flip, chance, self.middle)
        return law.mapped(lambda estimates: self.read(estimates + self.middle), self._top)

    def _levels_off(self, beta: Fraction) -> float:
        """A number of levels that the error exceeds with probability at most beta.

        Upward errors increase with collisions and decrease with the number of levels below the
        entry; downward errors increase with neither. So each is largest for an entry at the end of
        the walk. Each side gets beta/2.
        """
        sides = set(self.collisions)
        laws = [estimate_law(Fraction(0), self.levels, self.flip, c) for c in sides]
        return max(law.bound(beta / 2) for law in laws)

    @property
    def _top(self) -> float:
        return float(self.largest)

    @property
    def middle(self) -> int:
        """The time in the walk that stands for the value 0."""
        return self.cells.count if self.signed else 0

    @property
    def walk(self) -> Sequence[tuple[int, bool]]:
        """The levels of the array in the order of reading, and whether a bit 1 counts as -1."""
        m = self.cells.count
        up = [(b, False) for b in range(m)]
        return [*((m + b, True) for b in reversed(range(m))), *up] if self.signed else up


@dataclass(frozen=True, eq=False, repr=False)
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
