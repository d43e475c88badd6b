"""Two-sided geometric noise, clamped to the range of reports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from exactdp.balls import ball
from exactdp.local.bulk_choices import Integers
from exactdp.samplers import Source, TwoSidedGeometric
from exactdp.samplers.cdf import RationalCdf

#: Up to these numbers of draws and reach, draws invert the distribution function, because an
#: enumeration branches over its outcomes.
_FEW, _NEAR = 16, 1 << 10


@dataclass(frozen=True)
class TruncatedGeometric:
    """Z with P(Z = z) proportional to q^|z|, clamped to [-reach, reach]; 0 < q < 1 rational.

    If |x| + u <= reach, then x + Z clamped to [-u, u] has the same law as with unclamped Z.
    """

    q: Fraction
    reach: int

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        noise = TwoSidedGeometric(self.q)
        if n > _FEW:
            return noise.sample_many(n, source).clip(-self.reach, self.reach)
        near = self.reach <= _NEAR
        values = [source.inverse_cdf(self.cdf) if near else noise.sample(source) for _ in range(n)]
        return np.array(values, np.int64).clip(-self.reach, self.reach)

    @cached_property
    def cdf(self) -> RationalCdf:
        """F over one denominator, c^reach (c + a) for q = a/c."""
        a, c, reach = self.q.numerator, self.q.denominator, self.reach
        denominator: int = c**reach * (c + a)

        def numerator(z: int) -> int:
            if z >= reach:
                return denominator
            if z >= 0:  # 1 - q^(z + 1)/(1 + q)
                return denominator - int(a ** (z + 1) * c ** (reach - z))
            return int(a**-z * c ** (reach + z + 1))

        def tail(z: int) -> arb:
            q = ball(self.q)
            return q ** (z + 1) / (1 + q) if z >= 0 else 1 - q**-z / (1 + q)

        return RationalCdf(-reach, reach, numerator, denominator, tail)
