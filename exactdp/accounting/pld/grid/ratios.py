"""Laws of a likelihood ratio R = dA/dB under B, moved to the lattice {0, unit, 2 unit, ...}.

For every convex f, E f(R) lies between the values of two laws on the lattice (masses left out
aside). Above, the mass of a cell goes to its two ends with the mean kept (Jensen's inequality for
each output in the cell). Below, cells are collapsed to their means, and means around a node are
joined such that the joint mean is that node: a conditional expectation of R.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting.pld.grid.cells import Density, Masses
from exactdp.accounting.pld.grid.outcomes import Outcome
from exactdp.balls import ball
from exactdp.errors import Undecided

__all__ = ["OFF", "Cell", "dense_cells", "joined", "outcome_cell", "split"]

#: A joint mean is at its node up to this relative error.
OFF = Fraction(1, 1 << 80)


@dataclass(frozen=True)
class Cell:
    """Outputs with a ratio between the nodes low and high; their masses under A and under B.

    a_mass: in units of the lattice, so that a_mass/b_mass is the place of the mean.
    """

    a_mass: arb
    b_mass: arb
    low: int
    high: int


def outcome_cell(outcome: Outcome, unit: Fraction) -> Cell:
    """The cell of a single ratio."""
    place = outcome.loss.exp() / ball(unit)
    low = int(place.lower().floor().fmpz())
    high = max(int(place.upper().ceil().fmpz()), low + 1)
    return Cell(outcome.p / ball(unit), outcome.q, low, high)


def dense_cells(
    law: Density, unit: Fraction, growth: float, ends: tuple[arb, arb] | Callable[[Masses], bool]
) -> Iterator[Cell]:
    """The cells of a density of the loss log dA/dB, by rising ratio.

    growth: a cell has a width of one node, or of its ratio times this. ends: of the losses,
    or for the whole line, whether these masses beyond a loss may be left out.
    """
    scale, low, at = ball(unit), 0, None
    side, before = law.below, (arb(0), arb(0))
    if not callable(ends):
        at = ends[0]
        low, before = _sure((at.exp() / scale).floor()), side(at)
    while True:
        high = low + max(1, int(low * growth))
        loss = (scale * high).log()
        if not callable(ends) and not loss < ends[1]:
            high, loss = _sure((ends[1].exp() / scale).ceil()), ends[1]
        if at is not None and side == law.below and loss > law.centre():
            side = law.above
            before = side(at)
        after = side(loss)
        a_mass, b_mass = (abs(y - x) for x, y in zip(before, after, strict=True))
        yield Cell(a_mass / scale, b_mass, low, high)
        if (side == law.above and ends(after)) if callable(ends) else loss is ends[1]:
            return
        low, at, before = high, loss, after


def _sure(whole: arb) -> int:
    """The only integer in a ball."""
    found = whole.unique_fmpz()
    if found is None:
        raise Undecided("a ratio cannot be told from a node of the lattice")
    return int(found)


def split(cells: Iterable[Cell]) -> dict[int, arb]:
    """B-masses at nodes, above in convex order: each cell at its two ends, with its mean kept."""
    found: dict[int, arb] = {}
    for cell in cells:
        to_high = (cell.a_mass - cell.low * cell.b_mass) / (cell.high - cell.low)
        for node, mass in ((cell.low, cell.b_mass - to_high), (cell.high, to_high)):
            found[node] = found.get(node, arb(0)) + mass
    return found


def joined(cells: Iterable[Cell], *, up: bool) -> dict[int, arb]:
    """B-masses at nodes, below in convex order, but for the last mass.

    up: whether the last mass, with nothing above to be joined with, moves up to a node or down.
    Down is below for every rising function of R, up for every falling one.

    From the least ratio up, each mean is joined with as much mass from above the next node as
    brings the joint mean to that node. This is then checked for every node, up to OFF.
    """
    found: dict[int, arb] = {0: arb(0)}
    left = []
    for cell in cells:
        if cell.a_mass == 0:
            found[0] += cell.b_mass
        elif cell.a_mass > 0 and cell.b_mass > 0:
            left.append((cell.a_mass, cell.b_mass))
    left.sort(key=lambda masses: (masses[0] / masses[1]).mid(), reverse=True)
    while left:
        a, b = left.pop()
        mean = a / b
        nearest = (mean.mid() + arb(0.5)).floor()
        node = int((nearest if mean.overlaps(nearest) else mean.mid().ceil()).fmpz())
        while left and (lack := node * b - a) > 0:
            more_a, more_b = left.pop()
            spare = more_a - node * more_b
            share = (lack / spare).mid() if spare > lack else arb(1)
            if share < 1:
                rest = (1 - share).lower()
                left.append((rest * more_a, rest * more_b))
            a, b = a + share * more_a, b + share * more_b
        if abs(a - node * b) < ball(OFF) * node * b:
            found[node] = found.get(node, arb(0)) + b
        elif not left:
            mean = a / b
            last = int((mean.upper().ceil() if up else mean.lower().floor()).fmpz())
            found[last] = found.get(last, arb(0)) + b
    return found
