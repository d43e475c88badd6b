"""Losses of discrete Laplace and discrete Gaussian noise on the integers, for all neighbours.

On a Poisson sample at rate q, a user who adds -shift is replaced by one who adds shift; a group of
k users adds j shift with binomial probabilities. `exactdp statement explain certified-pld`,
section 4, proves both to be the worst cases for symmetric log-concave noise on one number.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any, cast

from flint import arb, ctx

from exactdp.accounting.certify.gaussian_sums import above, excess, is_smooth, smoothing
from exactdp.accounting.pld.grid.lattice import MOST_NODES, Outcome
from exactdp.accounting.pld.grid.scaled import floor
from exactdp.accounting.pld.losses.base import Curve, Ends, LossLaw
from exactdp.accounting.pld.losses.listed import BatchListed, ListedLaw, bounded_part
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided
from exactdp.normal_sums import sum_all

_BITS = 128

#: Bounds of tails of the discrete Gaussian are negligible beside 2^-_SPARE_BITS.
_SPARE_BITS = 72

#: More values than this are joined to runs, whose losses are known less precisely: about to
#: 1/600 of the standard deviation.
_MOST_RUNS = 1 << 14

#: A group of more users on samples is a mixture of too many shifts.
_MOST_SAMPLED = 1000

_UNKNOWN, _ZERO_TO_ONE = arb("nan"), arb(0.5, 0.5)


class IntegerNoise(ListedLaw):
    """The loss of symmetric log-concave noise on the integers against its shift."""

    shift: int
    symmetric = True
    exact_infinity = Fraction(0)

    @abstractmethod
    def moved(self, tail_bits: int, *moves: int) -> Iterator[list[arb]]:
        """At every place, the masses of the noise moved by each of these integers.

        Several places where all ratios are equal may be one item. For each move, places with a
        total mass of at most 2^-tail_bits may be left out.
        """

    @abstractmethod
    def rest(self, tail_bits: int) -> arb:
        """The mass that `moved` leaves out for each move."""

    def replaced(self) -> LossLaw:
        return self.with_shift(2 * self.shift)

    def batched(self, rate: Fraction) -> LossLaw:
        return BatchListed(self, rate)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        all_ = self.with_shift(size * self.shift)
        return all_, all_

    def replaced_on_sample(self, rate: Fraction) -> LossLaw:
        return ReplacedNoise(self, rate)

    def grouped_on_sample(self, size: int, rate: Fraction) -> tuple[LossLaw, LossLaw]:
        if size > _MOST_SAMPLED:
            raise InvalidParameter("size", size, f"at most {_MOST_SAMPLED} users on samples")
        return GroupedNoise(self, rate, size, True), GroupedNoise(self, rate, size, False)

    def replaced_excess(self, rate: Fraction, epsilon: Fraction) -> arb | None:
        """delta for replace-one neighbours on a Poisson sample from tails alone, where known."""
        return None

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        rest = self.rest(tail_bits)
        return rest, rest

    def with_shift(self, shift: int) -> IntegerNoise:
        """The same noise against another shift."""
        noise: Any = self
        return cast(IntegerNoise, replace(noise, shift=shift))


@dataclass(frozen=True)
class DiscreteLaplace(IntegerNoise):
    """P(z) proportional to e^(-|z| rate) on the integers, against its shift by `shift` >= 1."""

    rate: Fraction
    shift: int

    @property
    def unit(self) -> Fraction | None:
        return 2 * self.rate

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        fall = (-ball(self.rate)).exp()
        normal = (1 - fall) / (1 + fall)
        end = 1 / (1 + fall)  # of z <= 0 and, by symmetry, of z >= 0
        yield Outcome.at(self.shift * self.rate, end, end * fall**self.shift)
        for z in range(1, self.shift):
            p, q = normal * fall**z, normal * fall ** (self.shift - z)
            yield Outcome.at((self.shift - 2 * z) * self.rate, p, q)
        yield Outcome.at(-self.shift * self.rate, end * fall**self.shift, end)

    def ends(self) -> Ends:
        return Ends(Enclosure.exact(self.shift * self.rate), Enclosure.exact(0))

    def excess(self, epsilon: Fraction) -> arb:
        # the loss at x + shift is rate (2 x + shift) for -shift <= x <= 0, the largest at x = 0
        place = math.floor((epsilon / self.rate - self.shift) / 2)
        if place >= 0:
            return arb(0)
        fall = (-ball(self.rate)).exp()
        at_most, moved = fall**-place, fall ** (place + self.shift + 1)
        return (1 + fall - at_most - ball(epsilon).exp() * moved) / (1 + fall)

    def moved(self, tail_bits: int, *moves: int) -> Iterator[list[arb]]:
        fall = (-ball(self.rate)).exp()
        normal, end = (1 - fall) / (1 + fall), 1 / (1 + fall)
        low, high = min(moves), max(moves)
        yield [end * fall ** (by - low) for by in moves]
        for z in range(low + 1, high):
            yield [normal * fall ** abs(z - by) for by in moves]
        yield [end * fall ** (high - by) for by in moves]

    def rest(self, tail_bits: int) -> arb:
        return arb(0)


@dataclass(frozen=True)
class DiscreteGaussian(IntegerNoise):
    """P(z) proportional to e^(-z^2/(2 sigma2)) on the integers, against its shift."""

    sigma2: Fraction
    shift: int

    @property
    def unit(self) -> Fraction | None:
        return self.shift / self.sigma2

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        masses, shift = self._masses(tail_bits, self.shift), self.shift
        reach = len(masses) - 1 - shift
        # of many values, runs have one ball for their losses, all of one sign
        run, zero = -(-2 * reach // _MOST_RUNS), (shift + 1) // 2
        starts = [*range(shift - reach, zero, run), *range(zero, reach + 1, run)]
        for start, end in pairwise([*starts, reach + 1]):
            if end - start == 1:
                yield Outcome.at(self._loss(start), masses[abs(start)], masses[abs(start - shift)])
            else:
                p = sum((masses[abs(z)] for z in range(start, end)), arb(0))
                q = sum((masses[abs(z - shift)] for z in range(start, end)), arb(0))
                yield Outcome(ball(self._loss(start)).union(ball(self._loss(end - 1))), p, q)

    def _loss(self, z: int) -> Fraction:
        return Fraction(self.shift**2 - 2 * z * self.shift) / (2 * self.sigma2)

    def excess(self, epsilon: Fraction) -> arb:
        return excess(epsilon, self.sigma2, self.shift)

    def curve(self, times: int) -> Curve | None:
        """The sum of many wide noises is one noise, up to a factor near 1."""
        if times == 1:
            return self.excess
        with precision(_BITS):
            if not is_smooth(times, self.sigma2):
                return None
            near = (smoothing(times, self.sigma2) * arb(0, 1)).exp()
        shift, sigma2 = times * self.shift, times * self.sigma2
        return lambda epsilon: near * excess(epsilon, sigma2, shift)

    def log_moment(self, s: Fraction) -> arb:
        # n(z)^(s + 1) n(z - shift)^(-s) is n(z + s shift) e^(s (s + 1) shift^2/(2 sigma2))
        exponent = ball(s * (s + 1) * Fraction(self.shift**2) / (2 * self.sigma2))
        around = _sum_around(s * self.shift, self.sigma2)
        return exponent + (around / sum_all(self.sigma2)).log()

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        centre = float(s) * self.shift
        enough = math.sqrt(centre * (centre + self.shift) + 2 * float(self.sigma2) * bits)
        bits += math.ceil((centre + enough) ** 2 / (2 * float(self.sigma2)))
        reach = ball(self._reach(bits)) - ball(s * self.shift)
        if not reach > 0:
            raise Undecided("the order is too large for a sum")
        rate = 1 / (2 * ball(self.sigma2))
        first = (-rate * reach * reach).exp() / (1 - (-rate * (2 * reach + 1)).exp())
        grown = 2 * first * ball(s * (s + 1) * self.shift**2 / (2 * self.sigma2)).exp()
        # p^(s+1) q^-s is convex in (p, q): mixtures with no shift leave out at most a mean of this
        # and 2^-bits; batches leave out as much again, in the other order
        return grown + arb(2) ** (1 - bits), bits

    def moved(self, tail_bits: int, *moves: int) -> Iterator[list[arb]]:
        low, high = min(moves), max(moves)
        masses = self._masses(tail_bits, high - low)
        reach = len(masses) - 1 - (high - low)
        for z in range(high - reach, low + reach + 1):
            yield [masses[abs(z - by)] for by in moves]

    def rest(self, tail_bits: int) -> arb:
        return _ZERO_TO_ONE * arb(2) ** -tail_bits

    def replaced_excess(self, rate: Fraction, epsilon: Fraction) -> arb | None:
        """With w = e^(z shift/sigma2) and g = e^(-shift^2/(2 sigma2)) the masses at z have the
        ratio (1 - q + q g w)/(1 - q + q g/w), which passes x at the root of a quadratic equation.
        """
        shift, share, grown = self.shift, ball(rate), ball(epsilon).expm1()
        ratio = 1 + grown
        near = share * (-ball(Fraction(shift * shift) / (2 * self.sigma2))).exp()
        none = (1 - share) * grown
        root = (none + (none * none + 4 * ratio * near * near).sqrt()) / (2 * near)
        edge = root.log() * ball(self.sigma2 / shift) if epsilon else arb(0)
        place = floor(edge)
        if not edge < place + 1:
            return _UNKNOWN
        p, q = (
            (1 - share) * above(place, self.sigma2) + share * above(place + move, self.sigma2)
            for move in (-shift, shift)
        )
        return p - ratio * q

    def _reach(self, tail_bits: int) -> int:
        """A distance with P(|z| >= distance) <= 2^-tail_bits."""
        # P(|z| >= r) <= 2 e^(-(r - 1)^2/(2 sigma2)) for r >= 1, as the noise is subgaussian
        return math.isqrt(math.ceil(2 * self.sigma2 * (tail_bits + 1))) + 2

    def _masses(self, tail_bits: int, apart: int) -> list[arb]:
        """The masses at 0, 1, ..., up to where the tails of noises `apart` apart are negligible."""
        reach = self._reach(tail_bits)
        if reach + apart > MOST_NODES // 2:
            raise Undecided(f"the losses of one step have more than {MOST_NODES} values")
        return _masses(self.sigma2, reach + 2 * apart + 1, ctx.prec)


@dataclass(frozen=True)
class _OnSample(ListedLaw):
    """Noise on a Poisson sample, for other neighbours than one user who takes part or not."""

    noise: IntegerNoise
    rate: Fraction
    exact_infinity = Fraction(0)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return self.noise.infinite(tail_bits)


@dataclass(frozen=True)
class ReplacedNoise(_OnSample):
    """Replace-one neighbours on a Poisson sample."""

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate, shift = ball(self.rate), self.noise.shift
        for here, before, after in self.noise.moved(tail_bits, 0, -shift, shift):
            p, q = ((1 - rate) * here + rate * moved for moved in (before, after))
            yield Outcome((p / q).log(), p, q)

    def excess(self, epsilon: Fraction) -> arb:
        replaced = self.noise.replaced_excess(self.rate, epsilon)
        return super().excess(epsilon) if replaced is None else replaced

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        return self.noise.with_shift(2 * self.noise.shift).left_out(s, bits)


@dataclass(frozen=True)
class GroupedNoise(_OnSample):
    """A group of users on a Poisson sample, each of whom moves the query by the shift."""

    size: int
    removed: bool

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        shift, members = self.noise.shift, range(self.size + 1)
        chances = [
            ball(comb(self.size, j) * self.rate**j * (1 - self.rate) ** (self.size - j))
            for j in members
        ]
        for masses in self.noise.moved(tail_bits, *(j * shift for j in members)):
            mixed = sum((c * m for c, m in zip(chances, masses, strict=True)), arb(0))
            outcome = Outcome((mixed / masses[0]).log(), mixed, masses[0])
            yield outcome if self.removed else outcome.reversed()

    def left_out(self, s: Fraction, bits: int) -> tuple[arb, int]:
        if self.removed:  # a mixture leaves out no more than the law of the whole group
            return self.noise.with_shift(self.size * self.noise.shift).left_out(s, bits)
        return bounded_part(-self.size * ball(1 - self.rate).log(), s, bits)


@lru_cache(maxsize=2)
def _masses(sigma2: Fraction, count: int, _bits: int) -> list[arb]:
    """The masses of a discrete Gaussian at 0, 1, ..., count - 1, at the working precision."""
    rate, total = -1 / (2 * ball(sigma2)), sum_all(sigma2)
    return [(rate * (z * z)).exp() / total for z in range(count)]


def _sum_around(centre: Fraction, sigma2: Fraction) -> arb:
    """sum_z e^(-(z + centre)^2/(2 sigma2)), directly or by Poisson's summation formula."""
    place, total, z = centre - round(centre), arb(0), 0
    wide = sigma2 > 1
    rate = 2 * ball(sigma2) * arb.pi() ** 2 if wide else 1 / (2 * ball(sigma2))
    while True:
        if wide:
            term = (2 if z else 1) * (-rate * z * z).exp() * (2 * ball(place * z)).cos_pi()
            bound = 2 * (-rate * z * z).exp()
        else:
            signs = (1, -1) if z else (1,)
            term = sum(((-rate * ball(z + i * place) ** 2).exp() for i in signs), arb(0))
            # |place| <= 1/2
            bound = 2 * (-rate * ball(Fraction(max(2 * z - 1, 0), 2)) ** 2).exp()
        total += term
        if z and bound < arb(2) ** -(_BITS + _SPARE_BITS):
            # each further term is less than half of the one before
            series = total + bound * arb(0, 1)
            return (2 * arb.pi() * ball(sigma2)).sqrt() * series if wide else series
        z += 1
