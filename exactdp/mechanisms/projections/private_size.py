"""Vectors of unknown size: a private bound of the size, and a sketch that is made for this size.

The number of non-zero entries of a histogram changes by at most 1 between neighbours. The sum of
the values, rounded up to an integer, does so for vectors at l1 distance 1, as ceil(a + t) <=
ceil(a) + ceil(t). Both are released with discrete Laplace noise.

Source: Aumüller, Lebeda and Pagh (ALP), Section 10, Variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, instance, number, whole
from exactdp.law import Law
from exactdp.mechanism import Mechanism, Simulated
from exactdp.mechanisms.projections.alp import HistogramALP, TotalALP
from exactdp.mechanisms.projections.combined_sketch import CombinedSketch
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.files import packed, unpacked
from exactdp.mechanisms.projections.grid_noise import MOST_STEPS, GridNoise
from exactdp.mechanisms.projections.projection import Projection
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries
from exactdp.mechanisms.projections.unary_projection import UnaryProjection
from exactdp.mechanisms.projections.universal_hashing import HashFunctions
from exactdp.mechanisms.released import Released
from exactdp.parameters import Real, choice, delta_target, integer, positive
from exactdp.samplers import Source, exact_law
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector


@frozen(kw_only=True)
class PrivateSize(Projection, Simulated[Vector]):
    """A private upper bound of the size of a vector, which is too small with probability <= 1/d.

    d: number of possible entries, >= 2. largest: largest value. epsilon: > 0. values: "counts" (the
    size is the number of non-zero entries) or "positive" (the size is the sum of the values,
    rounded up). k: largest number of non-zero entries, by default d. A size is at most 2^40.
    Raises InvalidParameter.
    """

    k: int = whole(least=1, default=None)
    values: str = "counts"

    def __post_init__(self) -> None:
        choice("values", self.values, ("counts", "positive"))
        integer("d", self.d, least=2)
        object.__setattr__(self, "k", self.k or self.d)
        super().__post_init__()

    @cached_property
    def noise(self) -> GridNoise:
        """The noise, and the largest size."""
        most = self.d if self.values == "counts" else ceil(self.d * self.largest)
        return GridNoise(Fraction(1), self.epsilon, 1, Fraction(min(most, MOST_STEPS)))

    @property
    def e_epsilon(self) -> Fraction:
        return self.noise.e_epsilon

    source = "ALP Section 10, with discrete noise"

    @cached_property
    def raised(self) -> int:
        """What is added to the size, so that noise rarely makes it smaller: log_r d, rounded up."""
        return ceil(refine(lambda: ball(self.d).log() / ball(self.noise.rise).log1p()).upper)

    @property
    def missed(self) -> Enclosure:
        """The probability that the bound is too small, unless the size is limited."""
        return refine(self.noise.beyond(self.raised + 1)[0])

    def size(self, entries: NonzeroEntries) -> int:
        """The size of checked entries."""
        counts = self.values == "counts"
        size = (
            len(entries) if counts else -(-sum(entries.numerators.tolist()) // entries.denominator)
        )
        return min(int(size), self.noise.steps)

    def release(self, vector: Vector, source: Source) -> NoisySize:
        """Publish the bound. source: randomness fit for a release. Raises InvalidParameter."""
        require_secure(source)
        return NoisySize(self, self.draw(vector, source))

    def draw(self, vector: Vector, source: Source) -> int:
        """The bound with randomness from any source, for simulations and proofs."""
        return self._draw(self.checked(vector), source)

    def law(self, vector: Vector) -> Law[int]:
        """The exact law of the bound, by enumeration, for small instances."""
        entries = self.checked(vector)
        return exact_law(lambda source: self._draw(entries, source), residual=0)

    def error(self, value: Real) -> ErrorLaw:
        """The exact law of bound - size. value: the size, >= 0. Raises InvalidParameter."""
        size = integer("value", value, least=0)
        law = self.noise.estimates(Fraction(size + self.raised), 1)
        return law.mapped(lambda bounds: bounds - size, law.span + size)

    def _draw(self, entries: NonzeroEntries, source: Source) -> int:
        raised = np.array([self.size(entries) + self.raised])
        return int(self.noise.noisy(NonzeroEntries(raised * 0, raised, 1), 1, source)[0])


@dataclass(frozen=True, eq=False)
class NoisySize(Released[int, Fraction]):
    """A published bound of a vector's size, which says nothing about single entries."""

    mechanism: PrivateSize
    n: int
    bins = ()

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of the release."""
        return self.mechanism.guarantee

    def to_bytes(self) -> bytes:
        """A checked file, read by :func:`read_sketch`."""
        return packed(self.mechanism, self.n.to_bytes(8, "little"))

    @classmethod
    def from_bytes(cls, data: bytes, of: Any) -> NoisySize:
        """The bound from a file of to_bytes. Raises InvalidParameter."""
        mechanism, payload, _ = unpacked(data, of)
        n = int.from_bytes(payload, "little")
        if len(payload) != 8 or not 1 <= n <= mechanism.noise.steps:
            raise InvalidParameter("data", n, "a size from 1 to the largest")
        return cls(mechanism, n)


@frozen(kw_only=True)
class SizedALP(Mechanism[Vector]):
    """A sketch of a vector of unknown size: its private size first, then a sketch for this size.

    size: the mechanism of the size. epsilon: of the sketch; both epsilons add up. rows: of the
    sketch, for each non-zero entry (HistogramALP) or bit set (TotalALP). No vector is refused for
    its size: if the bound is too small, which is rare, more collisions occur, but the guarantee
    holds. Raises InvalidParameter.
    """

    size: PrivateSize = instance(PrivateSize)
    epsilon: Number = number(positive)
    rows: int = whole(least=3, default=8)

    @classmethod
    def of(
        cls, *, epsilon: Real, share: Real = "1/8", rows: int = 8, **parameters: Any
    ) -> SizedALP:
        """The mechanism for epsilon in total.

        share: part of epsilon for the size. parameters: d, largest and values, as for PrivateSize.
        """
        total, part = positive("epsilon", epsilon), delta_target("share", share)
        size = PrivateSize(epsilon=part * total, **parameters)
        return cls(size=size, epsilon=(1 - part) * total, rows=rows)

    def sketch(self, n: int) -> HistogramALP | TotalALP:
        """The mechanism of the sketch for a private size n."""
        size = self.size
        parameters: dict[str, Any] = {"d": size.d, "largest": size.largest, "epsilon": self.epsilon}
        if size.values == "counts":
            return HistogramALP.of(k=n, rows=self.rows, **parameters)
        return TotalALP.of(k=size.k, total=n, rows=self.rows, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of both together, by sequential composition (ALP, Lemma 2.3)."""
        return self.size.guarantee + self.sketch(1).guarantee

    def project(self, vector: Vector, source: Source) -> CombinedSketch:
        """Publish a vector. Parameters: as for ALP's project. Raises InvalidParameter."""
        size = self.size.release(vector, source)
        small = self.sketch(size.n).publish(self.size.checked(vector), source)
        return CombinedSketch(size, small)

    release = project

    def law(
        self, vector: Vector, hashes: Callable[[UnaryProjection], HashFunctions]
    ) -> Law[tuple[int, tuple[int, ...]]]:
        """The exact law of the noisy size and the sketch's bits, by enumeration, for few bits.

        hashes: the hash functions for the mechanism of each size.
        """
        entries = self.size.checked(vector)

        def bits(n: int) -> Law[tuple[int, tuple[int, ...]]]:
            small = self.sketch(n)
            return small.bits_law(entries, hashes(small)).map(lambda sketch_bits: (n, sketch_bits))

        return self.size.law(vector).then(bits)

    def error(self, value: Real, size: Real) -> ErrorLaw:
        """The law of estimate - value if the noisy size is the true size, so that collisions are
        as likely as with any size that is not too small.

        size: of the vector. The probability that the noisy size is too small is in `left`.
        """
        law = self._at(size).error(value)
        return replace(law, left=law.left + self.size.missed.float_upper())

    def error_bound(self, beta: Real, size: Real) -> float:
        """A bound that |estimate - value| exceeds with probability at most beta.

        size: of the vector. beta: larger than size.missed. Raises InvalidParameter.
        """
        missed = self.size.missed.upper
        chance = delta_target("beta", beta)
        if chance <= missed:
            raise InvalidParameter("beta", beta, f"> {self.size.missed.decimal_upper(6)}")
        return self._at(size).error_bound(chance - missed)

    def _at(self, size: Real) -> HistogramALP | TotalALP:
        """The sketch for a true size: a larger noisy size has fewer collisions."""
        return self.sketch(min(integer("size", size, least=1), self.size.noise.steps))
