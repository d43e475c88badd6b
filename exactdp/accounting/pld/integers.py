"""Losses of noise on the integers against its shift: discrete Laplace and discrete Gaussian."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from exactdp.accounting.pld.atoms import Outcome
from exactdp.accounting.pld.measure import MOST_NODES
from exactdp.balls import ball
from exactdp.errors import Undecided
from exactdp.normal_sums import sum_all

__all__ = ["DiscreteGaussianLoss", "DiscreteLaplaceLoss", "IntegerNoise"]


@dataclass(frozen=True)
class DiscreteLaplaceLoss:
    """P(z) proportional to e^(-|z| rate) on the integers, against its shift by `shift` >= 1."""

    rate: Fraction
    shift: int

    @property
    def lattice(self) -> Fraction | None:
        return 2 * self.rate

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        fall = (-ball(self.rate)).exp()
        normal = (1 - fall) / (1 + fall)
        end = 1 / (1 + fall)  # of z <= 0 and, by symmetry, of z >= 0
        yield self.shift * self.rate, end, end * fall**self.shift
        for z in range(1, self.shift):
            mass = normal * fall**z
            yield (self.shift - 2 * z) * self.rate, mass, normal * fall ** (self.shift - z)
        yield -self.shift * self.rate, end * fall**self.shift, end

    def moved(self, tail_bits: int) -> Iterator[tuple[arb, arb, arb]]:
        """Masses of the noise, moved down by the shift, and up; one for either tail."""
        fall, shift = (-ball(self.rate)).exp(), self.shift
        normal, end = (1 - fall) / (1 + fall), 1 / (1 + fall)
        yield end * fall**shift, end, end * fall ** (2 * shift)
        for z in range(1 - shift, shift):
            here, before, after = (normal * fall ** abs(z + by) for by in (0, shift, -shift))
            yield here, before, after
        yield end * fall**shift, end * fall ** (2 * shift), end

    def rest(self, tail_bits: int) -> arb:
        """What `moved` leaves out."""
        return arb(0)


@dataclass(frozen=True)
class DiscreteGaussianLoss:
    """P(z) proportional to e^(-z^2/(2 sigma2)) on the integers, against its shift."""

    sigma2: Fraction
    shift: int

    @property
    def lattice(self) -> Fraction | None:
        return self.shift / self.sigma2

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        masses = self._masses(tail_bits)
        reach = len(masses) - 1 - 2 * self.shift
        for z in range(-reach, reach + self.shift + 1):
            loss = Fraction(self.shift**2 - 2 * z * self.shift) / (2 * self.sigma2)
            yield loss, masses[abs(z)], masses[abs(z - self.shift)]
        rest = self.rest(tail_bits)
        yield math.inf, rest, arb(0)
        yield -math.inf, arb(0), rest

    def moved(self, tail_bits: int) -> Iterator[tuple[arb, arb, arb]]:
        """Masses of the noise, moved down by the shift, and up."""
        masses, shift = self._masses(tail_bits), self.shift
        reach = len(masses) - 1 - shift
        for z in range(-reach, reach + 1):
            yield masses[abs(z)], masses[abs(z + shift)], masses[abs(z - shift)]

    def rest(self, tail_bits: int) -> arb:
        """What `outcomes` and `moved` leave out."""
        return arb(0.5, 0.5) * arb(2) ** -tail_bits

    def reach(self, tail_bits: int) -> int:
        """What `outcomes` leaves out is further from 0, and further from the shift."""
        # P(|z| >= r) <= 2 e^(-(r - 1)^2/(2 sigma2)) for r >= 1, as for the subgaussian it is
        return math.isqrt(math.ceil(2 * self.sigma2 * (tail_bits + 1))) + 2

    def _masses(self, tail_bits: int) -> list[arb]:
        """Those at 0, 1, ...; what lies 2 shifts from their end or further is below `rest`."""
        reach = self.reach(tail_bits)
        if reach + self.shift > MOST_NODES // 2:
            raise Undecided(f"the losses of one step have more than {MOST_NODES} values")
        total = sum_all(self.sigma2)
        return [
            (-ball(Fraction(z * z) / (2 * self.sigma2))).exp() / total
            for z in range(reach + 2 * self.shift + 1)
        ]


#: Both have the same law in either order of the neighbours.
IntegerNoise: TypeAlias = DiscreteLaplaceLoss | DiscreteGaussianLoss
