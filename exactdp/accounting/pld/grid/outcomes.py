"""Measures on a grid that bound the curve of a law with countably many outcomes.

A loss at a node stays there. Upper bound: another loss is shared between both neighbouring nodes
such that its mass under Q is kept. Lower bound: outcomes are merged, from the largest loss down. An
outcome above a node is joined with as much mass from below the node as brings the loss log P/Q of
the merged outcome down to the node, which is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting.pld.grid.measure import Bounds, Grid, on_nodes
from exactdp.accounting.pld.grid.scaled import floor
from exactdp.balls import ball

__all__ = ["FINE", "Outcome", "bounds", "merged"]

#: Number of binary places to which irrational losses are known when a grid is placed.
FINE = 100


@dataclass(frozen=True)
class Outcome:
    """A finite loss log P/Q with its masses under P and under Q.

    exact: the loss where it is rational, else None.
    """

    loss: arb
    p: arb
    q: arb
    exact: Fraction | None = None

    @classmethod
    def at(cls, loss: Fraction, p: arb, q: arb) -> Outcome:
        """An outcome of a rational loss."""
        return cls(ball(loss), p, q, loss)

    def reversed(self) -> Outcome:
        """The outcome of minus the loss when P and Q change places."""
        return Outcome(-self.loss, self.q, self.p, None if self.exact is None else -self.exact)


def bounds(outcomes: Sequence[Outcome], infinity: arb, step: Fraction, *, lattice: bool) -> Bounds:
    """A measure with a curve below that of a law, and one with a curve above it.

    outcomes: all finite losses. infinity: the mass of an infinite loss. lattice: whether all
    differences of losses are multiples of one number.
    """
    grid = Grid(_anchor(outcomes, lattice), step)
    return (
        on_nodes(grid, merged(grid, outcomes), infinity.lower(), up=False),
        on_nodes(grid, _shared(grid, outcomes), infinity.upper(), up=True),
    )


def _shared(grid: Grid, outcomes: Sequence[Outcome]) -> dict[int, arb]:
    """The mass of every outcome at the two nodes beside it."""
    found: dict[int, arb] = {}
    fall = (-ball(grid.step)).exp()
    for outcome in outcomes:
        index, beyond = _place(grid, outcome)
        # in units of e^-node: e^-beyond = a + b e^-h with a + b = 1
        to_right = -(-beyond).expm1() / (1 - fall)
        _add(found, index, outcome.p * (1 - to_right))
        _add(found, index + 1, outcome.p * to_right)
    return found


def merged(grid: Grid, outcomes: Sequence[Outcome]) -> dict[int, arb]:
    """Masses at nodes of outcomes that are merged or moved down.

    Outcomes that may have no mass are left out.
    """
    found: dict[int, arb] = {}
    certain = (x for x in outcomes if x.p > 0 and (x.q > 0 or x.exact is not None))
    left = sorted(certain, key=lambda outcome: outcome.loss.mid())
    while left:
        outcome = left.pop()
        p, q = outcome.p, outcome.q
        node, beyond = _place(grid, outcome)
        if beyond == 0:
            _add(found, node, p)
            continue
        growth = grid.at(node).exp()
        while (spare := (p - growth * q).lower()) >= 0 and left:
            below = left.pop()
            lack = (growth * below.q - below.p).upper()
            share = (spare / lack).lower() if lack > spare else arb(1)
            p, q = p + share * below.p, q + share * below.q
            if share < 1:  # the rest of this outcome stays as one of its own
                rest = 1 - share
                left.append(Outcome(below.loss, rest * below.p, rest * below.q, below.exact))
                break
        if spare < 0:
            node = floor(((p / q).log() - ball(grid.offset)) / ball(grid.step))
        _add(found, node, p)
    return found


def _add(masses: dict[int, arb], node: int, more: arb) -> None:
    masses[node] = masses.get(node, arb(0)) + more


def _anchor(outcomes: Sequence[Outcome], lattice: bool) -> Fraction:
    """The likeliest loss, or a number just below it; on a lattice, the largest loss.

    Distances on a lattice are rounded up, so that counted from the largest loss no loss is below
    its node.
    """
    best = max(outcomes, key=lambda x: x.loss.mid() if lattice else x.p.mid())
    return best.exact if best.exact is not None else Fraction(floor(best.loss * 2**FINE), 2**FINE)


def _place(grid: Grid, outcome: Outcome) -> tuple[int, arb]:
    """The node at or below a loss, and the distance of the loss from that node."""
    if outcome.exact is not None:
        index = math.floor((outcome.exact - grid.offset) / grid.step)
        return index, ball(outcome.exact - grid.offset - index * grid.step)
    index = floor((outcome.loss - ball(grid.offset)) / ball(grid.step))
    return index, outcome.loss - grid.at(index)
