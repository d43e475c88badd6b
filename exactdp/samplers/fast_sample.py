"""Noisy counts from a fixed number of random bits: every probability is a multiple of 2^-T.

A draw is a uniform integer u of T bits. Below G = 2^T - (n + 1) L, u selects geometric noise by a
table of integer tails A_k, about G P(noise >= k), and the noisy count is clamped to [0, n]. Each
count also has L values of u from G on, so no probability is below L/2^T.

Privacy: let P be the exact mixture of clamped noise of ratio q = 1/r and the uniform law, times
2^T. P_c <= r P_(c+1) and conversely, and P >= L. Tails are rounded down by less than 1.1, so a
difference of two tails errs by less than 1.1, and G - 2 A_1 by less than 2.2. The integer weights
therefore differ from P by less than 3, and their ratios are at most r (L + 3)/(L - 3), which is
the sampler's e^(eps~/2).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, partial
from math import ceil

import numpy as np

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.samplers.cdf import RationalCdf
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.fixed_table import FixedTable
from exactdp.samplers.integer_law import Integers
from exactdp.samplers.rational_growth import rational_growth
from exactdp.samplers.source import Source

#: Most entries of a table of noise; about 200 bytes each.
_MOST_ENTRIES = 1 << 21

#: Extra bits of the running product that makes the tails.
_GUARD = 64


@frozen
class FastSample(CountSampler):
    """Geometric noise clamped to [0, n], drawn from a fixed number of random bits.

    gamma_inverse: at most 1 draw in this number, an integer >= 2, is a uniform count. By default so
    large that uniform counts add at most 1/256 of the noise's variance to the mean square error.
    bits: T, the random bits of a draw, a multiple of 8 by default. By default rounding costs so
    little that (1 - 2^-40) epsilon <= eps~.
    Every draw reads T bits and makes the same number of comparisons. Raises InvalidParameter.
    Source: BV, Theorem 4.6; the conference version states no algorithm, and this algorithm is ours.

    >>> from exactdp.samplers import FastSample
    >>> FastSample(n=1000, epsilon=1).bits_per_draw
    88
    """

    gamma_inverse: int = whole(least=2, default=None)
    bits: int = whole(least=1, default=None)

    def __post_init__(self) -> None:
        if self.gamma_inverse is None:
            # a uniform count adds at most n^2/2 to the mean square error
            q = 1 / rational_growth(self.epsilon)
            usual: int = ceil(64 * self.n**2 * (1 - q) ** 2 / q)
            vars(self)["gamma_inverse"] = max(usual, 2)
        if self.bits is None:
            vars(self)["bits"] = self._usual_bits()
        if self._shift < 2:
            raise InvalidParameter("bits", self.bits, f">= {self._usual_bits()}")
        # tails fall below 2^-T after at most T ln(2)/(1 - q) steps
        if self.n > _MOST_ENTRIES < self.bits / (1 - self.q):
            allowed = "larger, for a table of noise; GeoSample needs none"
            raise InvalidParameter("epsilon", self.epsilon, allowed)
        kept = self.e_half_epsilon  # raises an error if rounding costs more than epsilon
        if self.power_of_two and kept > rational_growth(self.epsilon):
            raise InvalidParameter("bits", self.bits, f">= {self._usual_bits()}")

    def _usual_bits(self) -> int:
        """The least T, a multiple of 8, with L >= 3 + 2^44 (1 + 2/epsilon) + 16 (1 + 2/epsilon)^2.

        Rounding costs a factor f = 1 + 6/(L - 3). With x = e^(epsilon/2),
        x - x/f <= 6 x/(L - 3) <= 2^-41 (x - 1), because x/(x - 1) <= 1 + 2/epsilon. The last term
        keeps (1 + 2^-b) f <= x, because x - 1 - epsilon/2 >= epsilon^2/8. L, a power of two, is
        more than half of 2^T/((n + 1) gamma_inverse).
        """
        part = 1 + 2 / self.epsilon
        needed = 2 * self.gamma_inverse * (self.n + 1) * (4 + part * 2**44 + 16 * part**2)
        return -(-ceil(needed).bit_length() // 8) * 8

    @cached_property
    def _shift(self) -> int:
        """log2 L, or -1: the largest L = 2^shift with (n + 1) L <= 2^T/gamma_inverse."""
        return ((1 << self.bits) // (self.gamma_inverse * (self.n + 1))).bit_length() - 1

    @property
    def uniform_weight(self) -> int:
        """L: in units of 2^-T, the uniform part of the probability of a count."""
        return 1 << self._shift

    @cached_property
    def noise_weight(self) -> int:
        """G: in units of 2^-T, the probability of noise."""
        return (1 << self.bits) - (self.n + 1) * self.uniform_weight

    @cached_property
    def e_half_epsilon(self) -> Fraction:
        return self._rounding / self.q

    @property
    def _rounding(self) -> Fraction:
        return Fraction(self.uniform_weight + 3, self.uniform_weight - 3)

    @cached_property
    def q(self) -> Fraction:
        if self.power_of_two:
            return 1 / super().e_half_epsilon
        return 1 / rational_growth(self.epsilon, self._rounding)

    @property
    def variance(self) -> Fraction:
        """An upper bound of the mean square error of a noisy count, over all counts."""
        return super().variance + Fraction(self.n * (2 * self.n + 1), 6 * self.gamma_inverse)

    @property
    def bits_per_draw(self) -> int:
        return self.bits

    @cached_property
    def tails(self) -> list[int]:
        """The tails A_1, A_2, ... that are above 0, up to A_n."""
        above, below = self.q.denominator, self.q.numerator
        # a running product errs by less than 1/(1 - q) units, so by less than 2^-64 of a tail
        guard = _GUARD + (above // (above - below)).bit_length()
        exact, tails = (self.noise_weight * below << guard) // (above + below), list[int]()
        while len(tails) < self.n and exact >> guard:
            tails.append(exact >> guard)
            exact = exact * below // above
        return tails

    @cached_property
    def _table(self) -> FixedTable:
        ends = [*reversed(self.tails), *(self.noise_weight - tail for tail in self.tails)]
        return FixedTable(self.bits, ends, self.noise_weight, self._shift)

    def _counted(self, u: int, count: int) -> int:
        """The noisy count that u selects."""
        noise, uniform = self._table.at(u)
        noisy = min(max(count + noise - len(self.tails), 0), self.n)
        return uniform if uniform >= 0 else noisy

    def beyond(self, k: int) -> int:
        """In units of 2^-T, the probability of noise >= k, for any integer k."""
        if k <= 0:
            return self.noise_weight - self.beyond(1 - k)
        return self.tails[k - 1] if k <= len(self.tails) else 0

    def cdf(self, c: int) -> RationalCdf:
        count, n, total = self._count(c), self.n, 1 << self.bits

        def numerator(z: int) -> int:
            noise = self.noise_weight - self.beyond(z - count + 1)
            return noise + self.uniform_weight * (z + 1) if z < n else total

        fixed = partial(self._counted, count=count)
        return RationalCdf(0, n, numerator, total, quantile=self._quantile(count), fixed=fixed)

    def sample(self, c: int, source: Source) -> int:
        return source.fixed_inverse_cdf(self.cdf(c))

    def _bulk(self, counts: Integers, source: Source) -> Integers:
        noise, uniform = self._table.draw_many(counts.size, source)
        noisy = np.clip(counts + noise - len(self.tails), 0, self.n)
        return np.where(uniform >= 0, uniform, noisy)

    def tail(self, a: int) -> Fraction:
        """A bound of P(error > a) over all counts: the tails are rounded down."""
        if a >= self.n:
            return Fraction(0)
        uniform = (1 << self.bits) - self.noise_weight
        return Fraction(2 * self.beyond(a + 1) + uniform, 1 << self.bits)
