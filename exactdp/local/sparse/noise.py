"""Two-sided geometric noise, cut off where a report is cut off anyway."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from exactdp.balls import ball
from exactdp.law import Law
from exactdp.local.choices import Integers
from exactdp.samplers import Source, TwoSidedGeometric
from exactdp.samplers.inverse_cdf import RationalCdf

__all__ = ["CutNoise"]

#: So many draws are made one by one, by the distribution function an enumeration branches over.
_FEW = 16


@dataclass(frozen=True)
class CutNoise:
    """Z with P(Z = z) proportional to q^|z|, moved into [-reach, reach]; q rational.

    A sum of x and Z that is moved into [-u, u] afterwards has the same law with Z as it is cut
    here, as long as |x| + u <= reach.
    """

    q: Fraction
    reach: int

    def draw(self, n: int, source: Source) -> Integers:
        """n independent draws."""
        if n <= _FEW:
            return np.array([source.inverse_cdf(self.cdf) for _ in range(n)], np.int64)
        return TwoSidedGeometric(self.q).sample_many(n, source).clip(-self.reach, self.reach)

    def shifted(self, x: int, limit: int) -> Law[int]:
        """The exact law of x + Z moved into [-limit, limit]."""
        return Law(
            {
                y: self._below(y - x, y, limit) - self._below(y - 1 - x, y - 1, limit)
                for y in range(-limit, limit + 1)
            }
        )

    def _below(self, z: int, y: int, limit: int) -> Fraction:
        """P(x + Z <= y) once it is moved, where z = y - x."""
        if y < -limit or y >= limit:
            return Fraction(int(y >= limit))
        tail = self.q ** (abs(z + 1) if z >= 0 else -z) / (1 + self.q)
        return 1 - tail if z >= 0 else tail

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
