"""The base of the ALP mechanisms: parameters, the projection, its exact law and its guarantee.

ALP: Aumüller, Lebeda and Pagh, "Representing Sparse Vectors with Differential Privacy, Low Error,
Optimal Space, and Fast Access".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.guarantee import Guarantee
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanisms.projections.embedding import Bits, Layer, Layout, embed
from exactdp.mechanisms.projections.error_law import ErrorLaw, estimate_law, level_law
from exactdp.mechanisms.projections.ramp import Ramp
from exactdp.mechanisms.projections.rounding import Cells
from exactdp.mechanisms.projections.sketch import Sketch
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, checked
from exactdp.mechanisms.projections.universal_hashing import (
    MOST_BITS,
    HashFunctions,
    UniversalHashes,
)
from exactdp.parameters import Real, delta_target, non_negative, positive, rational
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

L1_NEIGHBOURS = "sparse vectors at l1 distance at most 1, both with at most k non-zero entries"

#: Most rows, levels and bits of an array.
_MOST_ROWS = 1 << 31
_MOST_LEVELS = 1 << 20
_MOST_BITS = 1 << 40


@frozen
class UnaryProjection(ABC):
    """A sparse vector as an array of noisy bits.

    d: number of possible entries, at most 2^4096; entries are integers in [0, d).
    k: largest number of non-zero entries. s: rows per level, > 2k. beta: largest value, > 0.
    epsilon: > 0. Raises InvalidParameter.
    """

    d: int = whole(least=1)
    k: int = whole(least=1)
    s: int = whole(least=1, most=_MOST_ROWS)
    beta: Number = number(positive)
    epsilon: Number = number(positive)

    #: Whether values may be negative; the array then has m levels for either sign.
    signed: ClassVar[bool] = False

    #: Whether all cells have equal width, so that a level is a fixed unit of error.
    equal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.d > 1 << MOST_BITS:
            raise InvalidParameter("d", self.d, f"<= 2^{MOST_BITS}")
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"<= d = {self.d}")
        self._check_rows()
        self._check()
        if self.levels > _MOST_LEVELS:
            raise InvalidParameter("beta", self.beta, f"at most {_MOST_LEVELS} levels wide")
        if self.layout.size > _MOST_BITS:
            raise InvalidParameter("s", self.s, f"with {self.levels} levels, <= 2^40 bits")

    def _check_rows(self) -> None:
        if self.s <= 2 * self.k:
            raise InvalidParameter("s", self.s, f"> 2 k = {2 * self.k} and <= {_MOST_ROWS}")

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

    @property
    @abstractmethod
    def e_epsilon(self) -> Fraction:
        """The exact largest probability ratio of neighbours, <= e^epsilon; at most 2^-64 above."""

    @abstractmethod
    def _promise(self) -> tuple[str, str]:
        """The neighbouring relation of the guarantee, and its source."""

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
        return Fraction(self.k, self.s)

    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every sketch, for any data."""
        neighbours, source = self._promise()
        loss = self.epsilon
        return Guarantee(loss, Enclosure.exact(0), neighbours, source, self.e_epsilon)

    def project(self, vector: Vector, source: Source) -> Sketch:
        """Publish a vector.

        vector: a mapping of entries (0 <= i < d) to non-zero values, or a list or array of the
        values of entries 0, 1, 2, ...; values are exact rationals, at most beta. source: randomness
        fit for a release, such as SystemSource. Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        entries = self.checked(vector)
        hashes = UniversalHashes.draw(self.levels, self.d, self.s, source)
        return Sketch(self, hashes, self._draw(entries, hashes, source))

    def draw(self, vector: Vector, hashes: HashFunctions, source: Source) -> Bits:
        """The noisy array for given hash functions, with randomness from any source."""
        return self._draw(self.checked(vector), hashes, source)

    def law(self, vector: Vector, hashes: HashFunctions) -> Law[tuple[int, ...]]:
        """The exact law of all bits, level by level, by enumeration, for small instances."""
        entries, size = self.checked(vector), self.layout.size

        def program(source: Source) -> tuple[int, ...]:
            bits = np.unpackbits(self._draw(entries, hashes, source), bitorder="little")
            return tuple(bits[:size].tolist())

        return exact_law(program, residual=0)

    def checked(self, vector: Vector) -> NonzeroEntries:
        """The non-zero entries; raises InvalidParameter."""
        top = self.beta
        return checked(vector, self.d, self.k, -top if self.signed else Fraction(0), top)

    def _draw(self, entries: NonzeroEntries, hashes: HashFunctions, source: Source) -> Bits:
        layers = []
        for sign in (1, -1) if self.signed else (1,):
            part = entries.map(entries.ids, np.maximum(sign * entries.numerators, 0))
            layers.append(Layer(part.ids, self.cells.level(part, source), hashes))
        return embed(layers, self.layout, self.cells.count, self.flip, source)

    def error(self, value: Real, collision: Real | None = None) -> ErrorLaw:
        """The exact law of estimate - value.

        value: from 0 to beta (the law for -value is symmetric). collision: probability that another
        entry has set a bit, at each level; by default the largest possible.
        Raises InvalidParameter, Undecided. Source: ALP, Section 9, computed instead of simulated.
        """
        point = non_negative("value", value)
        law = self._estimates(point, collision)
        return law.mapped(lambda estimates: estimates - float(point), 2 * self._top)

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
        found = np.copysign(self.cells.values(np.abs(above)), above)
        return np.clip(found, -self._top, self._top)

    def _estimates(self, value: Fraction, collision: Real | None) -> ErrorLaw:
        """The law of the estimate."""
        if value > self.beta:
            raise InvalidParameter("value", value, f"<= beta = {self.beta}")
        chance = self.collision if collision is None else rational("collision", collision)
        levels = self.cells.places(value)
        law = level_law(levels, self.cells.count, self.flip, chance, self.middle)
        return law.mapped(lambda found: self.read(found + self.middle), self._top)

    def _levels_off(self, beta: Fraction) -> float:
        """A number of levels that the error exceeds with probability at most beta.

        Upward errors increase with collisions and decrease with the number of levels below the
        entry; downward errors increase with neither. So each is largest for an entry at the end of
        the walk. Each side gets beta/2.
        """
        most = self.collision
        sides = {most, most if self.signed else Fraction(0)}
        laws = [estimate_law(Fraction(0), self.levels, self.flip, c) for c in sides]
        return max(law.bound(beta / 2) for law in laws)

    @property
    def _top(self) -> float:
        return float(self.beta)

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
