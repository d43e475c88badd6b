"""Top-k counts together with the (k + 1)-th largest count, which was subtracted.

CSH: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism".
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import ModuleType
from typing import Any, ClassVar

from flint import arb

from exactdp.accounting import discrete_top_k
from exactdp.accounting.neighbours import ANY_COUNTERS
from exactdp.fields import frozen
from exactdp.mechanisms.thresholded.correlated_histogram import TopK
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.samplers import Source


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
