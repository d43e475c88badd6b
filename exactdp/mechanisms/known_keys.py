"""Counts of a public list of keys: noise on each, and no threshold."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from exactdp.accounting import correlated_gaussian, discrete_gaussian
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import changed_counters
from exactdp.balls import refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.counts import mapping_of
from exactdp.mechanisms.thresholded.mechanism import in_order, least_error
from exactdp.mechanisms.thresholded.release import NoisyCounts, NoisyHistogram
from exactdp.mechanisms.thresholded.shared_gaussian import CorrelatedNoise
from exactdp.parameters import Real, decimal_text, delta_target, integer, non_negative, positive
from exactdp.samplers import DiscreteGaussian, Source

#: Relative steps by which noise is raised until the target is certified.
_STEPS = [Fraction(n, 10**6) for n in (0, 1, 10, 100, 1000, 10_000, 100_000)]


class ListedCounts(NoisyHistogram):
    """Noisy counts of all keys of a public list."""

    def noisy_counts(self, counts: Mapping[Any, int], source: Source) -> NoisyCounts:
        count_of = mapping_of("counts", counts)
        keys = in_order(count_of)
        true = [integer(f"counts[{key!r}]", count_of[key], least=0) for key in keys]
        return self._noisy(keys, true, source)

    @property
    @abstractmethod
    def scale(self) -> float:
        """About the standard deviation of the noise of one count."""

    @abstractmethod
    def _noisy(self, keys: list[Any], counts: list[int], source: Source) -> NoisyCounts:
        """The counters with noise."""


@frozen
class KnownKeys(ListedCounts):
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
        _keeps(self._leaks, self.delta)

    @classmethod
    def for_target(cls, *, k: int, epsilon: Real, delta: Real) -> KnownKeys:
        """The mechanism with about the least noise for a target; parameters as of the class."""
        most, target = integer("k", k, least=1), delta_target("delta", delta)
        loss = non_negative("epsilon", epsilon)
        # a sum of k copies moves by k
        noise = discrete_gaussian.calibrate(epsilon=loss, delta=target, sensitivity=most)
        for step in _STEPS:
            sigma2 = Fraction(noise.sigma2) / most * (1 + step)
            if _delta(most, sigma2, loss).upper <= target:
                return cls(most, sigma2, loss, target)
        raise Undecided("no noise was certified for this target: try a larger epsilon or delta")

    @property
    def scale(self) -> float:
        return math.sqrt(self.sigma2)

    def _noisy(self, keys: list[Any], counts: list[int], source: Source) -> NoisyCounts:
        noise = DiscreteGaussian(sigma2=self.sigma2).sample_each(len(keys), source)
        return NoisyCounts(keys, [c + z for c, z in zip(counts, noise, strict=True)])

    def accuracy(self, beta: Real, counters: int = 1) -> Accuracy:
        """Error bounds that hold with probability at least 1 - beta, 0 < beta < 1."""
        chance, keys = delta_target("beta", beta), integer("counters", counters, least=1)
        noise = DiscreteGaussian(sigma2=self.sigma2)
        one, every = (noise.quantile(1 - chance / n / 2) for n in (1, keys))
        return Accuracy(chance, one, -1, every)

    @property
    def guarantee(self) -> Guarantee:
        neighbours = changed_counters(self.k)
        source = "Canonne, Kamath, Steinke 2020, discrete Gaussian noise"
        return Guarantee(self.epsilon, self._leaks, neighbours, source)

    @cached_property
    def _leaks(self) -> Enclosure:
        return _delta(self.k, self.sigma2, self.epsilon)


@frozen
class CorrelatedGaussian(ListedCounts):
    """Noise (Z_i + Z)/2 on the count of every key of a public list; all keys share Z.

    Z_i ~ N_Z(0, 4 sigma^2), Z ~ N_Z(0, 4 sigma^2/sqrt(keys)). Where users contribute to many of the
    keys, this is about half the noise of :class:`KnownKeys`.
    keys: number of keys of the list, >= 1. k: largest number of them to which one user contributes,
    1 to each. sigma: > 0. epsilon: >= 0. delta: > 0 and < 1. Raises InvalidParameter if the proved
    delta exceeds this target.
    Source: CSH, Lemma 2.8 and Algorithm 4; accounting.correlated_gaussian.

    >>> from exactdp.mechanisms import CorrelatedGaussian, KnownKeys
    >>> made = CorrelatedGaussian.for_target(keys=100, k=100, epsilon=1, delta="1e-6")
    >>> made.accuracy("0.05").per_query
    46
    >>> KnownKeys.for_target(k=100, epsilon=1, delta="1e-6").accuracy("0.05").per_query
    83
    """

    keys: int = whole(least=1)
    k: int = whole(least=1)
    sigma: Number = number(positive)
    epsilon: Number = number(non_negative)
    delta: Number = number(delta_target)

    def __post_init__(self) -> None:
        _keeps(self._promise.delta, self.delta)

    @classmethod
    def for_target(cls, *, keys: int, k: int, epsilon: Real, delta: Real) -> CorrelatedGaussian:
        """The mechanism with about the least noise for a target; parameters as of the class."""
        size, most = integer("keys", keys, least=1), integer("k", k, least=1)
        loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
        near = correlated_gaussian.likely_sigma(size, most, loss, target)
        for step in _STEPS:
            sigma = near * (1 + step)
            check = correlated_gaussian.check(
                keys=size, contributions=most, sigma=sigma, epsilon=loss, delta=target
            )
            if check.verdict == "proved":
                return cls(size, most, sigma, loss, target)
        raise Undecided("no noise was certified for this target: try a larger epsilon or delta")

    @property
    def scale(self) -> float:
        return float(self.sigma) * math.sqrt(1 + 1 / math.sqrt(self.keys))

    def accuracy(self, beta: Real, counters: int = 1) -> Accuracy:
        """Error bounds that hold with probability at least 1 - beta, 0 < beta < 1."""
        chance, number = delta_target("beta", beta), integer("counters", counters, least=1)
        one, every = (
            least_error(lambda e: self._noise.tail(2 * e), chance / n) for n in (1, number)
        )
        return Accuracy(chance, one, -1, every)

    def _noisy(self, keys: list[Any], counts: list[int], source: Source) -> NoisyCounts:
        if len(keys) != self.keys:
            raise InvalidParameter("counts", f"{len(keys)} keys", f"all {self.keys} keys")
        return NoisyCounts(keys, self._noise.add_to(counts, source), 2)

    @cached_property
    def _noise(self) -> CorrelatedNoise:
        return CorrelatedNoise(4 * self.sigma**2, self.keys)

    @property
    def guarantee(self) -> Guarantee:
        return self._promise

    @cached_property
    def _promise(self) -> Guarantee:
        return correlated_gaussian.guarantee(
            keys=self.keys, contributions=self.k, sigma=self.sigma, epsilon=self.epsilon
        )


def _keeps(leaks: Enclosure, delta: Fraction) -> None:
    if leaks.upper > delta:
        allowed = f">= {leaks.decimal_upper(6)} with this noise"
        raise InvalidParameter("delta", decimal_text(delta), allowed)


def _delta(k: int, sigma2: Fraction, epsilon: Fraction) -> Enclosure:
    groups = Counter({(1, sigma2): k})
    return refine(lambda: discrete_gaussian.many(groups, epsilon)).clamped(0, 1)
