"""A convex piecewise linear curve below the curve of a step: by how much each node is lowered.

In a cell the curve lies above its tangents at both ends. The tangents meet at most g below the
chord. The chord between lowered ends is below the curve if the ends are lowered by e and e' with
(1 - t) e + t e' >= g, where t is the place where the tangents meet. With L and R the shares of the
cell's mass, g = (e^h - 1) L R/(L e^h + R); with e' = 0, e must be R (1 - e^-h), and with e = 0, e'
must be L (e^h - 1). Where an upper bound M of the density is known, g <= (e^h - 1)^2/8 M. Normally
both ends are lowered by g. Where the next cell has much less mass, it could not pay for its end,
and only the left end is lowered; in the opposite case only the right end is lowered.

Lowering node i by e_i takes (e_(i+1) - e_i)/(e^h - 1) - (e_i - e_(i-1))/(1 - e^-h) from its mass. A
node with a negative mass is a concave kink. The line between its neighbours is lower, so its mass
is shared between them, which keeps the masses under P and Q.
"""

from __future__ import annotations

import math
from fractions import Fraction

from exactdp.accounting.pld.grid.scaled import Scaled
from exactdp.arrays import Floats, Integers, np
from exactdp.errors import TooCoarse

#: Where a neighbouring cell has less than 1/_STEEP of the mass, only the other end is lowered.
_STEEP = 2.0

#: L and R have a relative error of 2^-42 each, and LR/(L e^h + R) at most three times that; the
#: dozen roundings of doubles and of exp and expm1 (2^-50 each) stay below 2^-46.
_UP = 1 + 2.0**-38

_MOST_KINKS = 1 << 17


def lowered(left: Scaled, right: Scaled, peak: Scaled, step: Fraction) -> tuple[Scaled, Scaled]:
    """By how much each cell needs its two ends lowered, in units of (e^h - 1)^2/(8 h).

    left, right, peak: as in `Cells`, with the same exponents.
    """
    h = float(step)
    unit = 8 * h / math.expm1(h) * _UP
    low, high = left.mantissa, right.mantissa
    with np.errstate(invalid="ignore"):
        both = low * high / (low * math.exp(h) + high)
    gap = np.minimum(peak.mantissa, np.where(np.isnan(both), 0.0, unit * both))
    whole = Scaled(low + high, left.exponent)
    steep_after = _STEEP * _beside(whole, 1) < whole.mantissa
    steep_before = _STEEP * _beside(whole, -1) < whole.mantissa
    falls = steep_after & (~steep_before | (high <= low))
    rises = steep_before & ~falls
    first = np.where(rises, 0.0, np.where(falls, unit * math.exp(-h) * high, gap))
    last = np.where(falls, 0.0, np.where(rises, unit * low, gap))
    return Scaled(first, left.exponent), Scaled(last, left.exponent)


def _beside(cells: Scaled, side: int) -> Floats:
    """The entry after each cell (side 1) or before it (side -1), with its exponent; else 0."""
    entries = np.zeros(len(cells))
    here, there = (slice(None, -1), slice(1, None))[::side]
    entries[here] = cells[there].at(cells.exponent[here])
    return entries


def node_depths(first: Scaled, last: Scaled, exponent: Integers) -> Scaled:
    """By how much every node is lowered: the most that either of its two cells needs."""
    before, after = np.zeros(len(exponent)), np.zeros(len(exponent))
    before[1:], after[:-1] = last.at(exponent[1:]), first.at(exponent[:-1])
    return Scaled(np.maximum(before, after), exponent)


def cost(depths: Scaled, step: Fraction) -> Floats:
    """Upper bounds of the masses that lowering the nodes by (e^h - 1)^2/(8 h) depths takes."""
    h = float(step)
    forward = math.expm1(h) / (8 * h)
    backward = forward * math.exp(h)
    here, before, after = depths.mantissa, np.zeros(len(depths)), np.zeros(len(depths))
    before[1:] = depths[:-1].at(depths.exponent[1:])
    after[:-1] = depths[1:].at(depths.exponent[:-1])
    taken: Floats = forward * (after - here) - backward * (here - before)
    # for h <= 1 both factors are below 1 and have a relative error below 2^-50; with the rounding
    # of the differences, products and their sum: less than 2^-48 of the sum of the three depths
    return taken + 2.0**-46 * (after + here + before)


def convex(masses: Scaled, step: Fraction) -> Scaled:
    """The masses after every negative one is shared between its neighbours.

    A negative mass without a neighbour below moves up, which lowers the curve as well.
    Raises TooCoarse if the mass of the last node is negative.
    """
    kept, exponent = masses.mantissa.copy(), masses.exponent.copy()
    kinks = np.flatnonzero(kept < 0).tolist()
    if len(kinks) > _MOST_KINKS:
        raise TooCoarse()
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    while kinks:
        node = kinks.pop()
        deficit, kept[node] = kept[node], 0.0
        if deficit == 0:
            continue  # the node was listed twice
        a, b = before.get(node, node - 1), after.get(node, node + 1)
        if b == len(kept):
            raise TooCoarse()
        before[b], after[a] = a, b
        for other, part in _neighbours(a, node, b, float(step)):
            power = int(exponent[node] - exponent[other])
            if power > 0:  # use the larger exponent
                kept[other], exponent[other] = math.ldexp(kept[other], -power), exponent[node]
            share = math.ldexp(deficit * part, min(power, 0))
            # more than the rounding of the share (2^-51) and of the sum (2^-53); share <= 0
            kept[other] += share - 2.0**-50 * (abs(kept[other]) - share)
            if kept[other] < 0:
                kinks.append(other)
    return Scaled(kept, exponent)


def _neighbours(a: int, node: int, b: int, step: float) -> list[tuple[int, float]]:
    """The neighbours of a node, and the part of its mass that each gets."""
    if a < 0:
        return [(b, 1.0)]
    up, down = (node - a) * step, (b - node) * step
    whole = math.expm1(up) - math.expm1(-down)
    return [(a, -math.expm1(-down) / whole), (b, math.expm1(up) / whole)]
