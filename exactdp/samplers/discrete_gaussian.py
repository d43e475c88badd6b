"""The discrete Gaussian: P(z) proportional to exp(-z^2/(2 sigma^2)) on the integers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import isqrt
from statistics import NormalDist

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.fields import Number, frozen, number
from exactdp.normal_sums import sum_above, sum_all, variance
from exactdp.parameters import integer, positive
from exactdp.samplers.block_sampler import (
    BlockSampler,
    Decay,
    block_bits,
    both_sides,
    pieces,
    sure_share,
)
from exactdp.samplers.cdf import Cdf, RealCdf
from exactdp.samplers.integer_law import IntegerLaw, Sampler
from exactdp.samplers.table import WORD_BITS, Table

#: Up to this sigma, a table holds all likely outcomes; for larger sigma, a table of blocks.
_LARGEST_TABLE = 1500

#: Working precision of the tables, in bits: running sums lose a few bits per term.
_TABLE_BITS = 192

#: Outcomes beyond this number of sigma (probability below 2^-28) are drawn by ball arithmetic.
_REACH = 6


@frozen
class DiscreteGaussian(IntegerLaw):
    """Discrete Gaussian noise N_Z(0, sigma^2). sigma2: sigma^2, a rational > 0.

    Source: Canonne, Kamath, Steinke 2020; Lebeda and Retschmeier (CSH), Definition 7.1.

    >>> from exactdp.samplers import DiscreteGaussian, SeededSource
    >>> noise = DiscreteGaussian(sigma2="100")
    >>> noise.sample(SeededSource(1))
    -3
    >>> print(noise.pmf(0))
    [0.03989422804, 0.03989422805]
    """

    sigma2: Number = number(positive)

    @property
    def mean(self) -> Fraction:
        """0: the law is symmetric."""
        return Fraction(0)

    @property
    def variance(self) -> Enclosure:
        """The variance, slightly less than sigma2, in an enclosure of relative width <= 1e-12."""
        return refine(lambda: variance(self.sigma2))

    def pmf(self, z: int) -> Enclosure:
        """P(X = z), in an enclosure of relative width <= 1e-12."""
        point = integer("z", z, least=-(10**1000))

        def compute() -> arb:
            return (-ball(Fraction(point**2) / (2 * self.sigma2))).exp() / sum_all(self.sigma2)

        return refine(compute)

    def _make_cdf(self) -> Cdf:
        def value(z: int) -> arb:
            total = sum_all(self.sigma2)
            if z >= 0:
                return 1 - sum_above(z, self.sigma2) / total
            return sum_above(-z - 1, self.sigma2) / total

        return RealCdf(None, None, value, self._quantile)

    def _quantile(self, level: float) -> float:
        sigma = isqrt(int(self.sigma2 * 2**40)) / 2**20
        return sigma * NormalDist().inv_cdf(level) - 0.5

    def _make_sampler(self) -> Sampler:
        sigma = isqrt(int(self.sigma2)) + 1
        if sigma > _LARGEST_TABLE:
            return self._blocks(block_bits(sigma))
        above = _floors(self.sigma2, _REACH * sigma + 8)
        return Table(self._cdf, -len(above), mirrored(above) + above)

    def _blocks(self, bits: int) -> BlockSampler:
        """The sampler for blocks of 2^bits values. scaled: sigma2 in units of the squared width."""
        scaled = self.sigma2 / 4**bits
        fall = decay(scaled)
        share = lru_cache(None)(partial(sure_share, fall))
        above = _floors(scaled, _REACH * (isqrt(int(scaled)) + 1), share)
        levels = [*mirrored(above), 1 << WORD_BITS - 1, *above]
        law, limit = piece_law(scaled, share), 1 << 62 - min(bits, 62)
        return BlockSampler(Table(law, -1 - len(above), levels, limit=limit), bits, fall, share)

    def _too_wide(self) -> InvalidParameter | None:
        if self.sigma2 < 2**112:
            return None
        return InvalidParameter("sigma2", self.sigma2, "< 2^112, so that draws fit 64 bits")


def mirrored(above: list[int]) -> list[int]:
    """floor(2^64 (1 - F)) from floor(2^64 F), in reverse; F is never a multiple of 2^-64 here."""
    return [(1 << WORD_BITS) - 1 - floor for floor in reversed(above)]


def _floors(
    sigma2: Fraction, count: int, share: Callable[[int], Fraction] | None = None
) -> list[int]:
    """floor(2^64 F(z)) for 0 <= z < count, by a running sum.

    share: for pieces of blocks, the share of the sure piece by block; None for single values.
    """
    result: list[int] = []
    with precision(_TABLE_BITS):
        rate, every = 1 / (2 * ball(sigma2)), sum_all(sigma2)
        term = arb(2) ** WORD_BITS / (every + 1 if share else every)
        level = arb(2) ** (WORD_BITS - 1) - (0 if share else term / 2)
        ratio, square = (-rate).exp(), (-2 * rate).exp()
        for z in range(count):
            if share:
                result.append(_whole(level + term * ball(share(z))))
            level += term
            result.append(_whole(level))
            term *= ratio
            ratio *= square
    return result


def _whole(level: arb) -> int:
    """The floor of a level below 2^64."""
    low, high = _floor(level.lower()), _floor(level.upper())
    if low != min(high, (1 << WORD_BITS) - 1):  # below 1, always
        raise Undecided("a threshold of the table is not determined at this precision")
    return low


def _floor(end: arb) -> int:
    return int(end.floor().fmpz())


def piece_law(scaled: Fraction, share: Callable[[int], Fraction]) -> RealCdf:
    """The law of the pieces of blocks. scaled: sigma^2 in units of a block's squared width.

    The law of the blocks is a discrete Gaussian that counts 0 on both sides.
    """
    return both_sides(pieces(share, lambda b: sum_above(b, scaled) / ((sum_all(scaled) + 1) / 2)))


def decay(scaled: Fraction) -> Decay:
    """The decay within a block: t = ((b + f)^2 - b^2)/(2 sigma^2), in units of the width."""
    rate = 1 / (2 * scaled)
    nearest = rate.numerator / rate.denominator
    return Decay(
        lambda b, f: f * (2 * b + f) * nearest,
        lambda b, f: ball(f * (2 * b + f) * rate),
        lambda b: (2 * b + 1) * rate,
    )
