"""M_0: a map from uniform hash values to counts with nearly the law of an empty bin's noisy count.

The conference version of BV (Balcer and Vadhan, "Differential Privacy on Finite Computers") uses
M_0 in Corollary 7.3 without defining M_0; the definition here is ours. Let F/d be the CDF of the
noisy count M(0) of an empty bin, and d_0 the number of hash values. F_0(z) = ceil(d_0 F(z)/d), and
M_0(u) is the least z with F_0(z) > u. As P[M_0 <= z] >= P[M(0) <= z], M_0 inherits the accuracy;
each probability changes by less than 1/d_0, so the laws differ by bounded factors.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.samplers import RationalCdf
from exactdp.samplers.count_samplers import CountSampler


@dataclass(frozen=True)
class InverseCount:
    """M_0 for a count sampler and 2^bits hash values.

    noise: the sampler of M(0). bits: length of a hash value. Raises InvalidParameter if the bits
    are too few for every count to have a hash value.
    Source: BV, Theorem 7.2 and Corollary 7.3.
    """

    noise: CountSampler
    bits: int

    def __post_init__(self) -> None:
        if not self._exact and any(not self.values(z)[1] for z in range(self.noise.n + 1)):
            raise InvalidParameter("bits", self.bits, "enough for every count to have a hash value")

    @cached_property
    def _cdf(self) -> RationalCdf:
        return self.noise.cdf(0)

    @cached_property
    def _exact(self) -> bool:
        """Whether M_0 has the law of M(0): the denominator d divides the number d_0."""
        return (1 << self.bits) % self._cdf.denominator == 0

    def _end(self, count: int) -> int:
        """F_0(count)."""
        return -((-self._cdf.numerator(count) << self.bits) // self._cdf.denominator)

    def count(self, value: int) -> int:
        """The count M_0(value) of a hash value in [0, 2^bits)."""
        return bisect_right(range(self.noise.n + 1), value, key=self._end)

    def values(self, count: int) -> tuple[int, int]:
        """First element and length of the range of hash values that M_0 maps to a count."""
        start = self._end(count - 1) if count else 0
        return start, self._end(count) - start

    @cached_property
    def law(self) -> Law[int]:
        """The law of M_0(u) for a uniform hash value u."""
        total = 1 << self.bits
        return Law({z: Fraction(self.values(z)[1], total) for z in range(self.noise.n + 1)})

    @cached_property
    def losses(self) -> tuple[Fraction, Fraction]:
        """e^(eps_2) = max P[M_0 = z]/P[M(0) = z] and e^(eps_3), the max of the inverse, exactly."""
        if self._exact:
            return Fraction(1), Fraction(1)
        mine, (outcomes, weights) = self.law, self._cdf.weights()
        ratios = [mine[z] / weight for z, weight in zip(outcomes, weights, strict=True)]
        return max(ratios), 1 / min(ratios)
