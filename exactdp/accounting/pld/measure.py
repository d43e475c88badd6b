"""Measures on a grid of losses that bound the curve of one step from below and from above.

The curve of a pair, D(x) = sup_S P(S) - x Q(S) with x = e^loss, is convex; a measure on the grid is
a piecewise linear curve with kinks at the nodes, mass = x * (change of slope). Composition is
monotone in the curve, for measures of any total mass.

Above: the chords of D, that is, the two shares of every cell; what lies beyond goes up, to the
first node or to infinity. Below: the chain through the points D(x_i) - e_i (`chain`). At both ends
all that lies beyond is merged into one outcome of loss log P/Q (post-processing) and moved down to
a node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.pld.cells import TOLERANCE, Cells, Grid, cells
from exactdp.accounting.pld.chain import TooCoarse, convex, lowered, sunk_nodes, taken
from exactdp.accounting.pld.laws import LossLaw
from exactdp.accounting.pld.replacement import BatchLoss
from exactdp.accounting.pld.wide import Wide, floor, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["MOST_NODES", "Measure", "added", "bounds", "joined"]

MOST_NODES = 1 << 22

_BITS = 128

#: Of small losses, tilted masses below 2^-_LOW_BITS are cut off.
_LOW_BITS = 96

_DOUBLINGS = 40


@dataclass(frozen=True)
class Measure:
    """Exactly these masses at the nodes first, first + 1, ... of a grid, and at infinity."""

    grid: Grid
    first: int
    masses: Wide
    infinity: arb


def bounds(
    law: LossLaw, step: Fraction, tail_bits: int, rate: Fraction = Fraction(0)
) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one whose curve is above it.

    step: between the nodes. tail_bits: large losses beyond a mass of 2^-tail_bits are cut off.
    rate: the exponent by which the measures are going to be tilted, or less; small losses are cut
    off where their tilted mass no longer counts.
    Raises TooCoarse, and Undecided where it takes more than MOST_NODES.
    """
    with precision(_BITS):
        grid, anchor = _anchored(law, step)
        first, last = _range(law, grid, tail_bits, rate)
        made = _made(law, grid, first, last)
        low_end = anchor if law.steep < 0 and anchor is not None else first
        high_end = anchor if law.steep > 0 and anchor is not None else last
        return (
            _below(law, grid, made, max(low_end, first), min(high_end, last)),
            _above(law, grid, made, last),
        )


def _made(law: LossLaw, grid: Grid, first: int, last: int) -> Cells:
    """The cells of the law's density, or of its two densities, which meet at loss 0."""
    if not isinstance(law, BatchLoss):
        return cells(law, grid, first, last)
    under, over = law.parts
    return cells(under, grid, first, 0).followed_by(cells(over, grid, 0, last))


def _with_atom(law: LossLaw, masses: Wide, first: int, *, up: bool) -> Wide:
    if not isinstance(law, BatchLoss):
        return masses
    atom = law.atom()
    return added(masses, -first, atom.upper() if up else atom.lower(), up=up)


def _above(law: LossLaw, grid: Grid, made: Cells, last: int) -> Measure:
    """The chords of the curve: every cell's shares, rounded up."""
    masses = _with_atom(law, joined(made.left, made.right), made.first, up=True)
    under, _ = law.below(grid.at(made.first))
    beyond, _ = law.above(grid.at(last))
    masses = added(masses, 0, under.upper(), up=True)
    raised = Wide(masses.mantissa * (1 + 2 * TOLERANCE), masses.exponent)
    return Measure(grid, made.first, raised, beyond.upper())


def _below(law: LossLaw, grid: Grid, made: Cells, low: int, high: int) -> Measure:
    """The chain below the curve from node low to node high, with an outcome merged at each."""
    if high - low < 3:
        raise TooCoarse()
    cells_kept = slice(low - made.first, high - made.first)
    chain = made.known[cells_kept].copy()
    chain[[0, -1]] = False  # the first and the last cell are merged with what lies beyond
    left, right, peak = (
        Wide(np.where(chain, w.mantissa[cells_kept], 0.0), w.exponent[cells_kept])
        for w in (made.left, made.right, made.peak)
    )
    masses = _with_atom(law, joined(left, right), low, up=False)
    masses = added(masses, 0, _outcome_below(law, grid, low), up=False)
    over, fits = _outcome_above(law, grid, high)
    masses = added(masses, -1 if fits else -2, over, up=False)
    first, last = lowered(left, right, peak, grid.step)
    exponent = _widest(masses.exponent)
    sunk = sunk_nodes(first, last, exponent)
    kept = masses.at(exponent) * (1 - 2 * TOLERANCE) - taken(sunk, grid.step)
    return Measure(grid, low, convex(Wide(kept, exponent), grid.step), arb(0))


def _widest(exponent: NDArray[np.int64]) -> NDArray[np.int64]:
    """At every node the largest exponent among it and two neighbours on either side."""
    padded = np.pad(exponent, 2, mode="edge")
    count = len(exponent)
    found: NDArray[np.int64] = np.maximum.reduce([padded[i : i + count] for i in range(5)])
    return found


def _outcome_below(law: LossLaw, grid: Grid, low: int) -> arb:
    """Mass at node low of an outcome made of losses below the node after it."""
    p, q = law.below(grid.at(low + 1))
    if p > 0 and q > 0 and (p / q).log() >= grid.at(low):
        return p.lower()
    less, _ = law.below(grid.at(low))
    return (p - less).lower()  # what lies lower still is left out


def _outcome_above(law: LossLaw, grid: Grid, high: int) -> tuple[arb, bool]:
    """The mass of losses above the node before high; whether, merged, they reach node high."""
    p, q = law.above(grid.at(high - 1))
    fits = p > 0 and (q.upper() <= 0 or (q > 0 and (p / q).log() >= grid.at(high)))
    return p.lower(), bool(fits)


def joined(left: Wide, right: Wide) -> Wide:
    """At every node, the left share of the cell after it and the right share of the one before."""
    exponent = np.concatenate([left.exponent[:1], right.exponent])
    exponent[:-1] = np.maximum(exponent[:-1], left.exponent)
    mantissa = np.zeros(len(exponent))
    mantissa[:-1] += left.at(exponent[:-1])
    mantissa[1:] += right.at(exponent[1:])
    return Wide(mantissa, exponent)


def added(masses: Wide, index: int, more: arb, *, up: bool) -> Wide:
    """With so much more mass at one node."""
    if more <= 0:
        return masses
    if not more.is_finite():
        raise Undecided("a mass of the loss lost all accuracy")
    number, power = split(more)
    number *= 1 + 2.0**-50 if up else 1 - 2.0**-50
    mantissa, exponent = masses.mantissa.copy(), masses.exponent.copy()
    highest = max(int(exponent[index]), power)
    here = Wide(mantissa[index : index + 1 or None], exponent[index : index + 1 or None])
    mantissa[index] = here.at(highest)[0] + np.ldexp(number, max(power - highest, -2000))
    exponent[index] = highest
    return Wide(mantissa, exponent)


def _range(law: LossLaw, grid: Grid, tail_bits: int, rate: Fraction) -> tuple[int, int]:
    """Nodes beyond which no more mass lies than is to be cut off."""
    small = arb(2) ** -tail_bits
    middle = floor((law.centre() - ball(grid.offset)) / ball(grid.step))

    def cut_above(node: int) -> bool:
        return bool(law.above(grid.at(node))[0] < small)

    def cut_below(node: int) -> bool:
        tilted = law.below(grid.at(node))[0] * (ball(rate) * grid.at(node)).exp()
        return bool(tilted < small.max(arb(2) ** -_LOW_BITS))

    first = middle - _reach(lambda far: cut_below(middle - far))
    return first, middle + _reach(lambda far: cut_above(middle + far))


def _reach(over: Callable[[int], bool]) -> int:
    """The least distance, in nodes, that is over."""
    far = 8
    while not over(far):
        far *= 2
        if far > MOST_NODES:
            raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
    near = 3  # a chain takes a few nodes, however narrow the law
    while far - near > 1:
        between = (near + far) // 2
        near, far = (near, between) if over(between) else (between, far)
    return far


def _anchored(law: LossLaw, step: Fraction) -> tuple[Grid, int | None]:
    """A grid on which the outcome merged at a steep end falls on node 0.

    With c the end of the merged losses and lambda(c) their loss, c - lambda(c) is to be one step.
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
    for _ in range(40):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if overshoots(middle) else (inside, middle)
    # the loss must not be below its node
    return Grid((outside if sign > 0 else inside) - sign * step, step), 0
