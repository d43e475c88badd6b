"""Measures on a grid that bound the curve of a bounded loss: densities between marks.

The marks are the ends of the pieces; a mark may have a point mass. As in `densities`, the upper
bound takes chords and the lower bound a convex curve through lowered points. At the least loss that
curve may stay below D. At the largest loss it must end on D: its last chord is the tangent there.

The lower bound needs all marks at nodes. Where the distance of the marks is no multiple of the
step, the sensitivity is reduced until it is one: the curve rises with the sensitivity. Marks that
are at most OFF above their nodes are moved down: a piece continued by OFF changes its density by a
factor that TOLERANCE covers many times, or adds mass that is taken from a point mass. Where the
density is too steep for the lowered curve, every cell becomes one outcome, and these are merged.
The upper bound shares all mass in the cell of a mark as one outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Protocol

import numpy as np
from flint import arb

from exactdp.accounting.pld.grid import outcomes
from exactdp.accounting.pld.grid.cells import TOLERANCE, Cells, Density, Masses, cells
from exactdp.accounting.pld.grid.densities import joined
from exactdp.accounting.pld.grid.lowering import TooCoarse, cost, node_depths
from exactdp.accounting.pld.grid.measure import (
    Bounds,
    Grid,
    Measure,
    added,
    check_nodes,
    on_nodes,
)
from exactdp.accounting.pld.grid.outcomes import Outcome
from exactdp.accounting.pld.grid.scaled import Scaled, floor, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["OFF", "Pieces", "bounds", "places"]

_BITS = 192

#: How far a mark may be above its node: marks are known to 120 binary places, see `laws.laplace`.
OFF = Fraction(1, 1 << 117)

#: A distance from a node that balls of _BITS bits resolve.
_LOWER = Fraction(1, 1 << 100)

#: Largest number of cells that are merged one by one.
_MOST_MERGED = 1 << 17

#: `split` rounds by at most 2^-53, relatively.
_UP = 1 + 2.0**-50


class Pieces(Protocol):
    """A law of losses between two ends: densities between marks, which may have point masses.

    Mark i is at the loss anchor + i unit, or at most OFF above it.
    """

    @property
    def exact(self) -> bool:
        """Whether the marks are exactly at anchor + i unit."""

    @property
    def unit(self) -> Fraction:
        """The distance of the marks."""

    @property
    def anchor(self) -> Fraction:
        """The place of mark 0."""

    def marks(self) -> Sequence[tuple[int, arb]]:
        """The indices of the marks by rising loss, each with its P-mass."""

    def pieces(self) -> Sequence[Density]:
        """The densities between one mark and the next."""

    def with_unit(self, unit: Fraction) -> Pieces:
        """The law of a smaller sensitivity, with marks at this distance; its curve is lower."""


def places(law: Pieces) -> list[arb]:
    """The losses of the marks."""
    off = arb(0) if law.exact else ball(OFF) * arb(0.5, 0.5)
    return [ball(law.anchor + i * law.unit) + off for i, _ in law.marks()]


def bounds(law: Pieces, step: Fraction) -> Bounds:
    """A measure with a curve below that of the law, and one with a curve above it.

    Raises TooCoarse, and Undecided where there are too many nodes.
    """
    count = law.unit // step
    with precision(_BITS):
        nodes = count * (law.marks()[-1][0] - law.marks()[0][0])
        check_nodes(nodes)
        if step < Fraction(1, 1 << 40):
            raise Undecided("the losses of one step need a grid with a step below 2^-40")
        if step > 1 or nodes < 4:
            raise TooCoarse()
        fitted = law if count * step == law.unit else law.with_unit(count * step)
        grid = Grid(fitted.anchor, step)
        try:
            return _below(fitted, grid, count), _above(law, grid)
        except TooCoarse:
            if nodes > _MOST_MERGED:
                raise
        # a node just below the marks, or just below the merged outcome of the least losses
        grids = [Grid(offset - _LOWER, step) for offset in (grid.offset, _least(law, step))]
        low = max((_merged(law, grid) for grid in grids), key=_mean)
        return low, _above(law, low.grid)


def _least(law: Pieces, step: Fraction) -> Fraction:
    """About the loss of the outcome merged from all losses up to a step above the least one."""
    at, (_, mass) = places(law)[0], law.marks()[0]
    (p, q), (p_end, q_end) = (law.pieces()[0].below(end) for end in (at, at + ball(step)))
    merged_loss = ((mass + p_end - p) / (mass * (-at).exp() + q_end - q)).log()
    return Fraction(floor(merged_loss / ball(_LOWER))) * _LOWER


def _mean(measure: Measure) -> float:
    """About the mean of the loss, which merging lowers; used to choose between bounds."""
    masses, grid = measure.masses.at(0), measure.grid
    nodes = float(grid.offset) + float(grid.step) * (measure.first + np.arange(len(masses)))
    return float(np.einsum("i,i", masses, nodes))


def _merged(law: Pieces, grid: Grid) -> Measure:
    """Every cell as one outcome, then merged on nodes: for densities that are steep in a step."""
    ends_of_pieces = places(law)
    listed = [
        Outcome(at, mass, mass * (-at).exp())
        for at, (_, mass) in zip(ends_of_pieces, law.marks(), strict=True)
    ]
    for piece, (low, high) in zip(law.pieces(), pairwise(ends_of_pieces), strict=True):
        first, last = (floor((at - ball(grid.offset)) / ball(grid.step)) for at in (low, high))
        ends = [low, *(grid.at(node) for node in range(first + 1, last + 1)), high]
        for (p, q), (p_next, q_next) in pairwise(piece.below(end) for end in ends):
            mass, other = p_next - p, q_next - q
            if mass > 0 and other > 0:
                listed.append(Outcome((mass / other).log(), mass, other))
    return on_nodes(grid, outcomes.merged(grid, listed), arb(0), up=False)


def _above(law: Pieces, grid: Grid) -> Measure:
    """The chords of the curve, on any grid."""
    at_marks, masses_at = places(law), [mass for _, mass in law.marks()]
    least = [law.anchor + i * law.unit for i, _ in law.marks()]
    nodes = [(at - grid.offset) // grid.step for at in least]
    if any(after - before < 2 for before, after in pairwise(nodes)):
        raise TooCoarse()
    # all mass in the cell of each mark, under P and under Q
    lumps = [(m, m * (-at).exp()) for at, m in zip(at_marks, masses_at, strict=True)]
    made: list[Cells] = []
    for i, piece in enumerate(law.pieces()):
        first, last = nodes[i] + 1, nodes[i + 1]
        lumps[i] = _plus(lumps[i], piece.below(at_marks[i]), piece.below(grid.at(first)))
        end = piece.below(grid.at(last)), piece.below(at_marks[i + 1])
        lumps[i + 1] = _plus(lumps[i + 1], *end)
        made.append(cells(piece, grid, first, last))
    shared = [_shared(grid, node, *lump) for node, lump in zip(nodes, lumps, strict=True)]
    in_order = [cell for both in zip(shared, made, strict=False) for cell in both]
    if ends_on_node := law.exact and grid.offset + nodes[-1] * grid.step == least[-1]:
        whole = reduce(Cells.followed_by, in_order)
    else:
        whole = reduce(Cells.followed_by, [*in_order, shared[-1]])
    masses = joined(whole.left, whole.right)
    if ends_on_node:  # no loss is larger
        masses = added(masses, -1, masses_at[-1].upper(), up=True)
    raised = Scaled(masses.mantissa * (1 + 2 * TOLERANCE), masses.exponent)
    return Measure(grid, whole.first, raised, arb(0))


def _plus(lump: Masses, low: Masses, high: Masses) -> Masses:
    """The masses with those between two losses added."""
    return lump[0] + high[0] - low[0], lump[1] + high[1] - low[1]


def _shared(grid: Grid, index: int, p: arb, q: arb) -> Cells:
    """One cell with these masses under P and Q; its shares are rounded up."""
    fall = (-ball(grid.step)).exp()
    to_left = (q * grid.at(index).exp() - p * fall) / (1 - fall)
    shares = [share.upper().max(arb(2) ** -1000) for share in (to_left, p - to_left)]
    if not all(share.is_finite() for share in shares):
        raise Undecided("a mass of the loss lost all accuracy")
    left, right = (
        Scaled(np.array([number * _UP]), np.array([power])) for number, power in map(split, shares)
    )
    return Cells(index, left, right, Scaled(np.array([np.inf]), np.array([0])), np.array([False]))


def _below(law: Pieces, grid: Grid, count: int) -> Measure:
    """The lowered curve, for marks that are at most OFF above every count-th node."""
    marks = [(i * count, mass) for i, mass in law.marks()]
    ends = zip(law.pieces(), pairwise(node for node, _ in marks), strict=True)
    made = reduce(Cells.followed_by, (cells(piece, grid, *between) for piece, between in ends))
    off = arb(0) if law.exact else 2 * ball(OFF / grid.step)
    if not made.smooth():
        raise TooCoarse()
    masses = joined(made.left, made.right)
    depths = node_depths(made.peak, made.peak, masses.exponent)
    # the tangent at an end of a cell is below the curve by at most (e^h - 1)^2/2 M, four times the
    # distance of a chord from the curve
    tangent = made.peak[-1:].at(depths.exponent[-2])[0]
    depths.mantissa[-2:] = max(float(depths.mantissa[-2]), 4 * float(tangent)), 0.0
    for node, mass in marks:
        if mass > 0:
            masses = added(masses, node - made.first, mass.lower(), up=False)
    least = law.pieces()[0].density(grid.at(made.first))
    if not least * off * ball(grid.step) < marks[0][1] * arb(TOLERANCE) / 4:
        raise Undecided("the point mass at the least loss is too small")
    # left of the least loss the lowered curve stays as far below D as at the least loss
    depths = Scaled(depths.at(masses.exponent), masses.exponent)
    depths = depths[:1].followed_by(depths)
    kept = masses.mantissa * (1 - 2 * TOLERANCE) - cost(depths, grid.step)[1:]
    if not (kept >= 0).all():
        raise TooCoarse()
    return Measure(grid, made.first, Scaled(kept, masses.exponent), arb(0))
