"""The Gaussian sparse histogram mechanism (GSHM) with discrete noise.

CSH: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism".
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import add
from types import ModuleType
from typing import Any, ClassVar

from flint import arb

from exactdp.accounting import discrete_gshm
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.neighbours import add_remove
from exactdp.fields import frozen
from exactdp.mechanisms.thresholded.mechanism import Thresholded, above_lower
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.samplers import DiscreteGaussian, Source

_RELATION = add_remove("changing at most k = {k} counters by one")


@frozen
class GSHM(Thresholded):
    """Add independent discrete Gaussian noise N_Z(0, sigma^2) to every non-zero counter.

    k: largest number of counters that one user changes; the histogram may have any number of
    counters. sigma, tau, epsilon, delta, lower: see Thresholded. The guarantee is checked against
    the exact delta of the discrete mechanism.
    Source: CSH, Algorithm 1, Lemma 2.7 and Section 6, with discrete noise.

    >>> from exactdp.mechanisms import GSHM
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = GSHM.for_target(k=10, epsilon="0.35", delta="1e-5")
    >>> release = mechanism.release({"a": 5000, "b": 3}, SystemSource())
    >>> "a" in release
    True
    """

    _accounting: ClassVar[ModuleType] = discrete_gshm

    def _promise(self) -> tuple[str, str]:
        return _RELATION.format(k=self.k), discrete_gshm.ANALYSES["exact"]

    def _tail(self, t: Fraction) -> arb:
        return above(math.floor(t), self.sigma**2)

    @property
    def _noise(self) -> DiscreteGaussian:
        return DiscreteGaussian(sigma2=self.sigma**2)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        kept = above_lower(counts, self.lower)
        noisy = list(map(add, kept.values(), self._noise.sample_each(len(kept), source)))
        return NoisyCounts.above(math.floor(self._limit), kept, noisy)
