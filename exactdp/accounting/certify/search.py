"""Certified maximum over integers by best-first branch and bound; nothing is assumed unimodal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from flint import arb, ctx

#: Evaluations spent at one precision before asking for more of it.
_BUDGET_PER_BIT = 64


class Family(Protocol):
    """Terms 0 <= f(j) <= 2 for the integers first <= j <= last (an empty range is allowed)."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...

    def value(self, j: int) -> arb:
        """A ball around f(j)."""

    def bound(self, a: int, b: int) -> arb:
        """A ball whose upper end is >= f(j) for every a <= j <= b."""

    def slope(self, a: int, b: int) -> arb:
        """A ball around f'(x) for every real x in [a, b]; f is differentiable there."""


#: An upper bound on every term: at most a sum of two probabilities.
_ANYTHING = arb(2)


@dataclass(frozen=True)
class Maximum:
    """A ball around the largest term, and how many evaluations it took."""

    value: arb
    evaluations: int


@dataclass(frozen=True)
class _Block:
    family: Family
    a: int
    b: int
    sloped: bool = False  # the slope over this block has been used already


class _Search:
    def __init__(self, tolerance: arb) -> None:
        self.slack = 1 + tolerance
        self.heap: list[tuple[arb, int, _Block]] = []
        self.ticket = count()
        self.lower = arb(0)
        self.evaluations = 0
        self.blurred = False  # a value that matters is too wide at this precision

    def push(self, block: _Block, upper: arb) -> None:
        heappush(self.heap, (-upper, next(self.ticket), block))

    def point(self, family: Family, j: int) -> arb:
        self.evaluations += 1
        value = family.value(j)
        if not value.is_finite():
            self.blurred = True
            return _ANYTHING
        low, high = value.lower(), value.upper()
        self.lower = self.lower.max(low)
        if high > self.lower * self.slack and high > low * self.slack:
            self.blurred = True
        return high

    def block(self, family: Family, a: int, b: int) -> None:
        if a == b:
            self.push(_Block(family, a, a), self.point(family, a))
            return
        self.evaluations += 1
        bound = family.bound(a, b)
        self.blurred |= not bound.is_finite()
        high = bound.upper() if bound.is_finite() else _ANYTHING
        if high > self.lower:
            self.point(family, (a + b) // 2)
        self.push(_Block(family, a, b), high)

    def refine(self, block: _Block, upper: arb) -> None:
        family, a, b = block.family, block.a, block.b
        if not block.sloped and b - a <= max(a, 1):
            slope = family.slope(a, b)
            self.evaluations += 1
            if slope > 0 or slope < 0:
                j = b if slope > 0 else a
                self.push(_Block(family, j, j), self.point(family, j))
                return
            if slope.is_finite():
                middle = (a + b) // 2
                rise = family.value(middle) + abs(slope) * max(middle - a, b - middle)
                if rise.upper() * 2 < upper + self.lower:
                    self.push(_Block(family, a, b, sloped=True), rise.upper())
                    return
        middle = (a + b) // 2
        self.block(family, a, middle)
        self.block(family, middle + 1, b)


def certified_maximum(families: Sequence[Family], tolerance: arb, floor: arb) -> Maximum:
    """The maximum of non-negative terms over all families, in a ball around it.

    tolerance: relative width to stop at; floor: a value below which width no longer matters.
    The ball always contains the maximum; it is wider than asked when the working precision does
    not suffice, and the caller then repeats with more.

    Each block of integers carries an upper bound, the largest is split first, and a block on which
    the derivative has one sign shrinks to its better end. The maximum lies between the best value
    seen and the largest bound left.
    """
    search = _Search(tolerance)
    families = [family for family in families if family.first <= family.last]
    for family in families:  # a good value early prunes more
        search.point(family, family.first)
        search.point(family, family.last)
    for family in families:
        search.block(family, family.first, family.last)
    budget = _BUDGET_PER_BIT * ctx.prec
    upper = arb(0)
    while search.heap:
        negative, _, block = search.heap[0]
        upper = -negative
        settled = block.a == block.b or upper <= search.lower * search.slack or upper < floor
        if settled or search.blurred or search.evaluations > budget:
            break
        heappop(search.heap)
        search.refine(block, upper)
    return Maximum(search.lower.union(upper), search.evaluations)
