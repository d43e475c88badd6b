"""Laws of a ratio r = P/Q moved to the nodes of a lattice: a curve above, and a curve below.

D(P, Q)(x) = E_Q (r - x)+ and D(Q, P)(x) = E_Q (1 - x r)+ are means of convex functions of r.

Above: the outputs of a cell move to the two nodes around it such that their masses under P and
under Q stay, which raises both means (Jensen's inequality).
Below: outputs are merged, which is post-processing. From the largest ratio down, outputs above a
node are joined with as many below it as bring their joint ratio to the node. What is left at the
least ratio moves down to a node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.scaled import floor
from exactdp.balls import ball
from exactdp.errors import Undecided

__all__ = [
    "MOST_NODES",
    "Cell",
    "Grid",
    "Lattice",
    "Masses",
    "Outcome",
    "RatioLattice",
    "Tails",
    "check_nodes",
    "dense_cells",
    "merged",
    "nodes_between",
    "shared",
]

#: Largest number of nodes of one step.
MOST_NODES = 1 << 22

#: Largest number of cells that are computed one by one.
_MOST_CELLS = 1 << 18

#: Small losses are cut off where their tilted mass is below 2^-this.
_LOW_BITS = 96

#: Masses under P and under Q.
Masses = tuple[arb, arb]

_ZERO = arb(0)


class Tails(Protocol):
    """The masses of half-lines of losses."""

    def below(self, loss: arb) -> Masses:
        """The masses of losses <= loss."""

    def above(self, loss: arb) -> Masses:
        """The masses of losses > loss."""

    def centre(self) -> arb:
        """A loss in the middle of the law."""


@dataclass(frozen=True)
class Outcome:
    """Outputs with one finite loss log P/Q, and their masses under P and under Q.

    exact: the loss if it is rational, else None.
    """

    loss: arb
    p: arb
    q: arb
    exact: Fraction | None = None

    @classmethod
    def at(cls, loss: Fraction, p: arb, q: arb) -> Outcome:
        """Outputs with a rational loss."""
        return cls(ball(loss), p, q, loss)

    def reversed(self) -> Outcome:
        """The same outputs after P and Q change places."""
        return Outcome(-self.loss, self.q, self.p, None if self.exact is None else -self.exact)


@dataclass(frozen=True)
class Cell:
    """Outputs whose loss lies between the nodes low and high (at the node, if both are equal).

    low is None for losses down to -infinity, high for losses up to infinity.
    """

    p: arb
    q: arb
    low: int | None
    high: int | None


class Lattice(Protocol):
    """Nodes of rising loss."""

    @property
    def least(self) -> int | None:
        """The node of loss -infinity, if there is one."""

    @property
    def largest(self) -> int | None:
        """The node of loss infinity, if there is one."""

    def loss(self, node: int) -> arb:
        """The loss at a node."""

    def masses(self, node: int) -> Masses:
        """Masses under P and Q of a node, up to a factor: their ratio is e^loss."""

    def around(self, outcome: Outcome) -> tuple[int, int]:
        """The nodes below and above the loss of an outcome, equal where the loss is at a node."""

    def nodes(self, first: int, last: int) -> Iterable[int]:
        """The ends of cells from first to last."""

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        """The first and the last node: beyond them lies only the mass that is cut off.

        tail_bits, rate: as in `laws.base.LossLaw.bounds`.
        """


@dataclass(frozen=True)
class Grid:
    """The losses offset + i step, i an integer."""

    offset: Fraction
    step: Fraction
    least = largest = None

    def loss(self, node: int | Fraction) -> arb:
        return ball(self.offset) + ball(node) * ball(self.step)

    def masses(self, node: int) -> Masses:
        return self.loss(node).exp(), arb(1)

    def around(self, outcome: Outcome) -> tuple[int, int]:
        if outcome.exact is None:
            return _around((outcome.loss - ball(self.offset)) / ball(self.step))
        place = (outcome.exact - self.offset) / self.step
        return math.floor(place), math.ceil(place)

    def nodes(self, first: int, last: int) -> Iterable[int]:
        check_nodes(last - first)
        return range(first, last + 1)

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        small = arb(2) ** -tail_bits
        middle = floor((law.centre() - ball(self.offset)) / ball(self.step))

        def is_cut_above(node: int) -> bool:
            return bool(law.above(self.loss(node))[0] < small)

        def is_cut_below(node: int) -> bool:
            tilted = law.below(self.loss(node))[0] * (ball(rate) * self.loss(node)).exp()
            return bool(tilted < small.max(arb(2) ** -_LOW_BITS))

        first = middle - _distance(lambda far: is_cut_below(middle - far))
        return first, middle + _distance(lambda far: is_cut_above(middle + far))


@dataclass(frozen=True)
class RatioLattice:
    """The ratios i unit, i >= 0; or, where `inverse`, the ratios 1/(i unit).

    The ratio i unit is at the node i, or -i where `inverse`, so that losses rise with the node.
    growth: a cell has the width of one node, or of its place i times growth.
    """

    unit: Fraction
    growth: float
    inverse: bool

    @property
    def least(self) -> int | None:
        return None if self.inverse else 0

    @property
    def largest(self) -> int | None:
        return 0 if self.inverse else None

    def loss(self, node: int) -> arb:
        loss = ball(abs(node) * self.unit).log()
        return -loss if self.inverse else loss

    def masses(self, node: int) -> Masses:
        place = ball(abs(node) * self.unit)
        return (arb(1), place) if self.inverse else (place, arb(1))

    def around(self, outcome: Outcome) -> tuple[int, int]:
        sign = -1 if self.inverse else 1
        return _around(sign * (sign * outcome.loss).exp() / ball(self.unit))

    def nodes(self, first: int, last: int) -> Iterable[int]:
        if first > last:
            return []
        low, high = sorted((abs(first), abs(last)))
        found = [low]
        while found[-1] < high:
            found.append(min(found[-1] + max(1, int(found[-1] * self.growth)), high))
        return [-node for node in reversed(found)] if self.inverse else found

    def span(self, law: Tails, tail_bits: int, rate: Fraction) -> tuple[int, int]:
        small = arb(2) ** -tail_bits
        if self.inverse:
            return -_distance(lambda far: bool(law.below(self.loss(-far))[0] < small)), 0
        return 0, _distance(lambda far: bool(law.above(self.loss(far))[0] < small))


def _around(place: arb) -> tuple[int, int]:
    return floor(place), -floor(-place)


def _distance(is_beyond: Callable[[int], bool]) -> int:
    """The least distance, in nodes, that is beyond."""
    far = 8
    while not is_beyond(far):
        far *= 2
        check_nodes(far)
    near = 3  # the lower bound needs a few nodes, however narrow the law
    while far - near > 1:
        between = (near + far) // 2
        near, far = (near, between) if is_beyond(between) else (between, far)
    return far


def check_nodes(count: int | Fraction) -> None:
    """Raises Undecided for more nodes than a step may have."""
    if count > MOST_NODES:
        raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")


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
    """Masses at nodes whose curve is above that of all cells with a largest loss."""
    found: dict[int, Masses] = {}
    masses_at = cache(lattice.masses)
    for cell in cells:
        if cell.high is None:
            continue
        p_high, q_high = masses_at(cell.high)
        if cell.low is None:  # less mass under Q is a higher curve
            _add(found, cell.high, cell.p, cell.p * q_high / p_high)
        elif cell.low == cell.high:
            _add(found, cell.low, cell.p, cell.q)
        else:
            p_low, q_low = masses_at(cell.low)
            whole = p_high * q_low - p_low * q_high
            low = (p_high * cell.q - q_high * cell.p) / whole
            high = (q_low * cell.p - p_low * cell.q) / whole
            _add(found, cell.low, low * p_low, low * q_low)
            _add(found, cell.high, high * p_high, high * q_high)
    return found


def merged(lattice: Lattice, cells: Iterable[Cell]) -> dict[int, Masses]:
    """Masses of merged outputs at nodes at or below their loss.

    With the mass under P at the node's loss, or with the mass under Q, the curve is below that of
    the cells. Left out are cells that may have no mass, and losses below all nodes.
    """
    found: dict[int, Masses] = {}
    left = []
    for cell in cells:
        if cell.low is not None and cell.p > 0 and cell.q > 0:
            left.append(cell)
        elif cell.low is not None and cell.low == cell.high:  # a node of infinite loss, or nearly
            _add(found, cell.low, cell.p, cell.q)
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
            if spare < 0:  # the ratio cannot be told from that of the node
                node, _ = lattice.around(Outcome((p / q).log(), p, q))
        _add(found, node, p, q)
    return found


def _node_below(lattice: Lattice, cell: Cell) -> int:
    """The node at or below the loss of the merged outputs of a cell, or one further below."""
    if cell.low is not None and (cell.high is None or cell.high <= cell.low + 1):
        return cell.low
    node, _ = lattice.around(Outcome((cell.p / cell.q).log(), cell.p, cell.q))
    return node


def _add(masses: dict[int, Masses], node: int, p: arb, q: arb) -> None:
    before = masses.get(node, (_ZERO, _ZERO))
    masses[node] = before[0] + p, before[1] + q
