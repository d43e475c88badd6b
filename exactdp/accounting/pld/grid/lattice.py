"""The nodes to which losses are moved: losses at equal distances, or ratios at equal distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.scaled import floor
from exactdp.balls import ball
from exactdp.bisection import least
from exactdp.errors import Undecided

#: Largest number of nodes of one step.
MOST_NODES = 1 << 22

#: Small losses are cut off where their tilted mass is below 2^-_LOW_BITS.
_LOW_BITS = 96

#: Masses under P and under Q.
Masses = tuple[arb, arb]


class Tails(Protocol):
    """The masses of half-lines of losses."""

    def below(self, loss: arb) -> Masses:
        """The masses of losses <= loss."""

    def above(self, loss: arb) -> Masses:
        """The masses of losses > loss."""

    def centre(self) -> arb:
        """A loss in the middle of the law."""
        return arb(0)


@dataclass(frozen=True)
class Outcome:
    """Outputs with one finite loss log P/Q, and their masses under P and under Q.

    exact: the loss if it is rational, else None.
    """

    loss: arb
    p: arb
    q: arb
    exact: Fraction | None = None

    @classmethod
    def at(cls, loss: Fraction, p: arb, q: arb) -> Outcome:
        """Outputs with a rational loss."""
        return cls(ball(loss), p, q, loss)

    def reversed(self) -> Outcome:
        """The same outputs after P and Q change places."""
        return Outcome(-self.loss, self.q, self.p, None if self.exact is None else -self.exact)


class Lattice(Protocol):
    """Nodes of rising loss."""

    @property
    def least(self) -> int | None:
        """The node of loss -infinity, if there is one."""

    @property
    def largest(self) -> int | None:
        """The node of loss infinity, if there is one."""

    def loss(self, node: int) -> arb:
        """The loss at a node."""

    def masses(self, node: int) -> Masses:
        """Masses under P and Q of a node, up to a factor: their ratio is e^loss."""

    def around(self, outcome: Outcome) -> tuple[int, int]:
        """The nodes below and above the loss of an outcome, equal where the loss is at a node."""

    def nodes(self, first: int, last: int) -> Iterable[int]:
        """The ends of cells from first to last."""

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        """The first and the last node: beyond them lies only the mass that is cut off.

        tail_bits, rate: as in `laws.base.LossLaw.bounds`.
        """


@dataclass(frozen=True)
class Grid:
    """The losses offset + i step, i an integer."""

    offset: Fraction
    step: Fraction
    least = largest = None

    def loss(self, node: int | Fraction) -> arb:
        return ball(self.offset) + ball(node) * ball(self.step)

    def masses(self, node: int) -> Masses:
        return self.loss(node).exp(), arb(1)

    def around(self, outcome: Outcome) -> tuple[int, int]:
        if outcome.exact is None:
            return _around((outcome.loss - ball(self.offset)) / ball(self.step))
        place = (outcome.exact - self.offset) / self.step
        return math.floor(place), math.ceil(place)

    def nodes(self, first: int, last: int) -> Iterable[int]:
        check_nodes(last - first)
        return range(first, last + 1)

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        small = arb(2) ** -tail_bits
        middle = floor((law.centre() - ball(self.offset)) / ball(self.step))

        def is_cut_above(node: int) -> bool:
            return bool(law.above(self.loss(node))[0] < small)

        def is_cut_below(node: int) -> bool:
            tilted = law.below(self.loss(node))[0] * (ball(rate) * self.loss(node)).exp()
            return bool(tilted < small.max(arb(2) ** -_LOW_BITS))

        first = middle - _distance(lambda far: is_cut_below(middle - far))
        return first, middle + _distance(lambda far: is_cut_above(middle + far))


@dataclass(frozen=True)
class Ratios:
    """The ratios count e^(i step), i an integer."""

    step: Fraction
    count: int
    least = largest = None

    def loss(self, node: int) -> arb:
        return ball(node * self.step) + arb(self.count).log()

    def masses(self, node: int) -> Masses:
        return self.loss(node).exp(), arb(1)

    def around(self, outcome: Outcome) -> tuple[int, int]:
        return _around((outcome.loss - arb(self.count).log()) / ball(self.step))

    def nodes(self, first: int, last: int) -> Iterable[int]:
        check_nodes(last - first)
        return range(first, last + 1)

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        # small ratios are cut off where their mass is small under Q
        small = arb(2) ** -tail_bits
        middle = floor((law.centre() - arb(self.count).log()) / ball(self.step))
        first = middle - _distance(lambda far: bool(law.below(self.loss(middle - far))[1] < small))
        last = middle + _distance(lambda far: bool(law.above(self.loss(middle + far))[0] < small))
        return first, last


def _around(place: arb) -> tuple[int, int]:
    return floor(place), -floor(-place)


def _distance(is_beyond: Callable[[int], bool]) -> int:
    """The least distance, in nodes, that is beyond."""
    far = 8
    while not is_beyond(far):
        far *= 2
        if far > MOST_NODES:
            raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
    return least(4, far, is_beyond)  # the lower bound needs a few nodes, however narrow the law


def check_nodes(count: int | Fraction) -> None:
    """Raises Undecided for more nodes than a step may have."""
    if count > MOST_NODES:
        raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")


def power_of_two(value: float) -> Fraction:
    if not 0 < value < math.inf:
        raise Undecided("the losses are too small or too large for a grid")
    return Fraction(2) ** math.floor(math.log2(value))


def quarters(value: float) -> Fraction:
    """The largest of 4, 5, 6, 7 times a power of two that is at most the value: few grids."""
    unit = power_of_two(value) / 4
    return unit * math.floor(Fraction(value) / unit)
