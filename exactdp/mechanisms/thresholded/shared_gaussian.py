"""The shared noise of the correlated Gaussian sparse histogram (CSH), of irrational variance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

from flint import arb

from exactdp.balls import ball
from exactdp.samplers import DiscreteGaussian, RealCdf, Source
from exactdp.samplers.rejection import LIMIT, never_settled


@dataclass(frozen=True)
class SharedGaussian:
    """An exact sampler of N_Z(0, variance/sqrt k), by rejection from a slightly wider Gaussian."""

    variance: Fraction
    k: int

    def sample(self, source: Source) -> int:
        """One draw. Raises RandomnessError if the source causes endless rejections."""
        for _ in range(LIMIT):
            z = self._wide.sample(source)
            if not z or source.inverse_cdf(self._kept(z)):
                return z
        raise never_settled("a discrete Gaussian of irrational variance")

    @cached_property
    def _wide(self) -> DiscreteGaussian:
        """A discrete Gaussian whose variance is larger by a factor below 1 + 2^-64."""
        return DiscreteGaussian(sigma2=self.variance / Fraction(isqrt(self.k << 128), 1 << 64))

    def _kept(self, z: int) -> RealCdf:
        """A coin that accepts z with probability proportional to the ratio of the two weights."""
        wide = self._wide.sigma2

        def rejected(_: int) -> arb:
            gap = arb(self.k).sqrt() / ball(self.variance) - 1 / ball(wide)
            return -(-gap * z * z / 2).expm1()

        return RealCdf(0, 1, rejected)
