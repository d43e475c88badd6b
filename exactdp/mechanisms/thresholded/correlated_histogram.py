"""The correlated Gaussian sparse histogram mechanism with discrete noise, and top-k based on it.

CSH: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar

from flint import arb

from exactdp.accounting import discrete_csh, discrete_top_k
from exactdp.accounting.neighbours import ANY_COUNTERS, add_remove
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.mechanisms.thresholded.mechanism import Thresholded, above_lower
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.mechanisms.thresholded.shared_gaussian import CorrelatedNoise
from exactdp.samplers import Source

_SPARSE = add_remove(
    "changing counters of a histogram that never has more than k = {k} of them by one each, all in "
    "the same direction"
)


@frozen
class CSH(Thresholded):
    """Add noise (Z_i + Z)/2 to every non-zero counter i; all counters share Z.

    Z_i ~ N_Z(0, 4 sigma^2) and Z ~ N_Z(0, 4 sigma^2/sqrt k) are discrete Gaussian.

    k: sparsity. The guarantee holds only for histograms that have at most k non-zero counters *for
    every possible data set*, for example if there are only k possible elements. Bounding what each
    user contributes does not ensure that. A histogram with more counters is refused; the refusal
    itself reveals that fact. :class:`TopK` has the same guarantee for every histogram, and is the
    same mechanism if there are at most k counters. sigma, tau, epsilon, delta, lower: Thresholded.
    Source: CSH, Algorithms 2 and 4, Definition 3.1, Theorem 7.7; accounting.discrete_csh.
    """

    _accounting: ClassVar[ModuleType] = discrete_csh

    def _promise(self) -> tuple[str, str]:
        return _SPARSE.format(k=self.k), discrete_csh.ANALYSES[discrete_csh.DEFAULT_ANALYSIS]

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        kept = above_lower(counts, self.lower)
        if len(kept) > self.k:
            raise InvalidParameter(
                "counts", f"{len(kept)} non-zero counters", f"at most k = {self.k} (or use TopK)"
            )
        doubled = self._noise.drawn(kept.values(), source)
        return NoisyCounts.above(math.floor(2 * self._limit), kept, doubled, 2)

    def _tail(self, t: Fraction) -> arb:
        return self._noise.tail(math.floor(2 * t))

    @cached_property
    def _noise(self) -> CorrelatedNoise:
        return CorrelatedNoise(4 * self.sigma**2, self.k)


@frozen
class TopK(CSH):
    """Subtract the (k + 1)-th largest count from all counters, then apply CSH.

    The subtraction leaves at most k non-zero counters, so the guarantee of CSH holds for any number
    of counters, and for users who change any number of counters. If there are at most k counters,
    nothing is subtracted. Parameters: as for CSH.
    Source: CSH, Algorithm 3, Lemma 4.1, Corollary 4.2.
    """

    def _promise(self) -> tuple[str, str]:
        return ANY_COUNTERS, f"CSH Corollary 4.2; {super()._promise()[1]}"

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        if base := self._base(counts):
            counts = {x: c - base for x, c in counts.items() if c > base}
        return super()._draw(counts, source)

    def _base(self, counts: dict[Any, int]) -> int:
        """The (k + 1)-th largest count; 0 if there are at most k counters."""
        return sorted(counts.values(), reverse=True)[self.k] if len(counts) > self.k else 0


@frozen
class TopKWithBase(TopK):
    """TopK that also releases the (k + 1)-th largest count and adds it back to the counters.

    The (k + 1)-th largest count, the base, gets noise Z'/2 with Z' ~ N_Z(0, 4 sigma^2/sqrt k). The
    first released bin is (None, noisy base). Parameters: as for TopK, with epsilon > 0.
    Source: CSH, Section 4 (after Corollary 4.2); accounting.discrete_top_k.
    """

    _accounting: ClassVar[ModuleType] = discrete_top_k

    def _promise(self) -> tuple[str, str]:
        return ANY_COUNTERS, discrete_top_k.SOURCE

    def _error_tail(self, t: Fraction) -> arb:
        """The base that is added back has noise of its own."""
        return self._noise.tail(math.floor(2 * t), 2)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        doubled = 2 * self._base(counts) + self._noise.shared.sample(source)
        found = super()._draw(counts, source)
        return NoisyCounts(
            [None, *found.elements], [doubled, *(n + doubled for n in found.numerators)], 2
        )
