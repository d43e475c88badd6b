"""Measures on a grid that bound the curve of a law with a density on the line.

The curve of a pair, D(x) = sup_S P(S) - x Q(S) with x = e^loss, is convex. A measure on the grid
has a piecewise linear curve with kinks at the nodes, mass = x * (change of slope). Composition is
monotone in the curve, for measures of any total mass.

Upper bound: the chords of D, that is, the two shares of every cell; losses beyond the grid move up,
to the first node or to infinity. Lower bound: a convex curve through the points D(x_i) - e_i (see
`lowering`). At both ends all losses beyond the grid are merged into one outcome, which is
post-processing; its loss log P/Q is moved down to a node.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.cells import TOLERANCE, Cells, Density, cells
from exactdp.accounting.pld.grid.lattice import Grid
from exactdp.accounting.pld.grid.lowering import convex, cost, lowered, node_depths
from exactdp.accounting.pld.grid.measure import Bounds, Measure, added
from exactdp.accounting.pld.grid.scaled import Scaled
from exactdp.arrays import Integers, np
from exactdp.balls import ball, precision
from exactdp.bisection import halved
from exactdp.errors import TooCoarse

_BITS = 128

_DOUBLINGS = 40


class Line(Density, Protocol):
    """A law with a density on the whole line, which may change its formula at loss 0."""

    def scale(self) -> arb:
        """About the width of the law."""

    def halves(self) -> tuple[Density, ...]:
        """The law itself, or the laws of the losses below 0 and above 0."""
        return (self,)

    def mass_at_zero(self) -> arb:
        """The mass of loss 0."""
        return arb(0)


def bounds(law: Line, step: Fraction, tail_bits: int, rate: Fraction = Fraction(0)) -> Bounds:
    """Two measures, one with a curve below the curve of the law and one above.

    step: distance of the nodes. tail_bits: large losses are cut off beyond a mass of 2^-tail_bits.
    rate: a lower bound of the exponent by which the measures will be tilted; small losses are cut
    off where their tilted mass is negligible.
    Raises TooCoarse, and Undecided for more than MOST_NODES.
    """
    with precision(_BITS):
        grid, anchor = _anchored(law, step)
        first, last = grid.span(law, tail_bits, rate)
        halves = law.halves()
        ends = [first, *[0] * (len(halves) - 1), last]
        all_cells = reduce(
            Cells.followed_by,
            (cells(half, grid, *here) for half, here in zip(halves, pairwise(ends), strict=True)),
        )
        low_end = anchor if law.steep < 0 and anchor is not None else first
        high_end = anchor if law.steep > 0 and anchor is not None else last
        return (
            _below(law, grid, all_cells, max(low_end, first), min(high_end, last)),
            _above(law, grid, all_cells, last),
        )


def _with_zero(law: Line, masses: Scaled, first: int, *, up: bool) -> Scaled:
    """The masses, with the mass of loss 0 where the law has any."""
    mass = law.mass_at_zero()
    return added(masses, -first, mass.upper() if up else mass.lower(), up=up)


def _above(law: Line, grid: Grid, all_cells: Cells, last: int) -> Measure:
    """The chords of the curve: the shares of every cell, rounded up."""
    masses = _with_zero(law, _joined(all_cells.left, all_cells.right), all_cells.first, up=True)
    under, _ = law.below(grid.loss(all_cells.first))
    beyond, _ = law.above(grid.loss(last))
    masses = added(masses, 0, under.upper(), up=True)
    # shares are within TOLERANCE, and are rounded a few times more
    raised = Scaled(masses.mantissa * (1 + 2 * TOLERANCE), masses.exponent)
    return Measure(grid, all_cells.first, raised, beyond.upper())


def _below(law: Line, grid: Grid, all_cells: Cells, low: int, high: int) -> Measure:
    """The convex curve from node low to node high, with a merged outcome at each end."""
    if high - low < 3:
        raise TooCoarse()
    kept_cells = slice(low - all_cells.first, high - all_cells.first)
    counted = all_cells.known[kept_cells].copy()
    counted[0] = counted[-1] = False  # the first and the last cell belong to the merged outcomes
    left, right, peak = (
        Scaled(np.where(counted, w.mantissa[kept_cells], 0.0), w.exponent[kept_cells])
        for w in (all_cells.left, all_cells.right, all_cells.peak)
    )
    masses = _with_zero(law, _joined(left, right), low, up=False)
    masses = added(masses, 0, _merged_below(law, grid, low), up=False)
    over, reaches_high = _merged_above(law, grid, high)
    masses = added(masses, -1 if reaches_high else -2, over, up=False)
    first, last = lowered(left, right, peak, grid.step)
    exponent = _largest_nearby(masses.exponent)
    depths = node_depths(first, last, exponent)
    kept = masses.at(exponent) * (1 - 2 * TOLERANCE) - cost(depths, grid.step)
    return Measure(grid, low, convex(Scaled(kept, exponent), grid.step), arb(0))


def _largest_nearby(exponent: Integers) -> Integers:
    """At every node the largest exponent among the node and two neighbours on either side."""
    first, last, count = exponent[:1], exponent[-1:], len(exponent)
    padded = np.concatenate([first, first, exponent, last, last])
    return reduce(np.maximum, [padded[i : i + count] for i in range(5)])


def _merged_below(law: Density, grid: Grid, low: int) -> arb:
    """Mass at node low of the outcome merged from losses below the next node."""
    p, q = law.below(grid.loss(low + 1))
    if p > 0 and q > 0 and (p / q).log() >= grid.loss(low):
        return p.lower()
    less, _ = law.below(grid.loss(low))
    return (p - less).lower()  # losses below node low are left out


def _merged_above(law: Density, grid: Grid, high: int) -> tuple[arb, bool]:
    """The mass of losses above the node before high; whether their merged loss reaches high."""
    p, q = law.above(grid.loss(high - 1))
    reaches = p > 0 and (q.upper() <= 0 or (q > 0 and (p / q).log() >= grid.loss(high)))
    return p.lower(), bool(reaches)


def _joined(left: Scaled, right: Scaled) -> Scaled:
    """At every node, the left share of the cell after it and the right share of the one before."""
    exponent = np.concatenate([left.exponent[:1], right.exponent])
    exponent[:-1] = np.maximum(exponent[:-1], left.exponent)
    mantissa = np.zeros(len(exponent))
    mantissa[:-1] += left.at(exponent[:-1])
    mantissa[1:] += right.at(exponent[1:])
    return Scaled(mantissa, exponent)


def _anchored(law: Line, step: Fraction) -> tuple[Grid, int | None]:
    """A grid on which the outcome merged at a steep end has its loss at node 0.

    Let c be the end of the merged losses and lambda(c) their loss: c - lambda(c) must be one step.
    """
    if not law.steep:
        return Grid(Fraction(0), step), None
    sign, target = -law.steep, ball(step)

    def overshoots(c: Fraction) -> bool:
        p, q = law.below(ball(c)) if sign > 0 else law.above(ball(c))
        if not (p > 0 and q > 0):
            return False
        return bool(sign * (ball(c) - (p / q).log()) > target)

    inside = Fraction(float(law.centre().mid()))
    width = Fraction(float(law.scale().mid()))
    for _ in range(_DOUBLINGS):
        if overshoots(inside):
            break
        inside += sign * width
        width *= 2
    else:
        raise TooCoarse()
    outside = inside - sign * width
    while overshoots(outside):
        outside -= sign * width
        width *= 2
    outside, inside = halved(outside, inside, overshoots, times=40)
    # the loss must not be below its node
    return Grid((outside if sign > 0 else inside) - sign * step, step), 0
