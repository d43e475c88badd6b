"""Counts of users and sums of their values, released under one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactdp.accounting import gshm_sums
from exactdp.accounting.certify.checking import Check
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.thresholded.gaussian_histogram import CONTRIBUTES, GSHM
from exactdp.mechanisms.thresholded.mechanism import draws
from exactdp.mechanisms.thresholded.release import NoisyBins, NoisyCounts, NoisyRelease
from exactdp.parameters import Real, integer, positive
from exactdp.samplers import DiscreteGaussian, Source
from exactdp.samplers.source import require_secure


@frozen
class GSHMWithSums(GSHM):
    """GSHM that also releases noisy sums of users' values for every counter above the threshold.

    largest: for each column of values, the largest |value| of a user for an element, an integer
    >= 1. spread: > 0; the sums of a column get noise N_Z(0, (spread * largest * sigma)^2).
    Other parameters: as for GSHM. The sums of a counter below the threshold are not released, so
    sums only increase the sensitivity.
    Source: CSH, Section 6 (aggregator functions; Wilkins et al. 2024); accounting.gshm_sums.
    """

    largest: tuple[int, ...] = (1,)
    spread: Number = number(positive, default=1)

    def __post_init__(self) -> None:
        limits = tuple(integer("largest", limit, least=1) for limit in self.largest)
        if not limits:
            raise InvalidParameter("largest", self.largest, "one limit per column of sums")
        object.__setattr__(self, "largest", limits)
        super().__post_init__()

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
    ) -> GSHMWithSums:
        """The mechanism with the least threshold for a target; parameters as in GSHM.for_target."""
        found = gshm_sums.calibrate(
            k=k, columns=len(largest), epsilon=epsilon, delta=delta, spread=spread
        )
        tau = Fraction(found.tau or 0) + integer("lower", lower, least=1) - 1
        return cls(k, found.sigma, tau, epsilon, delta, lower, tuple(largest), spread)

    def release_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyRelease:
        """Publish counters and sums; bins are pairs (element, (noisy count, noisy sum, ...)).

        counts: element -> number of users. sums: element -> the sum of the users' values in each
        column, |sum| <= largest * count. source: randomness fit for a release, such as
        SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return NoisyRelease(self.drawn_sums(counts, sums, source), self.guarantee)

    def draw_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyBins:
        """The bins of release_sums with randomness from any source, for simulations and proofs."""
        return self.drawn_sums(counts, sums, source).bins()

    def drawn_sums(
        self, counts: Mapping[Any, int], sums: Mapping[Any, Sequence[int]], source: Source
    ) -> NoisyCounts:
        """The bins of draw_sums as columns of integers, which is faster."""
        given = mapping_of("counts", counts)
        columns_of = mapping_of("sums", sums)
        checked = {x: self._checked(x, row, given.get(x, 0)) for x, row in columns_of.items()}
        found = self.drawn(counts, source)
        rows = [checked.get(x, (0,) * len(self.largest)) for x in found.elements]
        columns = []
        for c, limit in enumerate(self.largest):
            noise = DiscreteGaussian(sigma2=(self.spread * limit * self.sigma) ** 2)
            drawn = draws(noise, len(rows), source)
            columns.append([row[c] + z for row, z in zip(rows, drawn, strict=True)])
        return replace(found, sums=columns)

    def _checked(self, x: Any, row: Sequence[int], count: int) -> tuple[int, ...]:
        name = f"sums[{x!r}]"
        if isinstance(row, int) or len(row) != len(self.largest):
            raise InvalidParameter(name, row, f"{len(self.largest)} sums, one per column")
        values = tuple(integer(name, total, least=-(10**1000)) for total in row)
        if any(abs(v) > limit * count for v, limit in zip(values, self.largest, strict=True)):
            raise InvalidParameter(name, row, "sums of absolute value at most largest * count")
        return values

    def _check(self, tau: Fraction) -> Check:
        return gshm_sums.check(
            k=self.k,
            columns=len(self.largest),
            sigma=self.sigma,
            tau=tau,
            epsilon=self.epsilon,
            delta=self.delta,
            spread=self.spread,
        )

    def _promise(self) -> tuple[str, str]:
        limits = " and ".join(map(str, self.largest))
        return (
            f"{CONTRIBUTES.format(k=self.k)} and their sums by at most {limits}",
            gshm_sums.SOURCE,
        )
