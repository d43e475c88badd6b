"""The convex chain below the curve of a step: how far each node is lowered, and what that costs.

In a cell the curve is above both its end tangents, which meet at most g below the chord. The chord
between lowered ends is below the curve if the ends are lowered by e and e' with (1 - t) e + t e' >=
g, t the place where the tangents meet. With L and R the shares of the cell's mass,
g = (e^h - 1) L R/(L e^h + R); e alone has to be R (1 - e^-h), e' alone L (e^h - 1). Where a largest
density M is known, g <= (e^h - 1)^2/8 M. Both ends are lowered by g; but where the next cell holds
much less, it could not pay for that, and the left end alone is lowered; likewise the right one.

Lowering node i by e_i takes (e_(i+1) - e_i)/(e^h - 1) - (e_i - e_(i-1))/(1 - e^-h) from its mass. A
node left with a negative mass is a kink the wrong way: the line between its neighbours is lower, so
its mass is shared between them in the proportion that keeps its masses under P and under Q.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactdp.accounting.pld.wide import Wide
from exactdp.errors import Undecided

__all__ = ["TooCoarse", "convex", "lowered", "sunk_nodes", "taken"]

Floats = NDArray[np.float64]

#: Where the next cell holds so much less, or the one before, only the other end is lowered.
_STEEP = 2.0

_UP = 1 + 2.0**-38
_MOST_KINKS = 1 << 17


class TooCoarse(Undecided):
    """The step of the grid is too coarse for the law of the losses."""

    def __init__(self) -> None:
        super().__init__("the step of the grid is too coarse for the law of the losses")


def lowered(left: Wide, right: Wide, peak: Wide, step: Fraction) -> tuple[Wide, Wide]:
    """How far each cell wants its two ends to be lowered, in units of (e^h - 1)^2/(8 h).

    left, right, peak: of every cell, with the same exponents.
    """
    h = float(step)
    unit = 8 * h / math.expm1(h) * _UP
    low, high = left.mantissa, right.mantissa
    with np.errstate(invalid="ignore"):
        both = low * high / (low * math.exp(h) + high)
    gap = np.minimum(peak.mantissa, np.where(np.isnan(both), 0.0, unit * both))
    whole = Wide(low + high, left.exponent)
    steep_after = _STEEP * _beside(whole, 1) < whole.mantissa
    steep_before = _STEEP * _beside(whole, -1) < whole.mantissa
    falls = steep_after & (~steep_before | (high <= low))
    rises = steep_before & ~falls
    first = np.where(rises, 0.0, np.where(falls, unit * math.exp(-h) * high, gap))
    last = np.where(falls, 0.0, np.where(rises, unit * low, gap))
    return Wide(first, left.exponent), Wide(last, left.exponent)


def _beside(cells: Wide, side: int) -> Floats:
    """The entry after each (side 1) or before it (side -1), in its own units; 0 at the end."""
    found = np.zeros(len(cells))
    here, there = (slice(None, -1), slice(1, None))[::side]
    found[here] = Wide(cells.mantissa[there], cells.exponent[there]).at(cells.exponent[here])
    return found


def sunk_nodes(first: Wide, last: Wide, exponent: NDArray[np.int64]) -> Wide:
    """How far every node is lowered: as far as the cell before it wants, and the one after it."""
    before, after = np.zeros(len(exponent)), np.zeros(len(exponent))
    before[1:], after[:-1] = last.at(exponent[1:]), first.at(exponent[:-1])
    return Wide(np.maximum(before, after), exponent)


def taken(sunk: Wide, step: Fraction) -> Floats:
    """What lowering the nodes by (e^h - 1)^2/(8 h) sunk takes from their masses, rounded up."""
    h = float(step)
    forward = math.expm1(h) / (8 * h)
    backward = forward * math.exp(h)
    here, before, after = sunk.mantissa, np.zeros(len(sunk)), np.zeros(len(sunk))
    before[1:] = Wide(sunk.mantissa[:-1], sunk.exponent[:-1]).at(sunk.exponent[1:])
    after[:-1] = Wide(sunk.mantissa[1:], sunk.exponent[1:]).at(sunk.exponent[:-1])
    cost: Floats = forward * (after - here) - backward * (here - before)
    return cost + 2.0**-46 * (after + here + before)


def convex(masses: Wide, step: Fraction) -> Wide:
    """The masses with all negative ones shared out; raises TooCoarse if the last one stays so.

    A deficit before the first node that is left goes up to it, which lowers the curve as well.
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
            continue  # it was listed twice
        a, b = before.get(node, node - 1), after.get(node, node + 1)
        if b == len(kept):
            raise TooCoarse()
        before[b], after[a] = a, b
        for other, part in _parts(a, node, b, float(step)):
            power = int(exponent[node] - exponent[other])
            if power > 0:  # in units of the larger
                kept[other], exponent[other] = math.ldexp(kept[other], -power), exponent[node]
            share = math.ldexp(deficit * part, min(power, 0))
            kept[other] += share - 2.0**-50 * (abs(kept[other]) - share)
            if kept[other] < 0:
                kinks.append(other)
    return Wide(kept, exponent)


def _parts(a: int, node: int, b: int, step: float) -> list[tuple[int, float]]:
    """The neighbours of a node and their parts of its mass."""
    if a < 0:
        return [(b, 1.0)]
    up, down = (node - a) * step, (b - node) * step
    whole = math.expm1(up) - math.expm1(-down)
    return [(a, -math.expm1(-down) / whole), (b, math.expm1(up) / whole)]
