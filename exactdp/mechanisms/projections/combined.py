"""Large values stored with noise, small values in a sketch, from one vector.

Source: Aumüller, Lebeda and Pagh (ALP), Algorithms 7 and 8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.guarantee import Guarantee
from exactdp.container import Kind
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.projections.alp import ALP, SignedALP
from exactdp.mechanisms.projections.sketch import Sketch, parameters, read, texts
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, identifiers
from exactdp.mechanisms.projections.thresholds import (
    ApproximateThreshold,
    Stored,
    Threshold,
    usual_threshold,
)
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.mechanisms.released import Estimates
from exactdp.parameters import Real, choice, decimal_text, non_negative, positive
from exactdp.samplers import Source
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector


@frozen(kw_only=True)
class ThresholdALP:
    """Noisy values above a threshold are stored; a sketch estimates the values below it.

    d: number of possible entries. k: largest number of non-zero entries. u: largest value. s: rows
    per level of the sketch, > 2k. epsilon1, epsilon2: > 0, spent on stored values and on the
    sketch. delta: 0 to store values by Threshold (Algorithm 6), > 0 by ApproximateThreshold
    (Algorithm 9). grid, values: as for Threshold. alpha, steps: as for ALP.
    t: the threshold. By default 2 ln(d)/epsilon1, at which few of d zero entries are stored, or the
    smallest threshold that delta allows. A smaller t makes the sketch smaller but stores more zero
    entries (stored.expected_empty). The sketch treats larger values as t.
    Raises InvalidParameter.
    Source: ALP, Algorithms 7 and 8, Theorems 5.10 and 5.11, Section 10.
    """

    d: int = whole(least=1)
    k: int = whole(least=1)
    s: int = whole(least=1)
    u: Number = number(positive)
    epsilon1: Number = number(positive)
    epsilon2: Number = number(positive)
    delta: Number = number(non_negative, default=0)
    alpha: Number = number(positive, default=8)
    steps: int = whole(least=1, default=64)
    grid: Number = number(positive, default=Fraction(1, 64))
    values: str = "positive"
    t: Real | None = None

    def __post_init__(self) -> None:
        choice("values", self.values, ("positive", "signed"))
        if self.t is not None:
            object.__setattr__(self, "t", positive("t", self.t))
        least = self.stored.threshold
        if self.delta and self.t not in (None, least):
            raise InvalidParameter("t", self.t, f"{decimal_text(least)}, which follows from delta")
        object.__setattr__(self, "t", least)
        _ = self.sketch  # checks the parameters of the sketch before anything is drawn

    @cached_property
    def stored(self) -> Threshold | ApproximateThreshold:
        """The mechanism of the stored values."""
        given: dict[str, Any] = {
            name: getattr(self, name) for name in ("d", "k", "u", "grid", "values")
        }
        given["epsilon"] = self.epsilon1
        if self.delta:
            return ApproximateThreshold(**given, delta=self.delta)
        grid = self.grid
        top = usual_threshold(self.d, self.epsilon1, grid)
        if self.t is not None:
            top = max(ceil(Fraction(self.t) / grid), 1) * grid
        if top > self.u:
            raise InvalidParameter("u", self.u, f">= {decimal_text(top)}, the threshold")
        return Threshold(**given, t=top)

    @cached_property
    def sketch(self) -> ALP | SignedALP:
        """The mechanism of the sketch, whose beta is the threshold."""
        of = ALP if self.values == "positive" else SignedALP
        top = self.stored.threshold
        return of(self.stored.d, self.stored.k, self.s, top, self.epsilon2, self.alpha, self.steps)

    def guarantee(self) -> Guarantee:
        """The privacy guarantee: stored values and sketch by sequential composition."""
        first, second = self.stored.guarantee(), self.sketch.guarantee()
        assert first.e_epsilon is not None
        return Guarantee(
            first.epsilon + second.epsilon,
            first.delta,
            first.neighbours,
            f"ALP Algorithm 7, {first.source} and {second.source}, composed (Lemma 2.3)",
            first.e_epsilon * self.sketch.e_epsilon,
        )

    def project(self, vector: Vector, source: Source) -> ThresholdSketch:
        """Publish a vector.

        vector: a mapping of entries (0 <= i < d) to non-zero values, or a list or array of the
        values of entries 0, 1, 2, ... source: randomness fit for a release, such as SystemSource.
        Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        entries = self.stored.checked(vector)
        hashes = UniversalHashes.draw(self.sketch.levels, self.sketch.d, self.sketch.s, source)
        bits = self.sketch._draw(self.limited(entries), hashes, source)
        return ThresholdSketch(
            self, self.stored._draw(entries, source), Sketch(self.sketch, hashes, bits)
        )

    def limited(self, entries: NonzeroEntries) -> NonzeroEntries:
        """The entries with values clipped to the threshold, for the sketch."""
        top = self.stored.threshold
        upper = entries.at_most(top)
        flipped = replace(upper, numerators=-upper.numerators).at_most(top)
        return replace(flipped, numerators=-flipped.numerators)


@dataclass(frozen=True, eq=False)
class ThresholdSketch(Estimates):
    """A published vector: ``sketch[i]`` is the stored value of entry i, or else its estimate."""

    mechanism: ThresholdALP
    stored: Stored
    small: Sketch

    @property
    def text(self) -> int | None:
        """None if entries are numbers; for byte strings, their largest length in bytes."""
        return self.small.text

    def of_texts(self, longest: int | None) -> ThresholdSketch:
        """The same sketch, marked as a sketch of byte strings of at most this length."""
        return replace(self, small=self.small.of_texts(longest))

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of the release."""
        return self.mechanism.guarantee()

    @cached_property
    def _steps(self) -> dict[int, int]:
        return dict(self.stored)

    def __getitem__(self, i: int) -> Fraction:
        """The estimate of one entry, exactly."""
        estimate = self.small[i]
        steps = self._steps.get(int(i))
        return estimate if steps is None else steps * self.mechanism.grid

    def estimate(self, ids: Iterable[int] | NDArray[Any]) -> NDArray[np.float64]:
        """The estimates of many entries, as floats."""
        wanted = identifiers(ids, self.mechanism.d)
        found = self.small.estimate(wanted)
        if self.stored:
            places = np.array([i for i, _ in self.stored], wanted.dtype)
            values = np.array([v for _, v in self.stored]) * float(self.mechanism.grid)
            at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            hit = places[at] == wanted
            found[hit] = values[at[hit]]
        return found

    @property
    def size(self) -> dict[str, int]:
        """Sizes of the sketch and of the stored values, in bits."""
        return {**self.small.size, "stored": 8 * len(self.stored) * (_entry_size(self.mechanism))}

    def to_bytes(self) -> bytes:
        """A checked file of parameters, stored values and sketch, read by :meth:`from_bytes`."""
        width = _entry_size(self.mechanism) - 8
        stored = b"".join(
            i.to_bytes(width, "little") + v.to_bytes(8, "little", signed=True)
            for i, v in self.stored
        )
        rest = self.small.hashes.to_bytes() + self.small.bits.tobytes()
        header = {**parameters(self.mechanism), "stored": len(self.stored), "text": self.text}
        return _KIND.pack(header, stored + rest)

    @classmethod
    def from_bytes(cls, data: bytes) -> ThresholdSketch:
        """The sketch from a file of to_bytes; raises InvalidParameter unless all of it is valid."""
        header, payload = _KIND.unpack(data)
        text, count = texts(header.pop("text")), header.pop("stored")
        given: dict[str, Any] = dict(header)
        made = ThresholdALP(**given)
        size = _entry_size(made)
        if not isinstance(count, int) or not 0 <= count * size <= len(payload):
            raise InvalidParameter("stored", count, "the number of stored entries in the file")
        start = count * size
        raw = [bytes(payload[i : i + size]) for i in range(0, start, size)]
        stored = tuple(
            (int.from_bytes(x[:-8], "little"), int.from_bytes(x[-8:], "little", signed=True))
            for x in raw
        )
        places = [i for i, _ in stored]
        sizes = [abs(v) for _, v in stored]
        inside = all(made.stored.least <= v <= made.stored.noise.steps for v in sizes)
        if places != sorted(set(places)) or not inside or not all(i < made.d for i in places):
            raise InvalidParameter(
                "stored", Described("invalid entries"), "entries written by to_bytes"
            )
        return cls(made, stored, Sketch(*read(made.sketch, payload[start:]), text))


_KIND = Kind(
    "ThresholdALP sketch", 1, (*(field.name for field in fields(ThresholdALP)), "stored", "text")
)


def _entry_size(mechanism: ThresholdALP) -> int:
    """Bytes per stored entry."""
    return max(-(-(mechanism.d - 1).bit_length() // 8), 1) + 8
