"""Losses with finitely many outcomes: randomised response with a failure, and two exact laws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from flint import arb

from exactdp.accounting.certify.hints import log
from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.base import Family, LossLaw
from exactdp.accounting.pld.losses.listed import BatchListed, ListedLaw
from exactdp.balls import ball, precision
from exactdp.law import Law

#: Probabilities under P and under Q.
Masses: TypeAlias = tuple[Fraction, Fraction]

#: (x, p, q): from x on, a curve is the line p - x q.
_Line: TypeAlias = tuple[Fraction, Fraction, Fraction]

_NOTHING: Masses = Fraction(0), Fraction(0)

_BITS = 128

#: Most outcomes of a pair whose runs are bounded together: time grows as this number.
_FEW = 64


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
        if not self.epsilon:
            yield Outcome.at(self.epsilon, kept, kept)
            return
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
        for ratio, (p, q) in self.masses().items():
            if ratio:
                exact = Fraction(0) if ratio == 1 else None
                yield Outcome(ball(ratio).log(), ball(p), ball(q), exact)

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        return ball(self.exact_infinity), ball(self.turned().exact_infinity)

    @property
    def exact_infinity(self) -> Fraction:
        return self.masses().get(None, _NOTHING)[0]

    def in_either_order(self) -> LossLaw:
        return EitherOrder(self)

    def turned(self) -> FiniteLaws:
        """The loss in the opposite order."""
        return FiniteLaws(self.q, self.p)

    def is_alike(self) -> bool:
        """Whether the loss has the same law in both orders."""
        return self.masses() == self.turned().masses()

    def masses(self) -> dict[Fraction | None, Masses]:
        """The masses under p and q of all outcomes with one ratio p/q; the key None: q is 0."""
        return _masses(self)


@lru_cache(maxsize=32)
def _masses(law: FiniteLaws) -> dict[Fraction | None, Masses]:
    masses: dict[Fraction | None, Masses] = {}
    for outcome in law.p.support | law.q.support:
        p, q = law.p[outcome], law.q[outcome]
        ratio = p / q if q else None
        before = masses.get(ratio, _NOTHING)
        masses[ratio] = before[0] + p, before[1] + q
    return masses


@dataclass(frozen=True)
class EitherOrder(ListedLaw):
    """The loss of a pair whose curve is the larger one of both orders of a pair of exact laws.

    With x = e^epsilon, let D(x) be the larger delta. D is linear between the ratios of both orders
    and the points where both curves cross, and it is convex. So an outcome of the ratio x has the
    mass x times the change of the slope of D at x under P, and the change itself under Q. From
    D(x) = 1 - x + x D(1/x), the outcomes with ratios below 1 mirror those above 1, and the mass of
    ratio 1 is 1 - D(1) + 2 D'(1+).
    """

    pair: FiniteLaws
    symmetric = True

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        lines = _larger(self.pair)
        _, p, q = lines[0]
        if p + q < 1:  # D(1) = p - q, and the slope after 1 is -q
            yield Outcome.at(Fraction(0), ball(1 - p - q), ball(1 - p - q))
        for (_, _, before), (ratio, _, after) in pairwise(lines):
            kink = before - after
            if kink:
                outcome = Outcome(ball(ratio).log(), ball(ratio * kink), ball(kink))
                yield outcome
                yield outcome.reversed()

    def infinite(self, tail_bits: int) -> tuple[arb, arb]:
        beyond = ball(self.exact_infinity)
        return beyond, beyond

    @property
    def exact_infinity(self) -> Fraction:
        return _larger(self.pair)[-1][1]

    @property
    def family(self) -> Family | None:
        both = BothOrders(self.pair)
        return both if any(both.losses) and len(both.losses) <= _FEW else None


@lru_cache(maxsize=32)
def _larger(pair: FiniteLaws) -> list[_Line]:
    """The larger curve for x >= 1: from each of these (x, p, q) on it is the line p - x q."""
    laws = pair.masses(), pair.turned().masses()
    ratios = {ratio for law in laws for ratio in law if ratio and ratio > 1}
    places = sorted({Fraction(1), *ratios})
    one, other = (_lines(law, places) for law in laws)
    lines: list[_Line] = []
    for x, end, *both in zip(places, [*places[1:], None], one, other, strict=True):
        # of two lines that meet at x, the one that falls less is the larger one from there on
        (p, q), (a, b) = sorted(both, key=lambda line: (x * line[1] - line[0], line[1]))
        lines.append((x, p, q))
        if end is not None and q != b and x < (p - a) / (q - b) < end:
            lines.append(((p - a) / (q - b), a, b))
    return lines


def _lines(law: Mapping[Fraction | None, Masses], places: Sequence[Fraction]) -> list[Masses]:
    """The sums of the masses whose ratio is above each of these rising places."""
    rising = sorted((ratio, masses) for ratio, masses in law.items() if ratio is not None)
    p, q = law.get(None, _NOTHING)
    sums: list[Masses] = []
    for place in reversed(places):
        while rising and rising[-1][0] > place:
            _, (a, b) = rising.pop()
            p, q = p + a, q + b
        sums.append((p, q))
    return sums[::-1]


@dataclass(frozen=True)
class BothOrders:
    """Both orders of a pair, as two pairs among which each run may choose by the answers so far."""

    pair: FiniteLaws

    def deltas(self, losses: Sequence[Fraction]) -> list[list[arb]]:
        with precision(_BITS):
            return [[law.excess(x) for x in losses] for law in (self.pair, self.pair.turned())]

    def reversed(self, number: int) -> int:
        return 1 - number

    def spread(self) -> float:
        squares = (
            sum(float(p) * log(ratio) ** 2 for ratio, (p, _) in law.masses().items() if ratio)
            for law in (self.pair, self.pair.turned())
        )
        return math.sqrt(max(squares))

    def reach(self, bits: int) -> float:
        return max(self.losses)

    @property
    def losses(self) -> list[float]:
        return [abs(log(ratio)) for ratio in self.pair.masses() if ratio]
