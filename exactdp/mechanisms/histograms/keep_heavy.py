"""KeepHeavy releases the heaviest bins only; variants have the same law without listing all bins.

BV: Balcer and Vadhan, "Differential Privacy on Finite Computers".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.law import Law
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.empty_bins import fresh_elements
from exactdp.mechanisms.histograms.mechanism import Bins, BinsMechanism
from exactdp.parameters import Real, delta_target, rational
from exactdp.samplers import OrderStatistics, Source, exact_law


class Heaviest(BinsMechanism):
    """The base of KeepHeavy and of the mechanisms with nearly its law."""

    @property
    def failure(self) -> Fraction:
        """Probability that nothing is released, or distance to the law of KeepHeavy."""
        return Fraction(0)

    def accuracy(self, beta: Real) -> Accuracy:
        """The accuracy of KeepHeavy at beta - failure; per query for counts above 2 a_2.

        BV, Theorem 6.1: with a_1 and a_2 the errors of one bin and of all bins at failure
        probability beta', a query errs by more than a_1 with probability at most 2 beta', and any
        query by more than 2 a_2 with probability at most beta'.
        """
        chance = delta_target("beta", beta)
        rest = chance - self.failure
        if rest <= 0:
            allowed = f"> {self.failure}, the probability that nothing is released"
            raise InvalidParameter("beta", chance, allowed)
        every = self.noise.error(rest / 2 / self.universe)
        simultaneous = 2 * self.noise.error(rest / self.universe)
        return Accuracy(chance, self.noise.error(rest / 2), 2 * every, simultaneous)

    def _least_universe(self) -> int:
        return 2 * self.noise.n + 1


@frozen
class KeepHeavy(Heaviest):
    """Add noise to every bin and release the bins strictly heavier than the (n + 1)-th heaviest.

    noise: sampler of a noisy count. universe: >= n + 1; the running time is linear in the universe.
    Post-processing of BasicHistogram, hence with the same guarantee.
    Source: BV, Algorithm 4 and Theorem 6.1.
    """

    source = "BV Algorithm 4, Theorem 6.1"
    lists_universe = True

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        true = [counts.get(x, 0) for x in range(self.universe)]
        return heaviest(list(enumerate(self.noise.sample_each(true, source))), self.n)

    def _least_universe(self) -> int:
        return self.noise.n + 1


@frozen
class KeepHeavySampled(Heaviest):
    """The law of KeepHeavy in time about linear in n: only the n + 1 heaviest empty bins are drawn.

    noise: sampler of a noisy count. universe: >= 2n + 1.
    The noisy counts of the heaviest empty bins are order statistics of the noise, drawn *with
    ties*. BV as printed (Lemma 2.9, Algorithm 6) ignores ties, which breaks the privacy guarantee.
    The law is exact; the running time is bounded in expectation only.
    Source: BV, Algorithm 5 and Proposition 6.2, corrected.
    """

    source = "BV Algorithm 5, Proposition 6.2, with Lemma 2.9 corrected for ties"

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        noisy = dict(zip(counts, self._noisy(counts, source), strict=True))
        empty = OrderStatistics(self.noise.cdf(0), self.universe - len(counts))
        top = empty.sample(self.n + 1, source)
        limit = sorted([*noisy.values(), *top], reverse=True)[self.n]
        seen = [c for c in top if c > limit]
        places = fresh_elements(sorted(counts), len(seen), self.universe, source)
        noisy.update(zip(places, seen, strict=True))
        return tuple(sorted((x, c) for x, c in noisy.items() if c > limit))


@frozen
class PureSparseHistogram(KeepHeavySampled):
    """A sparse histogram with pure differential privacy over a universe too large to list.

    noise: sampler of a noisy count. universe: >= 2n + 1. The running time is about linear in n and
    polylogarithmic in the universe, but bounded in expectation only. If an adversary can time a
    release, use :class:`FixedTimeSparseHistogram`, which reads a fixed number of random bits, in
    time quadratic in n and with a small probability of a release that ignores the data.
    Source: BV, Theorem 6.6; exact sampling (KeepHeavySampled) replaces the mixing of Algorithm 8.

    >>> from exactdp.mechanisms import PureSparseHistogram
    >>> from exactdp.samplers import GeoSample, SystemSource
    >>> mechanism = PureSparseHistogram(GeoSample(n=100, epsilon=1), universe=2**64)
    >>> release = mechanism.release({17: 60, 2**63: 40}, SystemSource())
    >>> print(mechanism.guarantee)
    (1, 0)-DP for replace-one neighbours: one of the n rows replaced by another, n being public; \
BV Theorem 6.6, by exact sampling
    """

    source = "BV Theorem 6.6, by exact sampling"


@frozen
class KeepHeavyResampled(KeepHeavySampled):
    """KeepHeavySampled with empty bins drawn with replacement, which may fail.

    noise: sampler of a noisy count. universe: >= 4n. failure: beta_1, > 0 and < 1.
    ceil((4n + 2)/beta_1) elements are drawn from the universe. If fewer than 2n + 1 are distinct,
    nothing is released; that has probability at most beta_1 for any data.
    Source: BV, Algorithm 7 and Theorem 6.4, corrected.
    """

    failure: Number = number(delta_target)

    source = "BV Algorithm 7, Theorem 6.4, with Lemma 2.9 corrected for ties"

    @property
    def draws(self) -> int:
        """Number of elements drawn with replacement."""
        return ceil((4 * self.n + 2) / self.failure)

    def law(self, counts: Mapping[int, int], residual: Real = Fraction(1, 2**64)) -> Law[Bins]:
        """The exact law, by enumeration of its two independent steps."""
        checked, share = self.checked(counts), rational("residual", residual) / 2
        draw_bins = super()._draw
        fails = exact_law(self._too_few, residual=share)
        heavy = exact_law(lambda source: draw_bins(checked, source), residual=share)
        return fails.then(lambda failed: Law.point(()) if failed else heavy)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        if self._too_few(source):
            return ()
        # given enough distinct elements, those outside the data are a uniform sequence
        return super()._draw(counts, source)

    def _too_few(self, source: Source) -> bool:
        """Whether fewer than 2n + 1 of the drawn elements are distinct, draw by draw."""
        distinct, needed = 0, 2 * self.n + 1
        for left in range(self.draws, 0, -1):
            if distinct == needed or distinct + left < needed:
                break
            distinct += source.bernoulli(1 - Fraction(distinct, self.universe))
        return distinct < needed

    def _least_universe(self) -> int:
        return max(4 * self.noise.n, 2 * self.noise.n + 1)


def heaviest(noisy: list[tuple[int, int]], n: int) -> Bins:
    """The bins strictly heavier than the (n + 1)-th heaviest, by element."""
    limit = sorted((c for _, c in noisy), reverse=True)[n]
    return tuple(sorted((x, c) for x, c in noisy if c > limit))
