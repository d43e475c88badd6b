"""Measures on a grid for a loss between two ends, with marks between which it has a density.

As in `measure`: chords above, a chain through lowered points below. The chain may fall below the
curve for good at the least loss, but has to end on it at the largest: its last chord is the tangent
there. So below, the marks have to lie on nodes. Where they do not, less sensitivity, which is a
curve below, puts them there; and those at most OFF above their nodes are moved down: a piece that
is continued so far changes a density by a factor that the tolerance covers many times, or puts
there what is taken from an atom. Where a density is too steep for such a chain, what lies in each
cell is merged to one outcome. Above, what lies in the cell of a mark is shared as one.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
from flint import arb

from exactdp.accounting.pld.cells import TOLERANCE, Cells, Grid, cells
from exactdp.accounting.pld.chain import TooCoarse, sunk_nodes, taken
from exactdp.accounting.pld.gathered import Finite, gathered, merged
from exactdp.accounting.pld.laplace import OFF, EndedLoss
from exactdp.accounting.pld.measure import MOST_NODES, Measure, added, joined
from exactdp.accounting.pld.wide import Wide, floor, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["ended_bounds"]

_BITS = 192

#: What is told from a node, in balls.
_LOWER = Fraction(1, 1 << 100)

#: Cells that are merged one by one.
_MOST_MERGED = 1 << 17


def ended_bounds(law: EndedLoss, step: Fraction) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one whose curve is above it.

    Raises TooCoarse, and Undecided where there are too many nodes.
    """
    count = law.unit // step
    with precision(_BITS):
        most = count * (law.marks()[-1][0] - law.marks()[0][0])
        if most > MOST_NODES or step < Fraction(1, 1 << 40):
            raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
        if step > 1 or most < 4:
            raise TooCoarse()
        fitted = law if count * step == law.unit else law.with_unit(count * step)
        grid = Grid(fitted.anchor, step)
        try:
            return _below(fitted, grid, count), _above(law, grid)
        except TooCoarse:
            if most > _MOST_MERGED:
                raise
        # a node just below the marks, or below the merged outcome of the least losses
        grids = [Grid(offset - _LOWER, step) for offset in (grid.offset, _least(law, step))]
        merged_below = [_merged_below(law, grid) for grid in grids]
        low = max(merged_below, key=_mean)
        return low, _above(law, low.grid)


def _least(law: EndedLoss, step: Fraction) -> Fraction:
    """About the loss of one outcome that losses up to a step above the least are merged to."""
    (at, mass), *_ = _marks(law)
    (p, q), (p_end, q_end) = (law.parts()[0].below(end) for end in (at, at + ball(step)))
    merged_loss = ((mass + p_end - p) / (mass * (-at).exp() + q_end - q)).log()
    return Fraction(floor(merged_loss / ball(_LOWER))) * _LOWER


def _mean(measure: Measure) -> float:
    """About the mean of the loss, which merging lowers; to choose between bounds."""
    masses, grid = measure.masses.at(0), measure.grid
    places = float(grid.offset) + float(grid.step) * (measure.first + np.arange(len(masses)))
    return float(np.einsum("i,i", masses, places))


def _merged_below(law: EndedLoss, grid: Grid) -> Measure:
    """What lies in each cell as one outcome, then merged on nodes: for laws steep beside a step."""
    marks = _marks(law)
    outcomes: list[Finite] = [(at, mass, mass * (-at).exp()) for at, mass in marks]
    for part, (low, high) in zip(law.parts(), pairwise(at for at, _ in marks), strict=True):
        first, last = (floor((at - ball(grid.offset)) / ball(grid.step)) for at in (low, high))
        ends = [low, *(grid.at(node) for node in range(first + 1, last + 1)), high]
        for (p, q), (p_next, q_next) in pairwise(part.below(end) for end in ends):
            mass, other = p_next - p, q_next - q
            if mass > 0 and other > 0:
                outcomes.append(((mass / other).log(), mass, other))
    return gathered(grid, merged(grid, outcomes), arb(0), up=False)


def _marks(law: EndedLoss) -> list[tuple[arb, arb]]:
    """Where the marks are, and the mass of each."""
    off = arb(0) if law.exact else ball(OFF) * arb(0.5, 0.5)
    return [(ball(law.anchor + i * law.unit) + off, mass) for i, mass in law.marks()]


def _above(law: EndedLoss, grid: Grid) -> Measure:
    """The chords of the curve, on any grid."""
    marks, least = _marks(law), [law.anchor + i * law.unit for i, _ in law.marks()]
    places = [(at - grid.offset) // grid.step for at in least]
    if any(after - before < 2 for before, after in pairwise(places)):
        raise TooCoarse()
    lumps = [(mass, mass * (-at).exp()) for at, mass in marks]
    made: list[Cells] = []
    for i, part in enumerate(law.parts()):
        first, last = places[i] + 1, places[i + 1]
        lumps[i] = _plus(lumps[i], part.below(marks[i][0]), part.below(grid.at(first)))
        end = part.below(grid.at(last)), part.below(marks[i + 1][0])
        lumps[i + 1] = _plus(lumps[i + 1], *end)
        made.append(cells(part, grid, first, last))
    shared = [_shared(grid, place, *lump) for place, lump in zip(places, lumps, strict=True)]
    pieces = [piece for both in zip(shared, made, strict=False) for piece in both]
    if ends_on_node := law.exact and grid.offset + places[-1] * grid.step == least[-1]:
        whole = reduce(Cells.followed_by, pieces)
    else:
        whole = reduce(Cells.followed_by, [*pieces, shared[-1]])
    masses = joined(whole.left, whole.right)
    if ends_on_node:  # no loss is larger
        masses = added(masses, -1, marks[-1][1].upper(), up=True)
    raised = Wide(masses.mantissa * (1 + 2 * TOLERANCE), masses.exponent)
    return Measure(grid, whole.first, raised, arb(0))


def _plus(lump: tuple[arb, arb], low: tuple[arb, arb], high: tuple[arb, arb]) -> tuple[arb, arb]:
    """With what lies between two losses."""
    return lump[0] + high[0] - low[0], lump[1] + high[1] - low[1]


def _shared(grid: Grid, index: int, p: arb, q: arb) -> Cells:
    """One cell with these masses under P and Q, its shares rounded up."""
    fall = (-ball(grid.step)).exp()
    to_left = (q * grid.at(index).exp() - p * fall) / (1 - fall)
    shares = [share.upper().max(arb(2) ** -1000) for share in (to_left, p - to_left)]
    if not all(share.is_finite() for share in shares):
        raise Undecided("a mass of the loss lost all accuracy")
    left, right = (
        Wide(np.array([number * (1 + 2.0**-50)]), np.array([power]))
        for number, power in map(split, shares)
    )
    return Cells(index, left, right, Wide(np.array([np.inf]), np.array([0])), np.array([False]))


def _below(law: EndedLoss, grid: Grid, count: int) -> Measure:
    """The chain, for marks that are at most OFF above every count-th node."""
    marks = [(i * count, mass) for i, mass in law.marks()]
    ends = zip(law.parts(), pairwise(place for place, _ in marks), strict=True)
    made = reduce(Cells.followed_by, (cells(part, grid, *between) for part, between in ends))
    off = arb(0) if law.exact else 2 * ball(OFF / grid.step)
    if not made.smooth():
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
