"""Measures on a grid of losses that bound the curve of one step from below and from above.

The curve of a pair, D(x) = sup_S P(S) - x Q(S) with x = e^loss, is convex; a measure on the grid is
a piecewise linear curve with kinks at the nodes, mass = x * (change of slope). Composition is
monotone in the curve, for measures of any total mass.

Above: the chords of D, that is, the two shares of every cell; what lies beyond goes up, to the
first node or to infinity. Below: the chords through the points D(x_i) - e_i. They stay below D when
in every cell the two e are at least the largest gap between D and its chord, which is at most
(e^h - 1)^2/8 times the largest density in the cell (D'' = density/x^2), and at cells without mass
there is no gap. From the mass at node i this takes
(e_(i+1) - e_i)/(e^h - 1) - (e_i - e_(i-1))/(1 - e^-h). At both ends all that lies beyond is merged
into one outcome of loss log P/Q (post-processing) and moved down to a node, where it makes room for
what the first e takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.pld.cells import TOLERANCE, Cells, Grid, cells
from exactdp.accounting.pld.laws import LossLaw
from exactdp.accounting.pld.replacement import BatchLoss
from exactdp.accounting.pld.wide import Wide, floor, split
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = [
    "MOST_NODES",
    "Measure",
    "TooCoarse",
    "added",
    "both_sides",
    "bounds",
    "joined",
    "taken",
]

MOST_NODES = 1 << 22

_BITS = 128


class TooCoarse(Undecided):
    """The step of the grid is too coarse for the law of the losses."""

    def __init__(self) -> None:
        super().__init__("the step of the grid is too coarse for the law of the losses")


@dataclass(frozen=True)
class Measure:
    """Exactly these masses at the nodes first, first + 1, ... of a grid, and at infinity."""

    grid: Grid
    first: int
    masses: Wide
    infinity: arb


def bounds(law: LossLaw, step: Fraction, tail_bits: int) -> tuple[Measure, Measure]:
    """A measure whose curve is below the law's, and one whose curve is above it.

    step: between the nodes. tail_bits: losses beyond masses of 2^-tail_bits are cut off.
    Raises TooCoarse, and Undecided where it takes more than MOST_NODES.
    """
    with precision(_BITS):
        grid, anchor = _anchored(law, step)
        first, last = _range(law, grid, tail_bits)
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
    cells_kept = slice(low - made.first, high - made.first)
    chain = np.zeros(max(high - low, 0), dtype=bool)
    chain[1:-1] = True  # the first and the last cell are merged with what lies beyond
    if len(chain) < 8 or not made.smooth[cells_kept][chain].all():
        raise TooCoarse()
    left, right, peak = (
        Wide(np.where(chain, w.mantissa[cells_kept], 0.0), w.exponent[cells_kept])
        for w in (made.left, made.right, made.peak)
    )
    chords = joined(left, right)
    sunk = Wide(np.maximum(*both_sides(peak, chords.exponent)), chords.exponent)
    under, over = _outcome_below(law, grid, low), _outcome_above(law, grid, high)
    if over is None:  # no room at the end: the last chord is the tangent there instead
        last = Wide(sunk.mantissa[-2:-1], sunk.exponent[-2:-1]).at(sunk.exponent[-3])[0]
        sunk.mantissa[-3:-1] = max(sunk.mantissa[-3], 4 * last), 0.0
    masses = added(_with_atom(law, chords, low, up=False), 0, under, up=False)
    if over is None:
        masses = added(masses, -2, law.above(grid.at(high - 1))[0], up=False)
    else:
        masses = added(masses, -1, over, up=False)
    kept = masses.mantissa * (1 - 2 * TOLERANCE) - taken(sunk, masses.exponent, grid.step)
    if not (kept >= 0).all():
        raise TooCoarse()
    return Measure(grid, low, Wide(kept, masses.exponent), arb(0))


def _outcome_below(law: LossLaw, grid: Grid, low: int) -> arb:
    """Mass at node low of an outcome made of losses below the node after it."""
    p, q = law.below(grid.at(low + 1))
    if p > 0 and q > 0 and (p / q).log() >= grid.at(low):
        return p.lower()
    less, _ = law.below(grid.at(low))
    return (p - less).lower()  # what lies lower still is left out


def _outcome_above(law: LossLaw, grid: Grid, high: int) -> arb | None:
    """Mass at node high of an outcome made of losses above the node before it, if it has them."""
    p, q = law.above(grid.at(high - 1))
    fits = p > 0 and (q.upper() <= 0 or (q > 0 and (p / q).log() >= grid.at(high)))
    return p.lower() if fits else None


def taken(sunk: Wide, exponent: NDArray[np.int64], step: Fraction) -> NDArray[np.float64]:
    """What lowering the nodes by (e^h - 1)^2/(8 h) sunk takes from the masses, rounded up."""
    h = float(step)
    forward = float(np.expm1(h)) / (8 * h)
    backward = forward * float(np.exp(h))
    here, before, after = sunk.at(exponent), np.zeros(len(sunk)), np.zeros(len(sunk))
    before[1:] = Wide(sunk.mantissa[:-1], sunk.exponent[:-1]).at(exponent[1:])
    after[:-1] = Wide(sunk.mantissa[1:], sunk.exponent[1:]).at(exponent[:-1])
    taken: NDArray[np.float64] = forward * (after - here) - backward * (here - before)
    return taken + 2.0**-46 * (after + here + before)


def both_sides(
    peak: Wide, exponent: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At every node, the value of the cell before it and of the one after it."""
    before, after = np.zeros(len(exponent)), np.zeros(len(exponent))
    before[1:], after[:-1] = peak.at(exponent[1:]), peak.at(exponent[:-1])
    return before, after


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


def _range(law: LossLaw, grid: Grid, tail_bits: int) -> tuple[int, int]:
    """Nodes beyond which less than 2^-tail_bits of the mass lies."""
    small = arb(2) ** -tail_bits
    middle = floor((law.centre() - ball(grid.offset)) / ball(grid.step))

    def reach(sign: int) -> int:
        def over(distance: int) -> bool:
            side = law.above if sign > 0 else law.below
            return bool(side(grid.at(middle + sign * distance))[0] < small)

        far = 8
        while not over(far):
            far *= 2
            if far > MOST_NODES:
                raise Undecided(f"the losses of one step fill more than {MOST_NODES} nodes")
        near = 0
        while far - near > 1:
            between = (near + far) // 2
            near, far = (near, between) if over(between) else (between, far)
        return middle + sign * far

    return reach(-1), reach(1)


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
    for _ in range(8):
        if overshoots(inside):
            break
        inside += sign * width
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
