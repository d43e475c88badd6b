"""Measures on a grid for a loss between two ends, with nodes at both and at every mark between.

As in `measure`: chords above, a chain through lowered points below. The chain may fall below the
curve for good at the least loss, but has to end on it at the largest: its last chord is the
tangent there. Marks lie at most OFF above their nodes. Below, they are moved down; a piece that
is continued so far changes a density by a factor that the tolerance covers many times, or puts
there what is taken from an atom. Above, the part of an atom that this takes is added to the next
node.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import numpy as np
from flint import arb

from exactdp.accounting.pld.cells import TOLERANCE, Cells, Grid, cells
from exactdp.accounting.pld.chain import TooCoarse, sunk_nodes, taken
from exactdp.accounting.pld.laplace import OFF, EndedLoss
from exactdp.accounting.pld.measure import MOST_NODES, Measure, added, joined
from exactdp.accounting.pld.wide import Wide
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["ended_bounds"]

_BITS = 192


def ended_bounds(law: EndedLoss, step: Fraction) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one whose curve is above it.

    Raises Undecided where the marks do not fit on nodes of this step, or there are too many.
    """
    count = law.unit / step
    if count.denominator > 1:
        raise Undecided("the ends of a loss do not fit on one grid with the other mechanisms")
    with precision(_BITS):
        marks = [(i * int(count), mass) for i, mass in law.marks()]
        first, last = marks[0][0], marks[-1][0]
        if last - first > MOST_NODES or step < Fraction(1, 1 << 40):
            raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
        if step > 1:
            raise TooCoarse()
        grid = Grid(law.anchor, step)
        ends = [place for place, _ in marks]
        made = reduce(
            Cells.followed_by,
            (
                cells(part, grid, a, b)
                for part, a, b in zip(law.parts(), ends, ends[1:], strict=False)
            ),
        )
        off = arb(0) if law.exact else 2 * ball(OFF / step)
        return _below(law, grid, made, marks, off), _above(grid, made, marks, off)


def _above(grid: Grid, made: Cells, marks: list[tuple[int, arb]], off: arb) -> Measure:
    if not made.smooth():
        raise TooCoarse()
    masses = joined(made.left, made.right)
    if off > 0:
        masses = _with_room(masses)
    most = float((made.peak.mantissa * np.exp2(np.minimum(made.peak.exponent, 0))).max())
    for place, mass in marks:
        index = place - made.first
        masses = added(masses, index, mass.upper(), up=True)
        if off > 0:
            masses = added(masses, index + 1, ((mass + most) * off).upper(), up=True)
    raised = Wide(masses.mantissa * (1 + 2 * TOLERANCE), masses.exponent)
    return Measure(grid, made.first, raised, arb(0))


def _below(
    law: EndedLoss, grid: Grid, made: Cells, marks: list[tuple[int, arb]], off: arb
) -> Measure:
    if len(made.known) < 4 or not made.smooth():
        raise TooCoarse()
    masses = joined(made.left, made.right)
    sunk = sunk_nodes(made.peak, made.peak, masses.exponent)
    # the tangent at an end of a cell is below the curve by up to four times a chord's gap
    tangent = Wide(made.peak.mantissa[-1:], made.peak.exponent[-1:]).at(sunk.exponent[-2])[0]
    sunk.mantissa[-2:] = max(float(sunk.mantissa[-2]), 4 * float(tangent)), 0.0
    for place, mass in marks:
        if mass > 0:
            masses = added(masses, place - made.first, mass.lower(), up=False)
    least = law.parts()[0].density(grid.at(made.first))
    if not least * off * ball(grid.step) < marks[0][1] * arb(TOLERANCE) / 4:
        raise Undecided("the atom at the least loss is too small")
    # left of the least loss the chain stays as far below the curve as there
    sunk = _doubled_first(Wide(sunk.at(masses.exponent), masses.exponent))
    kept = masses.mantissa * (1 - 2 * TOLERANCE) - taken(sunk, grid.step)[1:]
    if not (kept >= 0).all():
        raise TooCoarse()
    return Measure(grid, made.first, Wide(kept, masses.exponent), arb(0))


def _doubled_first(masses: Wide) -> Wide:
    """With the first entry once more before it."""
    return Wide(
        np.append(masses.mantissa[:1], masses.mantissa),
        np.append(masses.exponent[:1], masses.exponent),
    )


def _with_room(masses: Wide) -> Wide:
    """With one more node."""
    return Wide(np.append(masses.mantissa, 0.0), np.append(masses.exponent, masses.exponent[-1:]))
