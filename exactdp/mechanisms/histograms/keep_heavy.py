"""Only the heaviest bins: KeepHeavy, and ways to draw from its law without touching every bin."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.empty_bins import fresh_elements
from exactdp.mechanisms.histograms.mechanism import LISTED, Bins, BinsMechanism, HistogramMechanism
from exactdp.parameters import Real, delta_target
from exactdp.samplers import OrderStatistics, Source


@frozen
class KeepHeavy(BinsMechanism):
    """Noise on every bin; released are those strictly heavier than the (n + 1)-th heaviest.

    Post-processing of BasicHistogram, so as private; costs time linear in the universe.
    universe: >= n + 1. Source: BV, Algorithm 4 and Theorem 6.1.
    """

    def accuracy(self, beta: Real) -> Accuracy:
        """Per query for counts above twice the error of all bins; at once, twice that error."""
        return heavy_accuracy(self, delta_target("beta", beta), Fraction(0))

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        true = [counts.get(x, 0) for x in range(self.universe)]
        return heaviest(list(enumerate(self.noise.sample_each(true, source))), self.n)

    def _source(self) -> str:
        return "BV Algorithm 4, Theorem 6.1"

    def _least_universe(self) -> int:
        return self.noise.n + 1

    def _most_universe(self) -> int:
        return LISTED


@frozen
class KeepHeavySampled(BinsMechanism):
    """KeepHeavy's law in time about linear in n: the n + 1 heaviest stand for all empty bins.

    Their counts are the largest of universe - |A| independent draws, drawn as order statistics
    *with ties*; as printed in BV (Lemma 2.9, Algorithm 6) they are not, and the mechanism is then
    not as private as promised. Randomness is resolved lazily, so the law is exact and the
    running time has no strict bound.
    universe: >= 2n + 1. Source: BV, Algorithm 5 and Proposition 6.2, corrected.
    """

    def accuracy(self, beta: Real) -> Accuracy:
        """That of KeepHeavy, whose law it has."""
        return heavy_accuracy(self, delta_target("beta", beta), Fraction(0))

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        noisy = self._noisy(counts, source)
        empty = OrderStatistics(self.noise.cdf(0), self.universe - len(counts))
        top = empty.sample(self.n + 1, source)
        limit = sorted([*noisy.values(), *top], reverse=True)[self.n]
        seen = [c for c in top if c > limit]
        places = fresh_elements(sorted(counts), len(seen), self.universe, source)
        noisy.update(zip(places, seen, strict=True))
        return tuple(sorted((x, c) for x, c in noisy.items() if c > limit))

    def _noisy(self, counts: dict[int, int], source: Source) -> dict[int, int]:
        """The noisy counts of the elements that are not empty."""
        noisy = self.noise.sample_each(list(counts.values()), source)
        return dict(zip(counts, noisy, strict=True))

    def _source(self) -> str:
        return "BV Algorithm 5, Proposition 6.2, with Lemma 2.9 corrected for ties"

    def _least_universe(self) -> int:
        return 2 * self.noise.n + 1


@frozen
class PureSparseHistogram(KeepHeavySampled):
    """A sparse histogram with pure differential privacy over a universe too large to list.

    Exact sampling needs no mixing step: this is KeepHeavySampled, and costs about linear in n and
    polylogarithmic in the universe. Its running time is bounded in expectation only; where an
    adversary may time a release, :class:`StrictPureSparseHistogram` reads a fixed number of random
    bits, at a cost quadratic in n and a small failure probability.
    Source: BV, Theorem 6.6, by exact sampling instead of Algorithm 8.

    >>> from exactdp.mechanisms import PureSparseHistogram
    >>> from exactdp.samplers import GeoSample, SystemSource
    >>> mechanism = PureSparseHistogram(GeoSample(n=100, epsilon=1), universe=2**64)
    >>> release = mechanism.release({17: 60, 2**63: 40}, SystemSource())
    >>> print(mechanism.guarantee())
    (1, 0)-DP for replace-one neighbours: one of the n rows replaced by another, n being public; \
BV Theorem 6.6, by exact sampling
    """

    def _source(self) -> str:
        return "BV Theorem 6.6, by exact sampling"


@frozen
class KeepHeavyResampled(KeepHeavySampled):
    """KeepHeavySampled with its empty bins drawn with replacement, which may fail.

    failure: beta_1. ceil((4n + 2)/beta_1) elements are drawn from the whole universe; when fewer
    than 2n + 1 of them differ, nothing is released (probability at most beta_1, whatever the data).
    universe: >= 4n. Source: BV, Algorithm 7 and Theorem 6.4, corrected.
    """

    failure: Number = number(delta_target)

    @property
    def draws(self) -> int:
        """Elements drawn with replacement."""
        return ceil((4 * self.n + 2) / self.failure)

    def accuracy(self, beta: Real) -> Accuracy:
        """That of KeepHeavy, with the failure probability taken off beta first."""
        return heavy_accuracy(self, delta_target("beta", beta), self.failure)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        drawn = dict.fromkeys(source.below(self.universe) for _ in range(self.draws))
        if len(drawn) < 2 * self.n + 1:
            return ()
        fresh = [x for x in drawn if x not in counts][: self.n + 1]
        noisy = list(self._noisy(counts, source).items())
        empty = OrderStatistics(self.noise.cdf(0), self.universe - len(counts))
        noisy += zip(fresh, empty.sample(self.n + 1, source), strict=True)
        return heaviest(noisy, self.n)

    def _source(self) -> str:
        return "BV Algorithm 7, Theorem 6.4, with Lemma 2.9 corrected for ties"

    def _least_universe(self) -> int:
        return max(4 * self.noise.n, 2 * self.noise.n + 1)


def heaviest(noisy: list[tuple[int, int]], n: int) -> Bins:
    """The bins strictly heavier than the (n + 1)-th heaviest, by element."""
    limit = sorted((c for _, c in noisy), reverse=True)[n]
    return tuple(sorted((x, c) for x, c in noisy if c > limit))


def heavy_accuracy(mechanism: HistogramMechanism, beta: Fraction, failure: Fraction) -> Accuracy:
    """BV, Theorem 6.1: (a_1, 2 beta') per query and (2 a_2, beta') at once, a_2 for all bins."""
    rest = beta - failure
    if rest <= 0:
        raise InvalidParameter(
            "beta", beta, f"> {failure}, the probability that nothing is released"
        )
    every = mechanism.noise.error(rest / 2 / mechanism.universe)
    single = mechanism.noise.error(rest / 2)
    simultaneous = 2 * mechanism.noise.error(rest / mechanism.universe)
    return Accuracy(beta, single, 2 * every, simultaneous)
