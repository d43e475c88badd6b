"""M_0: a deterministic map from hash values to counts with nearly the law of an empty bin's count.

The conference version of BV leaves it out (Corollary 7.3); this is a derivation. With F the scaled
CDF of the noisy count of an empty bin, F_0(z) = ceil(d_0 F(z)/d) scales it to d_0 hash values, and
M_0(u) is the least z with F_0(z) > u. Rounding up keeps P[M_0 <= z] >= P[M(0) <= z], so accuracy is
inherited; each weight moves by less than 1/d_0, so the two laws differ by bounded factors.
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

    Raises InvalidParameter when some count would have no hash value at all: more bits are needed.
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
        """M_0 of a hash value in [0, 2^bits)."""
        return bisect_right(self._ends, value)

    def values(self, count: int) -> tuple[int, int]:
        """Start and number of the hash values that M_0 maps to a count in [0, n]."""
        start = self._ends[count - 1] if count else 0
        return start, self._ends[count] - start

    @cached_property
    def law(self) -> Law[int]:
        """The law of M_0 on a uniform hash value."""
        total = 1 << self.bits
        return Law({z: Fraction(self.values(z)[1], total) for z in range(self.noise.n + 1)})

    @cached_property
    def losses(self) -> tuple[Fraction, Fraction]:
        """e^(eps_2) = max M_0/M(0) and e^(eps_3) = max M(0)/M_0 over all counts, exactly."""
        cdf, mine = self.noise.cdf(0), self.law
        outcomes, weights = cdf.weights()
        ratios = [mine[z] / weight for z, weight in zip(outcomes, weights, strict=True)]
        return max(ratios), 1 / min(ratios)
