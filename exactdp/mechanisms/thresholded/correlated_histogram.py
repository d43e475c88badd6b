"""The correlated Gaussian sparse histogram mechanism with discrete noise, and top-k based on it.

CSH: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from flint import arb

from exactdp.accounting import discrete_csh, discrete_top_k
from exactdp.accounting.calculator import Calculator
from exactdp.accounting.neighbours import ANY_COUNTERS, sparse_counters
from exactdp.accounting.sparse_histograms.bounds import refuse_k, without_k
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.mechanisms.thresholded.mechanism import Thresholded, above_lower
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.mechanisms.thresholded.shared_gaussian import CorrelatedNoise
from exactdp.parameters import Real
from exactdp.samplers import Source


class _Correlated(Thresholded):
    """Independent and shared noise; arguments named k are refused, which would be ambiguous."""

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        refuse_k(parameters, next(iter(cls.__dataclass_fields__)))
        return super().__new__(cls)

    def _tail(self, t: Fraction) -> arb:
        return self._noise.tail(math.floor(2 * t))

    @cached_property
    def _noise(self) -> CorrelatedNoise:
        return CorrelatedNoise(4 * self.sigma**2, self._counters)

    def _with_noise(self, kept: dict[Any, int], source: Source) -> NoisyCounts:
        """The noisy counters above the threshold."""
        doubled = self._noise.add_to(kept.values(), source)
        return NoisyCounts.above(math.floor(2 * self._limit), kept, doubled, 2)


@frozen
class _Sparsity:
    sparsity: int = whole(least=1)


@frozen
class CSH(_Correlated, _Sparsity):
    """Add noise (Z_i + Z)/2 to every non-zero counter i; all counters share Z.

    Z_i ~ N_Z(0, 4 sigma^2) and Z ~ N_Z(0, 4 sigma^2/sqrt(sparsity)) are discrete Gaussian.

    sparsity: >= 1. The guarantee holds only for histograms that have at most this number of
    non-zero counters *for every possible data set*, for example because no more elements
    exist. Bounding what each user contributes does not ensure that. A histogram with more
    counters is refused; the refusal itself reveals that fact. :class:`TopK` has the same guarantee
    for every histogram, and is the same mechanism if there are at most `top` counters. sigma, tau,
    epsilon, delta, lower: Thresholded.
    Source: CSH, Algorithms 2 and 4, Definition 3.1, Theorem 7.7; accounting.discrete_csh.
    """

    _calculator: ClassVar[type[Calculator]] = discrete_csh.DiscreteCsh
    _bound: ClassVar[str] = "sparsity"

    @classmethod
    @without_k
    def for_target(cls, *, sparsity: int, epsilon: Real, delta: Real, lower: int = 1) -> Self:
        """The mechanism with the least threshold that the calculator finds for a target.

        Parameters: as of the class. Raises InvalidParameter, Undecided.
        """
        return cls._for_target(sparsity, epsilon, delta, lower)

    @property
    def _counters(self) -> int:
        return self.sparsity

    def _promise(self) -> tuple[str, str]:
        source = discrete_csh.ANALYSES[discrete_csh.DEFAULT_ANALYSIS]
        return sparse_counters(self.sparsity), source

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        kept = above_lower(counts, self.lower)
        if len(kept) > self.sparsity:
            allowed = f"at most the sparsity, {self.sparsity} (or use TopK)"
            raise InvalidParameter("counts", f"{len(kept)} non-zero counters", allowed)
        return self._with_noise(kept, source)


@frozen
class _Top:
    top: int = whole(least=1)


@frozen
class TopK(_Correlated, _Top):
    """Subtract the (top + 1)-th largest count from all counters, then apply CSH.

    top: number of largest counters that may be released, the k of the paper, >= 1. The subtraction
    leaves at most this number of non-zero counters, so the guarantee of CSH holds for any number of
    counters, and for users who change any number of counters. If there are at most `top` counters,
    nothing is subtracted. Counters equal to the (top + 1)-th largest become 0 and are not released.
    Other parameters: as for CSH.
    Source: CSH, Algorithm 3, Lemma 4.1, Corollary 4.2.
    """

    _calculator: ClassVar[type[Calculator]] = discrete_top_k.TopK
    _bound: ClassVar[str] = "top"

    @classmethod
    @without_k
    def for_target(cls, *, top: int, epsilon: Real, delta: Real, lower: int = 1) -> Self:
        """The mechanism with the least threshold that the calculator finds for a target.

        Parameters: as of the class; epsilon > 0 for TopKWithBase. Raises InvalidParameter,
        Undecided.
        """
        return cls._for_target(top, epsilon, delta, lower)

    @property
    def _counters(self) -> int:
        return self.top

    def _promise(self) -> tuple[str, str]:
        source = discrete_csh.ANALYSES[discrete_csh.DEFAULT_ANALYSIS]
        return ANY_COUNTERS, f"CSH Corollary 4.2; {source}"

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        if base := self._base(counts):
            counts = {x: c - base for x, c in counts.items() if c > base}
        return self._with_noise(above_lower(counts, self.lower), source)

    def _base(self, counts: dict[Any, int]) -> int:
        """The (top + 1)-th largest count; 0 if there are at most `top` counters."""
        return sorted(counts.values(), reverse=True)[self.top] if len(counts) > self.top else 0


@frozen
class TopKWithBase(TopK):
    """TopK that also releases the (top + 1)-th largest count and adds it back to the counters.

    That count, the base, gets noise Z'/2 with Z' ~ N_Z(0, 4 sigma^2/sqrt(top)). The first
    released bin is (None, noisy base). Parameters: as for TopK, with epsilon > 0.
    Source: CSH, Section 4 (after Corollary 4.2); accounting.discrete_top_k.
    """

    _calculator: ClassVar[type[Calculator]] = discrete_top_k.TopKWithBase

    def _promise(self) -> tuple[str, str]:
        return ANY_COUNTERS, discrete_top_k.SOURCE

    def _error_tail(self, t: Fraction) -> arb:
        """The base that is added back has noise of its own."""
        return self._noise.tail(math.floor(2 * t), 2)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        doubled = 2 * self._base(counts) + self._noise.shared.sample(source)
        noisy = super()._draw(counts, source)
        return NoisyCounts(
            [None, *noisy.elements], [doubled, *(n + doubled for n in noisy.numerators)], 2
        )
