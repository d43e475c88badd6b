"""Measures on a grid for a loss with countably many outcomes.

Losses at nodes stay where they are. Above, others are shared between both neighbours so that their
mass under Q does not change. Below, outcomes are merged, the largest losses first: as much of those
below a node joins those above it as brings their loss log P/Q down to the node (post-processing).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from exactdp.accounting.pld.atoms import FINE, AtomicLoss, loss_ball
from exactdp.accounting.pld.cells import Grid
from exactdp.accounting.pld.measure import MOST_NODES, Measure
from exactdp.accounting.pld.wide import Wide, floor, split
from exactdp.balls import ball
from exactdp.errors import Undecided

__all__ = ["Finite", "atomic_bounds", "gathered", "merged"]

#: Masses below 2^-this are rounded to that or to 0.
_FARTHEST = 1 << 60

#: A finite loss, mass under P, under Q.
Finite = tuple[Fraction | arb, arb, arb]


def atomic_bounds(law: AtomicLoss, step: Fraction, tail_bits: int) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one above it."""
    listed = list(law.outcomes(tail_bits))
    finite = [(loss, p, q) for loss, p, q in listed if not isinstance(loss, float)]
    infinite = sum((p for loss, p, _ in listed if loss == math.inf), arb(0))
    grid = Grid(_anchor(law, finite), step)
    return (
        gathered(grid, merged(grid, finite), infinite.lower(), up=False),
        gathered(grid, _shared(grid, finite), infinite.upper(), up=True),
    )


def _shared(grid: Grid, outcomes: Sequence[Finite]) -> dict[int, arb]:
    """Every outcome's mass at the two nodes beside it."""
    found: dict[int, arb] = {}
    fall = (-ball(grid.step)).exp()
    for loss, p, _ in outcomes:
        index, beyond = _place(grid, loss)
        # e^-loss = a + b e^-h in units of the node below, a + b = 1
        to_right = -(-beyond).expm1() / (1 - fall)
        _add(found, index, p * (1 - to_right))
        _add(found, index + 1, p * to_right)
    return found


def merged(grid: Grid, outcomes: Sequence[Finite]) -> dict[int, arb]:
    """Masses at nodes of outcomes that are merged, or moved down; of what may be none, none."""
    found: dict[int, arb] = {}
    certain = (x for x in outcomes if x[1] > 0 and (x[2] > 0 or isinstance(x[0], Fraction)))
    left = sorted(certain, key=lambda outcome: loss_ball(outcome[0]).mid())
    while left:
        loss, p, q = left.pop()
        node, beyond = _place(grid, loss)
        if beyond == 0:
            _add(found, node, p)
            continue
        growth = grid.at(node).exp()
        while (spare := (p - growth * q).lower()) >= 0 and left:
            below, more_p, more_q = left.pop()
            lack = (growth * more_q - more_p).upper()
            share = (spare / lack).lower() if lack > spare else arb(1)
            p, q = p + share * more_p, q + share * more_q
            if share < 1:  # the rest of it is another outcome
                left.append((below, (1 - share) * more_p, (1 - share) * more_q))
                break
        _add(found, node if spare >= 0 else _place(grid, (p / q).log())[0], p)
    return found


def _add(masses: dict[int, arb], node: int, more: arb) -> None:
    masses[node] = masses.get(node, arb(0)) + more


def _anchor(law: AtomicLoss, outcomes: Sequence[Finite]) -> Fraction:
    """The likeliest loss, or a number just below it; on a lattice, the largest.

    Distances on a lattice are rounded up, so that counted from the largest none is below its node.
    """
    latticed = law.lattice is not None

    def rank(outcome: Finite) -> arb:
        return loss_ball(outcome[0]).mid() if latticed else outcome[1].mid()

    loss, _, _ = max(outcomes, key=rank)
    return loss if isinstance(loss, Fraction) else Fraction(floor(loss * 2**FINE), 2**FINE)


def _place(grid: Grid, loss: Fraction | arb) -> tuple[int, arb]:
    """The node at or below a loss, and how far below."""
    if isinstance(loss, Fraction):
        index = math.floor((loss - grid.offset) / grid.step)
        return index, ball(loss - grid.offset - index * grid.step)
    index = floor((loss - ball(grid.offset)) / ball(grid.step))
    return index, loss - grid.at(index)


def gathered(grid: Grid, masses: dict[int, arb], infinity: arb, *, up: bool) -> Measure:
    """The measure with these masses, rounded to one side."""
    ends = {index: mass.upper() if up else mass.lower() for index, mass in masses.items()}
    if not all(end.is_finite() for end in ends.values()):
        raise Undecided("a mass of the loss lost all accuracy")
    ends = {index: end for index, end in ends.items() if end > 0}
    if not ends:
        raise Undecided("all finite losses are too unlikely to be told from none")
    first, last = min(ends), max(ends)
    if last - first > MOST_NODES:
        raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
    mantissa = np.zeros(last - first + 1)
    exponent = np.zeros(last - first + 1, dtype=np.int64)
    for index, end in ends.items():
        number, power = split(end)
        if power < -_FARTHEST:
            number, power = float(up), -_FARTHEST
        mantissa[index - first] = number * (1 + 2.0**-51 if up else 1 - 2.0**-51)
        exponent[index - first] = power
    return Measure(grid, first, Wide(mantissa, exponent), infinity.max(arb(0)))
