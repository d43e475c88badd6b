"""The discrete Gaussian: P(z) proportional to exp(-z^2/(2 sigma^2)) on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from statistics import NormalDist

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.parameters import Real, integer, positive
from exactdp.samplers.blocks import BlockSampler, Decay, Floats, both_sides
from exactdp.samplers.gaussian_sums import sum_above, sum_all
from exactdp.samplers.integer_law import Bulk, IntegerLaw
from exactdp.samplers.inverse_cdf import Cdf, RealCdf
from exactdp.samplers.table import WORD_BITS, Table

__all__ = ["DiscreteGaussian"]

#: Up to this sigma one table holds all likely outcomes; beyond it, 64 to 128 blocks per sigma.
_LARGEST_TABLE = 1500
_BLOCKS_PER_SIGMA = 64

#: Working precision of the tables: running sums lose a few bits per term.
_TABLE_BITS = 192

#: Outcomes beyond this many sigma (probability below 2^-36) are left to the scalar path.
_REACH = 7


@dataclass(frozen=True)
class DiscreteGaussian(IntegerLaw):
    """Discrete Gaussian noise of parameter sigma2 = sigma^2 > 0, a rational.

    Source: CSH, Definition 7.1 and BV's model of exact sampling (Canonne, Kamath, Steinke 2020).

    >>> from exactdp.samplers import DiscreteGaussian, SeededSource
    >>> noise = DiscreteGaussian(sigma2="100")
    >>> noise.sample(SeededSource(1))
    -2
    >>> print(noise.pmf(0))
    [0.03989422804, 0.03989422805]
    """

    sigma2: Real

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma2", positive("sigma2", self.sigma2))

    @cached_property
    def _variance(self) -> Fraction:
        return Fraction(self.sigma2)

    def pmf(self, z: int) -> Enclosure:
        """P(X = z), in an enclosure of relative width <= 1e-12."""
        point = integer("z", z, least=-(10**1000))

        def compute() -> arb:
            return (-ball(Fraction(point**2) / (2 * self._variance))).exp() / sum_all(
                self._variance
            )

        return refine(compute)

    def _make_cdf(self) -> Cdf:
        def value(z: int) -> arb:
            total = sum_all(self._variance)
            if z >= 0:
                return 1 - sum_above(z, self._variance) / total
            return sum_above(-z - 1, self._variance) / total

        return RealCdf(None, None, value, self._quantile)

    def _quantile(self, level: float) -> float:
        sigma = isqrt(int(self._variance * 2**40)) / 2**20
        return sigma * NormalDist().inv_cdf(level) - 0.5

    def _make_bulk(self) -> Bulk:
        sigma = isqrt(int(self._variance)) + 1
        if sigma > 2**56:
            raise InvalidParameter("sigma2", self.sigma2, "< 2^112, so that draws fit 64 bits")
        if sigma <= _LARGEST_TABLE:
            above = _floors(self._variance, _REACH * sigma + 8)
            return Table(self._cdf, -len(above), mirrored(above) + above)
        bits = (sigma // _BLOCKS_PER_SIGMA).bit_length() - 1
        scaled = self._variance / 4**bits
        above = _floors(scaled, _REACH * (isqrt(int(scaled)) + 1), blocks=True)
        levels = [*mirrored(above), 1 << WORD_BITS - 1, *above]
        law, limit = block_law(self._variance, bits), 1 << 61 - bits
        table = Table(law, -1 - len(above), levels, limit=limit)
        return BlockSampler(table, bits, decay(self._variance))


def mirrored(above: list[int]) -> list[int]:
    """floor(2^64 (1 - F)) from floor(2^64 F), in reverse; F is never a multiple of 2^-64 here."""
    return [(1 << WORD_BITS) - 1 - floor for floor in reversed(above)]


def _floors(sigma2: Fraction, count: int, *, blocks: bool = False) -> list[int]:
    """floor(2^64 F(z)) for 0 <= z < count, by a running sum; for the block law, where asked."""
    result, most = [], (1 << WORD_BITS) - 1
    with precision(_TABLE_BITS):
        rate, every = 1 / (2 * ball(sigma2)), sum_all(sigma2)
        term = arb(2) ** WORD_BITS / (every + 1 if blocks else every)
        level = arb(2) ** (WORD_BITS - 1) - (0 if blocks else term / 2)
        ratio, square = (-rate).exp(), (-2 * rate).exp()
        for _ in range(count):
            level += term
            low, high = _floor(level.lower()), _floor(level.upper())
            if low != min(high, most):  # below 1, always
                raise Undecided(f"the table of sigma2 = {sigma2} is not settled")
            result.append(low)
            term *= ratio
            ratio *= square
    return result


def _floor(end: arb) -> int:
    return int(end.floor().fmpz())


def block_law(sigma2: Fraction, bits: int) -> RealCdf:
    """The law of blocks of 2^bits values: a discrete Gaussian with 0 counted on both sides."""
    scaled = sigma2 / 4**bits
    return both_sides(lambda b: sum_above(b, scaled) / ((sum_all(scaled) + 1) / 2))


def decay(sigma2: Fraction) -> Decay:
    """How the weight falls within a block: (y^2 - start^2)/(2 sigma^2), y = start + step."""
    rate = 1 / (2 * sigma2)
    nearest = rate.numerator / rate.denominator

    def approximate(start: Floats, step: Floats) -> Floats:
        return step * (2 * start + step) * nearest

    def most(start: int, step: int) -> Fraction:
        return step * (2 * start + step) * rate

    return Decay(approximate, lambda start, step: ball(most(start, step)), most)
