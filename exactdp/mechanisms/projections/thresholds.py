"""Noisy values above a threshold, with pure DP (Algorithm 6) or approximate DP (Algorithm 9).

Source: Aumüller, Lebeda and Pagh (ALP).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, log1p

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanisms.empty_bins import fresh_elements
from exactdp.mechanisms.projections.grid_noise import FEW, GridNoise
from exactdp.mechanisms.projections.sparse_vectors import NonzeroEntries, checked, rounded
from exactdp.mechanisms.projections.unary_projection import L1_NEIGHBOURS
from exactdp.mechanisms.released import Released
from exactdp.parameters import choice, decimal_text, delta_target, positive
from exactdp.samplers import Source, exact_law
from exactdp.samplers.binomial import binomial_cdf
from exactdp.samplers.inverse_cdf import RealCdf
from exactdp.samplers.source import require_secure
from exactdp.vector import Vector

#: Stored pairs (entry, value in steps of the grid), in ascending order of entries.
Stored = tuple[tuple[int, int], ...]

#: Thresholds at which more zero entries than this are stored on average are refused.
_MOST_STORED = 100_000


@dataclass(frozen=True, eq=False)
class LargeValues(Released[int, Fraction]):
    """A published vector: a mapping of entries to noisy values of at least the threshold.

    bins: pairs of entry and value in ascending order of entries. guarantee: of the release.
    """

    bins: tuple[tuple[int, Fraction], ...]
    guarantee: Guarantee


@frozen(kw_only=True)
class _Threshold(ABC):
    """d: number of possible entries, unlimited. k: largest number of non-zero entries. u: largest
    |value|.

    epsilon: > 0. grid: > 0; values are randomly rounded to multiples of grid, and u is a multiple.
    values: "positive", or "signed" (then |value| is compared with the threshold).
    """

    d: int = whole(least=1)
    k: int = whole(least=1)
    u: Number = number(positive)
    epsilon: Number = number(positive)
    grid: Number = number(positive, default=Fraction(1, 64))
    values: str = "positive"

    def __post_init__(self) -> None:
        if self.k > self.d:
            raise InvalidParameter("k", self.k, f"<= d = {self.d}")
        choice("values", self.values, ("positive", "signed"))

    @cached_property
    def noise(self) -> GridNoise:
        """The noise of one value."""
        return GridNoise(self.grid, self.epsilon, self.k, self.u)

    @property
    @abstractmethod
    def least(self) -> int:
        """The threshold in steps of the grid."""

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""

    @abstractmethod
    def _draw(self, entries: NonzeroEntries, source: Source) -> Stored:
        """The stored pairs for checked entries."""

    @property
    def threshold(self) -> Fraction:
        """The smallest stored value."""
        return self.least * self.grid

    def release(self, vector: Vector, source: Source) -> LargeValues:
        """Publish the large values. source: randomness fit for a release, such as SystemSource.

        Raises InvalidParameter before anything is drawn.
        """
        require_secure(source)
        grid, stored = self.grid, self.draw(vector, source)
        return LargeValues(tuple((i, steps * grid) for i, steps in stored), self.guarantee())

    def draw(self, vector: Vector, source: Source) -> Stored:
        """The stored pairs of a release with randomness from any source."""
        return self._draw(self.checked(vector), source)

    def law(self, vector: Vector) -> Law[Stored]:
        """The exact law of the stored pairs, by enumeration, for small instances."""
        entries = self.checked(vector)
        return exact_law(lambda source: self._draw(entries, source), residual=0)

    def checked(self, vector: Vector) -> NonzeroEntries:
        """The non-zero entries; raises InvalidParameter."""
        top = self.u
        return checked(vector, self.d, self.k, -top if self._signed else Fraction(0), top)

    @property
    def _signed(self) -> bool:
        return self.values == "signed"

    def _large(self, entries: NonzeroEntries, source: Source) -> list[tuple[int, int]]:
        """The stored pairs of the given entries, in steps of the grid."""
        low = -self.noise.steps if self._signed else 0
        noisy = self.noise.noisy(entries, low, source)
        kept = (np.abs(noisy) if self._signed else noisy) >= self.least
        return list(zip(entries.ids[kept].tolist(), noisy[kept].tolist(), strict=True))


@frozen(kw_only=True)
class Threshold(_Threshold):
    """Add noise to all d entries and store those of at least t: pure DP, in time independent of d.

    d: number of possible entries. k: largest number of non-zero entries. u: largest |value|.
    epsilon: > 0. grid: > 0; values are randomly rounded to multiples of grid, and u is a multiple.
    values: "positive", or "signed" (then |value| is compared with t). t: the threshold, > 0 and
    <= u, rounded up to the grid. Raises InvalidParameter.
    Source: ALP, Algorithm 6 corrected (the noisy value v_i is compared with t), Lemma 5.1.

    >>> from exactdp.mechanisms import Threshold
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = Threshold(d=2**64, k=10, u=10**6, epsilon=1, t=89)
    >>> 900 < mechanism.release({5: 1000}, SystemSource())[5] < 1100
    True
    """

    t: Number = number(positive)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least > self.noise.steps:
            raise InvalidParameter("t", self.t, f"<= u = {self.u}")
        if self.expected_empty.upper > _MOST_STORED:
            raise InvalidParameter(
                "t",
                self.t,
                f"so large that at most {_MOST_STORED} zero entries are stored on average",
            )

    @cached_property
    def least(self) -> int:
        return ceil(self.t / self.grid)

    @cached_property
    def expected_empty(self) -> Enclosure:
        """Expected number of stored entries of a vector of d zeros."""
        chance, _ = self._chance
        return refine(lambda: chance() * self.d)

    def guarantee(self) -> Guarantee:
        loss, kept = self.epsilon, self.noise.e_epsilon
        source = "ALP Algorithm 6, Lemma 5.1, on a grid"
        return Guarantee(loss, Enclosure.exact(0), L1_NEIGHBOURS, source, kept)

    def _draw(self, entries: NonzeroEntries, source: Source) -> Stored:
        taken = sorted(entries.ids.tolist())
        empty = [(i, self._empty_value(source)) for i in self._empty_stored(taken, source)]
        return tuple(sorted([*self._large(entries, source), *empty]))

    @cached_property
    def _chance(self) -> tuple[Callable[[], arb], Fraction | None]:
        """The probability that a zero entry is stored."""
        sides = 2 if self._signed else 1
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
        return -size if self._signed and source.bits(1) else size


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
        if (1 / self.grid).denominator != 1:
            raise InvalidParameter("grid", self.grid, "1 divided by an integer")
        if self.least > self.noise.steps:
            allowed = f">= {decimal_text(self.threshold)}, the threshold"
            raise InvalidParameter("u", self.u, allowed)

    @cached_property
    def least(self) -> int:
        """The smallest threshold, in steps, that keeps delta.

        The part of a change that happens below |value| = 1 adds P(stored | 1) times its size to
        delta. If another part b of the change happens above 1, that sum is multiplied by at most
        e^(c b) (1 - b), whose maximum over b is 1, or e^(c - 1)/c for c > 1.
        """
        delta, one = self.delta, int(1 / self.grid)
        with precision(128):
            guess = (ball(delta) / self._share()).log() / -ball(self.noise.rise).log1p()
            steps = max(int(guess.mid().ceil().fmpz()), 1)
        while not self._kept(steps).upper <= delta:
            steps += 1
        return one + steps

    def _share(self) -> arb:
        c = self.noise.rise / self.grid
        ratio = 1 / (1 + self.noise.rise)
        return ((ball(c - 1)).exp() / ball(c) if c > 1 else arb(1)) / (1 + ball(ratio))

    def _kept(self, steps: int) -> Enclosure:
        """The delta of a threshold this many steps above 1."""
        return refine(lambda: self._share() * (-ball(self.noise.rise).log1p() * steps).exp())

    def guarantee(self) -> Guarantee:
        delta = self._kept(self.least - int(1 / self.grid))
        source = "ALP Algorithm 9, Lemma 5.6, on a grid"
        return Guarantee(self.epsilon, delta, L1_NEIGHBOURS, source, self.noise.e_epsilon)

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
    found = refine(lambda: 2 * ball(d).log() / ball(epsilon))
    return max(ceil(found.upper / grid), 1) * grid
