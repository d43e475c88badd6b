"""Coins, uniform integers, random rounding and randomised response."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.parameters import Real, integer, non_negative, probability, rational
from exactdp.samplers.bulk_coins import below
from exactdp.samplers.cdf import Cdf, RationalCdf, RealCdf
from exactdp.samplers.integer_law import IntegerLaw, Sampler, floor_at
from exactdp.samplers.source import Source
from exactdp.samplers.table import WORD_BITS, Table


class _Coin(IntegerLaw):
    """A law on {0, 1}."""

    def _make_sampler(self) -> Sampler:
        return Table(self._cdf, 0, [floor_at(self._cdf, 0, WORD_BITS)])


@frozen
class Bernoulli(_Coin):
    """1 with probability p, a rational in [0, 1].

    >>> from exactdp.samplers import Bernoulli, exact_law
    >>> exact_law(Bernoulli(p="1/3").sample)
    Law({0: 2/3, 1: 1/3})
    """

    p: Number = number(probability)

    @property
    def mean(self) -> Fraction:
        """p."""
        return self.p

    @property
    def variance(self) -> Fraction:
        """p (1 - p)."""
        return self.mean * (1 - self.mean)

    def pmf(self, z: int) -> Fraction:
        """P(X = z), exactly."""
        return {0: 1 - self.p, 1: self.p}.get(z, Fraction(0))

    def _make_cdf(self) -> Cdf:
        chance = self.p
        zero = chance.denominator - chance.numerator
        sums = (zero, chance.denominator)
        return RationalCdf(0, 1, sums.__getitem__, chance.denominator)


@frozen
class BernoulliExp(_Coin):
    """1 with probability exp(-gamma), gamma >= 0 a rational; needs two random bits on average."""

    gamma: Number = number(non_negative)

    @property
    def mean(self) -> Enclosure:
        """exp(-gamma), in an enclosure of relative width <= 1e-12."""
        return self.pmf(1)

    @property
    def variance(self) -> Enclosure:
        """exp(-gamma) (1 - exp(-gamma)), in an enclosure of relative width <= 1e-12."""
        if not self.gamma:
            return Enclosure.exact(0)
        return refine(lambda: (-self._exponent()).exp() * self._zero(0))

    def pmf(self, z: int) -> Enclosure:
        """P(X = z), in an enclosure of relative width <= 1e-12."""
        if z not in (0, 1) or not self.gamma:
            return Enclosure.exact(1 if z == 1 and not self.gamma else 0)
        return refine(lambda: (-self._exponent()).exp() if z else self._zero(0))

    def _make_cdf(self) -> Cdf:
        return RealCdf(0, 1, self._zero)

    def _zero(self, _: int) -> arb:
        return -(-self._exponent()).expm1()

    def _exponent(self) -> arb:
        return ball(self.gamma)


@frozen
class UniformInteger(IntegerLaw):
    """The uniform law on the integers of [low, high]."""

    low: int = whole(least=-(10**1000))
    high: int = whole(least=-(10**1000))

    def __post_init__(self) -> None:
        if self.high < self.low:
            raise InvalidParameter("high", self.high, f"an integer >= {self.low}")

    @property
    def mean(self) -> Fraction:
        """(low + high)/2."""
        return Fraction(self.low + self.high, 2)

    @property
    def variance(self) -> Fraction:
        """(m^2 - 1)/12 for m = high - low + 1 values."""
        return Fraction((self.high - self.low + 1) ** 2 - 1, 12)

    def pmf(self, z: int) -> Fraction:
        """P(X = z), exactly."""
        inside = self.low <= integer("z", z, least=-(10**1000)) <= self.high
        return Fraction(int(inside), self.high - self.low + 1)

    def _make_cdf(self) -> Cdf:
        low, size = self.low, self.high - self.low + 1
        return RationalCdf(low, self.high, lambda z: z - low + 1, size)

    def _make_sampler(self) -> Sampler:
        return _UniformSampler(self.low, self.high)

    def _too_wide(self) -> InvalidParameter | None:
        if -(2**63) <= self.low <= self.high < 2**63:
            return None
        return InvalidParameter("low, high", (self.low, self.high), "within the range of int64")


class _UniformSampler:
    """Rejection sampling from words with just enough bits for the range."""

    def __init__(self, low: int, high: int) -> None:
        self._low, self._size = low, high - low + 1

    def sample(self, source: Source) -> int:
        return self._low + source.below(self._size)

    def fill(self, values: NDArray[np.int64], source: Source) -> None:
        offsets, low = below(values.size, self._size, source.words), np.uint64(self._low % 2**64)
        np.add(offsets, low, out=values.view(np.uint64))


def random_rounding(value: Real, source: Source) -> int:
    """A rational rounded at random to an adjacent integer, without bias.

    Source: Aumüller, Lebeda and Pagh (ALP), Section 2 (RandRound).
    """
    number = rational("value", value)
    below = number.numerator // number.denominator
    return below + source.bernoulli(number - below)


@frozen
class BinaryRandomizedResponse:
    """Each bit is flipped independently with probability p, a rational in [0, 1/2].

    Changing one bit changes probabilities by a factor of at most (1 - p)/p.
    Source: Warner 1965; Aumüller, Lebeda and Pagh (ALP), Section 2 (RandResponse).
    """

    p: Number = number(probability)

    def __post_init__(self) -> None:
        if self.p > Fraction(1, 2):
            raise InvalidParameter("p", self.p, ">= 0 and <= 1/2")

    @classmethod
    def of_epsilon(cls, epsilon: Real) -> BinaryRandomizedResponse:
        """The response with the smallest multiple p of 2^-64 that is (epsilon, 0)-DP per bit."""
        loss = non_negative("epsilon", epsilon)
        least = refine(lambda: 1 / (ball(loss).exp() + 1), relative_width=Fraction(1, 2**80))
        steps = min(ceil(least.upper * 2**64), 2**63)
        return cls(Fraction(steps, 2**64))

    def sample(self, bit: int, source: Source) -> int:
        """The reported bit for a true bit (0 or 1)."""
        if bit not in (0, 1):
            raise InvalidParameter("bit", bit, "0 or 1")
        return int(bit) ^ self._flip.sample(source)

    def law(self, bit: int) -> Law[int]:
        """The exact law of the report for a true bit."""
        return Law({bit: 1 - self.p, 1 - bit: self.p})

    def sample_many(self, bits: NDArray[Any], source: Source) -> NDArray[Any]:
        """The reported bits for an array of 0s and 1s (or booleans), same shape and dtype."""
        true_bits = np.asarray(bits)
        other = true_bits[~np.isin(true_bits, (0, 1))]
        if other.size:
            raise InvalidParameter("bits", other[0], "an array of 0s and 1s")
        flips = self._flip.sample_many(true_bits.size, source).reshape(true_bits.shape)
        reported: NDArray[Any] = (true_bits ^ flips.astype(true_bits.dtype)).astype(true_bits.dtype)
        return reported

    @cached_property
    def _flip(self) -> Bernoulli:
        return Bernoulli(p=self.p)
