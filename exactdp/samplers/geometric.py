"""Geometric noise: one-sided, two-sided, and the discrete Laplace distribution."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number
from exactdp.parameters import delta_target, integer, positive
from exactdp.samplers.block_sampler import (
    BlockSampler,
    Decay,
    block_bits,
    both_sides,
    pieces,
    sure_share,
)
from exactdp.samplers.cdf import Cdf, RealCdf
from exactdp.samplers.integer_law import IntegerLaw, Sampler, floor_at
from exactdp.samplers.table import WORD_BITS, Table

#: Up to this scale, a table holds all likely outcomes; for larger scales, a table of blocks.
_LARGEST_TABLE = 600

#: Outcomes beyond this number of scales (probability about 2^-29) are drawn by ball arithmetic.
_REACH = 20

#: Working precision of the tables, in bits: running products lose a few bits per term.
_TABLE_BITS = 192


class _Decaying(IntegerLaw):
    """Laws whose weights decrease by a factor q = exp(-rate) per step away from 0."""

    two_sided: bool

    @property
    def mean(self) -> Fraction:
        """0: the law is symmetric."""
        return Fraction(0)

    @abstractmethod
    def _rate(self) -> arb:
        """-log q as a ball at the working precision."""

    def _ratio(self) -> arb:
        """q as a ball."""
        return (-self._rate()).exp()

    def _exact(self) -> Callable[[int], Fraction] | None:
        """The distribution function F in fractions if q is rational, else None."""
        return None

    def _make_cdf(self) -> Cdf:
        low = None if self.two_sided else 0
        return RealCdf(low, None, self._value, self._quantile, self._exact())

    def _value(self, z: int) -> arb:
        rate = self._rate()
        if not self.two_sided:
            return -(-rate * (z + 1)).expm1()
        # P(X > z) = P(X < -z) = q^(z+1)/(1 + q) for z >= 0
        share = 1 + (-rate).exp()
        return 1 - (-rate * (z + 1)).exp() / share if z >= 0 else (rate * z).exp() / share

    def _quantile(self, level: float) -> float:
        scale = self._scale()
        if not self.two_sided:
            return -math.log1p(-level) * scale - 1
        share = 1 + math.exp(-1 / scale)
        if level * share < 1:
            return scale * math.log(level * share)
        return -scale * math.log((1 - level) * share) - 1

    def _scale(self) -> float:
        with precision(64):
            return float((1 / self._rate()).mid())

    def _make_sampler(self) -> Sampler:
        with precision(_TABLE_BITS):
            scale = int((1 / self._rate()).mid().floor().fmpz())
        if scale < _LARGEST_TABLE:
            below, above = self._levels(_REACH * (scale + 1) + 8)
            first = -len(below) if self.two_sided else 0
            return Table(self._cdf, first, below + above if self.two_sided else above)
        return self._blocks(scale, block_bits(scale))

    def _too_wide(self) -> InvalidParameter | None:
        scale = self._scale()
        if scale <= 2**50:
            return None
        return InvalidParameter(
            "scale", Described(f"{scale:.3g}"), "<= 2^50, so that draws fit 64 bits"
        )

    def _levels(self, count: int) -> tuple[list[int], list[int]]:
        """floor(2^64 F(z)) for -count <= z < 0 (for two-sided laws) and for 0 <= z < count."""
        with precision(_TABLE_BITS):
            ratio = self._ratio()
            tails = _floors(1 / (1 + ratio) if self.two_sided else arb(1), ratio, count)
        return _below(self._cdf, tails, 1) if self.two_sided else [], _above(self._cdf, tails)

    def _blocks(self, scale: int, bits: int) -> BlockSampler:
        """Blocks of 2^bits values: the law of the blocks is geometric, too."""

        def beyond(b: int) -> arb:
            return (-self._rate() * ((b + 1) << bits)).exp()

        fall = self._decay(bits)
        everywhere = sure_share(fall, 0)

        def share(_: int) -> Fraction:
            return everywhere

        of_piece = pieces(share, beyond)
        law = (
            both_sides(of_piece) if self.two_sided else RealCdf(0, None, lambda i: 1 - of_piece(i))
        )
        with precision(_TABLE_BITS):
            ratio = (-self._rate() * (1 << bits)).exp()
            half = arb(1) / 2 if self.two_sided else arb(1)
            tails = _piece_floors(half, ratio, _REACH * (scale + 1) >> bits, share)
        levels, first = _above(law, tails), 0
        if self.two_sided:
            levels, first = [*_below(law, tails, 2), 1 << WORD_BITS - 1, *levels], -1 - len(tails)
        table = Table(law, first, levels, limit=1 << 62 - min(bits, 62))
        return BlockSampler(table, bits, fall, share)

    def _decay(self, bits: int) -> Decay:
        """The decay within a block, in units of its width; the same for all blocks."""
        width = 1 << bits
        rate = refine(lambda: self._rate() * width, relative_width=Fraction(1, 10**30))
        nearest, most = rate.lower.numerator / rate.lower.denominator, rate.upper
        return Decay(
            lambda _, f: f * nearest,
            lambda _, f: ball(f) * self._rate() * width,
            lambda _: most,
        )


def _piece_floors(
    half: arb, ratio: arb, count: int, share: Callable[[int], Fraction]
) -> list[int | None]:
    """floor(2^64 P(piece > i)) for the pieces i of `count` blocks >= 0; None as in _floors."""
    floors: list[int | None] = []
    level = half * arb(2) ** WORD_BITS
    for b in range(count):
        after = level * ratio
        floors += [_certain_floor(level + (after - level) * ball(share(b))), _certain_floor(after)]
        level = after
    return floors


def _floors(share: arb, ratio: arb, count: int) -> list[int | None]:
    """floor(2^64 share ratio^k) for 1 <= k <= count; None if the floor is not certain."""
    floors: list[int | None] = []
    level = share * arb(2) ** WORD_BITS
    for _ in range(count):
        level *= ratio
        floors.append(_certain_floor(level))
    return floors


def _certain_floor(level: arb) -> int | None:
    return None if level.contains_integer() else int(level.lower().floor().fmpz())


def _above(cdf: Cdf, tails: list[int | None]) -> list[int]:
    """floor(2^64 F(z)) for z = 0, 1, ..., from the tails floor(2^64 (1 - F(z)))."""
    most = (1 << WORD_BITS) - 1
    return [floor_at(cdf, z, WORD_BITS) if t is None else most - t for z, t in enumerate(tails)]


def _below(cdf: Cdf, tails: list[int | None], mirror: int) -> list[int]:
    """floor(2^64 F(-mirror - z)), which is the tail at z, in ascending order."""
    mirrored = [-mirror - z for z in range(len(tails))]
    pairs = zip(mirrored, tails, strict=True)
    return [floor_at(cdf, z, WORD_BITS) if t is None else t for z, t in pairs][::-1]


@frozen
class Geometric(_Decaying):
    """P(z) = p (1 - p)^z for z = 0, 1, 2, ...; 0 < p < 1 rational.

    >>> from exactdp.samplers import Geometric
    >>> Geometric(p="1/3").pmf(2)
    Fraction(4, 27)
    """

    p: Number = number(delta_target)
    two_sided = False

    @property
    def mean(self) -> Fraction:
        """(1 - p)/p, exactly."""
        return 1 / self.p - 1

    @property
    def variance(self) -> Fraction:
        """(1 - p)/p^2, exactly."""
        return self.mean / self.p

    def pmf(self, z: int) -> Fraction:
        """P(X = z), exactly."""
        chance, point = self.p, integer("z", z, least=-(10**1000))
        return chance * (1 - chance) ** point if point >= 0 else Fraction(0)

    def _rate(self) -> arb:
        return -(-ball(self.p)).log1p()

    def _ratio(self) -> arb:
        return ball(1 - self.p)

    def _exact(self) -> Callable[[int], Fraction]:
        return lambda z: 1 - (1 - self.p) ** (z + 1)


@frozen
class TwoSidedGeometric(_Decaying):
    """P(z) proportional to q^|z| on the integers; 0 < q < 1 rational.

    Source: Balcer and Vadhan (BV), Section 2.2: the geometric mechanism has q = e^-epsilon.
    """

    q: Number = number(delta_target)
    two_sided = True

    @property
    def variance(self) -> Fraction:
        """2 q/(1 - q)^2, exactly."""
        ratio = self.q
        return 2 * ratio / (1 - ratio) ** 2

    def pmf(self, z: int) -> Fraction:
        """P(X = z), exactly."""
        ratio, point = self.q, integer("z", z, least=-(10**1000))
        return (1 - ratio) / (1 + ratio) * ratio ** abs(point)

    def _rate(self) -> arb:
        return -self._ratio().log()

    def _ratio(self) -> arb:
        return ball(self.q)

    def _exact(self) -> Callable[[int], Fraction]:
        q = self.q
        return lambda z: 1 - q ** (z + 1) / (1 + q) if z >= 0 else q**-z / (1 + q)


@frozen
class DiscreteLaplace(_Decaying):
    """P(z) proportional to exp(-|z|/scale) on the integers; scale > 0 rational.

    Source: Ghosh, Roughgarden, Sundararajan 2012; Balcer and Vadhan (BV), Section 2.2.

    >>> from exactdp.samplers import DiscreteLaplace
    >>> print(DiscreteLaplace(scale=2).pmf(0))
    [0.2449186624, 0.2449186625]
    """

    scale: Number = number(positive)
    two_sided = True

    @property
    def variance(self) -> Enclosure:
        """1/(2 sinh^2(1/(2 scale))), in an enclosure of relative width <= 1e-12."""
        return refine(lambda: 1 / (2 * (self._rate() / 2).sinh() ** 2))

    def pmf(self, z: int) -> Enclosure:
        """P(X = z), in an enclosure of relative width <= 1e-12."""
        point = integer("z", z, least=-(10**1000))

        def compute() -> arb:
            rate = self._rate()
            return (rate / 2).tanh() * (-rate * abs(point)).exp()

        return refine(compute)

    def _rate(self) -> arb:
        return 1 / ball(self.scale)
