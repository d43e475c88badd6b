"""The noise of the correlated Gaussian mechanism: one part for each count, and one for all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

from flint import arb, arb_poly, ctx

from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.discrete_top_k import roots
from exactdp.balls import ball
from exactdp.samplers import DiscreteGaussian, RealCdf, Source
from exactdp.samplers.rejection import LIMIT, never_settled

#: From this variance on, the sum of the two noises is a discrete Gaussian up to a factor between
#: exp(-2^-100) and exp(2^-100).
_SMOOTH = 4


@dataclass(frozen=True)
class CorrelatedNoise:
    """Z_i + Z: Z_i ~ N_Z(0, variance) for each count, and Z ~ N_Z(0, variance/sqrt k) for all."""

    variance: Fraction
    k: int

    def add_to(self, counts: Iterable[int], source: Source) -> list[int]:
        """The doubled counts with noise. The shared noise is drawn first."""
        doubled = [2 * c for c in counts]
        shared = self.shared.sample(source)
        own = DiscreteGaussian(sigma2=self.variance).sample_each(len(doubled), source)
        return [c + z + shared for c, z in zip(doubled, own, strict=True)]

    @cached_property
    def shared(self) -> SharedGaussian:
        """The noise that all counts share."""
        return SharedGaussian(self.variance, self.k)

    def tail(self, limit: int, shared: int = 1) -> arb:
        """P(Z_i + the sum of `shared` copies of Z > limit)."""
        if self.variance < _SMOOTH * (isqrt(self.k) + 2):
            return self._summed(limit, shared)
        # the tail lies between those of a slightly larger and a slightly smaller variance
        ends = [above(limit, self.variance * (1 + shared / root)) for root in roots(self.k)]
        q = (-2 * arb.pi() ** 2 * ball(self.variance) / (1 + arb(self.k).sqrt())).exp()
        eta = 2 * q / (1 - q)  # for each copy: earlier copies only increase the variance
        return ends[0].union(ends[1]) * (shared * ((1 + eta) / (1 - eta)).log() * arb(0, 1)).exp()

    def _summed(self, limit: int, shared: int) -> arb:
        """As tail, by a sum over all values of the sum of the copies of Z."""
        rate = arb(self.k).sqrt() / (2 * ball(self.variance))
        reach = int((ctx.prec / rate).sqrt().upper().ceil().fmpz()) + 1
        one = [(-rate * z * z).exp() for z in range(-reach, reach + 1)]
        every = sum(one, arb(0))
        # beyond reach, each weight is at most this factor times the previous weight
        rest = 2 * (-rate * (reach + 1) ** 2).exp() / (1 - (-2 * rate * reach).exp())
        total = arb(0)
        for z, weight in enumerate((arb_poly(one) ** shared).coeffs(), -shared * reach):
            total += weight * above(limit - z, self.variance)
        left = ((every + rest) ** shared - every**shared) * arb(0.5, 0.5)
        return (total + left) / (every**shared + left)


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
