"""Distribution functions on the integers: rational numbers, or real numbers as balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.balls import precision
from exactdp.errors import InvalidParameter

#: Number of bits by which an enclosure of F is finer than the bits of U.
_GUARD = 64

#: Laws are listed at this precision, without tails of 2^-_RARE_BITS, up to this number of outcomes.
_LISTED_BITS, _RARE_BITS, _MOST_LISTED = 192, 90, 4096

#: Number of values of a real F that each distribution caches.
_KEPT = 1 << 15


class Cdf(Protocol):
    """A distribution function on the integers, non-decreasing from 0 to 1."""

    @property
    def low(self) -> int | None:
        """The least possible outcome, or None."""

    @property
    def high(self) -> int | None:
        """The largest possible outcome, or None."""

    def guess(self, level: float) -> int | None:
        """Approximately the least z with F(z) > level, to start a search, or None."""

    def bracket(self, z: int, bits: int) -> tuple[int, int]:
        """Integers with lower <= 2^bits F(z) <= upper, for low <= z <= high."""

    def weights(self) -> tuple[list[int], list[Fraction]] | None:
        """All outcomes with their exact probabilities, or None if they are not rational."""


@dataclass(frozen=True)
class RationalCdf:
    """F(z) = numerator(z) / denominator for low <= z <= high; numerator(high) = denominator.

    tail: computes 1 - F(z) as a ball, if that is faster than numerator and denominator; then every
    outcome must have a positive probability.
    quantile: approximately the least z with F(z) > level, in floats, for 0 < level < 1; a hint.
    fixed: maps a uniform integer below the denominator to an outcome with this law, by the same
    number of operations for every integer; see Source.fixed_inverse_cdf.
    """

    low: int
    high: int
    numerator: Callable[[int], int]
    denominator: int
    tail: Callable[[int], arb] | None = None
    quantile: Callable[[float], float] | None = None
    fixed: Callable[[int], int] | None = None

    @classmethod
    def uniform(cls, size: int, bits: int) -> RationalCdf:
        """The law of floor(u size/2^bits) for a uniform integer u of this number of bits."""
        if size > 1 << bits:
            raise InvalidParameter("bits", bits, f"enough for {size} outcomes")
        return cls(0, size - 1, lambda z: -(-((z + 1) << bits) // size), 1 << bits)

    @cached_property
    def least(self) -> int:
        """The least outcome with positive probability."""
        if self.tail is not None or self.numerator(self.low):
            return self.low
        return self.search(0)

    @property
    def bits(self) -> int:
        """T for a denominator 2^T; raises InvalidParameter for others."""
        size = self.denominator.bit_length() - 1
        if self.denominator != 1 << size:
            raise InvalidParameter("denominator", self.denominator, "a power of two")
        return size

    def search(self, u: int) -> int:
        """The least z with u < numerator(z), by a number of steps that u does not change."""
        low, high = self.low, self.high
        for _ in range((high - low).bit_length()):
            middle = (low + high) // 2
            low, high = (low, middle) if u < self.numerator(middle) else (middle + 1, high)
        return low

    def log_ratio(self, z: int, w: int) -> arb:
        """log(F(z)/F(w)) as a ball, accurate even near 0; F(z) > 0."""
        if self.tail is not None:
            beyond, top = self.tail(z), self.tail(w)
            return ((top - beyond) / (1 - top)).log1p()
        below, above = self.numerator(z), self.numerator(w)
        return (arb(below - above) / above).log1p()

    def guess(self, level: float) -> int | None:
        if self.quantile is None or not 0 < level < 1:
            return None
        return min(max(math.ceil(self.quantile(level)), self.low), self.high)

    def bracket(self, z: int, bits: int) -> tuple[int, int]:
        if z >= self.high:
            return 1 << bits, 1 << bits
        if self.tail is not None:
            with precision(bits + _GUARD):
                return _outward((1 - self.tail(z)) * arb(2) ** bits, bits)
        floor, rest = divmod(self.numerator(z) << bits, self.denominator)
        return floor, floor + (1 if rest else 0)

    def weights(self) -> tuple[list[int], list[Fraction]]:
        outcomes = list(range(self.low, self.high + 1))
        sums = [0, *map(self.numerator, outcomes)]
        pairs = zip(sums[1:], sums[:-1], strict=True)
        return outcomes, [Fraction(b - a, self.denominator) for b, a in pairs]


class RealCdf:
    """A distribution function that is evaluated as a ball, on integers from low to high.

    low, high: None for no bound; high must have positive probability.
    ball: computes F(z) at the working precision; values are cached.
    quantile: approximately the least z with F(z) > level, in floats, for 0 < level < 1; a hint.
    exact: F(z) as a fraction, if rational; used for exact weights, and if balls cannot distinguish
    F(z) from a binary fraction.
    """

    def __init__(
        self,
        low: int | None,
        high: int | None,
        ball: Callable[[int], arb],
        quantile: Callable[[float], float] | None = None,
        exact: Callable[[int], Fraction] | None = None,
    ) -> None:
        self.low = low
        self.high = high
        self._ball = ball
        self._quantile = quantile
        self.exact = exact
        self._fine = lru_cache(_KEPT)(self._compute)

    def guess(self, level: float) -> int | None:
        if self._quantile is None or not 0 < level < 1:
            return None
        z = math.ceil(self._quantile(level))
        z = z if self.low is None else max(z, self.low)
        return z if self.high is None else min(z, self.high)

    def bracket(self, z: int, bits: int) -> tuple[int, int]:
        if z == self.high:
            return 1 << bits, 1 << bits
        level = (bits + _GUARD - 1) // _GUARD * _GUARD
        lower, upper = self._fine(z, level)
        return lower >> level - bits, -(-upper >> level - bits)

    def weights(self) -> tuple[list[int], list[Fraction]] | None:
        if self.exact is None or self.low is None or self.high is None:
            return None
        outcomes = list(range(self.low, self.high + 1))
        sums = [Fraction(0), *map(self.exact, outcomes[:-1]), Fraction(1)]
        return outcomes, [b - a for a, b in pairwise(sums)]

    @cached_property
    def likely(self) -> tuple[list[int], list[Fraction]] | None:
        """Outcomes and lower bounds of their probabilities, up to tails of 2^-90 on either side.

        None if there are more than 4096 outcomes, or if no hint says where they are.
        """
        low, high = self.guess(2.0**-40), self.guess(1 - 2.0**-40)
        if low is None or high is None or high - low > _MOST_LISTED:
            return None
        one, rare = 1 << _LISTED_BITS, 1 << _LISTED_BITS - _RARE_BITS
        while low != self.low and self.bracket(low - 1, _LISTED_BITS)[1] > rare:
            low -= 1
        while high != self.high and self.bracket(high, _LISTED_BITS)[0] < one - rare:
            high += 1
        ends = [self.bracket(z, _LISTED_BITS) for z in range(low, high + 1)]
        below = 0 if low == self.low else self.bracket(low - 1, _LISTED_BITS)[1]
        weights = []
        for lower, upper in ends:
            weights.append(Fraction(max(lower - below, 0), one))
            below = upper
        return list(range(low, high + 1)), weights

    def _compute(self, z: int, bits: int) -> tuple[int, int]:
        with precision(bits + _GUARD):
            return _outward(self._ball(z) * arb(2) ** bits, bits)


def _outward(scaled: arb, bits: int) -> tuple[int, int]:
    """Integers below and above a ball whose number lies between 0 and 2^bits."""
    if not scaled.is_finite():
        return 0, 1 << bits
    floor, ceiling = scaled.lower().floor().fmpz(), scaled.upper().ceil().fmpz()
    return max(int(floor), 0), min(int(ceiling), 1 << bits)
