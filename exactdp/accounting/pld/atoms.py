"""Laws of the privacy loss with countably many outcomes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from flint import arb

from exactdp.accounting.pld.wide import floor
from exactdp.balls import ball, precision
from exactdp.law import Law

__all__ = [
    "FINE",
    "AtomicLoss",
    "LawLoss",
    "Outcome",
    "ResponseLoss",
    "SampledAtoms",
    "distance_of",
    "loss_ball",
]

_BITS = 128

#: Losses that are not rational are known to so many binary places, when a grid is laid.
FINE = 100

#: A loss log P/Q (exact where it is rational, a float where it is infinite), mass under P, under Q.
Outcome = tuple[Fraction | arb | float, arb, arb]


@runtime_checkable
class AtomicLoss(Hashable, Protocol):
    """The law of a privacy loss without a density."""

    @property
    def lattice(self) -> Fraction | None:
        """A number of which all differences of losses are multiples; None where there is none."""

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        """All outcomes; masses below 2^-tail_bits may go to infinity, as balls that reach 0."""


@dataclass(frozen=True)
class ResponseLoss:
    """Randomised response with a failure: the worst pair that is (epsilon, delta)-DP."""

    epsilon: Fraction
    delta: Fraction

    @property
    def lattice(self) -> Fraction | None:
        return 2 * self.epsilon or None

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        kept, fall = ball(1 - self.delta), (-ball(self.epsilon)).exp()
        likely, unlikely = kept / (1 + fall), kept * fall / (1 + fall)
        yield self.epsilon, likely, unlikely
        yield -self.epsilon, unlikely, likely
        if self.delta:
            yield math.inf, ball(self.delta), arb(0)
            yield -math.inf, arb(0), ball(self.delta)


@dataclass(frozen=True)
class LawLoss:
    """The loss of two exact laws of what a mechanism puts out."""

    p: Law[Any]
    q: Law[Any]

    @property
    def lattice(self) -> Fraction | None:
        return distance_of(self)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        grouped: dict[Fraction, list[Fraction]] = {}
        for outcome in self.p.support | self.q.support:
            a, b = self.p[outcome], self.q[outcome]
            if not a or not b:
                yield (math.inf if a else -math.inf), ball(a), ball(b)
                continue
            masses = grouped.setdefault(a / b, [Fraction(0), Fraction(0)])
            masses[0] += a
            masses[1] += b
        for ratio, (a, b) in grouped.items():
            yield Fraction(0) if ratio == 1 else ball(ratio).log(), ball(a), ball(b)


@dataclass(frozen=True)
class SampledAtoms:
    """The loss on a Poisson sample, as for `laws.SampledLoss`."""

    base: AtomicLoss
    rate: Fraction
    removed: bool

    @property
    def lattice(self) -> Fraction | None:
        return distance_of(self)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        rate = ball(self.rate)
        for loss, p, q in self.base.outcomes(tail_bits):
            mixed = (1 - rate) * q + rate * p
            pair = (mixed, q) if self.removed else (q, mixed)
            if loss == math.inf:
                yield (loss if self.removed else -loss), *pair
                continue
            if isinstance(loss, Fraction) and not loss:
                yield loss, *pair
                continue
            inner = arb(-1) if loss == -math.inf else loss_ball(loss).expm1()
            growth = (1 + rate * inner).log()
            yield (growth if self.removed else -growth), *pair


def loss_ball(loss: Fraction | arb | float) -> arb:
    return ball(loss) if isinstance(loss, Fraction) else arb(loss)


def distance_of(law: AtomicLoss) -> Fraction | None:
    """Of two losses, or of three of which one is 0 between the others: a number just above it."""
    with precision(_BITS):
        losses = [loss_ball(x) for x, _, _ in law.outcomes(1) if not isinstance(x, float)]
        apart = [abs(x) for x in losses if not x.contains(0)]
        if len(losses) == 2:
            distance = abs(losses[0] - losses[1])
        elif len(losses) == 3 and len(apart) == 2 and apart[0].overlaps(apart[1]):
            distance = apart[0].union(apart[1])
        else:
            return None
        return Fraction(floor(distance * 2**FINE) + 2, 2**FINE)
