"""A question about the losses of a composition, and its answer over several orders.

A question is answered for one order of the neighbours at a time: from a closed curve, or from
compositions on grids (`search.refined`), which are made finer until the answer is narrow enough.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from flint import arb

from exactdp.accounting.pld.losses.base import Order
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided

#: The width of an answer that is this many times too wide does not say which grid is fine enough.
HOPELESS = 10**6


#: The line a - b x, with x = e^epsilon: a, and b.
Line: TypeAlias = tuple[arb, arb]


class Bounded(Protocol):
    """Bounds of delta at any epsilon."""

    @property
    def infinite_low(self) -> arb:
        """A lower bound of the mass at infinity."""

    def below(self, epsilon: arb) -> arb:
        """A lower bound of delta(epsilon)."""

    def above(self, epsilon: arb) -> arb:
        """An upper bound of delta(epsilon)."""

    def line(self, epsilon: arb) -> Line:
        """A line that is nowhere above the convex curve delta(log x), and near it at epsilon.

        Of a pair (P, Q) the probabilities (P(S), Q(S)) of every event S are a line.
        """


@dataclass(frozen=True)
class Reading:
    """What a curve answers. place: the loss >= 0 at which the answer depends on delta."""

    curve: Bounded
    answer: Enclosure
    place: Fraction


class GridQuestion(ABC):
    """What a search for a fine enough grid asks."""

    @abstractmethod
    def read(self, curve: Bounded) -> Reading:
        """The answer from bounds of delta."""

    @abstractmethod
    def excess(self, answer: Enclosure) -> float:
        """How many times too wide an answer is; at most 1 if it is narrow enough."""


class Question(ABC):
    """A number asked of the curve of each order of the neighbours; the answer is the largest."""

    @abstractmethod
    def guess(self, order: Order) -> float:
        """A number that rises with the answer; nothing is certified. Raises Undecided."""

    @abstractmethod
    def answer(self, order: Order) -> Enclosure:
        """The answer for one order."""

    @abstractmethod
    def may_exceed(self, order: Order, answer: Enclosure) -> bool:
        """Whether an order may have a larger answer than this one, by a quick look."""

    def largest(self, orders: Sequence[Order]) -> Enclosure:
        """The largest answer over all orders."""
        # begin with the order that seems to leak most
        worst, *others = sorted(orders, key=self.guess, reverse=True)
        answer = self.answer(worst)
        for order in others:
            if self.may_exceed(order, answer):
                answer = _larger(answer, self.answer(order))
        return answer

    def largest_decided(self, orders: Sequence[Order], *, most: int | None = None) -> Enclosure:
        """The largest answer over the orders that are decided; most: try this many orders."""
        answer = None
        for order in sorted(orders, key=self._guess_or_least, reverse=True)[:most]:
            with suppress(Undecided):
                if answer is None:
                    answer = self.answer(order)
                elif self.may_exceed(order, answer):
                    answer = _larger(answer, self.answer(order))
        return Enclosure.exact(0) if answer is None else answer

    def _guess_or_least(self, order: Order) -> float:
        try:
            return self.guess(order)
        except Undecided:
            return -math.inf


def _larger(one: Enclosure, other: Enclosure) -> Enclosure:
    """The larger one of two numbers."""
    return Enclosure(max(one.lower, other.lower), max(one.upper, other.upper))


def times_too_wide(width: Fraction, wanted: Fraction) -> float:
    """width/wanted, up to HOPELESS."""
    return float(width / wanted) if width < HOPELESS * wanted else float(HOPELESS)
