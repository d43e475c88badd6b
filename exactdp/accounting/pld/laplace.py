"""The loss of continuous Laplace noise, between two laws with atoms that are as close as wished.

With mu = sensitivity/scale the curve is D(e^l) = 1 - e^((l - mu)/2) for |l| <= mu, in both orders:
atoms of mass 1/2 at mu and e^-mu/2 at -mu, and the density e^((l - mu)/2)/4 in between. Cut the
interval between them into cells.

Above: the chords of D. The change of their slope gives e^((l - mu)/2) tanh(h/4) at inner nodes and
1/(1 + e^(-h/2)), e^-mu/(1 + e^(-h/2)) at the ends, h the width of the cells: it is the discrete
Laplace mechanism with as many steps as there are cells.

Below: all losses in one cell become one outcome (post-processing). In [m - h/2, m + h/2] the masses
under P and Q are sinh(h/4) e^((m - mu)/2) and e^-m times that: its loss is m, the middle.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from flint import arb

from exactdp.accounting.pld.atoms import AtomicLoss, DiscreteLaplaceLoss, Outcome
from exactdp.accounting.pld.measure import MOST_NODES
from exactdp.balls import ball
from exactdp.errors import Undecided

__all__ = ["BetweenLoss", "LaplaceLoss", "RoundedLaplace"]


@runtime_checkable
class BetweenLoss(Hashable, Protocol):
    """The law of a privacy loss that is known by laws with atoms on both sides."""

    @property
    def unit(self) -> Fraction:
        """On grids whose step is this over an integer the atoms are at nodes."""

    def between(self, step: Fraction) -> tuple[AtomicLoss, AtomicLoss]:
        """A law whose curve is below, and one whose curve is above, for a grid of this step."""

    def scale(self) -> arb:
        """About the width of the law."""


@dataclass(frozen=True)
class RoundedLaplace:
    """Laplace noise whose losses between -mu and mu are merged, in so many cells."""

    mu: Fraction
    cells: int

    @property
    def lattice(self) -> Fraction | None:
        return self.mu / self.cells

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        half, end = ball(self.mu) / 2, arb(1) / 2
        width = 2 * self.mu / self.cells
        share = (ball(width) / 4).sinh()
        yield self.mu, end, end * (-2 * half).exp()
        for i in range(self.cells):
            middle = self.mu - (i + Fraction(1, 2)) * width
            tilt = ball(middle) / 2
            yield middle, share * (tilt - half).exp(), share * (-tilt - half).exp()
        yield -self.mu, end * (-2 * half).exp(), end


@dataclass(frozen=True)
class LaplaceLoss:
    """The loss between Laplace noise of scale 1/mu and its shift by 1, in both orders."""

    mu: Fraction

    @property
    def unit(self) -> Fraction:
        return self.mu

    def between(self, step: Fraction) -> tuple[AtomicLoss, AtomicLoss]:
        halves = max(1, math.ceil(self.mu / step))
        if 2 * halves > MOST_NODES:
            raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
        # cells of 2 steps below and of 1 step above have their atoms on the same grid
        above = DiscreteLaplaceLoss(self.mu / (2 * halves), 2 * halves)
        return RoundedLaplace(self.mu, halves), above

    def scale(self) -> arb:
        return ball(self.mu)
