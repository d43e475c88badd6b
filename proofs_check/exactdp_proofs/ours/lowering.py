"""Section 2 of the page certified-pld: how far nodes are lowered, and what that takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np
from flint import arb

from exactdp.accounting.pld.grid.lowering import convex, cost, lowered
from exactdp.accounting.pld.grid.scaled import Scaled
from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import agree, at_most, below, equal
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, fitted, mutant

_BITS = 160
_STEPS = (Fraction(1, 2), Fraction(1, 64), Fraction(1, 4096))

#: Shares of neighbouring cells for their left and right ends.
_SHARES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((1.0, 1.0), (1.0, 0.75), (0.875, 1.25), (1.5, 0.5)),
    ((1.0, 3.0), (0.25, 0.125), (2.0**-7, 2.0**-6), (2.0**-12, 2.0**-15)),
    ((2.0**-15, 2.0**-12), (2.0**-6, 2.0**-7), (0.125, 0.25), (3.0, 1.0)),
    ((0.0625, 0.0625), (4.0, 1.0), (0.0625, 0.5), (1.0, 0.0625)),
)


def _scaled(values: Sequence[float]) -> Scaled:
    return Scaled(np.array(values), np.zeros(len(values), dtype=np.int64))


@PLD.holds("Section 2", "one end lowered")
@mutant(part=Fraction(999, 1000))
def one_end_lowered(part: Fraction = Fraction(1)) -> None:
    """With shares L and R of a cell's mass, lowering both its ends by (e^h - 1)LR/(e^h L + R), or
    the left one alone by R(1 - e^-h), or the right one alone by L(e^h - 1), as is shipped but for
    2^-36 of it, just keeps the chord below the curve.
    """
    seen, cells = set(), []
    with precision(_BITS):
        for step, shares in product(_STEPS, _SHARES):
            lefts, rights = ([cell[side] for cell in shares] for side in (0, 1))
            ends = lowered(_scaled(lefts), _scaled(rights), _scaled([np.inf] * len(shares)), step)
            unit, growth = ball(step).expm1() ** 2 / (8 * ball(step)), ball(step).exp()
            for i, (left, right) in enumerate(shares):
                lowerings = [unit * ball(Fraction(float(w.mantissa[i]))) for w in ends]
                which = "left" if lowerings[1] == 0 else "right" if lowerings[0] == 0 else "both"
                stated = _amounts(which, growth, arb(left), arb(right))
                for lowering, amount in zip(lowerings, stated, strict=True):
                    at_most(amount, lowering, h=step, cell=i)
                    at_most(lowering, amount * (1 + arb(2) ** -36), h=step, cell=i)
                # a cell whose mass is one atom has the curve of its end tangents
                mass = arb(left) + arb(right)
                atom = mass / (left + right / growth)  # over the cell's left end
                place = (atom - 1) / (growth - 1)
                gap = (1 - place) * mass * (1 - 1 / atom)
                cells.append((gap, (1 - place) * stated[0] + place * stated[1]))
                seen.add(which)
        equal(seen, {"left", "right", "both"})
        for gap, kept in cells:
            agree(gap, ball(part) * kept)


def _amounts(which: str, growth: arb, left: arb, right: arb) -> tuple[arb, arb]:
    """How far the page lowers the two ends of a cell."""
    if which == "both":
        each = (growth - 1) * left * right / (growth * left + right)
        return each, each
    return (right * (1 - 1 / growth), arb(0)) if which == "left" else (arb(0), left * (growth - 1))


@PLD.holds("Section 2", "what lowering takes")
@mutant("with e^h - 1 in both places", own=False)
def what_lowering_takes(own: bool = True) -> None:
    """Lowering the nodes by e_i takes (e_(i+1) - e_i)/(e^h - 1) - (e_i - e_(i-1))/(1 - e^-h) from
    the mass at node i; what is shipped takes no less, and the same to 12 digits.
    """
    sunk = [0.0, 0.25, 1.0, 3.0, 2.5, 2.5, 0.125, 0.0]
    with precision(_BITS):
        for step in _STEPS:
            h = ball(step)
            unit, costs = h.expm1() ** 2 / (8 * h), cost(_scaled(sunk), step)
            far = [unit * arb(s) for s in (0.0, *sunk, 0.0)]
            falls = 1 - (-h).exp() if own else h.expm1()
            exacts = [
                (far[i + 2] - far[i + 1]) / h.expm1() - (far[i + 1] - far[i]) / falls
                for i in range(len(sunk))
            ]
            for i, here in enumerate(map(arb, costs.tolist())):
                at_most(exacts[i], here, h=step, node=i)
                size = far[i] + far[i + 1] + far[i + 2]
                below((here - exacts[i]) * h, size * arb(2) ** -40, h=step, node=i)
            for i, e in enumerate(far[1:-2]):  # by this much the curve at a node falls
                terms = enumerate(exacts[i:])
                less = sum((m * (1 - (-h * j).exp()) for j, m in terms), arb(0))
                at_most(abs(less - e), arb(2) ** -100, h=step, node=i)


def _curve(measure: Mapping[Fraction, Fraction], x: Fraction) -> Fraction:
    return sum((m * max(1 - x / y, Fraction(0)) for y, m in measure.items()), Fraction(0))


@PLD.holds("Section 2", "negative masses shared out")
@mutant("shared in halves", keeps_q=False)
def negative_masses(keeps_q: bool = True) -> None:
    """A negative mass shared between a node below it and one above, so that its masses under P and
    under Q stay, leaves a curve that is nowhere above, and the same but between the two.
    """
    grid = [Fraction(5, 4) ** i for i in range(7)]
    before = {x: Fraction(1, 2 + i) for i, x in enumerate(grid)}
    for a, x, b in combinations(grid, 3):
        to_a = (1 / x - 1 / b) / (1 / a - 1 / b) if keeps_q else Fraction(1, 2)
        with_negative = before | {x: Fraction(-1, 3)}
        shared = before | {x: Fraction(0), a: before[a] - to_a / 3, b: before[b] - (1 - to_a) / 3}
        for y in (Fraction(0), *grid):
            low, high = _curve(shared, y), _curve(with_negative, y)
            at_most(low, high, a=a, x=x, b=b, y=y)
            if not a < y < b:
                equal(low, high, a=a, x=x, b=b, y=y)


@PLD.holds("Section 2", "negative masses as shipped")
@mutant(lost=Fraction(1, 10**14))
@fitted(lost=Fraction(14, 10**15))
def negative_masses_shipped(lost: Fraction = Fraction(1, 10**13)) -> None:
    """As shipped no mass stays negative, the curve is nowhere above, and at most 1e-13 of the mass
    is lost.
    """
    step = ball(Fraction(1, 8))
    with precision(_BITS):
        for masses in _deficits():
            repaired = convex(_scaled(masses), Fraction(1, 8)).mantissa.tolist()
            moved = [Fraction(m) - Fraction(n) for m, n in zip(repaired, masses, strict=True)]
            at_most(0, Fraction(min(repaired)), given=masses)
            for i in range(-1, len(masses)):
                falls = [(1 - (step * (i - j)).exp()).max(arb(0)) for j in range(len(masses))]
                more = sum((ball(m) * f for m, f in zip(moved, falls, strict=True)), arb(0))
                at_most(more, 0, given=masses, node=i)
            at_most(-sum(moved), lost, given=masses)


def _deficits() -> Iterator[list[float]]:
    for place, depth in product(range(1, 6), (0.25, 0.75, 1.5)):
        masses = [1.0, 1.25, 0.75, 1.0, 1.5, 0.5, 2.0]
        masses[place] = -depth
        yield masses
    yield [1.0, -0.5, -0.5, 2.0, -0.25, -0.25, 3.0]
