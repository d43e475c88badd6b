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
        ends = self._ends
        if any(a == b for a, b in zip([0, *ends], ends, strict=False)):
            raise InvalidParameter("bits", self.bits, "enough for every count to have a hash value")

    @cached_property
    def _ends(self) -> list[int]:
        cdf = self.noise.cdf(0)
        scale, d = 1 << self.bits, cdf.denominator
        return [-(-scale * cdf.numerator(z) // d) for z in range(self.noise.n + 1)]

    def count(self, value: int) -> int:
        """The count M_0(value) of a hash value in [0, 2^bits)."""
        return bisect_right(self._ends, value)

    def values(self, count: int) -> tuple[int, int]:
        """First element and length of the range of hash values that M_0 maps to a count."""
        start = self._ends[count - 1] if count else 0
        return start, self._ends[count] - start

    @cached_property
    def law(self) -> Law[int]:
        """The law of M_0(u) for a uniform hash value u."""
        total = 1 << self.bits
        return Law({z: Fraction(self.values(z)[1], total) for z in range(self.noise.n + 1)})

    @cached_property
    def losses(self) -> tuple[Fraction, Fraction]:
        """e^(eps_2) = max P[M_0 = z]/P[M(0) = z] and e^(eps_3), the max of the inverse, exactly."""
        cdf, mine = self.noise.cdf(0), self.law
        outcomes, weights = cdf.weights()
        ratios = [mine[z] / weight for z, weight in zip(outcomes, weights, strict=True)]
        return max(ratios), 1 / min(ratios)
