"""Order statistics from a fixed number of random bits, with a certified distance.

BV: Balcer and Vadhan, "Differential Privacy on Finite Computers".
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from exactdp.errors import InvalidParameter
from exactdp.fields import frozen, whole
from exactdp.parameters import Real, delta_target
from exactdp.samplers.cdf import RationalCdf
from exactdp.samplers.integer_law import floor_at
from exactdp.samplers.order_statistics import tie_law
from exactdp.samplers.source import Source


def truncated_power(numerator: int, denominator: int, exponent: int, scale: int) -> int:
    """An integer y with 0 <= (numerator/denominator)^exponent - y/scale <= (2 exponent - 1)/scale.

    Repeated squaring in which every product is rounded down to a multiple of 1/scale.
    Non-decreasing in numerator, exact for 0 and for numerator = denominator.
    numerator: >= 0 and <= denominator. exponent: >= 1. Source: BV, proof of Theorem 6.5.

    >>> truncated_power(1, 2, 3, 1000)
    125
    """
    square, result = scale * numerator // denominator, scale
    untouched = True
    while exponent:
        if exponent & 1:
            result = square if untouched else square * result // scale
            untouched = False
        exponent >>= 1
        if exponent:
            square = square * square // scale
    return result


@frozen
class RoundedOrderStatistics:
    """The approximate k largest of many i.i.d. integers, from a fixed number of random bits.

    cdf, variables: as for OrderStatistics. k: number of values.
    bits_per_draw: T; each of the 2 k draws inverts a CDF with denominator 2^T. The total variation
    distance to the exact law is at most :attr:`distance`.
    Source: BV, Theorem 6.5, with ties drawn correctly (Lemma 2.9 of BV ignores ties).
    """

    cdf: RationalCdf
    variables: int = whole(least=1)
    k: int = whole(least=1)
    bits_per_draw: int = whole(least=0)

    def __post_init__(self) -> None:
        if self.k > self.variables:
            raise InvalidParameter("k", self.k, f"<= variables = {self.variables}")

    @classmethod
    def within(
        cls, cdf: RationalCdf, variables: int, k: int, distance: Real
    ) -> RoundedOrderStatistics:
        """The sampler with just enough bits for a total variation distance, > 0 and < 1."""
        one = cls(cdf, variables, k, 0)
        return cls(cdf, variables, k, bits_for(one.distance / delta_target("distance", distance)))

    @property
    def distance(self) -> Fraction:
        """Upper bound of the total variation distance to the exact law.

        A value drawn from truncated powers adds at most outcomes * variables/2^T, a number of ties
        at most k/2^T, and there are at most k of each.
        """
        outcomes = self.cdf.high - self.cdf.low + 1
        steps = self.k * (outcomes * self.variables + self.k)
        return Fraction(steps, 1 << self.bits_per_draw)

    @property
    def bits(self) -> int:
        """Number of random bits read by every sample."""
        return 2 * self.k * self.bits_per_draw

    def sample(self, source: Source) -> tuple[int, ...]:
        """The k largest values, descending."""
        largest: list[int] = []
        rest, highest = self.variables, self.cdf.high
        rounds = 0
        while len(largest) < self.k:
            value, ties = self._round(rest, highest, len(largest), source)
            largest += [value] * ties
            rest, highest, rounds = rest - ties, value - 1, rounds + 1
        for _ in range(source.draws(rounds, self.k) - rounds):
            self._round(self.variables, self.cdf.high, 0, source)
        return tuple(largest)

    def _round(self, rest: int, highest: int, number_known: int, source: Source) -> tuple[int, int]:
        """The largest of the remaining variables, and the number of them that share it."""
        value = source.fixed_inverse_cdf(self._largest(highest, rest))
        return value, source.fixed_inverse_cdf(self._ties(value, rest, self.k - number_known))

    def _largest(self, highest: int, rest: int) -> RationalCdf:
        exact, scale = self.cdf, 1 << self.bits_per_draw
        top = exact.numerator(highest)

        def numerator(z: int) -> int:
            return truncated_power(exact.numerator(z), top, rest, scale)

        return RationalCdf(exact.low, highest, numerator, scale)

    def _ties(self, value: int, rest: int, need: int) -> RationalCdf:
        law, scale = tie_law(self.cdf, value, rest, need), 1 << self.bits_per_draw

        def numerator(j: int) -> int:
            return scale if j == law.high else floor_at(law, j, self.bits_per_draw)

        assert law.low is not None
        assert law.high is not None
        return RationalCdf(law.low, law.high, numerator, scale)


def bits_for(ratio: Fraction) -> int:
    """The least T >= 1 with ratio <= 2^T."""
    return max((ceil(ratio) - 1).bit_length(), 1)
