"""The correlated sparse histogram with discrete noise, and the top-k mechanism built on it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import Any, Self

from flint import arb, ctx

from exactdp.accounting import discrete_csh
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.sparse_histograms.discrete_top_k import roots
from exactdp.balls import ball
from exactdp.errors import InvalidParameter
from exactdp.fields import frozen
from exactdp.mechanisms.thresholded.mechanism import Thresholded, above_lower, draws
from exactdp.mechanisms.thresholded.release import NoisyCounts
from exactdp.mechanisms.thresholded.shared_gaussian import SharedGaussian
from exactdp.parameters import Real, integer
from exactdp.samplers import DiscreteGaussian, Source

_SPARSE = (
    "add-remove neighbours: one user added or removed, changing counters of a histogram that never "
    "has more than k = {k} of them by one each, all in the same direction"
)
ANY_USER = (
    "add-remove neighbours: one user added or removed, changing any number of counters by one"
)

#: From here on the sum of the two noises is a discrete Gaussian up to a factor within exp(2^-100).
_SMOOTH = 4


@frozen
class CSH(Thresholded):
    """Noise (Z_i + Z)/2 on every non-zero counter, Z shared, all discrete Gaussian.

    Z_i ~ N_Z(0, 4 sigma^2), Z ~ N_Z(0, 4 sigma^2/sqrt k).

    k: sparsity. The promise is for histograms that have at most k non-zero counters *whatever the
    data*, as when there are only k possible elements: the shared noise hides a step of one half in
    every counter at once, and k of those are what it is made for. Bounding users does not bring
    that about. A histogram with more counters is refused, which shows that the assumption was
    wrong, and tells so to whoever sees the refusal; :class:`TopK` keeps the same promise for every
    histogram, and is this mechanism where there are at most k counters.
    Source: CSH, Algorithms 2 and 4, Definition 3.1, Theorem 7.7; accounting.discrete_csh.
    """

    @classmethod
    def for_target(cls, *, k: int, epsilon: Real, delta: Real, lower: int = 1) -> Self:
        """Noise and the least threshold for a target, as discrete_csh.calibrate chooses them.

        k: sparsity, >= 1. epsilon: >= 0. delta: > 0 and < 1. lower: >= 1.
        Raises InvalidParameter, Undecided.
        """
        found = discrete_csh.calibrate(k=k, epsilon=epsilon, delta=delta)
        tau = Fraction(found.tau or 0) + integer("lower", lower, least=1) - 1
        return cls(k, found.sigma, tau, epsilon, delta, lower)

    def _check(self, tau: Fraction) -> Check:
        return discrete_csh.check(
            k=self.k,
            sigma=self.sigma,
            tau=tau,
            epsilon=self.epsilon,
            delta=self.delta,
        )

    def _promise(self) -> tuple[str, str]:
        return _SPARSE.format(k=self.k), discrete_csh.ANALYSES[discrete_csh.DEFAULT_ANALYSIS]

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        kept = above_lower(counts, self.lower)
        if len(kept) > self.k:
            raise InvalidParameter(
                "counts", f"{len(kept)} non-zero counters", f"at most k = {self.k} (or use TopK)"
            )
        own = DiscreteGaussian(sigma2=self._variance)
        shared = self._shared.sample(source)
        noise = draws(own, len(kept), source)
        doubled = [2 * c + z + shared for c, z in zip(kept.values(), noise, strict=True)]
        return NoisyCounts.above(math.floor(2 * self._limit), kept, doubled, 2)

    def _tail(self, t: Fraction) -> arb:
        limit, variance = math.floor(2 * t), self._variance
        if variance < _SMOOTH * (isqrt(self.k) + 2):
            return self._summed(limit)
        # a variance a little larger and a little smaller: the tail lies between theirs
        ends = [above(limit, variance * (1 + 1 / root)) for root in roots(self.k)]
        q = (-2 * arb.pi() ** 2 * ball(variance) / (1 + arb(self.k).sqrt())).exp()
        eta = 2 * q / (1 - q)
        return ends[0].union(ends[1]) * (((1 + eta) / (1 - eta)).log() * arb(0, 1)).exp()

    def _summed(self, limit: int) -> arb:
        """P(Z_i + Z > limit) over the values of the shared noise, which are few."""
        rate = arb(self.k).sqrt() / (2 * ball(self._variance))
        reach = int((ctx.prec / rate).sqrt().upper().ceil().fmpz()) + 1
        total, every = arb(0), arb(0)
        for z in range(-reach, reach + 1):
            weight = (-rate * z * z).exp()
            every += weight
            total += weight * above(limit - z, self._variance)
        # beyond reach the weights fall at least by this factor with every step
        rest = 2 * (-rate * (reach + 1) ** 2).exp() / (1 - (-2 * rate * reach).exp())
        left = rest * arb(0.5, 0.5)
        return (total + left) / (every + left)

    @property
    def _variance(self) -> Fraction:
        return 4 * self.sigma**2

    @cached_property
    def _shared(self) -> SharedGaussian:
        return SharedGaussian(self._variance, self.k)


@frozen
class TopK(CSH):
    """The k heaviest counters of any histogram, less the (k + 1)-th largest count.

    Subtracting that count leaves a k-sparse monotonic histogram, so CSH's guarantee holds for users
    who change any number of counters, and for any number of counters; where there are at most k of
    them nothing is subtracted. Source: CSH, Algorithm 3, Lemma 4.1, Corollary 4.2.
    """

    def _promise(self) -> tuple[str, str]:
        return ANY_USER, f"CSH Corollary 4.2; {super()._promise()[1]}"

    def _draw(self, counts: dict[Any, int], source: Source) -> NoisyCounts:
        if base := self._base(counts):
            counts = {x: c - base for x, c in counts.items() if c > base}
        return super()._draw(counts, source)

    def _base(self, counts: dict[Any, int]) -> int:
        """The (k + 1)-th largest count, 0 where there is none."""
        return sorted(counts.values(), reverse=True)[self.k] if len(counts) > self.k else 0
