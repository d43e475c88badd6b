"""Sections 1 and 2 of the page certified-pld: monotone composition, chords above and below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.normal import hockey_stick, pdf, tail
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

#: e^loss -> mass under P, all rational.
_Measure = Mapping[Fraction, Fraction]

_LOSSES = (Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4))
_HALF = Fraction(1, 2)


def _curve(measure: _Measure, x: Fraction) -> Fraction:
    return sum((m * max(1 - x / y, Fraction(0)) for y, m in measure.items()), Fraction(0))


def _product(one: _Measure, other: _Measure) -> dict[Fraction, Fraction]:
    return _added((y * z, m * n) for (y, m), (z, n) in product(one.items(), other.items()))


def _added(masses: Iterator[tuple[Fraction, Fraction]]) -> dict[Fraction, Fraction]:
    masses_by_loss: dict[Fraction, Fraction] = {}
    for y, m in masses:
        masses_by_loss[y] = masses_by_loss.get(y, Fraction(0)) + m
    return masses_by_loss


def _kinks(*measures: _Measure) -> list[Fraction]:
    """Curves are piecewise linear, so their order at 0 and at their kinks is their order."""
    return sorted({Fraction(0), *(y for measure in measures for y in measure)})


def _is_below(low: _Measure, high: _Measure, at: Fraction | None = None) -> bool:
    places = _kinks(low, high) if at is None else [at]
    return all(_curve(low, x) <= _curve(high, x) for x in places)


def _measures() -> Iterator[_Measure]:
    """Masses 0, 1/8 and 3/8 at five losses."""
    for weights in product((0, 1, 3), repeat=5):
        if sum(weights):
            yield {y: Fraction(w, 8) for y, w in zip(_LOSSES, weights, strict=True) if w}


_WIDER = "the mutant allows more measures"


@PLD.holds("Section 1", "composition is monotone in the curve", elsewhere=_WIDER)
@mutant("if its total mass is not larger", at=Fraction(0))
def composition_is_monotone(at: Fraction | None = None) -> None:
    """If the curve of one measure is nowhere below that of another, so it is after both are
    composed with a third; their total masses may be anything.
    """
    thirds: tuple[_Measure, ...] = (
        {_HALF: Fraction(1, 3), Fraction(2): _HALF},
        {Fraction(1, 5): Fraction(3), Fraction(7, 2): Fraction(1, 9)},
    )
    for low, high in product(list(_measures())[::12], repeat=2):
        if _is_below(low, high, at):
            for third in thirds:
                less, more = _product(low, third), _product(high, third)
                for x in _kinks(less, more):
                    at_most(_curve(less, x), _curve(more, x), low=low, high=high, x=x)


@PLD.holds(
    "Section 1",
    "adaptive composition",
    elsewhere="the mutant admits second mechanisms that the statement leaves out",
)
@mutant("not above it at x = 1", at=Fraction(1))
def adaptive_composition(at: Fraction | None = None) -> None:
    """If each outcome of one mechanism chooses a second one whose curve is nowhere above a bound,
    the curve of both is nowhere above the first one composed with the bound.
    """
    bound: _Measure = {_HALF: _HALF, Fraction(3, 2): Fraction(1, 4), Fraction(5): _HALF}
    first: _Measure = {Fraction(1, 4): _HALF, Fraction(6): Fraction(1, 3)}
    below = [measure for measure in _measures() if _is_below(measure, bound, at)]
    whole = _product(first, bound)
    for seconds in product(below[:: max(len(below) // 16, 1)], repeat=2):
        joint = _added(
            (y * z, mass * m)
            for (y, mass), second in zip(first.items(), seconds, strict=True)
            for z, m in second.items()
        )
        for x in _kinks(joint, whole):
            at_most(_curve(joint, x), _curve(whole, x), seconds=seconds, x=x)


@PLD.holds("Section 2", "chords above")
@mutant("so that its mean under P is kept", keep_q=False)
def chords_above(keep_q: bool = True) -> None:
    """An atom shared between two nodes so that its mass under P and under Q is kept has a curve
    that is nowhere below.
    """
    nodes = (Fraction(1, 9), Fraction(1), Fraction(2), Fraction(7, 2))
    for (low, high), k in product(combinations(nodes, 2), range(1, 10)):
        y = low + Fraction(k, 10) * (high - low)
        to_low = (1 / y - 1 / high) / (1 / low - 1 / high) if keep_q else (high - y) / (high - low)
        parts = {low: to_low, high: 1 - to_low}
        for x in (Fraction(0), low, y, high):
            at_most(_curve({y: Fraction(1)}, x), _curve(parts, x), low=low, y=y, high=high)
        equal(sum(m / z for z, m in parts.items()), 1 / y, low=low, y=y, high=high)


@PLD.holds("Section 2", "truncation")
@mutant("those beyond the last to the last", to_infinity=False)
def truncation(to_infinity: bool = True) -> None:
    """Losses before the first node moved up to it, and those beyond the last to infinity, give a
    curve that is nowhere below; without them it is nowhere above.
    """
    fine = {Fraction(11, 10) ** i: Fraction(1, 3 + (i - 9) ** 2) for i in range(19)}
    for first, last in combinations([Fraction(5, 4) ** i for i in range(0, 9, 2)], 2):
        inside = {y: m for y, m in fine.items() if first <= y <= last}
        over = sum((m for y, m in fine.items() if y > last), Fraction(0))
        above = inside | {first: inside.get(first, Fraction(0))}
        above[first] += sum((m for y, m in fine.items() if y < first), Fraction(0))
        if not to_infinity:
            above[last] = above.get(last, Fraction(0)) + over
        for x in (Fraction(0), *fine, first, last):
            at_most(_curve(inside, x), _curve(fine, x), first=first, last=last, x=x)
            high = _curve(above, x) + (over if to_infinity else 0)
            at_most(_curve(fine, x), high, first=first, last=last, x=x)


@PLD.holds("Section 2", "merged ends")
@mutant("moved up to a node", down=False)
def merged_ends(down: bool = True) -> None:
    """All that lies beyond a node as one outcome, of loss log P/Q, moved down to a node, has a
    curve that is nowhere above.
    """
    grid = [Fraction(5, 4) ** i for i in range(9)]
    fine = {Fraction(11, 10) ** i: Fraction(1, 3 + (i - 9) ** 2) for i in range(19)}
    for cut in grid[1:-1]:
        for beyond in ({y for y in fine if y < cut}, {y for y in fine if y > cut}):
            p = sum((fine[y] for y in beyond), Fraction(0))
            loss = p / sum((fine[y] / y for y in beyond), Fraction(0))
            nodes = [x for x in grid if (x <= loss) == down]
            node = max(nodes) if down else min(nodes, default=loss)
            merged = {y: m for y, m in fine.items() if y not in beyond}
            merged[node] = merged.get(node, Fraction(0)) + p
            for x in _kinks(fine, merged):
                at_most(_curve(merged, x), _curve(fine, x), cut=cut, x=x)


def _cells() -> Iterator[tuple[Fraction, Fraction, Fraction, arb]]:
    """mu, left end and length of cells, and the largest density of N(mu^2/2, mu^2) in them."""
    for mu, h in product(map(Fraction, ("1/2", "1", "3")), map(Fraction, ("1/8", "1/100"))):
        for i in range(-20, 21, 4):
            left, centre = i * mu / 10, mu * mu / 2
            nearest = max(left - centre, Fraction(0)) - max(centre - left - h, Fraction(0))
            yield mu, left, h, pdf(ball(nearest / mu)) / ball(mu)


@PLD.holds("Section 2", "largest gap")
@mutant(factor=Fraction(95, 100))
def largest_gap(factor: Fraction = Fraction(1)) -> None:
    """In a cell of length h the chord is above a Gaussian curve by at most (e^h - 1)^2/8 times the
    largest density of the loss in the cell.
    """
    with precision(128):
        for mu, left, h, density in _cells():
            m, low, step = ball(mu), ball(left), ball(h)
            ends = [hockey_stick(low, m), hockey_stick(low + step, m)]
            for part in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):  # of the cell, in x
                t = ball(part)
                inside = hockey_stick(low + (t * step.expm1()).log1p(), m)
                gap = ends[0] + t * (ends[1] - ends[0]) - inside
                bound = step.expm1() ** 2 / 8 * density * ball(factor)
                at_most(gap, bound, mu=mu, h=h, left=left, part=part)


@PLD.holds("Section 2", "tangent at the largest loss")
@mutant(factor=Fraction(95, 100))
def tangent(factor: Fraction = Fraction(1)) -> None:
    """At the left end of a cell of length h, the tangent at its right end is below a Gaussian
    curve by at most (e^h - 1)^2/2 times the largest density of the loss in the cell.
    """
    with precision(128):
        for mu, left, h, density in _cells():
            m, right = ball(mu), ball(left + h)
            slope = -tail(m / 2 + right / m)
            line = hockey_stick(right, m) + slope * (ball(left).exp() - right.exp())
            bound = ball(h).expm1() ** 2 / 2 * density * ball(factor)
            at_most(hockey_stick(ball(left), m) - line, bound, mu=mu, h=h, left=left)
