"""Laws of a ratio r = P/Q moved to the nodes of a lattice: a curve above, and a curve below.

D(P, Q)(x) = E_Q (r - x)+ and D(Q, P)(x) = E_Q (1 - x r)+ are means of convex functions of r.

Above: the outputs of a cell move to the two nodes around it, with the same masses under P and
under Q, which raises both means (Jensen's inequality).
Below: outputs are merged, which is post-processing. From the largest ratio down, outputs above a
node are joined with as many below it as bring their joint ratio to the node. What is left at the
least ratio moves down to a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from flint import arb

from exactdp.accounting.pld.grid.lattice import Lattice, Masses, Outcome, Tails
from exactdp.errors import Undecided

#: Largest number of cells that are computed one by one.
_MOST_CELLS = 1 << 18

_ZERO = arb(0)


@dataclass(frozen=True)
class Cell:
    """Outputs whose loss lies between the nodes low and high (at the node, if both are equal).

    low is None for losses down to -infinity, high for losses up to infinity.
    """

    p: arb
    q: arb
    low: int | None
    high: int | None


#: A loss, with the node below and the node above it; all are None at infinity.
_Place = tuple[arb | None, int | None, int | None]


def dense_cells(
    law: Tails, lattice: Lattice, nodes: Iterable[int], ends: tuple[Outcome, Outcome] | None = None
) -> Iterator[Cell]:
    """The cells of losses with a density, by rising loss.

    nodes: the ends of the cells. ends: outcomes of the least and of the largest loss, where all
    nodes lie between these; None for a density on the line, with a cell for the losses below the
    first node and one for the losses above the last.
    """
    infinite = (lattice.least, lattice.largest)
    places: list[_Place] = [
        (None if node in infinite else lattice.loss(node), node, node) for node in nodes
    ]
    if len(places) > _MOST_CELLS:
        raise Undecided(f"the losses of one step fill more than {_MOST_CELLS} cells")
    if ends is not None:
        first, last = ((end.loss, *lattice.around(end)) for end in ends)
        places = [first, *places, last]
    else:
        if places[0][0] is not None:
            places.insert(0, (None, None, None))
        if places[-1][0] is not None:
            places.append((None, None, None))
    yield from _between(law, places)


def nodes_between(lattice: Lattice, start: Outcome, end: Outcome) -> Iterable[int]:
    """The nodes strictly between two outcomes."""
    (first, above), (below, last) = lattice.around(start), lattice.around(end)
    return lattice.nodes(above + (first == above), below - (below == last))


def _between(law: Tails, places: list[_Place]) -> Iterator[Cell]:
    """The cells between losses: masses below them up to the centre, masses above from there on."""
    nothing, centre, rising = (_ZERO, _ZERO), law.centre(), True
    start = places[0][0]
    known = nothing if start is None else law.below(start)
    for (start, low, _), (end, _, high) in pairwise(places):
        if rising and (end is None or not end < centre):
            rising, known = False, (arb(1), arb(1)) if start is None else law.above(start)
        ahead = nothing if end is None else (law.below if rising else law.above)(end)
        p, q = (abs(x - y) for x, y in zip(known, ahead, strict=True))
        yield Cell(p, q, low, high)
        known = ahead


def shared(lattice: Lattice, cells: Iterable[Cell]) -> dict[int, Masses]:
    """Masses at nodes with a curve above the curve of all cells with a largest loss."""
    masses: dict[int, Masses] = {}
    masses_at = cache(lattice.masses)
    for cell in cells:
        if cell.high is None:
            continue
        p_high, q_high = masses_at(cell.high)
        if cell.low is None:  # less mass under Q is a higher curve
            _add(masses, cell.high, cell.p, cell.p * q_high / p_high)
        elif cell.low == cell.high:
            _add(masses, cell.low, cell.p, cell.q)
        else:
            p_low, q_low = masses_at(cell.low)
            whole = p_high * q_low - p_low * q_high
            low = (p_high * cell.q - q_high * cell.p) / whole
            high = (q_low * cell.p - p_low * cell.q) / whole
            _add(masses, cell.low, low * p_low, low * q_low)
            _add(masses, cell.high, high * p_high, high * q_high)
    return masses


def merged(lattice: Lattice, cells: Iterable[Cell]) -> dict[int, Masses]:
    """Masses of merged outputs at nodes at or below their loss.

    Outputs keep their mass under P, or their mass under Q, and get the node's loss; either way the
    curve is below the curve of the cells. Left out are cells that may have no mass, and losses
    below all nodes.
    """
    masses: dict[int, Masses] = {}
    left = []
    for cell in cells:
        if cell.low is not None and cell.p > 0 and cell.q > 0:
            left.append(cell)
        elif cell.low is not None and cell.low == cell.high:  # a node of infinite loss, or nearly
            _add(masses, cell.low, cell.p, cell.q)
    left.sort(key=lambda cell: (cell.p / cell.q).mid())
    while left:
        cell = left.pop()
        p, q, node = cell.p, cell.q, _node_below(lattice, cell)
        if cell.low != cell.high:
            p_unit, q_unit = lattice.masses(node)
            while (spare := (q_unit * p - p_unit * q).lower()) >= 0 and left:
                below = left.pop()
                lack = (p_unit * below.q - q_unit * below.p).upper()
                share = (spare / lack).lower() if lack > spare else arb(1)
                p, q = p + share * below.p, q + share * below.q
                if share < 1:  # the rest stays as it is
                    rest = 1 - share
                    left.append(Cell(rest * below.p, rest * below.q, below.low, below.high))
                    break
            if spare < 0:  # the ratio cannot be told from the ratio of the node
                node, _ = lattice.around(Outcome((p / q).log(), p, q))
        _add(masses, node, p, q)
    return masses


def _node_below(lattice: Lattice, cell: Cell) -> int:
    """The node at or below the loss of the merged outputs of a cell, or one further below."""
    if cell.low is not None and (cell.high is None or cell.high <= cell.low + 1):
        return cell.low
    node, _ = lattice.around(Outcome((cell.p / cell.q).log(), cell.p, cell.q))
    return node


def _add(masses: dict[int, Masses], node: int, p: arb, q: arb) -> None:
    before = masses.get(node, (_ZERO, _ZERO))
    masses[node] = before[0] + p, before[1] + q
