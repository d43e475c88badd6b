"""The Gaussian sparse histogram mechanism with discrete noise, also with sums of users' values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactdp.accounting import discrete_gaussian, zcdp
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.mechanisms.histogram import require_secure
from exactdp.mechanisms.thresholded import (
    NoisyBins,
    NoisyRelease,
    Thresholded,
    lower_threshold,
    some_above,
)
from exactdp.parameters import Real, integer, positive
from exactdp.samplers import DiscreteGaussian, Source

__all__ = ["GSHM", "GSHMWithSums"]

_CONTRIBUTES = (
    "add-remove neighbours: one user added or removed, changing at most k counters by one"
)
_SPARSE = (
    "add-remove neighbours: one user added or removed, changing counters of a k-sparse histogram "
    "by one each, all in the same direction"
)


@dataclass(frozen=True)
class GSHM(Thresholded):
    """Independent noise N_Z(0, sigma^2) on every non-zero counter.

    k: most counters one user changes. lower: counters below it are dropped first, >= 1 and
    <= 1 + tau; a counter that appears then has the count `lower`, so the threshold protects less.
    The guarantee is the sum of the exact delta of the noise and of the threshold.
    Source: CSH, Algorithm 1, Lemma 2.6 and Section 6, with discrete noise.
    """

    lower: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lower", lower_threshold(self.lower, self._limit))

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
        shows = refine(lambda: some_above(reach, variance, self.k))
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
