"""Losses with countably many outcomes for replace-one neighbours; see `replacement`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting.pld.atoms import Outcome, ResponseLoss, distance_of, loss_ball
from exactdp.accounting.pld.integers import IntegerNoise
from exactdp.balls import ball

__all__ = ["BatchAtoms", "ReplacedAtoms"]


@dataclass(frozen=True)
class ReplacedAtoms:
    """Poisson sampling: a user who adds -shift to the query is replaced by one who adds shift."""

    noise: IntegerNoise
    rate: Fraction

    @property
    def lattice(self) -> Fraction | None:
        return distance_of(self)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate = ball(self.rate)
        for here, before, after in self.noise.moved(tail_bits):
            p, q = ((1 - rate) * here + rate * moved for moved in (before, after))
            yield (p / q).log(), p, q
        rest = self.noise.rest(tail_bits)
        yield math.inf, rest, arb(0)
        yield -math.inf, arb(0), rest


@dataclass(frozen=True)
class BatchAtoms:
    """A batch without replacement, for a loss whose law is the same in both orders.

    What is to be known of the curve at losses below 0 follows from that above 0: the masses under P
    and Q change places. All that is left has loss 0.
    """

    base: IntegerNoise | ResponseLoss
    rate: Fraction

    @property
    def lattice(self) -> Fraction | None:
        return distance_of(self)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate, left = ball(self.rate), arb(1)
        for loss, p, q in self.base.outcomes(tail_bits):
            if not loss > 0:
                continue
            mixed = (1 - rate) * q + rate * p
            left -= mixed + q
            grown: arb | float = math.inf
            if loss != math.inf:
                grown = (rate * loss_ball(loss).expm1()).log1p()
            yield grown, mixed, q
            yield -grown, q, mixed
        yield Fraction(0), left, left
