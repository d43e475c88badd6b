"""The correlated sparse histogram with discrete noise, and the top-k mechanism built on it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any

from flint import arb

from exactdp.accounting import discrete_csh, zcdp
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.mechanisms.thresholded import (
    NoisyBins,
    Thresholded,
    lower_threshold,
    some_above,
)
from exactdp.samplers import DiscreteGaussian, RealCdf, Source
from exactdp.samplers.gaussian_sums import sum_above, sum_all

__all__ = ["CSH", "TopK", "TopKWithBase"]

_ANY_USER = (
    "add-remove neighbours: one user added or removed, changing any number of counters by one"
)


@dataclass(frozen=True)
class CSH(Thresholded):
    """Noise (Z_i + Z)/2 on every non-zero counter, Z shared, all discrete Gaussian.

    Z_i ~ N_Z(0, 4 sigma^2), Z ~ N_Z(0, 4 sigma^2/sqrt k).

    k: sparsity; histograms with more non-zero counters are refused. lower: as for GSHM.
    Source: CSH, Algorithms 2 and 4, Theorem 7.7; accounting.sparse_histograms.discrete_csh.
    """

    lower: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lower", lower_threshold(self.lower, self._limit))

    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-DP: the exact noise part plus the exact threshold part."""
        return discrete_csh.guarantee(
            k=self.k,
            sigma=Fraction(self.sigma),
            tau=Fraction(self.tau) - (self.lower - 1),
            epsilon=Fraction(self.epsilon),
        )

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyBins:
        kept = {x: c for x, c in counts.items() if c >= self.lower}
        if len(kept) > self.k:
            raise InvalidParameter(
                "counts", f"{len(kept)} non-zero counters", f"k = {self.k}-sparse"
            )
        return tuple((x, c) for x, c in self._noisy(kept, source) if c > self._limit)

    def _noisy(self, counts: dict[Any, int], source: Source) -> list[tuple[Any, Fraction]]:
        own = DiscreteGaussian(sigma2=4 * Fraction(self.sigma) ** 2)
        shared = self._shared.sample(source)
        return [(x, c + Fraction(own.sample(source) + shared, 2)) for x, c in counts.items()]

    @cached_property
    def _shared(self) -> _OverRoot:
        return _OverRoot(4 * Fraction(self.sigma) ** 2, self.k)


@dataclass(frozen=True)
class TopK(CSH):
    """The k heaviest counters of any histogram, less the (k + 1)-th largest count.

    Subtracting that count leaves a k-sparse monotonic histogram, so CSH's guarantee holds for users
    who change any number of counters. Source: CSH, Algorithm 3, Lemma 4.1, Corollary 4.2.
    """

    def guarantee(self) -> Guarantee:
        """That of CSH, for users with any number of counters."""
        found = super().guarantee()
        source = f"CSH Corollary 4.2; {found.source}"
        return Guarantee(found.epsilon, found.delta, _ANY_USER, source)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyBins:
        base = self._base(counts)
        return super()._draw({x: c - base for x, c in counts.items() if c > base}, source)

    def _base(self, counts: dict[Any, int]) -> int:
        """The (k + 1)-th largest count, 0 where there is none."""
        largest = sorted(counts.values(), reverse=True)
        return largest[self.k] if len(largest) > self.k else 0


@dataclass(frozen=True)
class TopKWithBase(TopK):
    """TopK with the (k + 1)-th largest count released too, and added back to the counters.

    That count gets Z'/2, Z' ~ N_Z(0, 4 sigma^2/sqrt k), and costs 4 sqrt(k) more in k + sqrt(k):
    the noise part is (k + 5 sqrt k)/(8 sigma^2)-zCDP. The first released bin is (None, base).
    Source: CSH, Section 4 (after Corollary 4.2).
    """

    def guarantee(self) -> Guarantee:
        """Through zCDP with the optimal conversion, plus the exact threshold part."""
        variance, epsilon = Fraction(self.sigma) ** 2, Fraction(self.epsilon)
        rho = (self.k + 5 * _root_at_least(self.k)) / (8 * variance)
        noise = zcdp.delta(rho=rho, epsilon=epsilon)
        # without noise of its own the histogram's delta is that of the threshold
        reach = Fraction(self.tau) - (self.lower - 1)
        shows = refine(lambda: self._shows(reach))
        total = Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)
        source = "CSH Section 4 and Theorem 7.7, zCDP with k + 5 sqrt k"
        return Guarantee(epsilon, total, _ANY_USER, source)

    def _shows(self, reach: Fraction) -> arb:
        """P(some of k new counters passes): a union over shared and independent noise."""
        variance, k = 4 * Fraction(self.sigma) ** 2, self.k
        share = Fraction(1) / (1 + _fourth_root_at_most(k))
        own = some_above(int(2 * reach * (1 - share)), variance, k)
        # a larger variance than the shared one only makes it pass more often
        wide = variance / _root_at_most(k)
        return own + sum_above(int(2 * reach * share), wide) / sum_all(wide)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyBins:
        base = self._base(counts) + Fraction(self._shared.sample(source), 2)
        bins = super()._draw(counts, source)
        return ((None, base), *((x, c + base) for x, c in bins))


@dataclass(frozen=True)
class _OverRoot:
    """N_Z(0, variance/sqrt k) exactly, by rejection from one of slightly larger variance."""

    variance: Fraction
    k: int

    def sample(self, source: Source) -> int:
        wide = self.variance / _root_at_most(self.k)
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


def _root_at_most(k: int) -> Fraction:
    return Fraction(isqrt(k << 128), 1 << 64)


def _root_at_least(k: int) -> Fraction:
    low = _root_at_most(k)
    return low if low * low == k else low + Fraction(1, 1 << 64)


def _fourth_root_at_most(k: int) -> Fraction:
    return Fraction(isqrt(isqrt(k << 256)), 1 << 64)
