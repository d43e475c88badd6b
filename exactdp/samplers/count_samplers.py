"""Samplers of noisy counts on finite computers: GeoSample and FastSample.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from gmpy2 import mpz

from exactdp.balls import ball
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.parameters import Real, integer, positive, rational
from exactdp.samplers.bernoulli import Bernoulli, UniformInteger
from exactdp.samplers.geometric import TwoSidedGeometric
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.inverse_cdf import RationalCdf
from exactdp.samplers.source import Source

#: Up to this number of counts, single draws are faster than bulk draws, which first build tables.
_FEW = 64

#: The largest n and b for which all values fit int64.
_MOST, _MOST_BITS = 1 << 62, 48


@frozen
class CountSampler(ABC):
    """Noisy counts for a true count c in {0, ..., n}, by exact inversion of a rational CDF.

    n: number of rows, >= 1. epsilon: > 0. The noisy count is (eps~/2, 0)-DP for a change of c by 1,
    with e^(eps~/2) = 1 + 2^-b <= e^(epsilon/2); so a histogram, where replacing a row changes two
    counts, is (eps~, 0)-DP.
    """

    n: int = whole(least=1)
    epsilon: Number = number(positive)

    @cached_property
    def bits(self) -> int:
        """b = ceil(log2(2/epsilon)), at least 0."""
        ratio = 2 / self.epsilon
        exponent = (ratio.numerator - 1).bit_length() - ratio.denominator.bit_length()
        while ratio > 1 << max(exponent, 0):
            exponent += 1
        return max(exponent, 0)

    @cached_property
    def e_half_epsilon(self) -> Fraction:
        """e^(eps~/2) = 1 + 2^-b, the exact loss ratio between counts c and c + 1."""
        return 1 + Fraction(1, 1 << self.bits)

    @property
    def q(self) -> Fraction:
        """The ratio 1/e^(eps~/2) of the geometric noise."""
        return 1 / self.e_half_epsilon

    def sample(self, c: int, source: Source) -> int:
        """One noisy count for the true count c in [0, n]."""
        return source.inverse_cdf(self.cdf(c))

    def sample_each(self, counts: Sequence[int], source: Source) -> list[int]:
        """Independent noisy counts for true counts in [0, n]."""
        if len(counts) <= _FEW or self.n > _MOST or self.bits > _MOST_BITS:
            return [self.sample(c, source) for c in counts]
        noisy: list[int] = self._bulk(np.array([*map(self._count, counts)]), source).tolist()
        return noisy

    def sample_many(self, n: int, c: int, source: Source) -> Integers:
        """n independent noisy counts for the true count c, as int64."""
        return self._bulk(np.full(integer("n", n, least=0), self._count(c)), source)

    def law(self, c: int) -> Law[int]:
        """The exact law of sample(c, ...)."""
        outcomes, weights = self.cdf(c).weights()
        return Law(dict(zip(outcomes, weights, strict=True)))

    @abstractmethod
    def cdf(self, c: int) -> RationalCdf:
        """The integer distribution function for the true count c."""

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        """Independent noisy counts for checked true counts."""
        return np.array([self.sample(c, source) for c in counts.tolist()], np.int64)

    @cached_property
    def _geometric(self) -> TwoSidedGeometric:
        return TwoSidedGeometric(q=self.q)

    def tail(self, a: int) -> Fraction:
        """An upper bound, over all counts c, on the probability that the error exceeds a >= 0."""
        return 2 * self.q ** (a + 1) / (1 + self.q) if a < self.n else Fraction(0)

    def error(self, beta: Real) -> int:
        """The least a with tail(a) <= beta: the error exceeds a with probability at most beta."""
        chance = rational("beta", beta)
        if not 0 < chance < 1:
            raise InvalidParameter("beta", beta, "> 0 and < 1")
        high = 1
        while self.tail(high) > chance:
            if self.tail(2 * high) == self.tail(high) > 0:
                raise InvalidParameter(
                    "beta", beta, "larger: the tail of this sampler never falls to this value"
                )
            high *= 2
        low = 0
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle) <= chance else (middle + 1, high)
        return low

    def _count(self, c: int) -> int:
        count = integer("c", c, least=0)
        if count > self.n:
            raise InvalidParameter("c", c, f"an integer >= 0 and <= n = {self.n}")
        return count

    def _quantile(self, count: int) -> Callable[[float], float]:
        """The quantile of the two-sided geometric noise in floats, as a start of the search."""
        q = float(self.q)
        rate, share = -math.log(q) or 2.0**-60, 1 + q  # q may be 1 as a float

        def find(level: float) -> float:
            if level * share < 1:
                return count + math.log(level * share) / rate
            return count - math.log((1 - level) * share) / rate - 1

        return find


@frozen
class GeometricSample(CountSampler):
    """The count plus two-sided geometric noise, unbounded: noisy counts may leave [0, n].

    Only for mechanisms that need no CDF of noisy counts. Source: BV, Section 2.2.
    """

    def sample(self, c: int, source: Source) -> int:
        """One noisy count for the true count c in [0, n]; any integer."""
        return self._count(c) + self._geometric.sample(source)

    def cdf(self, c: int) -> RationalCdf:
        """Raises InvalidParameter: the law is unbounded."""
        raise InvalidParameter(
            "noise", Described("GeometricSample"), "a bounded sampler such as GeoSample"
        )

    def tail(self, a: int) -> Fraction:
        return 2 * self.q ** (a + 1) / (1 + self.q)

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        return counts + self._geometric.sample_many(counts.size, source)


@frozen
class GeoSample(CountSampler):
    """Truncated geometric noise with a rational ratio. Source: BV, Theorem 4.5.

    The distribution function has the denominator (2^(b+1) + 1)(2^b + 1)^(n-1).

    >>> from exactdp.samplers import GeoSample
    >>> print(GeoSample(n=2, epsilon=2).law(0))
    Law of 3 outcomes
      0  2/3  0.666667
      1  1/6  0.166667
      2  1/6  0.166667
    """

    @cached_property
    def _denominator(self) -> int:
        return _denominator(self.bits, self.n)

    def cdf(self, c: int) -> RationalCdf:
        count, n, b = self._count(c), self.n, self.bits
        denominator = self._denominator

        def numerator(z: int) -> int:
            return denominator if z >= n else _geometric(z - count, b, n, denominator)

        return RationalCdf(0, n, numerator, denominator, self._tail(count), self._quantile(count))

    def _tail(self, count: int) -> Callable[[int], arb]:
        def tail(z: int) -> arb:
            """P(noisy count > z)."""
            ratio = ball(self.q)
            if z >= self.n:
                return arb(0)
            if z < count:
                return 1 - ratio ** (count - z) / (1 + ratio)
            return ratio ** (z - count + 1) / (1 + ratio)

        return tail

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        # the truncated geometric law is a two-sided geometric law clamped to [0, n]
        noise = self._geometric.sample_many(counts.size, source)
        clipped: Integers = np.clip(counts + noise, 0, self.n)
        return clipped


@frozen
class FastSample(CountSampler):
    """Truncated geometric noise with a short denominator. Source: BV, Theorem 4.6.

    The conference version states the theorem without an algorithm; this algorithm is ours. Noise of
    ratio q = 2^b/(2^b + 1) is clamped to [-t, t], the noisy count to [0, n], and the law is mixed
    with the uniform law on [0, n], of weight gamma = 1/g. Clamping at t costs privacy only at the
    ends, where the uniform part makes up for the cost if
    (g - 1)(n + 1) 2^(b(t+1)) <= (2^(b+1) + 1)(2^b + 1)^(t-1), which determines t. The denominator
    g (n + 1)(2^(b+1) + 1)(2^b + 1)^(t-1) depends on n only through t and the factor n + 1.

    gamma_inverse: g, an integer >= 2; every outcome has probability at least 1/(g (n + 1)).
    """

    gamma_inverse: int = whole(least=2, default=1 << 20)

    @cached_property
    def reach(self) -> int:
        """t: the largest noise; n if a smaller t would cost privacy."""
        b, share = self.bits, (self.gamma_inverse - 1) * (self.n + 1)

        def enough(t: int) -> bool:
            return share << b * (t + 1) <= _denominator(b, t)

        if not enough(self.n):
            return self.n
        low, high = 1, self.n
        while low < high:  # the ratio of the left to the right side decreases in t
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return low

    def cdf(self, c: int) -> RationalCdf:
        count, n, t, b = self._count(c), self.n, self.reach, self.bits
        noise = _denominator(b, t)
        share = (self.gamma_inverse - 1) * (n + 1)

        def cut(z: int) -> int:
            if z >= n or z >= count + t:
                return noise
            return 0 if z < count - t else _geometric(z - count, b, t, noise)

        def numerator(z: int) -> int:
            return share * cut(z) + (z + 1) * noise

        return RationalCdf(0, n, numerator, (share + n + 1) * noise, quantile=self._quantile(count))

    def tail(self, a: int) -> Fraction:
        mixed = Fraction(1, self.gamma_inverse)
        return (1 - mixed) * (super().tail(a) if a < self.reach else 0) + mixed

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        noise = self._geometric.sample_many(counts.size, source)
        noise = np.clip(noise, -self.reach, self.reach)
        result: Integers = np.clip(counts + noise, 0, self.n)
        mixed = np.flatnonzero(
            Bernoulli(p=Fraction(1, self.gamma_inverse)).sample_many(counts.size, source)
        )
        result[mixed] = UniformInteger(0, self.n).sample_many(mixed.size, source)
        return result


def _denominator(b: int, steps: int) -> int:
    """(2^(b+1) + 1)(2^b + 1)^(steps-1)."""
    return int(((2 << b) + 1) * mpz((1 << b) + 1) ** (steps - 1))


def _geometric(away: int, b: int, steps: int, denominator: int) -> int:
    """denominator * P(noise <= away) for two-sided geometric noise, -steps <= away < steps."""
    inner = mpz((1 << b) + 1)
    if away <= 0:
        return int(inner ** (steps + away)) << b * -away
    return denominator - (int(inner ** (steps - 1 - away)) << b * (away + 1))
