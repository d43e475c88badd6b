"""The shared noise of the CSH: a discrete Gaussian whose variance is divided by a square root."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import arb

from exactdp.balls import ball
from exactdp.samplers import DiscreteGaussian, RealCdf, Source

__all__ = ["OverRoot"]


@dataclass(frozen=True)
class OverRoot:
    """N_Z(0, variance/sqrt k) exactly, by rejection from one of slightly larger variance."""

    variance: Fraction
    k: int

    def sample(self, source: Source) -> int:
        wide = self.variance / Fraction(isqrt(self.k << 128), 1 << 64)
        noise = DiscreteGaussian(sigma2=wide)
        while True:
            z = noise.sample(source)
            if not z or source.inverse_cdf(self._kept(z, wide)):
                return z

    def _kept(self, z: int, wide: Fraction) -> RealCdf:
        """1 with the probability that turns the wider weight of z into the wanted one."""

        def rejected(_: int) -> arb:
            gap = arb(self.k).sqrt() / ball(self.variance) - 1 / ball(wide)
            return -(-gap * z * z / 2).expm1()

        return RealCdf(0, 1, rejected)
