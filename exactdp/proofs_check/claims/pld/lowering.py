"""Section 2 of the page: how far nodes are lowered, what that takes, and both ends of the grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from flint import arb

from exactdp.accounting.pld.chain import convex, lowered, taken
from exactdp.accounting.pld.wide import Wide
from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import OUR_PLD as PLD
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]

#: e^loss -> mass under P, of any sign.
_Signed = Mapping[Fraction, Fraction]

_BITS = 160
_STEPS = (Fraction(1, 2), Fraction(1, 64), Fraction(1, 4096))

#: Shares of neighbouring cells for their left and right ends.
_SHARES: tuple[tuple[tuple[float, float], ...], ...] = (
    ((1.0, 1.0), (1.0, 0.75), (0.875, 1.25), (1.5, 0.5)),
    ((1.0, 3.0), (0.25, 0.125), (2.0**-7, 2.0**-6), (2.0**-12, 2.0**-15)),
    ((2.0**-15, 2.0**-12), (2.0**-6, 2.0**-7), (0.125, 0.25), (3.0, 1.0)),
    ((0.0625, 0.0625), (4.0, 1.0), (0.0625, 0.5), (1.0, 0.0625)),
)


def _curve(measure: _Signed, x: Fraction) -> Fraction:
    return sum((m * max(1 - x / y, Fraction(0)) for y, m in measure.items()), Fraction(0))


def _wide(values: Sequence[float]) -> Wide:
    return Wide(np.array(values), np.zeros(len(values), dtype=np.int64))


def _lopsided(part: Fraction) -> str:
    """What is stated, on cells whose mass is one atom: there the curve is its end tangents.

    The stated amounts just reach them; what is shipped is that, rounded up.
    """
    seen: Counter[str] = Counter()
    cells = []
    with precision(_BITS):
        for step, shares in product(_STEPS, _SHARES):
            lefts, rights = ([cell[side] for cell in shares] for side in (0, 1))
            ends = lowered(_wide(lefts), _wide(rights), _wide([np.inf] * len(shares)), step)
            unit, growth = ball(step).expm1() ** 2 / (8 * ball(step)), ball(step).exp()
            for i, (left, right) in enumerate(shares):
                case, mass = f"h={step}, shares {left}, {right} of cell {i}", arb(left) + arb(right)
                made = [unit * ball(Fraction(float(w.mantissa[i]))) for w in ends]
                which = "left" if made[1] == 0 else "right" if made[0] == 0 else "both"
                seen[which] += 1
                stated = _amounts(which, growth, arb(left), arb(right))
                for found, amount in zip(made, stated, strict=True):
                    most = amount * (1 + arb(2) ** -36)
                    require(bool(amount <= found), f"{case}: {found} is shipped for {amount}")
                    require(bool(found <= most), f"{case}: {found} is shipped for {amount}")
                atom = mass / (left + right / growth)  # over the cell's left end
                place = (atom - 1) / (growth - 1)
                gap = (1 - place) * mass * (1 - 1 / atom)
                kept = ((1 - place) * stated[0] + place * stated[1]) * ball(part)
                cells.append((case, kept, gap))
    require(len(seen) == 3, f"only {dict(seen)}")
    for case, kept, gap in cells:
        require(bool(kept.overlaps(gap)), f"{case}: {kept} below the chord, the curve {gap}")
    return ", ".join(f"{count} cells: {end}" for end, count in sorted(seen.items()))


def _amounts(which: str, growth: arb, left: arb, right: arb) -> tuple[arb, arb]:
    """How far the page lowers the two ends of a cell."""
    if which == "both":
        each = (growth - 1) * left * right / (growth * left + right)
        return each, each
    return (right * (1 - 1 / growth), arb(0)) if which == "left" else (arb(0), left * (growth - 1))


def _cost(own: bool) -> str:
    """The masses of the chords before and after, against what is shipped."""
    sunk = [0.0, 0.25, 1.0, 3.0, 2.5, 2.5, 0.125, 0.0]
    with precision(_BITS):
        for step in _STEPS:
            h = ball(step)
            unit = h.expm1() ** 2 / (8 * h)
            found, exacts = taken(_wide(sunk), step), list[arb]()
            far = [unit * arb(s) for s in (0.0, *sunk, 0.0)]
            falls = 1 - (-h).exp() if own else h.expm1()
            for i, here in enumerate(found.tolist()):
                exact = (far[i + 2] - far[i + 1]) / h.expm1() - (far[i + 1] - far[i]) / falls
                off = (arb(here) - exact) / (far[i] + far[i + 1] + far[i + 2])
                require(bool(arb(here) >= exact), f"h={step}, node {i} pays too little")
                require(bool(off * h < arb(2) ** -40), f"h={step}, node {i} pays too much")
                exacts.append(exact)
            for i, e in enumerate(far[1:-1]):  # so much less is the curve at a node
                rest = enumerate(exacts[i:])
                less = sum((m * (1 - (-h * j).exp()) for j, m in rest), arb(0))
                require(less.overlaps(e), f"h={step}: the curve falls by {less} at node {i}")
    return f"{len(sunk)} nodes, {len(_STEPS)} steps; paid to 12 digits"


def _grid(count: int) -> list[Fraction]:
    return [Fraction(5, 4) ** i for i in range(count)]


def _parts(a: Fraction, x: Fraction, b: Fraction, keeps_q: bool) -> tuple[Fraction, Fraction]:
    """How much of a mass at x goes to a and to b."""
    to_a = (1 / x - 1 / b) / (1 / a - 1 / b) if keeps_q else Fraction(1, 2)
    return to_a, 1 - to_a


def _shared_out(keeps_q: bool) -> str:
    """Every negative mass among positive ones, shared between any two nodes beside it."""
    shipped, grid, count = _shipped(), _grid(7), 0
    before = {x: Fraction(1, 2 + i) for i, x in enumerate(grid)}
    for a, x, b in combinations(grid, 3):
        count += 1
        given = before | {x: Fraction(-1, 3)}
        to_a, to_b = _parts(a, x, b, keeps_q)
        found = before | {x: Fraction(0), a: before[a] - to_a / 3, b: before[b] - to_b / 3}
        for y in (Fraction(0), *grid):
            low, high = _curve(found, y), _curve(given, y)
            case = f"mass at {x} shared between {a} and {b}, curve at {y}"
            require(low <= high, case)
            require(a < y < b or low == high, case)
    return f"{count} triples of nodes; {shipped}"


def _shipped() -> str:
    """The masses that are shipped: none negative, the curve nowhere above, little lost."""
    step, worst = Fraction(1, 8), 0.0
    with precision(_BITS):
        for given in _deficits():
            found = convex(_wide(given), step).mantissa.tolist()
            require(min(found) >= 0, f"{given} became {found}")
            for i in range(-1, len(given)):
                falls = [(1 - (ball(step) * (i - j)).exp()).max(arb(0)) for j in range(len(given))]
                moved = [arb(m) - arb(n) for m, n in zip(found, given, strict=True)]
                more = sum((m * f for m, f in zip(moved, falls, strict=True)), arb(0))
                require(bool(more <= 0), f"{given}, curve at node {i}")
            worst = max(worst, abs(sum(given) - sum(found)))
    require(worst < 1e-13, f"{worst} of the mass is lost")
    return "what is shipped loses less than 1e-13"


def _deficits() -> Iterator[list[float]]:
    for place, depth in product(range(1, 6), (0.25, 0.75, 1.5)):
        masses = [1.0, 1.25, 0.75, 1.0, 1.5, 0.5, 2.0]
        masses[place] = -depth
        yield masses
    yield [1.0, -0.5, -0.5, 2.0, -0.25, -0.25, 3.0]


def _merged(down: bool) -> str:
    """All that lies beyond a node, on either side, as one outcome at the node below it."""
    grid = _grid(9)
    fine = {Fraction(11, 10) ** i: Fraction(1, 3 + (i - 9) ** 2) for i in range(19)}
    count = 0
    for cut in grid[1:-1]:
        for beyond in ({y for y in fine if y < cut}, {y for y in fine if y > cut}):
            p = sum((fine[y] for y in beyond), Fraction(0))
            loss = p / sum((fine[y] / y for y in beyond), Fraction(0))
            nodes = [x for x in grid if (x <= loss) == down]
            node = max(nodes) if down else min(nodes, default=loss)
            found = {y: m for y, m in fine.items() if y not in beyond}
            found[node] = found.get(node, Fraction(0)) + p
            count += 1
            for y in (Fraction(0), *fine, *grid):
                require(_curve(found, y) <= _curve(fine, y), f"cut at {cut}, curve at {y}")
    return f"{count} ends"


def _ends(to_infinity: bool) -> str:
    """Losses before the first node moved to it; those beyond the last to infinity, or dropped."""
    fine = {Fraction(11, 10) ** i: Fraction(1, 3 + (i - 9) ** 2) for i in range(19)}
    for first, last in combinations(_grid(9), 2):
        inside = {y: m for y, m in fine.items() if first <= y <= last}
        over = sum((m for y, m in fine.items() if y > last), Fraction(0))
        above = inside | {first: inside.get(first, Fraction(0))}
        above[first] += sum((m for y, m in fine.items() if y < first), Fraction(0))
        if not to_infinity:
            above[last] = above.get(last, Fraction(0)) + over
        for y in (Fraction(0), *fine, first, last):
            high = _curve(above, y) + (over if to_infinity else 0)
            case = f"nodes from {first} to {last}, curve at {y}"
            require(_curve(inside, y) <= _curve(fine, y) <= high, case)
    return "36 pairs of ends, 19 atoms"


CLAIMS = (
    PLD.verified(
        "Section 2, one end lowered",
        "With shares L and R of a cell's mass, lowering both its ends by "
        "(e^h - 1)LR/(e^h L + R), or the left one alone by R(1 - e^-h), or the right one alone by "
        "L(e^h - 1), as is shipped but for 2^-36 of it, just keeps the chord below the curve.",
        "certified numerics",
        **varied(_lopsided, Fraction(1), Fraction(999, 1000), "by 0.999 of it"),
    ),
    PLD.verified(
        "Section 2, what lowering takes",
        "Lowering the nodes by e_i takes "
        "(e_(i+1) - e_i)/(e^h - 1) - (e_i - e_(i-1))/(1 - e^-h) from the mass at node i; what is "
        "shipped takes no less.",
        "certified numerics",
        **varied(_cost, True, False, "with e^h - 1 in both places"),
    ),
    PLD.verified(
        "Section 2, negative masses shared out",
        "A negative mass shared between a node below it and one above, so that its masses under P "
        "and under Q stay, leaves a curve that is nowhere above, and the same but between the two.",
        "enumeration",
        **varied(_shared_out, True, False, "shared in halves"),
    ),
    PLD.verified(
        "Section 2, merged ends",
        "All that lies beyond a node as one outcome, of loss log P/Q, moved down to a node, has a "
        "curve that is nowhere above.",
        "enumeration",
        **varied(_merged, True, False, "moved up to a node"),
    ),
    PLD.verified(
        "Section 2, truncation",
        "Losses before the first node moved up to it, and those beyond the last to infinity, give "
        "a curve that is nowhere below; without them it is nowhere above.",
        "enumeration",
        **varied(_ends, True, False, "those beyond the last to the last"),
    ),
)
