"""Sections 1 and 2 of the page: monotone composition, chords above, the chain below."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick, pdf
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import OUR_PLD as PLD
from exactdp.proofs_check.entries import elsewhere, varied

__all__ = ["CLAIMS"]

#: e^loss -> mass under P, all rational.
_Measure = Mapping[Fraction, Fraction]

_BITS = 128


def _curve(measure: _Measure, x: Fraction) -> Fraction:
    return sum((m * max(1 - x / y, Fraction(0)) for y, m in measure.items()), Fraction(0))


def _evaluated(measure: _Measure) -> Callable[[Fraction], Fraction]:
    """The curve of a measure at many places: what lies above x, less x times its part under Q."""
    kinks = sorted(measure)
    above = [(Fraction(0), Fraction(0))]
    for y in reversed(kinks):
        above.append((above[-1][0] + measure[y], above[-1][1] + measure[y] / y))

    def curve(x: Fraction) -> Fraction:
        mass, other = above[len(kinks) - bisect_right(kinks, x)]
        return mass - x * other

    return curve


def _product(one: _Measure, other: _Measure) -> dict[Fraction, Fraction]:
    found: dict[Fraction, Fraction] = {}
    for (y, m), (z, n) in product(one.items(), other.items()):
        found[y * z] = found.get(y * z, Fraction(0)) + m * n
    return found


def _at_least(high: _Measure, low: _Measure) -> bool:
    """Whether one curve is nowhere below the other: piecewise linear, so kinks and ends decide."""
    kinks = {Fraction(0), *high, *low}
    return all(_curve(high, x) >= _curve(low, x) for x in kinks)


def _measures() -> Iterator[_Measure]:
    losses = (Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4))
    for weights in product((0, 1, 3), repeat=5):
        if sum(weights):
            yield {y: Fraction(w, 8) for y, w in zip(losses, weights, strict=True) if w}


def _monotone(by_curve: bool) -> str:
    """If one curve dominates (or, mutant, one total mass does), so it is after a composition."""
    count, listed = 0, list(_measures())[::7]
    thirds: tuple[_Measure, ...] = (
        {Fraction(1, 2): Fraction(1, 3), Fraction(2): Fraction(1, 2)},
        {Fraction(1, 5): Fraction(3), Fraction(7, 2): Fraction(1, 9)},
    )
    for high, low in product(listed, repeat=2):
        given = _at_least(high, low) if by_curve else sum(high.values()) >= sum(low.values())
        if given:
            count += 1
            for third in thirds:
                kept = _at_least(_product(high, third), _product(low, third))
                require(kept, f"{dict(high)} above {dict(low)}, but not with {third}")
    return f"{count} pairs of measures with masses from 1/8 to 15/8"


def _adaptive(everywhere: bool) -> str:
    """Every outcome of the first mechanism chooses a second one below the same bound."""
    half = Fraction(1, 2)
    bounds: tuple[_Measure, ...] = (
        {Fraction(1, 3): Fraction(1, 8), Fraction(3): Fraction(7, 8)},
        {half: half, Fraction(3, 2): Fraction(1, 4), Fraction(5): half},
    )
    firsts: tuple[_Measure, ...] = (
        {half: Fraction(1, 4), Fraction(3, 2): Fraction(3, 4)},
        {Fraction(1, 4): half, Fraction(6): Fraction(1, 3)},
    )
    parts = [_adapted(*case, everywhere) for case in zip(bounds, firsts, strict=True)]
    return f"{sum(parts)} choices by two outcomes, two bounds"


def _adapted(bound: _Measure, first: _Measure, everywhere: bool) -> int:
    below = [m for m in _measures() if _below(m, bound, everywhere)]
    chosen = below[:: max(len(below) // 25, 1)]
    count, whole = 0, _product(first, bound)
    for seconds in product(chosen, repeat=2):
        joint: dict[Fraction, Fraction] = {}
        for (y, mass), second in zip(first.items(), seconds, strict=True):
            for z, m in second.items():
                joint[y * z] = joint.get(y * z, Fraction(0)) + mass * m
        count += 1
        require(_at_least(whole, joint), f"after {[dict(second) for second in seconds]}")
    return count


def _below(low: _Measure, high: _Measure, everywhere: bool) -> bool:
    return (
        _at_least(high, low)
        if everywhere
        else _curve(high, Fraction(1)) >= _curve(low, Fraction(1))
    )


def _split(keep_q: bool) -> str:
    """An atom shared between two nodes, Q-mass kept (mutant: the mean of 1/e^loss is not)."""
    nodes = (Fraction(1, 9), Fraction(1), Fraction(2), Fraction(7, 2))
    for (low, high), k in product(combinations(nodes, 2), range(1, 10)):
        y = low + Fraction(k, 10) * (high - low)
        to_low = (1 / y - 1 / high) / (1 / low - 1 / high) if keep_q else (high - y) / (high - low)
        whole, parts = {y: Fraction(1)}, {low: to_low, high: 1 - to_low}
        case = f"mass at {y} shared {to_low} to {low}"
        require(_at_least(parts, whole), case)
        # the premise, as the shares of Q are not taken from it
        require(sum(m / z for z, m in parts.items()) == 1 / y, case)
    return "nine atoms between any two of four nodes"


def _gap(factor: Fraction) -> str:
    """The gap between a Gaussian curve and its chord at three places of many cells."""
    count = 0
    with precision(_BITS):
        for mu, h in product(
            (Fraction(1, 2), Fraction(1), Fraction(3)), (Fraction(1, 8), Fraction(1, 100))
        ):
            m, step = ball(mu), ball(h)
            for i in range(-20, 21, 4):
                left = ball(i * mu / 10)
                ends = [hockey_stick(left, m), hockey_stick(left + step, m)]
                centre = m * m / 2
                nearest = (left - centre).max(arb(0)) - (centre - left - step).max(arb(0))
                density = pdf(nearest / m) / m
                bound = step.expm1() ** 2 / 8 * density * ball(factor)
                count += 1
                for part in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):  # of the cell, in x
                    t = ball(part)
                    place = left + (t * step.expm1()).log1p()
                    gap = ends[0] + t * (ends[1] - ends[0]) - hockey_stick(place, m)
                    case = f"mu={mu}, h={h}, cell at {i}/10 mu, {part} of it"
                    require(bool(gap <= bound), case)
    return f"{count} cells, mu = 1/2, 1, 3"


def _chain(lowered: Fraction) -> str:
    """A chain through points lowered by the largest gap of either cell stays below the curve."""
    for fine in _fine():
        _sunk_chain(fine, lowered)
    return "16 cells over 61 atoms, two measures"


def _fine() -> Iterator[_Measure]:
    yield {Fraction(21, 20) ** i: Fraction(1, 40 + i * i) for i in range(-30, 31)}
    yield {Fraction(21, 20) ** i: Fraction(1 + i * i % 11, 50) for i in range(-30, 31)}


def _sunk_chain(fine: _Measure, lowered: Fraction) -> None:
    nodes = [Fraction(5, 4) ** i for i in range(-8, 9)]
    curve, gaps = _evaluated(fine), []
    for a, b in pairwise(nodes):
        inside = [a + (b - a) * k / 40 for k in range(41)] + [y for y in fine if a < y < b]
        gaps.append(
            max(curve(a) + (curve(b) - curve(a)) * (x - a) / (b - a) - curve(x) for x in inside)
        )
    sunk = [
        curve(x) - lowered * max(gaps[max(i - 1, 0)], gaps[min(i, len(gaps) - 1)])
        for i, x in enumerate(nodes)
    ]
    for i, (a, b) in enumerate(pairwise(nodes)):
        for x in [*fine, *(a + (b - a) * k / 40 for k in range(41))]:
            if a <= x <= b:
                chord = sunk[i] + (sunk[i + 1] - sunk[i]) * (x - a) / (b - a)
                require(chord <= curve(x), f"cell {i}, x={float(x):.6g}")


def _points(raised: bool) -> str:
    """Chords through points of a curve that are rounded up (or down), some of them left out."""
    nodes = [Fraction(9, 8) ** i for i in range(-12, 13)]
    off = Fraction(1, 50) if raised else -Fraction(1, 50)
    for fine, kept in product(_fine(), (nodes, nodes[::2], nodes[:5] + nodes[9:])):
        points = [(x, _curve(fine, x) * (1 + off * (i % 3))) for i, x in enumerate(kept)]
        for (a, low), (b, high) in pairwise(points):
            for x in [*fine, a, b]:
                if a <= x <= b:
                    chord = low + (high - low) * (x - a) / (b - a)
                    require(chord >= _curve(fine, x), f"x={float(x):.6g}")
    return "three choices of points, 61 atoms, two measures"


CLAIMS = (
    PLD.verified(
        "Section 1, composition is monotone in the curve",
        "If the curve of one measure is nowhere below that of another, so it is after both are "
        "composed with a third; their total masses may be anything.",
        "enumeration",
        **varied(_monotone, True, False, "if its total mass is not below"),
    ),
    PLD.verified(
        "Section 1, adaptive composition",
        "If each outcome of one mechanism chooses a second one whose curve is nowhere above a "
        "bound, the curve of both is nowhere above the first one composed with the bound.",
        "enumeration",
        **varied(_adaptive, True, False, "not above it at e^loss = 1"),
    ),
    PLD.verified(
        "Section 2, chords above",
        "An atom shared between two nodes so that its mass under P and under Q is kept has a "
        "curve that is nowhere below.",
        "enumeration",
        **varied(_split, True, False, "so that its mean under P is kept"),
    ),
    PLD.verified(
        "Section 2, curves that are known",
        "Chords through points that are on or above a curve of a pair are nowhere below it, "
        "whichever points are left out.",
        "enumeration",
        **elsewhere(
            "the mutant takes points below the curve",
            varied(_points, True, False, "on or below it"),
        ),
    ),
    PLD.verified(
        "Section 2, largest gap",
        "In a cell of length h the chord is above a Gaussian curve by at most (e^h - 1)^2/8 times "
        "the largest density of the loss in the cell.",
        "certified numerics",
        **varied(_gap, Fraction(1), Fraction(95, 100), "95 percent of it"),
    ),
    PLD.verified(
        "Section 2, chain below the curve",
        "The chords through points lowered by the largest gap of both neighbouring cells are "
        "nowhere above the curve.",
        "enumeration",
        **varied(_chain, Fraction(1), Fraction(9, 10), "by 90 percent of it"),
    ),
)
