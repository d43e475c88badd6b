"""Sparse histograms with discrete Gaussian noise and a threshold: GSHM, CSH and TopK, released.

Elements may come from any domain, finite or not: only non-zero counters are touched. The noise is
drawn exactly, and the guarantee is that of the discrete noise, not of its continuous model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, TypeAlias

from flint import arb

from exactdp.accounting import discrete_csh, discrete_gaussian, zcdp
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.mechanisms.histogram import require_secure
from exactdp.parameters import Real, integer, non_negative, positive
from exactdp.samplers import DiscreteGaussian, RealCdf, Source, exact_law
from exactdp.samplers.gaussian_sums import sum_above, sum_all

__all__ = ["CSH", "GSHM", "GSHMWithSums", "NoisyRelease", "TopK", "TopKWithBase"]

#: Released counters: (element, noisy count) in ascending order of elements.
NoisyBins: TypeAlias = tuple[tuple[Any, Any], ...]

_CONTRIBUTES = (
    "add-remove neighbours: one user added or removed, changing at most k counters by one"
)
_SPARSE = (
    "add-remove neighbours: one user added or removed, changing counters of a k-sparse histogram "
    "by one each, all in the same direction"
)
_ANY_USER = (
    "add-remove neighbours: one user added or removed, changing any number of counters by one"
)


@dataclass(frozen=True)
class NoisyRelease:
    """What is published: noisy counters above the threshold, and their guarantee."""

    bins: NoisyBins
    guarantee: Guarantee

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.bins)

    def __len__(self) -> int:
        return len(self.bins)


@dataclass(frozen=True)
class _Thresholded(ABC):
    """k: number of counters. sigma: > 0. tau: >= 0; counters are released above 1 + tau.

    epsilon: >= 0, for the guarantee.
    """

    k: int
    sigma: Real
    tau: Real
    epsilon: Real

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, least=1))
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "tau", non_negative("tau", self.tau))
        object.__setattr__(self, "epsilon", non_negative("epsilon", self.epsilon))

    def release(self, counts: Mapping[Any, int], source: Source) -> NoisyRelease:
        """Publish a histogram: counts maps elements (of one sortable type) to counts >= 0.

        source: must be fit for a release, as SystemSource is. Raises InvalidParameter.
        """
        require_secure(source)
        promise = self.guarantee()
        return NoisyRelease(self.draw(counts, source), promise)

    def draw(self, counts: Mapping[Any, int], source: Source) -> NoisyBins:
        """The bins of a release from any source, for simulations and proofs."""
        checked = {x: integer(f"counts[{x!r}]", c, least=0) for x, c in counts.items()}
        kept = {x: checked[x] for x in sorted(checked) if checked[x]}
        return self._draw(kept, source)

    def law(self, counts: Mapping[Any, int], residual: Real = "1e-6") -> Law[NoisyBins]:
        """The law of the released bins up to a residual mass, by enumeration: for small noise."""
        return exact_law(lambda source: self.draw(counts, source), residual=residual)

    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What every release promises, whatever the data."""

    @abstractmethod
    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyBins:
        """Noisy bins for positive counts."""

    @property
    def _limit(self) -> Fraction:
        return 1 + Fraction(self.tau)


@dataclass(frozen=True)
class GSHM(_Thresholded):
    """Independent noise N_Z(0, sigma^2) on every non-zero counter.

    k: most counters one user changes. lower: counters below it are dropped first, >= 1 and
    <= 1 + tau; a counter that appears then has the count `lower`, so the threshold protects less.
    The guarantee is the sum of the exact delta of the noise and of the threshold.
    Source: CSH, Algorithm 1, Lemma 2.6 and Section 6, with discrete noise.
    """

    lower: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lower", _lower(self.lower, self._limit))

    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-DP by adding the deltas, both exact for the discrete noise."""
        variance = Fraction(self.sigma) ** 2
        copies = [variance] * self.k
        noise = discrete_gaussian.delta_many(
            shifts=[1] * self.k, sigma2s=copies, epsilon=Fraction(self.epsilon)
        )
        source = "CSH Lemma 2.6 with the exact deltas of discrete noise"
        total = self._with_threshold(noise)
        return Guarantee(Fraction(self.epsilon), total, _CONTRIBUTES, source)

    def _with_threshold(self, noise: Enclosure) -> Enclosure:
        """The delta of the noise plus that of the threshold, which is exact."""
        reach = int(Fraction(self.tau) - (self.lower - 1))  # the floor: noise is an integer
        variance = Fraction(self.sigma) ** 2
        shows = refine(lambda: _some_above(reach, variance, self.k))
        return Enclosure(noise.lower + shows.lower, noise.upper + shows.upper).clamped(0, 1)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyBins:
        noise = DiscreteGaussian(sigma2=Fraction(self.sigma) ** 2)
        noisy = [
            (x, Fraction(c + noise.sample(source))) for x, c in counts.items() if c >= self.lower
        ]
        return tuple((x, c) for x, c in noisy if c > self._limit)


@dataclass(frozen=True)
class GSHMWithSums(GSHM):
    """GSHM that also releases a noisy sum of users' values for every counter above the threshold.

    largest: a user's value for an element is an integer of at most this size, >= 1.
    sum_sigma: the sums get N_Z(0, sum_sigma^2), > 0. Sums enlarge the sensitivity only: hidden
    counters hide them too. The noise part of the guarantee goes through zCDP, with
    rho = k/(2 sigma^2) + k largest^2/(2 sum_sigma^2); values smaller than `largest` cost less.
    Source: CSH, Section 6 (aggregator functions; Wilkins et al. 2024).
    """

    largest: int = 1
    sum_sigma: Real = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "largest", integer("largest", self.largest, least=1))
        object.__setattr__(self, "sum_sigma", positive("sum_sigma", self.sum_sigma))

    def release_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, int], source: Source
    ) -> NoisyRelease:
        """Publish counters and sums: bins are (element, (noisy count, noisy sum)).

        sums: element -> sum of the users' values, |sum| <= largest * count.
        Raises InvalidParameter.
        """
        require_secure(source)
        promise = self.guarantee()
        return NoisyRelease(self.draw_sums(counts, sums, source), promise)

    def draw_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, int], source: Source
    ) -> tuple[tuple[Any, tuple[Fraction, int]], ...]:
        """The bins of such a release from any source, for simulations and proofs."""
        for x, total in sums.items():
            if abs(integer(f"sums[{x!r}]", total, least=-(10**1000))) > self.largest * counts.get(
                x, 0
            ):
                raise InvalidParameter(f"sums[{x!r}]", total, "at most largest * count in size")
        noise = DiscreteGaussian(sigma2=Fraction(self.sum_sigma) ** 2)
        released = self.draw(counts, source)
        return tuple((x, (c, sums.get(x, 0) + noise.sample(source))) for x, c in released)

    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-DP for counters and sums together."""
        variance, spread = Fraction(self.sigma) ** 2, Fraction(self.sum_sigma) ** 2
        rho = self.k / (2 * variance) + self.k * self.largest**2 / (2 * spread)
        noise = zcdp.delta(rho=rho, epsilon=Fraction(self.epsilon))
        total = self._with_threshold(noise)
        source = "CSH Section 6, zCDP for counters and sums, exact threshold part"
        return Guarantee(Fraction(self.epsilon), total, _CONTRIBUTES, source)


@dataclass(frozen=True)
class CSH(_Thresholded):
    """Noise (Z_i + Z)/2 on every non-zero counter, Z shared, all discrete Gaussian.

    Z_i ~ N_Z(0, 4 sigma^2), Z ~ N_Z(0, 4 sigma^2/sqrt k).

    k: sparsity; histograms with more non-zero counters are refused. lower: as for GSHM.
    Source: CSH, Algorithms 2 and 4, Theorem 7.7; accounting.discrete_csh.
    """

    lower: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lower", _lower(self.lower, self._limit))

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
        own = _some_above(int(2 * reach * (1 - share)), variance, k)
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


def _some_above(limit: int, variance: Fraction, k: int) -> arb:
    """P(one of k independent N_Z(0, variance) is > limit), limit >= 0."""
    one = sum_above(limit, variance) / sum_all(variance)
    return -((-one).log1p() * k).expm1()


def _root_at_most(k: int) -> Fraction:
    return Fraction(isqrt(k << 128), 1 << 64)


def _root_at_least(k: int) -> Fraction:
    low = _root_at_most(k)
    return low if low * low == k else low + Fraction(1, 1 << 64)


def _fourth_root_at_most(k: int) -> Fraction:
    return Fraction(isqrt(isqrt(k << 256)), 1 << 64)


def _lower(lower: int, limit: Fraction) -> int:
    value = integer("lower", lower, least=1)
    if value > limit:
        raise InvalidParameter("lower", lower, f"<= 1 + tau = {limit}")
    return value
