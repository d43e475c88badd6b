"""Noisy values above a threshold, with pure DP (Algorithm 6) or approximate DP (Algorithm 9).

Source: Aumüller, Lebeda and Pagh (ALP).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log1p
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.law import Law
from exactdp.mechanism import Simulated
from exactdp.mechanisms.empty_bins import fresh_elements
from exactdp.mechanisms.projections.error_law import ErrorLaw
from exactdp.mechanisms.projections.files import packed, unpacked
from exactdp.mechanisms.projections.grid_noise import FEW, GridProjection
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, rounded
from exactdp.mechanisms.released import Released
from exactdp.parameters import Real, decimal_text, delta_target, integer, positive
from exactdp.samplers import Source, exact_law
from exactdp.samplers.binomial import binomial_cdf
from exactdp.samplers.cdf import RealCdf
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

#: Stored pairs (entry, value in steps of the grid), in ascending order of entries.
Stored = tuple[tuple[int, int], ...]

#: Thresholds at which more zero entries than this are stored on average are refused.
_MOST_STORED = 100_000

#: Values are multiples of the step in doubles, so none lies between this part of the threshold and
#: the threshold unless the threshold is over 2^40 steps.
_CLOSE = 1 - 2.0**-41


@dataclass(frozen=True, eq=False)
class LargeValues(Released[int, Fraction]):
    """A published vector: a mapping of entries to noisy values of at least the threshold.

    mechanism: of the release. stored: pairs of entry and value in steps of the grid, in ascending
    order of entries.
    """

    mechanism: Threshold | ApproximateThreshold
    stored: Stored

    @cached_property
    def bins(self) -> tuple[tuple[int, Fraction], ...]:  # type: ignore[override]
        """Pairs of entry and value in ascending order of entries."""
        return tuple((i, steps * self.mechanism.step) for i, steps in self.stored)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of the release."""
        return self.mechanism.guarantee

    def to_bytes(self) -> bytes:
        """A checked file of parameters and stored values, read by :func:`read_sketch`."""
        width = _id_bytes(self.mechanism.d)
        entries = (
            i.to_bytes(width, "little") + v.to_bytes(8, "little", signed=True)
            for i, v in self.stored
        )
        return packed(self.mechanism, b"".join(entries))

    @classmethod
    def from_bytes(cls, data: bytes, of: Any) -> LargeValues:
        """The values from a file of to_bytes. of: mechanism's class. Raises InvalidParameter."""
        mechanism, payload, _ = unpacked(data, of)
        size = _id_bytes(mechanism.d) + 8
        raw = [bytes(payload[i : i + size]) for i in range(0, len(payload), size)]
        stored = tuple(
            (int.from_bytes(x[:-8], "little"), int.from_bytes(x[-8:], "little", signed=True))
            for x in raw
        )
        places = [i for i, _ in stored]
        sizes = [abs(v) if mechanism.signed else v for _, v in stored]
        inside = all(mechanism.least <= v <= mechanism.noise.steps for v in sizes)
        if (
            len(payload) % size
            or places != sorted(set(places))
            or max(places, default=0) >= mechanism.d
        ):
            inside = False
        if not inside:
            raise InvalidParameter("data", Described("invalid entries"), "entries that were stored")
        return cls(mechanism, stored)


def _id_bytes(d: int) -> int:
    """Bytes of a stored entry's number."""
    return max(-(-(d - 1).bit_length() // 8), 1)


@frozen(kw_only=True)
class _Threshold(GridProjection, Simulated[Vector]):
    """values: "signed" compares |value| with the threshold. Other parameters: as above."""

    takes = ("positive", "signed", "counts")
    independent = True

    @property
    @abstractmethod
    def least(self) -> int:
        """The threshold in steps of the grid."""

    @abstractmethod
    def _draw(self, entries: NonzeroEntries, source: Source) -> Stored:
        """The stored pairs for checked entries."""

    @property
    def threshold(self) -> Fraction:
        """The smallest stored value."""
        return self.least * self.step

    def release(self, vector: Vector, source: Source) -> LargeValues:
        """Publish the large values. source: randomness fit for a release, such as SystemSource.

        Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        return LargeValues(self, self.draw(vector, source))  # type: ignore[arg-type]

    def draw(self, vector: Vector, source: Source) -> Stored:
        """The stored pairs of a release with randomness from any source."""
        return self._draw(self.checked(vector), source)

    def law(self, vector: Vector) -> Law[Stored]:
        """The exact law of the stored pairs, by enumeration, for small instances."""
        entries = self.checked(vector)
        return exact_law(lambda source: self._draw(entries, source), residual=0)

    def error(self, value: Real) -> ErrorLaw:
        """The exact law of estimate - value, where a value that is not stored is estimated as 0."""
        limit, span = float(self.threshold), float(2 * self.largest)

        def of_size(size: Fraction) -> ErrorLaw:
            law = self._noisy(size)
            return law.mapped(
                lambda v: np.where(abs(v) < limit * _CLOSE, 0.0, v) - float(size), span
            )

        return self._either_sign(value, of_size)

    def _noisy(self, value: Fraction) -> ErrorLaw:
        """The law of the noisy value of one entry, which is stored from the threshold on."""
        return self.noise.estimates(value, self._low)

    @property
    def _low(self) -> int:
        return -self.noise.steps if self.signed else 0

    def _large(self, entries: NonzeroEntries, source: Source) -> list[tuple[int, int]]:
        """The stored pairs of the given entries, in steps of the grid."""
        noisy = self.noise.noisy(entries, self._low, source)
        kept = (np.abs(noisy) if self.signed else noisy) >= self.least
        return list(zip(entries.ids[kept].tolist(), noisy[kept].tolist(), strict=True))


@frozen(kw_only=True)
class Threshold(_Threshold):
    """Add noise to all d entries and store those of at least t: pure DP, in time independent of d.

    d: number of possible entries. k: largest number of non-zero entries. largest: largest |value|.
    epsilon: > 0. grid: > 0; values are randomly rounded to multiples of grid, and largest is a
    multiple. values: "positive", "signed" (then |value| is compared with t), or "counts" (then the
    grid is 1, and neighbours differ by 1 in one entry). t: the threshold, > 0 and <= largest,
    rounded up to the grid; :meth:`of` takes 2 ln(d)/epsilon. Raises InvalidParameter.
    Source: ALP, Algorithm 6 corrected (the noisy value v_i is compared with t), Lemma 5.1.

    >>> from exactdp.mechanisms import Threshold
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = Threshold(d=2**64, k=10, largest=10**6, epsilon=1, t=89)
    >>> 900 < mechanism.release({5: 1000}, SystemSource())[5] < 1100
    True
    """

    t: Number = number(positive)

    @classmethod
    def of(cls, **parameters: Any) -> Threshold:
        """The mechanism with t = 2 ln(d)/epsilon, at which few zero entries are stored.

        parameters: those of the class, without t. Source: ALP, Lemma 5.2.
        """
        d = integer("d", parameters.get("d", 0), least=1)
        loss = positive("epsilon", parameters["epsilon"])
        counts = parameters.get("values") == "counts"
        grid = 1 if counts else parameters.get("grid", Fraction(1, 64))
        return cls(t=usual_threshold(d, loss, positive("grid", grid)), **parameters)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least > self.noise.steps:
            raise InvalidParameter("t", self.t, f"<= largest = {self.largest}")
        if self.expected_empty.upper > _MOST_STORED:
            raise InvalidParameter(
                "t",
                self.t,
                f"so large that at most {_MOST_STORED} zero entries are stored on average",
            )

    @cached_property
    def least(self) -> int:
        return ceil(self.t / self.step)

    @cached_property
    def expected_empty(self) -> Enclosure:
        """Expected number of stored entries of a vector of d zeros."""
        chance, _ = self._chance
        return refine(lambda: chance() * self.d)

    source = "ALP Algorithm 6, Lemma 5.1, on a grid"

    def _draw(self, entries: NonzeroEntries, source: Source) -> Stored:
        taken = sorted(entries.ids.tolist())
        empty = [(i, self._empty_value(source)) for i in self._empty_stored(taken, source)]
        return tuple(sorted([*self._large(entries, source), *empty]))

    @cached_property
    def _chance(self) -> tuple[Callable[[], arb], Fraction | None]:
        """The probability that a zero entry is stored."""
        sides = 2 if self.signed else 1
        chance, exact = self.noise.beyond(self.least)
        return (lambda: sides * chance()), None if exact is None else sides * exact

    def _empty_stored(self, taken: list[int], source: Source) -> list[int]:
        """The stored zero entries: their number is binomial, and the entries are uniform."""
        left, (chance, exact) = self.d - len(taken), self._chance
        few = exact if left <= FEW else None
        mean = min(float(self.expected_empty.upper), float(_MOST_STORED))
        count = source.inverse_cdf(binomial_cdf(left, chance, mean, few)) if left else 0
        return fresh_elements(taken, count, self.d, source)

    def _empty_value(self, source: Source) -> int:
        """The noisy value of a stored zero entry: geometric noise is memoryless beyond t."""
        ratio = 1 / (1 + self.noise.rise)
        rest = self.noise.steps - self.least
        few = (lambda z: 1 - ratio ** (z + 1)) if rest <= FEW else None
        rate = float(self.noise.rise)
        more = RealCdf(
            0,
            rest,
            lambda z: -((-ball(self.noise.rise).log1p() * (z + 1)).expm1()),
            lambda level: -log1p(-level) / log1p(rate) - 1,
            few,
        )
        size = self.least + (source.inverse_cdf(more) if rest else 0)
        return -size if self.signed and source.bits(1) else size


@frozen(kw_only=True)
class ApproximateThreshold(_Threshold):
    """Add noise to the non-zero entries only and store those above a threshold: approximate DP.

    delta: > 0 and < 1; the threshold is the smallest that keeps (epsilon, delta). grid: 1/grid is
    an integer. Other parameters: as for Threshold. Values with |value| < 1 are randomly rounded to
    0 or 1, and a value whose noise changes its sign is not stored. At most k entries are stored.
    Source: ALP (which calls it Threshold2), Algorithm 9, Lemma 5.6, and Section 10 for signs.
    """

    delta: Number = number(delta_target)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (1 / self.step).denominator != 1:
            raise InvalidParameter("grid", self.grid, "1 divided by an integer")
        if self.least > self.noise.steps:
            allowed = f">= {decimal_text(self.threshold)}, the threshold"
            raise InvalidParameter("largest", self.largest, allowed)

    @cached_property
    def least(self) -> int:
        """The smallest threshold, in steps, that keeps delta.

        The part of a change that happens below |value| = 1 adds P(stored | 1) times its size to
        delta. If another part b of the change happens above 1, that sum is multiplied by at most
        e^(c b) (1 - b), whose maximum over b is 1, or e^(c - 1)/c for c > 1. A change of one count
        by 1 has no other part.
        """
        delta, one = self.delta, int(1 / self.step)
        with precision(128):
            guess = (ball(delta) / self._share()).log() / -ball(self.noise.rise).log1p()
            steps = max(int(guess.mid().ceil().fmpz()), 1)
        while not self._kept(steps).upper <= delta:
            steps += 1
        return one + steps

    def _share(self) -> arb:
        c = self.noise.rise / self.step
        ratio = 1 / (1 + self.noise.rise)
        parts = c > 1 and self.values != "counts"
        return ((ball(c - 1)).exp() / ball(c) if parts else arb(1)) / (1 + ball(ratio))

    def _kept(self, steps: int) -> Enclosure:
        """The delta of a threshold this many steps above 1."""
        return refine(lambda: self._share() * (-ball(self.noise.rise).log1p() * steps).exp())

    source = "ALP Algorithm 9, Lemma 5.6, on a grid"

    @property
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee, delta=self._kept(self.least - int(1 / self.step)))

    def _noisy(self, value: Fraction) -> ErrorLaw:
        if value >= 1:
            noisy = self.noise.estimates(value, self._low)
            return noisy.mapped(lambda v: np.maximum(v, 0.0), noisy.span)  # other signs: not stored
        one = self._noisy(Fraction(1))
        errors = np.append(one.errors, 0.0)
        weights = np.append(one.weights * float(value), float(1 - value))
        return replace(one, errors=errors, weights=weights, left=one.left * float(value))

    def _draw(self, entries: NonzeroEntries, source: Source) -> Stored:
        small = np.abs(entries.numerators) < entries.denominator
        ones = rounded(_part(entries, small), Fraction(1), source)
        kept = _part(entries, ~small)
        rows = np.flatnonzero(ones)
        signs = NonzeroEntries(entries.ids[small][rows], ones[rows] * entries.denominator,
                        entries.denominator)  # fmt: skip
        both = NonzeroEntries(
            np.concatenate([kept.ids, signs.ids]),
            np.concatenate([kept.numerators, signs.numerators]),
            entries.denominator,
        )
        positive = dict(zip(both.ids.tolist(), (both.numerators > 0).tolist(), strict=True))
        large = self._large(both, source)
        return tuple(sorted((i, v) for i, v in large if (v > 0) == positive[i]))


def _part(entries: NonzeroEntries, chosen: NDArray[np.bool_]) -> NonzeroEntries:
    return NonzeroEntries(entries.ids[chosen], entries.numerators[chosen], entries.denominator)


def usual_threshold(d: int, epsilon: Fraction, grid: Fraction) -> Fraction:
    """t = 2 ln(d)/epsilon, rounded up to the grid, at least one step (ALP, Lemma 5.2)."""
    threshold = refine(lambda: 2 * ball(d).log() / ball(epsilon))
    return max(ceil(threshold.upper / grid), 1) * grid
