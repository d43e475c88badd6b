"""Sparse histograms that read the same number of random bits in every release.

BV: Balcer and Vadhan, "Differential Privacy on Finite Computers".
"""

from __future__ import annotations

from bisect import insort
from fractions import Fraction
from functools import cached_property

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.empty_bins import element_of_rank
from exactdp.mechanisms.histograms.keep_heavy import Heaviest, heaviest
from exactdp.mechanisms.histograms.mechanism import Bins
from exactdp.mechanisms.histograms.mixture import Purified, required_distance
from exactdp.parameters import delta_target
from exactdp.samplers import RationalCdf, RoundedOrderStatistics, Source
from exactdp.samplers.rounded_order_statistics import bits_for

#: Most random bits of one draw: a release makes 4 n + 3 draws and uses fractions of that length.
_MOST_BITS = 1 << 15


@frozen
class SparseHistogram(Heaviest):
    """The law of KeepHeavy up to a total variation distance, from a fixed number of random bits.

    noise: sampler of a noisy count, which keeps eps~ for a histogram. universe: >= 2n + 1.
    distance: total variation distance to KeepHeavy, > 0 and < 1. The mechanism is
    (eps~, (e^eps~ + 1) distance)-DP.
    Every draw inverts a CDF rounded to T bits. Empty bins are drawn by rank among the elements not
    yet taken, which cannot fail; BV draws them with replacement (Algorithm 7), which can.
    Source: BV, Theorem 6.5, corrected for ties of order statistics.
    """

    distance: Number = number(delta_target)

    source = "BV Theorem 6.5, with Lemma 2.9 corrected for ties"

    @cached_property
    def bits_per_draw(self) -> int:
        """T: bits of each draw. There are n counts, n + 1 ranks and 2 (n + 1) order statistics."""
        n, universe = self.n, self.universe
        ranks = (n + 1) * universe
        order = RoundedOrderStatistics(self.noise.cdf(0), universe, n + 1, 0).distance
        return bits_for((n * (n + 1) + ranks + order) / self.distance)

    @property
    def bits(self) -> int:
        """Random bits read by every release."""
        return (4 * self.n + 3) * self.bits_per_draw

    @property
    def guarantee(self) -> Guarantee:
        tilde = self.noise.e_half_epsilon**2
        delta = Enclosure.exact((tilde + 1) * self.distance)
        return Guarantee(self.noise.epsilon, delta, REPLACED_ROW, self.source, tilde)

    @property
    def failure(self) -> Fraction:
        """The distance."""
        return self.distance

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        size, n = self.bits_per_draw, self.n
        missing = source.draws(len(counts), n) - len(counts)
        values = [*counts.values(), *[0] * missing]
        noisy_counts = [source.fixed_inverse_cdf(rounded(self.noise.cdf(c), size)) for c in values]
        noisy = list(zip(counts, noisy_counts, strict=False))
        taken = sorted(counts)
        empty = self.universe - len(counts)
        top = RoundedOrderStatistics(self.noise.cdf(0), empty, n + 1, size).sample(source)
        for count in top:
            (rank,) = source.fixed_below([self.universe - len(taken)], size)
            element = element_of_rank(taken, rank)
            insort(taken, element)
            noisy.append((element, count))
        return heaviest(noisy, n)


@frozen
class FixedTimeSparseHistogram(Heaviest):
    """Pure differential privacy by Algorithm 8 of BV, from a fixed number of random bits.

    With probability 2^-j the release is a random partial histogram that does not depend on the
    data, otherwise that of SparseHistogram. By BV, Lemma 3.1, the mixture is purely private if the
    distance of SparseHistogram is small enough, and the mechanism sets it accordingly.
    gamma_bits: j >= 1. universe: >= 2n + 1. The distance must be below the least probability of a
    release, about (universe n)^-n, so each of 4 n draws reads about n log2(4 universe (n + 1))
    bits, and the running time is more than quadratic in n. More than 32768 bits for a draw are
    refused (n = 436 for 2^64 elements); PaddedSparseHistogram takes linear time.
    Source: BV, Algorithm 8 and Theorem 6.6, corrected.
    """

    gamma_bits: int = whole(least=1, default=10)

    source = "BV Algorithm 8, Theorem 6.6, with Lemma 2.9 corrected for ties"

    def __post_init__(self) -> None:
        super().__post_init__()
        bits = self.n * (4 * self.universe * (self.n + 1)).bit_length()
        if bits > _MOST_BITS:
            raise InvalidParameter(
                "n",
                f"{self.n} with a universe of {self.universe.bit_length()} bits",
                f"so small that a draw reads {_MOST_BITS} bits at most, not {bits} "
                "(PaddedSparseHistogram has no such limit)",
            )

    @cached_property
    def sparse(self) -> SparseHistogram:
        """The mechanism that answers with probability 1 - 2^-j."""
        gamma = Fraction(1, 1 << self.gamma_bits)
        distance = required_distance(
            e_epsilon=self.noise.e_half_epsilon**2, gamma=gamma, least=self._least
        )
        return SparseHistogram(self.noise, self.universe, distance)

    @property
    def _least(self) -> Fraction:
        """The least probability of a random partial histogram.

        One sequence of n elements and counts suffices, and rounding to T bits halves each
        probability at most.
        """
        return Fraction(1, (4 * self.universe * (self.n + 1)) ** self.n)

    @cached_property
    def _mixture(self) -> Purified[dict[int, int], Bins]:
        return Purified(
            near=self.sparse._draw,
            cover=self.random_bins,
            distance=self.sparse.distance,
            e_epsilon=self.noise.e_half_epsilon**2,
            least=self._least,
            gamma_bits=self.gamma_bits,
        )

    @property
    def bits(self) -> int:
        """Random bits read by every release."""
        return self.gamma_bits + self.sparse.bits + 2 * self.n * self.sparse.bits_per_draw

    @property
    def failure(self) -> Fraction:
        """2^-j, and the distance of SparseHistogram."""
        return Fraction(1, 1 << self.gamma_bits) + self.sparse.distance

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        return self._mixture.draw(counts, source)

    def random_bins(self, source: Source) -> Bins:
        """A partial histogram that does not depend on data: n elements with random counts."""
        size, n = self.sparse.bits_per_draw, self.n
        elements = dict.fromkeys(source.fixed_below([self.universe] * n, size))
        counts = source.fixed_below([n + 1] * source.draws(len(elements), n), size)
        return tuple(sorted((x, c) for x, c in zip(elements, counts, strict=False) if c))


def rounded(cdf: RationalCdf, bits: int) -> RationalCdf:
    """A CDF rounded to multiples of 2^-bits; total variation distance <= outcomes * 2^-bits."""

    def numerator(z: int) -> int:
        return (cdf.numerator(z) << bits) // cdf.denominator

    return RationalCdf(cdf.low, cdf.high, numerator, 1 << bits)
