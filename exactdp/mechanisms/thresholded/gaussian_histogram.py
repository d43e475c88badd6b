"""The Gaussian sparse histogram mechanism (GSHM) with discrete noise.

CSH: Lebeda and Retschmeier, "The Correlated Gaussian Sparse Histogram Mechanism".
"""

from __future__ import annotations

import math
from fractions import Fraction
from operator import add
from typing import Any, ClassVar, Self

from flint import arb

from exactdp.accounting import discrete_gshm
from exactdp.accounting.calculator import Calculator
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.accounting.neighbours import changed_counters
from exactdp.fields import frozen, whole
from exactdp.mechanisms.thresholded.mechanism import Thresholded, above_lower
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.parameters import Real
from exactdp.samplers import DiscreteGaussian, Source


@frozen
class _Contributions:
    k: int = whole(least=1)


@frozen
class GSHM(Thresholded, _Contributions):
    """Add independent discrete Gaussian noise N_Z(0, sigma^2) to every non-zero counter.

    k (contributions): largest number of counters that one user changes, >= 1; the histogram may
    have any number of counters. sigma, tau, epsilon, delta, lower: see Thresholded. The guarantee
    is checked against the exact delta of the discrete mechanism.
    Source: CSH, Algorithm 1, Lemma 2.7 and Section 6, with discrete noise.

    >>> from exactdp.mechanisms import GSHM
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = GSHM.for_target(k=10, epsilon="0.35", delta="1e-5")
    >>> release = mechanism.release({"a": 5000, "b": 3}, SystemSource())
    >>> "a" in release
    True
    """

    _calculator: ClassVar[type[Calculator]] = discrete_gshm.DiscreteGshm
    _bound: ClassVar[str] = "k"

    @classmethod
    def for_target(cls, *, k: int, epsilon: Real, delta: Real, lower: int = 1) -> Self:
        """The mechanism with the least threshold that the calculator finds for a target.

        Parameters: as of the class. Raises InvalidParameter, Undecided.
        """
        return cls._for_target(k, epsilon, delta, lower)

    @property
    def _counters(self) -> int:
        return self.k

    def _promise(self) -> tuple[str, str]:
        return changed_counters(self.k), discrete_gshm.ANALYSES["exact"]

    def _tail(self, t: Fraction) -> arb:
        return above(math.floor(t), self.sigma**2)

    @property
    def _noise(self) -> DiscreteGaussian:
        return DiscreteGaussian(sigma2=self.sigma**2)

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        kept = above_lower(counts, self.lower)
        noisy = list(map(add, kept.values(), self._noise.sample_each(len(kept), source)))
        return NoisyCounts.above(math.floor(self._limit), kept, noisy)
