"""Losses with finitely many outcomes: randomised response with a failure, and two exact laws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.laws.base import LossLaw
from exactdp.accounting.pld.laws.listed import BatchListed, ListedLaw
from exactdp.balls import ball
from exactdp.law import Law


@dataclass(frozen=True)
class Response(ListedLaw):
    """Randomised response with a failure: the worst pair that is (epsilon, delta)-DP."""

    epsilon: Fraction
    delta: Fraction
    symmetric = True

    @property
    def unit(self) -> Fraction | None:
        return 2 * self.epsilon or None

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        kept, fall = ball(1 - self.delta), (-ball(self.epsilon)).exp()
        likely, unlikely = kept / (1 + fall), kept * fall / (1 + fall)
        yield Outcome.at(self.epsilon, likely, unlikely)
        yield Outcome.at(-self.epsilon, unlikely, likely)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return ball(self.delta), ball(self.delta)

    @property
    def exact_infinity(self) -> Fraction:
        return self.delta

    def batched(self, rate: Fraction) -> LossLaw:
        return BatchListed(self, rate)


@dataclass(frozen=True)
class FiniteLaws(ListedLaw):
    """The loss between two exact laws of the output of a mechanism."""

    p: Law[Any]
    q: Law[Any]

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        grouped: dict[Fraction, list[Fraction]] = {}
        for outcome in self.p.support & self.q.support:
            a, b = self.p[outcome], self.q[outcome]
            masses = grouped.setdefault(a / b, [Fraction(0), Fraction(0)])
            masses[0] += a
            masses[1] += b
        for ratio, (a, b) in grouped.items():
            exact = Fraction(0) if ratio == 1 else None
            yield Outcome(ball(ratio).log(), ball(a), ball(b), exact)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return ball(_outside(self.p, self.q)), ball(_outside(self.q, self.p))

    @property
    def exact_infinity(self) -> Fraction:
        return _outside(self.p, self.q)


def _outside(law: Law[Any], other: Law[Any]) -> Fraction:
    """The probability of what the other law rules out."""
    return sum((law[x] for x in law.support - other.support), Fraction(0))
