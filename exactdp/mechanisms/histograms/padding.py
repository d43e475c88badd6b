"""The counts that pad a sparse histogram: like noisy counts of 1 that pass a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from exactdp.bisection import least
from exactdp.errors import InvalidParameter
from exactdp.samplers import FastSample, RationalCdf, Source
from exactdp.samplers.fixed_table import FixedTable
from exactdp.samplers.integer_law import Integers

#: Up to this number of draws, single draws are made, which an enumeration can follow.
_FEW = 64


@dataclass(frozen=True)
class PaddingCounts:
    """A law on the counts above a threshold t, from a fixed number T of random bits.

    noise: sampler of noisy counts. threshold: t, >= 0 and < n, and not above all noise.
    In units of 2^-T, a noisy count of 1 is v > t with weight x_v + L, where x_v is the weight of
    noise that leads to v. A padding count is v with weight y_v + 2^shift: the y_v are the x_v,
    scaled and rounded, and uniform counts get at least their share. Raises InvalidParameter.
    """

    noise: FastSample
    threshold: int

    def __post_init__(self) -> None:
        most = min(self.noise.n - 1, len(self.noise.tails))
        if self.threshold > most:
            raise InvalidParameter("threshold", self.threshold, f"<= {most}")

    @cached_property
    def _tails(self) -> list[int]:
        """The weights of noise >= t, t + 1, ..., as far as noise of a count below n reaches."""
        last = min(self.noise.n, len(self.noise.tails) + 1)
        return [self.noise.beyond(k) for k in range(self.threshold, last)] + [0]

    @cached_property
    def passing(self) -> Fraction:
        """P(noisy count of 1 > t)."""
        return self.noise.passing(1, self.threshold)

    @cached_property
    def _table(self) -> FixedTable:
        bits, noise = self.noise.bits, self.noise
        share = noise.uniform_weight / self.passing
        shift = (-(-share.numerator // share.denominator) - 1).bit_length()
        whole = (1 << bits) - ((noise.n - self.threshold) << shift)
        first, *rest = self._tails
        ends = [whole * (first - tail) // first for tail in rest[:-1]]
        return FixedTable(bits, ends, whole, shift)

    @cached_property
    def excess(self) -> Fraction:
        """The largest P(noisy count of 1 = v)/P(padding count = v) over v > t."""
        table, uniform = self._table, self.noise.uniform_weight
        padding = (above - below for below, above in pairwise([0, *table.ends, table.whole]))
        noisy = (above - below for above, below in pairwise(self._tails))
        more = 1 << table.shift
        pairs = zip(noisy, padding, strict=True)
        return max(Fraction(uniform, more), *(Fraction(x + uniform, y + more) for x, y in pairs))

    def cdf(self) -> RationalCdf:
        """The distribution function of a padding count."""
        t, n, table = self.threshold, self.noise.n, self._table
        ends = [*table.ends, table.whole]

        def numerator(z: int) -> int:
            return ends[min(z - t, len(ends)) - 1] + ((z - t) << table.shift)

        def fixed(u: int) -> int:
            counted, uniform = table.at(u)
            return t + 1 + (uniform if uniform >= 0 else counted)

        return RationalCdf(t + 1, n, numerator, 1 << table.bits, fixed=fixed)

    def draw_many(self, k: int, source: Source) -> Integers:
        """k independent padding counts."""
        if k <= _FEW:
            cdf = self.cdf()
            return np.array([source.fixed_inverse_cdf(cdf) for _ in range(k)])
        counted, uniform = self._table.draw_many(k, source)
        return self.threshold + 1 + np.where(uniform >= 0, uniform, counted)

    def error(self, chance: Fraction) -> int:
        """The least a with P(padding count > t + a) <= chance."""
        cdf = self.cdf()

        def enough(a: int) -> bool:
            return 1 - Fraction(cdf.numerator(self.threshold + a), cdf.denominator) <= chance

        return least(1, self.noise.n - self.threshold, enough)
