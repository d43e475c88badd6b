"""Counts of a public list of keys: noise on each, and no threshold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.accounting import discrete_gaussian
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number, whole
from exactdp.law import Law
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.thresholded.mechanism import draws, in_order
from exactdp.mechanisms.thresholded.release import NoisyBins, NoisyCounts, NoisyRelease
from exactdp.parameters import Real, decimal_text, delta_target, integer, non_negative, positive
from exactdp.samplers import DiscreteGaussian, Source, exact_law
from exactdp.samplers.source import require_secure

__all__ = ["KnownKeys"]

#: Relative steps by which noise is raised until the target is certified.
_STEPS = [Fraction(n, 10**6) for n in (0, 1, 10, 100, 1000)]


@frozen
class KnownKeys:
    """Noise N_Z(0, sigma2) on the count of every key of a public list, zero counts included.

    k: largest number of listed keys to which one user contributes, 1 to each. sigma2: > 0.
    epsilon: >= 0. delta: > 0 and < 1. Raises InvalidParameter if the exact delta exceeds this
    target.
    Source: Canonne, Kamath, Steinke 2020, for k queries of sensitivity 1.

    >>> from exactdp.mechanisms import KnownKeys
    >>> from exactdp.samplers import SystemSource
    >>> made = KnownKeys.for_target(k=2, epsilon=1, delta="1e-6")
    >>> list(made.release({"a": 900, "b": 0}, SystemSource()))
    ['a', 'b']
    """

    k: int = whole(least=1, most=10**6)
    sigma2: Number = number(positive)
    epsilon: Number = number(non_negative)
    delta: Number = number(delta_target)

    def __post_init__(self) -> None:
        if self._leaks.upper > self.delta:
            allowed = f">= {self._leaks.decimal_upper(6)} with this noise"
            raise InvalidParameter("delta", decimal_text(self.delta), allowed)

    @classmethod
    def for_target(cls, *, k: int, epsilon: Real, delta: Real) -> KnownKeys:
        """The mechanism with about the least noise for a target; parameters as of the class."""
        most, target = integer("k", k, least=1), delta_target("delta", delta)
        loss = non_negative("epsilon", epsilon)
        # a sum of k copies moves by k
        found = discrete_gaussian.calibrate(epsilon=loss, delta=target, sensitivity=most)
        for step in _STEPS:
            sigma2 = Fraction(found.sigma2) / most * (1 + step)
            if _delta(most, sigma2, loss).upper <= target:
                return cls(most, sigma2, loss, target)
        raise Undecided("the noise for this target: try a larger epsilon or delta")

    @property
    def sigma(self) -> float:
        """About the standard deviation of the noise."""
        return math.sqrt(self.sigma2)

    def release(self, counts: Mapping[Any, int], source: Source) -> NoisyRelease:
        """Publish a noisy count for every key of the mapping.

        counts: key -> number of users >= 0, for every key of the list. source: randomness fit for a
        release, such as SystemSource. Raises InvalidParameter.
        """
        require_secure(source)
        return NoisyRelease(self.drawn(counts, source), self.guarantee)

    def law(self, counts: Mapping[Any, int], residual: Real = "1e-6") -> Law[NoisyBins]:
        """The law of the released bins by enumeration, for small noise.

        residual: probability that the enumeration may leave out.
        """
        return exact_law(lambda source: self.draw(counts, source), residual=residual)

    def draw(self, counts: Mapping[Any, int], source: Source) -> NoisyBins:
        """The bins of a release with randomness from any source, for simulations and proofs."""
        return self.drawn(counts, source).bins()

    def drawn(self, counts: Mapping[Any, int], source: Source) -> NoisyCounts:
        """The bins of draw as columns of integers, which is faster."""
        given = mapping_of("counts", counts)
        keys = in_order(given)
        true = [integer(f"counts[{key!r}]", given[key], least=0) for key in keys]
        noise = draws(DiscreteGaussian(sigma2=self.sigma2), len(keys), source)
        return NoisyCounts(keys, [c + z for c, z in zip(true, noise, strict=True)])

    def accuracy(self, beta: Real, counters: int = 1) -> Accuracy:
        """Error bounds that hold with probability at least 1 - beta, 0 < beta < 1."""
        chance, keys = delta_target("beta", beta), integer("counters", counters, least=1)
        noise = DiscreteGaussian(sigma2=self.sigma2)
        one, every = (noise.quantile(1 - chance / n / 2) for n in (1, keys))
        return Accuracy(chance, one, -1, every)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of every release, for any data."""
        neighbours = add_remove(f"changing at most k = {self.k} counters by one")
        source = "Canonne, Kamath, Steinke 2020, discrete Gaussian noise"
        return Guarantee(self.epsilon, self._leaks, neighbours, source)

    @cached_property
    def _leaks(self) -> Enclosure:
        return _delta(self.k, self.sigma2, self.epsilon)


def _delta(k: int, sigma2: Fraction, epsilon: Fraction) -> Enclosure:
    groups = Counter({(1, sigma2): k})
    return refine(lambda: discrete_gaussian.many(groups, epsilon)).clamped(0, 1)
