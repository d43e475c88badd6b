"""Samplers of noisy counts with geometric noise.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from gmpy2 import mpz

from exactdp.balls import ball
from exactdp.bisection import least
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.parameters import Real, integer, positive, rational
from exactdp.samplers.cdf import RationalCdf
from exactdp.samplers.geometric import TwoSidedGeometric
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.rational_growth import power_of_two_growth, rational_growth
from exactdp.samplers.source import Source

#: Up to this number of counts, single draws are faster than bulk draws, which first build tables.
_FEW = 64

#: The largest n for which all values fit int64.
_MOST = 1 << 62

#: The largest 1/(1 - q) for which noise of at most 2^14/(1 - q) fits int64, too.
_WIDEST = 1 << 48


@frozen
class CountSampler(ABC):
    """Noisy counts for a true count c in {0, ..., n}.

    n: number of rows, >= 1. epsilon: > 0. The noisy count is (eps~/2, 0)-DP for a change of c by 1,
    where e^(eps~/2) is a rational number and (1 - 2^-40) epsilon <= eps~ <= epsilon for epsilon up
    to 256; so a histogram, where replacing a row changes two counts, is (eps~, 0)-DP.
    power_of_two: keep the ratio 1 + 2^-b of BV instead, whose eps~ may be as small as 4/9 epsilon.
    """

    n: int = whole(least=1)
    epsilon: Number = number(positive)
    power_of_two: bool = field(default=False, kw_only=True)

    @cached_property
    def e_half_epsilon(self) -> Fraction:
        """e^(eps~/2): a bound of the loss ratio between the counts c and c + 1."""
        return (power_of_two_growth if self.power_of_two else rational_growth)(self.epsilon)

    @property
    def q(self) -> Fraction:
        """The ratio of the geometric noise: P(z) is proportional to q^|z|."""
        return 1 / self.e_half_epsilon

    @property
    def variance(self) -> Fraction:
        """2 q/(1 - q)^2, the variance of the noise.

        The mean square error of a noisy count clamped to [0, n] is at most that.
        """
        return 2 * self.q / (1 - self.q) ** 2

    @property
    def bits_per_draw(self) -> int | None:
        """The number of random bits that every draw reads; None if the number varies."""
        return None

    def sample(self, c: int, source: Source) -> int:
        """One noisy count for the true count c in [0, n]."""
        return source.inverse_cdf(self.cdf(c))

    def sample_each(self, counts: Sequence[int], source: Source) -> list[int]:
        """Independent noisy counts for true counts in [0, n]."""
        if len(counts) <= _FEW or self.n > _MOST or 1 / (1 - self.q) > _WIDEST:
            return [self.sample(c, source) for c in counts]
        noisy: list[int] = self._bulk(np.array(self._checked(counts)), source).tolist()
        return noisy

    def sample_many(self, n: int, c: int, source: Source) -> Integers:
        """n independent noisy counts for the true count c, as int64."""
        return self._bulk(np.full(integer("n", n, least=0), self._count(c)), source)

    def law(self, c: int) -> Law[int]:
        """The exact law of sample(c, ...)."""
        outcomes, weights = self.cdf(c).weights()
        return Law(dict(zip(outcomes, weights, strict=True)))

    def passing(self, c: int, threshold: int) -> Fraction:
        """P(noisy count of c > threshold), exactly."""
        cdf = self.cdf(c)
        if threshold >= self.n:
            return Fraction(0)
        return 1 - Fraction(cdf.numerator(threshold), cdf.denominator)

    @abstractmethod
    def cdf(self, c: int) -> RationalCdf:
        """The integer distribution function for the true count c."""

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        """Independent noisy counts for checked true counts."""
        return np.array([self.sample(c, source) for c in counts.tolist()], np.int64)

    @cached_property
    def _noise(self) -> TwoSidedGeometric:
        return TwoSidedGeometric(q=self.q)

    def tail(self, a: int) -> Fraction:
        """An upper bound, over all counts c, on the probability that the error exceeds a >= 0."""
        return 2 * self.q ** (a + 1) / (1 + self.q) if a < self.n else Fraction(0)

    def error(self, beta: Real) -> int:
        """The least a with tail(a) <= beta: the error exceeds a with probability at most beta."""
        chance = rational("beta", beta)
        if not 0 < chance < 1:
            raise InvalidParameter("beta", beta, "> 0 and < 1")
        return least(0, None, lambda a: self.tail(a) <= chance)

    def _count(self, c: int) -> int:
        count = integer("c", c, least=0)
        if count > self.n:
            raise InvalidParameter("c", c, f"an integer >= 0 and <= n = {self.n}")
        return count

    def _checked(self, counts: Sequence[int]) -> Sequence[int]:
        if set(map(type, counts)) <= {int} and min(counts) >= 0 and max(counts) <= self.n:
            return counts  # the common case, checked quickly
        return [*map(self._count, counts)]

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
        return self._count(c) + self._noise.sample(source)

    def cdf(self, c: int) -> RationalCdf:
        """Raises InvalidParameter: the law is unbounded."""
        raise InvalidParameter(
            "noise", Described("GeometricSample"), "a bounded sampler such as GeoSample"
        )

    def tail(self, a: int) -> Fraction:
        return 2 * self.q ** (a + 1) / (1 + self.q)

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        return counts + self._noise.sample_many(counts.size, source)


@frozen
class GeoSample(CountSampler):
    """Geometric noise, clamped to [0, n], by exact inversion of a rational CDF.

    Source: BV, Theorem 4.5. For q = B/A the denominator of the CDF is (A + B) A^(n-1).

    >>> from exactdp.samplers import GeoSample
    >>> print(GeoSample(n=2, epsilon=2, power_of_two=True).law(0))
    Law of 3 outcomes
      0  2/3  0.666667
      1  1/6  0.166667
      2  1/6  0.166667
    """

    def cdf(self, c: int) -> RationalCdf:
        count, n = self._count(c), self.n
        above, below = mpz(self.q.denominator), mpz(self.q.numerator)

        def beyond(k: int) -> int:
            """denominator * P(noise >= k), for 1 <= k <= n."""
            return int(below**k * above ** (n - k))

        def numerator(z: int) -> int:
            if z >= n:
                return self._denominator
            return beyond(count - z) if z < count else self._denominator - beyond(z - count + 1)

        return RationalCdf(
            0, n, numerator, self._denominator, self._tail(count), self._quantile(count)
        )

    @cached_property
    def _denominator(self) -> int:
        above, below = mpz(self.q.denominator), mpz(self.q.numerator)
        return int((above + below) * above ** (self.n - 1))

    def passing(self, c: int, threshold: int) -> Fraction:
        away = threshold - self._count(c)
        if threshold >= self.n:
            return Fraction(0)
        if away < 0:
            return 1 - self.q**-away / (1 + self.q)
        return self.q ** (away + 1) / (1 + self.q)

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
        noise = self._noise.sample_many(counts.size, source)
        clipped: Integers = np.clip(counts + noise, 0, self.n)
        return clipped
