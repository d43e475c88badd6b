"""What the thresholded histograms share: counters in, noisy counters above the threshold out.

Elements may come from any domain, finite or not: only non-zero counters are touched. The noise is
drawn exactly, and the guarantee is that of the discrete noise, not of its continuous model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from exactdp.accounting.guarantee import Guarantee
from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.mechanisms.histogram import require_secure
from exactdp.parameters import Real, integer, non_negative, positive
from exactdp.samplers import Source, exact_law
from exactdp.samplers.gaussian_sums import sum_above, sum_all

__all__ = ["NoisyBins", "NoisyRelease", "Thresholded", "lower_threshold", "some_above"]

#: Released counters: (element, noisy count) in ascending order of elements.
NoisyBins: TypeAlias = tuple[tuple[Any, Any], ...]


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
class Thresholded(ABC):
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


def some_above(limit: int, variance: Fraction, k: int) -> arb:
    """P(one of k independent N_Z(0, variance) is > limit), limit >= 0."""
    one = sum_above(limit, variance) / sum_all(variance)
    return -((-one).log1p() * k).expm1()


def lower_threshold(lower: int, limit: Fraction) -> int:
    value = integer("lower", lower, least=1)
    if value > limit:
        raise InvalidParameter("lower", lower, f"<= 1 + tau = {limit}")
    return value
