"""Counts of users and sums of their values, released under one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from exactdp.accounting import csh_sums, gshm_sums
from exactdp.accounting.calculator import Calculator
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.law import Law
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.thresholded.correlated_histogram import TopK
from exactdp.mechanisms.thresholded.gaussian_histogram import GSHM
from exactdp.mechanisms.thresholded.mechanism import Thresholded
from exactdp.mechanisms.thresholded.release import NoisyBins, NoisyCounts, NoisyRelease
from exactdp.parameters import Real, delta_target, integer, positive
from exactdp.samplers import DiscreteGaussian, Source, exact_law
from exactdp.samplers.source import require_secure


@frozen
class WithSums(Thresholded):
    """Noisy sums of users' values for every counter that is released; a base of mechanisms.

    largest: for each column of values, the largest |value| of a user for an element, an integer
    >= 1. spread: > 0; the sums of a column get noise N_Z(0, (spread * largest * sigma)^2).
    """

    largest: tuple[int, ...] = (1,)
    spread: Number = number(positive, default=1)

    #: Of the guarantee.
    _source: ClassVar[str]

    def __post_init__(self) -> None:
        limits = tuple(integer("largest", limit, least=1) for limit in self.largest)
        if not limits:
            raise InvalidParameter("largest", self.largest, "one limit per column of sums")
        object.__setattr__(self, "largest", limits)
        super().__post_init__()

    def release_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyRelease:
        """Publish counters and sums; bins are pairs (element, (noisy count, noisy sum, ...)).

        counts: element -> number of users. sums: element -> the sum of the users' values in each
        column, |sum| <= largest * count. source: randomness fit for a release, such as
        SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return NoisyRelease(self.noisy_sums(counts, sums, source), self.guarantee)

    def draw_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyBins:
        """The bins of release_sums with randomness from any source, for simulations and proofs."""
        return self.noisy_sums(counts, sums, source).bins()

    def law_sums(
        self,
        counts: Mapping[Any, int],
        sums: Mapping[Any, Sequence[int]],
        residual: Real = "1e-6",
    ) -> Law[NoisyBins]:
        """The law of draw_sums by enumeration, for small noise. residual: as for law."""
        return exact_law(lambda source: self.draw_sums(counts, sums, source), residual=residual)

    def noisy_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyCounts:
        """The bins of draw_sums as columns of integers, which is faster."""
        count_of = mapping_of("counts", counts)
        columns_of = mapping_of("sums", sums)
        checked = {x: self._checked(x, row, count_of.get(x, 0)) for x, row in columns_of.items()}
        noisy = self.noisy_counts(counts, source)
        rows = [checked.get(x, (0,) * len(self.largest)) for x in noisy.elements]
        columns = []
        for c, noise in enumerate(self._sum_noises):
            noises = noise.sample_each(len(rows), source)
            columns.append([row[c] + z for row, z in zip(rows, noises, strict=True)])
        return replace(noisy, sums=columns)

    def sum_errors(self, beta: Real) -> tuple[int, ...]:
        """For each column, a bound of the error of a released sum that holds with probability at
        least 1 - beta, 0 < beta < 1."""
        level = 1 - delta_target("beta", beta) / 2
        return tuple(noise.quantile(level) for noise in self._sum_noises)

    @property
    def _sum_noises(self) -> list[DiscreteGaussian]:
        scales = [self.spread * limit * self.sigma for limit in self.largest]
        return [DiscreteGaussian(sigma2=scale**2) for scale in scales]

    def _checked(self, x: Any, row: Sequence[int], count: int) -> tuple[int, ...]:
        name = f"sums[{x!r}]"
        if isinstance(row, int) or len(row) != len(self.largest):
            raise InvalidParameter(name, row, f"{len(self.largest)} sums, one per column")
        values = tuple(integer(name, total, least=-(10**1000)) for total in row)
        if any(abs(v) > limit * count for v, limit in zip(values, self.largest, strict=True)):
            raise InvalidParameter(name, row, "sums of absolute value at most largest * count")
        return values

    @classmethod
    def _summing(
        cls,
        counters: int,
        epsilon: Real,
        delta: Real,
        lower: int,
        largest: Sequence[int],
        spread: Real,
    ) -> Self:
        """As _for_target, with the fields of this class."""
        further = {"columns": len(largest), "spread": spread}
        return cls._for_target(counters, epsilon, delta, lower, tuple(largest), spread, **further)

    @property
    def _further(self) -> dict[str, Any]:
        return {"columns": len(self.largest), "spread": self.spread}

    def _promise(self) -> tuple[str, str]:
        largest = " and ".join(map(str, self.largest))
        relation, _ = super()._promise()  # type: ignore[safe-super]  # of the next base
        return f"{relation}, and their sums by at most {largest}", self._source


@frozen
class GSHMWithSums(WithSums, GSHM):
    """GSHM that also releases noisy sums of users' values for every counter above the threshold.

    largest, spread: as for WithSums. Other parameters: as for GSHM. The sums of a counter below the
    threshold are not released, so sums only increase the sensitivity.
    Source: CSH, Section 6 (aggregator functions; Wilkins et al. 2024); accounting.gshm_sums.
    """

    _calculator: ClassVar[type[Calculator]] = gshm_sums.GshmSums
    _source: ClassVar[str] = gshm_sums.SOURCE

    @classmethod
    def for_target(
        cls,
        *,
        k: int,
        epsilon: Real,
        delta: Real,
        lower: int = 1,
        largest: Sequence[int] = (1,),
        spread: Real = 1,
    ) -> Self:
        """The mechanism with the least threshold for a target; epsilon > 0."""
        return cls._summing(k, epsilon, delta, lower, largest, spread)


@frozen
class TopKWithSums(WithSums, TopK):
    """TopK that also releases noisy sums of users' values for every released counter.

    largest, spread: as for WithSums. Other parameters: as for TopK, with epsilon > 0. From counts
    the (top + 1)-th largest count is subtracted, from sums nothing.
    Source: CSH, Section 6 and Corollary 4.2; accounting.csh_sums.
    """

    _calculator: ClassVar[type[Calculator]] = csh_sums.CshSums
    _bound: ClassVar[str] = "sparsity"  # sparsity of the counters after the subtraction
    _source: ClassVar[str] = csh_sums.SOURCE

    @classmethod
    @without_k
    def for_target(
        cls,
        *,
        top: int,
        epsilon: Real,
        delta: Real,
        lower: int = 1,
        largest: Sequence[int] = (1,),
        spread: Real = 1,
    ) -> Self:
        """The mechanism with the least threshold for a target; epsilon > 0."""
        return cls._summing(top, epsilon, delta, lower, largest, spread)
