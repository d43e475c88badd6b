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
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.empty_bins import element_of_rank
from exactdp.mechanisms.histograms.keep_heavy import heaviest, heavy_accuracy
from exactdp.mechanisms.histograms.mechanism import Bins, BinsMechanism
from exactdp.mechanisms.histograms.mixture import required_distance
from exactdp.parameters import Real, delta_target
from exactdp.samplers import RationalCdf, RoundedOrderStatistics, Source
from exactdp.samplers.rounded_order_statistics import bits_for

#: Most random bits of one draw: a release makes 4 n + 3 draws and uses fractions of that length.
_MOST_BITS = 1 << 15


@frozen
class SparseHistogram(BinsMechanism):
    """The law of KeepHeavy up to a total variation distance, from a fixed number of random bits.

    noise: sampler of a noisy count, which keeps eps~ for a histogram. universe: >= 2n + 1.
    distance: total variation distance to KeepHeavy, > 0 and < 1. The mechanism is
    (eps~, (e^eps~ + 1) distance)-DP.
    Every draw inverts a CDF rounded to T bits. Empty bins are drawn by rank among the elements not
    yet taken, which cannot fail; BV draws them with replacement (Algorithm 7), which can.
    Source: BV, Theorem 6.5, corrected for ties of order statistics.
    """

    distance: Number = number(delta_target)

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

    def guarantee(self) -> Guarantee:
        tilde = self.noise.e_half_epsilon**2
        delta = Enclosure.exact((tilde + 1) * self.distance)
        return Guarantee(self.noise.epsilon, delta, REPLACED_ROW, self._source(), tilde)

    def accuracy(self, beta: Real) -> Accuracy:
        """The accuracy of KeepHeavy at beta - distance."""
        return heavy_accuracy(self, delta_target("beta", beta), self.distance)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        size, n = self.bits_per_draw, self.n
        noisy = [
            (x, source.strict_inverse_cdf(rounded(self.noise.cdf(c), size)))
            for x, c in counts.items()
        ]
        source.skip((n - len(counts)) * size)
        taken = sorted(counts)
        empty = self.universe - len(counts)
        top = RoundedOrderStatistics(self.noise.cdf(0), empty, n + 1, size).sample(source)
        for count in top:
            rank = source.strict_inverse_cdf(uniform(self.universe - len(taken), size))
            element = element_of_rank(taken, rank)
            insort(taken, element)
            noisy.append((element, count))
        return heaviest(noisy, n)

    def _source(self) -> str:
        return "BV Theorem 6.5, with Lemma 2.9 corrected for ties"

    def _least_universe(self) -> int:
        return 2 * self.noise.n + 1


@frozen
class StrictPureSparseHistogram(BinsMechanism):
    """Pure differential privacy from a fixed number of random bits.

    With probability 2^-j the release is a random partial histogram that does not depend on the
    data, otherwise that of SparseHistogram. By BV, Lemma 3.1, the mixture is purely private if the
    distance of SparseHistogram is small enough, and it is chosen so.
    mixing_bits: j >= 1. universe: >= 2n + 1. Every draw reads about n log2(4 universe (n + 1))
    bits, at most 32768, so the running time is about quadratic in n.
    Source: BV, Algorithm 8 and Theorem 6.6, corrected.
    """

    mixing_bits: int = whole(least=1, default=10)

    def __post_init__(self) -> None:
        super().__post_init__()
        bits = self.n * (4 * self.universe * (self.n + 1)).bit_length()
        if bits > _MOST_BITS:
            raise InvalidParameter(
                "n",
                f"{self.n} with a universe of {self.universe.bit_length()} bits",
                f"so small that a draw reads {_MOST_BITS} bits at most, not {bits} "
                "(PureSparseHistogram has no such limit)",
            )

    @cached_property
    def sparse(self) -> SparseHistogram:
        """The mechanism that answers with probability 1 - 2^-j.

        The data-independent law gives any histogram a probability of at least
        (4 universe (n + 1))^-n: one sequence of n elements and counts suffices, and rounding to T
        bits halves each probability at most.
        """
        distance = required_distance(
            e_epsilon=self.noise.e_half_epsilon**2,
            gamma=Fraction(1, 1 << self.mixing_bits),
            least=Fraction(1, (4 * self.universe * (self.n + 1)) ** self.n),
        )
        return SparseHistogram(self.noise, self.universe, distance)

    @property
    def bits(self) -> int:
        """Random bits read by every release."""
        return self.mixing_bits + self.sparse.bits

    def accuracy(self, beta: Real) -> Accuracy:
        """The accuracy of SparseHistogram at beta - 2^-j."""
        failure = Fraction(1, 1 << self.mixing_bits) + self.sparse.distance
        return heavy_accuracy(self, delta_target("beta", beta), failure)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        scale = 1 << self.mixing_bits
        if source.strict_inverse_cdf(RationalCdf(0, 1, (scale - 1, scale).__getitem__, scale)):
            return self._random_bins(source)
        return self.sparse._draw(counts, source)

    def _random_bins(self, source: Source) -> Bins:
        size, n = self.sparse.bits_per_draw, self.n
        element, count = uniform(self.universe, size), uniform(n + 1, size)
        drawn = [source.strict_inverse_cdf(element) for _ in range(n)]
        noisy = {x: source.strict_inverse_cdf(count) for x in dict.fromkeys(drawn)}
        source.skip(self.sparse.bits - (n + len(noisy)) * size)
        return tuple(sorted((x, c) for x, c in noisy.items() if c))

    def _source(self) -> str:
        return "BV Algorithm 8, Theorem 6.6, with Lemma 2.9 corrected for ties"

    def _least_universe(self) -> int:
        return 2 * self.noise.n + 1


def rounded(cdf: RationalCdf, bits: int) -> RationalCdf:
    """A CDF rounded to multiples of 2^-bits; total variation distance <= outcomes * 2^-bits."""

    def numerator(z: int) -> int:
        return (cdf.numerator(z) << bits) // cdf.denominator

    return RationalCdf(cdf.low, cdf.high, numerator, 1 << bits)


def uniform(size: int, bits: int) -> RationalCdf:
    """The uniform law on [0, size) in multiples of 2^-bits."""
    if size > 1 << bits:
        raise InvalidParameter("bits", bits, f"enough for {size} outcomes")
    return RationalCdf(0, size - 1, lambda z: -(-((z + 1) << bits) // size), 1 << bits)
