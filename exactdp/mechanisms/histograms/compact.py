"""A noisy count for every element of the universe, stored as the coefficients of one polynomial.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field as option
from fractions import Fraction
from functools import cached_property
from itertools import count as naturals
from itertools import islice, zip_longest
from math import ceil
from typing import TYPE_CHECKING

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.histograms.inverse_count import InverseCount
from exactdp.mechanisms.histograms.mechanism import Bins, HistogramMechanism
from exactdp.parameters import Real, delta_target, integer, positive
from exactdp.progress import bar
from exactdp.samplers import FastSample, Source
from exactdp.samplers.binary_field import BinaryField, smallest_field
from exactdp.samplers.binary_polynomials import PointTree, multiply, other_threads_run
from exactdp.samplers.source import require_secure

if TYPE_CHECKING:
    from exactdp.mechanisms.histograms.compact_release import CompactRelease

#: The part of epsilon that is kept for hash values drawn from a fixed number of bits.
_SHARE = Fraction(1, 1 << 42)


@frozen
class CompactHistogram(HistogramMechanism):
    """A random (n + 1)-wise independent hash function that agrees with the noisy non-empty counts.

    noise: sampler of the non-empty counts, (eps_1, 0)-DP for a histogram. universe: number of
    elements. epsilon: total privacy loss, >= eps_1. period: selects a field, see BinaryField; it
    must be at least as large as the universe. words: a hash value is a vector of that number of
    field elements, by default 1 as in BV. The release stores n + 1 vectors, the coefficients of
    polynomials, and answers a query for any element x.
    fixed_time: interpolate through n + 1 points for every data set, so that the field operations do
    not depend on the data. Otherwise they depend on the number of non-empty bins, which is faster
    if that is far below n.

    With FastSample as noise, every release reads the same number of random bits. Usually made by
    :meth:`of`. Raises InvalidParameter if the field is too small for epsilon: the condition
    eps_1 + eps_2 + eps_3 <= epsilon is checked exactly (eps_2, eps_3: InverseCount).
    Source: BV, Algorithm 9, Theorem 7.2, Corollary 7.3.
    """

    epsilon: Number = number(positive)
    period: int = whole(least=3)
    words: int = whole(least=1, default=1)
    fixed_time: bool = option(default=False, kw_only=True)

    source = "BV Algorithm 9, Theorem 7.2, Corollary 7.3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.universe > self.field.order:
            allowed = "a field at least as large as the universe"
            raise InvalidParameter("period", self.period, allowed)
        with precision(256):
            if not ball(self.e_epsilon) <= ball(self.epsilon).exp():
                raise InvalidParameter("period", self.period, "a field large enough for epsilon")

    @classmethod
    def of(
        cls, *, n: int, epsilon: Real, universe: int, beta: Real, fixed_time: bool = False
    ) -> CompactHistogram:
        """The mechanism with the least field for these errors, in which M_0 is exact.

        n: number of rows, >= 1. epsilon: > 0. universe: number of elements, >= 1. beta: probability
        that an error bound fails, > 0 and < 1: of a query with beta, of all elements with beta.
        The noise of BV, Corollary 7.3, has about twice the variance, as it keeps 9/10 epsilon, in
        powers of two; here eps~ is at least (1 - 2^-10) epsilon.
        """
        loss, chance = positive("epsilon", epsilon), delta_target("beta", beta)
        rows, size = integer("n", n, least=1), integer("universe", universe, least=1)
        kept = loss * (1 - _SHARE)
        usual = FastSample(n=rows, epsilon=kept).gamma_inverse
        gamma = max(usual, ceil(2 * size / chance))
        # rounding costs a factor 1 + 6/(L - 3), see FastSample, and L is at least half of
        # 2^bits/(gamma (n + 1))
        least = 2 * gamma * (rows + 1) * (3 + 3 * 2**12 * ceil(1 + 2 / loss))
        words, field = _field_for((size - 1).bit_length(), least.bit_length())
        bits = words * field.degree
        noise = FastSample(n=rows, epsilon=kept, gamma_inverse=gamma, bits=bits)
        return cls(noise, size, loss, field.period, words, fixed_time=fixed_time)

    @cached_property
    def field(self) -> BinaryField:
        """The field of the polynomials, which contains the universe."""
        return BinaryField(self.period)

    @property
    def value_bits(self) -> int:
        """Bits of a hash value, and of a coefficient."""
        return self.words * self.field.degree

    @cached_property
    def inverse(self) -> InverseCount:
        """The map M_0 from hash values to counts."""
        return InverseCount(self.noise, self.value_bits)

    @property
    def _hash_bits(self) -> int:
        """Random bits of a hash value with a given count.

        Each hash value then has its probability up to a factor 1 +- 2^-48 min(epsilon, 1).
        """
        return self.value_bits + 48 + ceil(1 / self.epsilon).bit_length()

    @property
    def bits(self) -> int | None:
        per_draw = self.noise.bits_per_draw
        if per_draw is None:
            return None
        return self.n * (per_draw + self._hash_bits) + (self.n + 1) * self.value_bits

    @cached_property
    def e_epsilon(self) -> Fraction:
        """e^(eps_1 + eps_2 + eps_3), and what hash values from a fixed number of bits cost."""
        more, less = self.inverse.losses
        uneven = Fraction(1)
        if self.noise.bits_per_draw is not None:
            unit = 1 << self._hash_bits - self.value_bits
            uneven = Fraction(unit + 1, unit - 1)
        return self.noise.e_half_epsilon**2 * more * less * uneven

    @property
    def guarantee(self) -> Guarantee:
        zero = Enclosure.exact(0)
        return Guarantee(self.epsilon, zero, REPLACED_ROW, self.source, self.e_epsilon)

    def release(self, counts: Mapping[int, int], source: Source) -> CompactRelease:
        """Publish the hash function.

        counts: element -> true count; the counts sum to n. source: randomness fit for a release,
        such as SystemSource. Raises InvalidParameter.
        """
        from exactdp.mechanisms.histograms.compact_release import CompactRelease

        require_secure(source)
        coefficients = tuple(c for _, c in self.draw(counts, source))
        return CompactRelease(self, coefficients)

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        """The coefficients of the polynomials, numbered from the constant term."""
        points, values = list(counts), self._hash_values(counts, source)
        others = self.n + 1 - len(points)
        free = self._free_values(others, source)
        if self.fixed_time:  # uniform values at other points, in place of uniform coefficients
            unused = (x for x in naturals() if x not in counts)
            points, values = [*points, *islice(unused, others)], [*values, *free]
        degree = self.field.degree
        with (
            bar(PointTree.work(len(points), self.words), "polynomial") as done,
            other_threads_run(),
        ):
            tree = PointTree(self.field, points, done)
            coefficients = [0] * (self.n + 1)
            for place in range(0, self.value_bits, degree):
                word = tree.interpolate([value >> place & self.field.order - 1 for value in values])
                if not self.fixed_time:
                    more = [value >> place & self.field.order - 1 for value in free]
                    multiple = multiply(self.field, tree.vanishing(), more)
                    word = [x ^ y for x, y in zip_longest(multiple, word, fillvalue=0)]
                coefficients = [x | y << place for x, y in zip(coefficients, word, strict=True)]
        return tuple(enumerate(coefficients))

    def _hash_values(self, counts: dict[int, int], source: Source) -> list[int]:
        """A random hash value with the noisy count of each non-empty bin."""
        ranges = [self.inverse.values(c) for c in self._noisy(counts, source)]
        if self.noise.bits_per_draw is None:
            return [start + source.below(size) for start, size in ranges]
        sizes = [size for _, size in ranges]
        sizes += [1] * (source.draws(len(sizes), self.n) - len(sizes))
        places = source.fixed_below(sizes, self._hash_bits)
        return [start + place for (start, _), place in zip(ranges, places, strict=False)]

    def _free_values(self, others: int, source: Source) -> list[int]:
        """Uniform hash values; n + 1 are drawn if the number of bits is fixed."""
        fixed = self.noise.bits_per_draw is not None
        needed = source.draws(others, self.n + 1) if fixed else others
        return source.integers(needed, self.value_bits)[:others]


def _field_for(element_bits: int, value_bits: int) -> tuple[int, BinaryField]:
    """The number of words and the field for which interpolation is fastest.

    The tree takes 5/7 of the time for one word, the sums of its polynomials 2/7 for each word.
    """
    options = []
    for words in (1, 2, 3):
        field = smallest_field(max(element_bits, -(-value_bits // words)))
        options.append(((5 + 2 * words) * field.degree, words, field))
    _, words, field = min(options, key=lambda option: option[0])
    return words, field
