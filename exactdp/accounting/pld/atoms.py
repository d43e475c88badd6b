"""Laws of the privacy loss with countably many outcomes, and their measures on a grid."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from flint import arb

from exactdp.accounting.pld.cells import Grid
from exactdp.accounting.pld.measure import MOST_NODES, Measure
from exactdp.accounting.pld.wide import Wide, floor, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.law import Law

__all__ = [
    "FINE",
    "AtomicLoss",
    "DiscreteGaussianLoss",
    "DiscreteLaplaceLoss",
    "LawLoss",
    "ResponseLoss",
    "SampledAtoms",
    "atomic_bounds",
    "distance_of",
    "loss_ball",
]

_BITS = 128

#: Losses that are not rational are known to so many binary places, when a grid is laid.
FINE = 100

#: Masses below 2^-this are not written down.
_FARTHEST = 1 << 60

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
        kept, growth = ball(1 - self.delta), ball(self.epsilon).exp()
        likely, unlikely = kept * growth / (1 + growth), kept / (1 + growth)
        yield self.epsilon, likely, unlikely
        yield -self.epsilon, unlikely, likely
        if self.delta:
            yield math.inf, ball(self.delta), arb(0)
            yield -math.inf, arb(0), ball(self.delta)


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

    def _masses(self, tail_bits: int) -> list[arb]:
        """Those at 0, 1, ...; what lies 2 shifts from their end or further is below `rest`."""
        # P(|z| >= r) <= 2 e^(-(r - 1)^2/(2 sigma2)) for r >= 1, as for the subgaussian it is
        reach = math.isqrt(math.ceil(2 * self.sigma2 * (tail_bits + 1))) + 2
        if reach + self.shift > MOST_NODES // 2:
            raise Undecided(f"the losses of one step have more than {MOST_NODES} values")
        total = _theta(self.sigma2)
        return [
            (-ball(Fraction(z * z) / (2 * self.sigma2))).exp() / total
            for z in range(reach + 2 * self.shift + 1)
        ]


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
            inner = arb(-1) if loss == -math.inf else loss_ball(loss).expm1()
            growth = (1 + rate * inner).log()
            yield (growth if self.removed else -growth), *pair


def loss_ball(loss: Fraction | arb | float) -> arb:
    return ball(loss) if isinstance(loss, Fraction) else arb(loss)


def atomic_bounds(law: AtomicLoss, step: Fraction, tail_bits: int) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one above it.

    Losses at nodes stay where they are. Others go down to the next node below; above, they are
    shared between both neighbours so that their mass under Q does not change.
    """
    listed = list(law.outcomes(tail_bits))
    finite = [(loss, p) for loss, p, _ in listed if not isinstance(loss, float)]
    infinite = sum((p for loss, p, _ in listed if loss == math.inf), arb(0))
    grid = Grid(_anchor([loss for loss, _ in finite]), step)
    below: dict[int, arb] = {}
    above: dict[int, arb] = {}
    fall = (-ball(step)).exp()
    for loss, p in finite:
        index, beyond = _place(grid, loss)
        below[index] = below.get(index, arb(0)) + p
        # e^-loss = a + b e^-h in units of the node below, a + b = 1
        to_right = -(-beyond).expm1() / (1 - fall)
        above[index] = above.get(index, arb(0)) + p * (1 - to_right)
        above[index + 1] = above.get(index + 1, arb(0)) + p * to_right
    return (
        _gathered(grid, below, infinite.lower(), up=False),
        _gathered(grid, above, infinite.upper(), up=True),
    )


def _anchor(losses: list[Fraction | arb]) -> Fraction:
    """The largest loss, or a number just below it."""
    top = max(losses, key=lambda loss: loss_ball(loss).mid())
    return top if isinstance(top, Fraction) else Fraction(floor(top * 2**FINE), 2**FINE)


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


def _place(grid: Grid, loss: Fraction | arb) -> tuple[int, arb]:
    """The node at or below a loss, and how far below."""
    if isinstance(loss, Fraction):
        index = math.floor((loss - grid.offset) / grid.step)
        return index, ball(loss - grid.offset - index * grid.step)
    index = floor((loss - ball(grid.offset)) / ball(grid.step))
    return index, loss - grid.at(index)


def _gathered(grid: Grid, masses: dict[int, arb], infinity: arb, *, up: bool) -> Measure:
    ends = {index: mass.upper() if up else mass.lower() for index, mass in masses.items()}
    if not all(end.is_finite() for end in ends.values()):
        raise Undecided("a mass of the loss lost all accuracy")
    ends = {index: end for index, end in ends.items() if end > 0}
    first, last = min(ends), max(ends)
    if last - first > MOST_NODES:
        raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
    mantissa = np.zeros(last - first + 1)
    exponent = np.zeros(last - first + 1, dtype=np.int64)
    for index, end in ends.items():
        number, power = split(end)
        if abs(power) > _FARTHEST:
            raise Undecided("a mass of the loss is too small to be written down")
        mantissa[index - first] = number * (1 + 2.0**-51 if up else 1 - 2.0**-51)
        exponent[index - first] = power
    return Measure(grid, first, Wide(mantissa, exponent), infinity.max(arb(0)))


def _theta(sigma2: Fraction) -> arb:
    """sum over all integers of e^(-z^2/(2 sigma2)), by either of two equal sums (Poisson)."""
    flat = 2 * ball(sigma2) * arb.pi() ** 2
    if sigma2 > 1:
        ratio = -flat
        scale = (2 * arb.pi() * ball(sigma2)).sqrt()
    else:
        ratio, scale = -1 / (2 * ball(sigma2)), arb(1)
    total, z = arb(1), 1
    while True:
        term = 2 * (ratio * z * z).exp()
        total += term
        if term < arb(2) ** -200:
            # each further term is less than half of the one before
            return scale * (total + term * arb(1, 1))
        z += 1
