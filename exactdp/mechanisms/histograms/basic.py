"""Noise on every bin (BasicHistogram), or on non-empty bins only (StabilityHistogram).

BV: Balcer and Vadhan, "Differential Privacy on Finite Computers".
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from exactdp.accounting import stability
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.histograms.mechanism import Bins, BinsMechanism, noise_of
from exactdp.parameters import Real, decimal_text, delta_target
from exactdp.samplers import Source
from exactdp.samplers.count_samplers import CountSampler


@frozen
class BasicHistogram(BinsMechanism):
    """Add noise to the count of every element of the universe and release all counts.

    noise: sampler of a noisy count. universe: number of elements. Pure epsilon-DP. With FastSample
    as noise, every release reads the same number of random bits and makes the same comparisons.
    Source: BV, Algorithm 3 and Theorem 5.1; Theorem 1.2 with FastSample.

    >>> from exactdp.mechanisms import BasicHistogram
    >>> BasicHistogram.of(n=100, epsilon=1, universe=10).accuracy("0.05").per_query
    6
    >>> from exactdp.samplers import GeoSample
    >>> noise = GeoSample(n=1, epsilon=1, power_of_two=True)
    >>> BasicHistogram(noise, universe=2).law({0: 1})[((0, 1), (1, 0))]
    Fraction(9, 25)
    """

    source = "BV Algorithm 3, Theorem 5.1"
    lists_universe = True

    @property
    def bits(self) -> int | None:
        per_draw = self.noise.bits_per_draw
        return None if per_draw is None else self.universe * per_draw

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        true = [counts.get(x, 0) for x in range(self.universe)]
        return tuple(enumerate(self.noise.sample_each(true, source)))


@frozen
class StabilityHistogram(BinsMechanism):
    """Add noise to the non-empty bins and release those whose noisy count exceeds a threshold.

    noise, universe: as for BasicHistogram. threshold: t >= 0. delta: the target, > 0 and < 1.
    The exact delta is the probability that a noisy count of 1 exceeds the threshold: that is what
    an element contributes which occurs in only one of two neighbouring data sets. Raises
    InvalidParameter if the exact delta is larger than the target.
    With FastSample as noise, every release reads the same number of random bits, for n counts, and
    makes the same comparisons.
    Source: BV, Theorem 1.3 (the conference version states the theorem without an algorithm).
    """

    threshold: int = whole(least=0)
    delta: Number = number(delta_target)

    source = "BV Theorem 1.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exact_delta > self.delta:
            least = Enclosure.exact(self.exact_delta).decimal_upper(6)
            allowed = f">= {least} with this noise and threshold"
            raise InvalidParameter("delta", decimal_text(self.delta), allowed)

    @classmethod
    def of(  # type: ignore[override]  # the threshold follows from delta
        cls, *, n: int, epsilon: Real, universe: int, delta: Real, fixed_time: bool = False
    ) -> StabilityHistogram:
        """As for_target, with geometric noise for n rows and epsilon; see BasicHistogram.of."""
        return cls.for_target(noise_of(n, epsilon, fixed_time), universe, delta)

    @classmethod
    def for_target(cls, noise: CountSampler, universe: int, delta: Real) -> StabilityHistogram:
        """The mechanism with the smallest threshold whose exact delta is at most `delta`."""
        return cls(noise, universe, stability.least(noise, delta_target("delta", delta)), delta)

    @cached_property
    def exact_delta(self) -> Fraction:
        """The exact delta: P(noisy count of 1 > threshold)."""
        return stability.passes(self.noise, self.threshold)

    @property
    def bits(self) -> int | None:
        per_draw = self.noise.bits_per_draw
        return None if per_draw is None else self.n * per_draw

    @property
    def guarantee(self) -> Guarantee:
        tilde = self.noise.e_half_epsilon**2
        delta = Enclosure.exact(self.exact_delta)
        return Guarantee(self.noise.epsilon, delta, REPLACED_ROW, self.source, tilde)

    def accuracy(self, beta: Real) -> Accuracy:
        """Per query: the error of one count, for counts above threshold + error.

        Simultaneous: a union bound over the n non-empty bins, plus the threshold.
        """
        chance = delta_target("beta", beta)
        single = self.noise.error(chance)
        every = self.noise.error(chance / self.n)
        return Accuracy(chance, single, self.threshold + single, self.threshold + every)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        noisy = zip(counts, self._noisy(counts, source), strict=True)
        return tuple((x, c) for x, c in noisy if c > self.threshold)
