"""Certified statements about every point of a box: interval evaluation with bisection."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count
from math import comb

from flint import arb

from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.parameters import Real, rational
from exactdp_proofs.comparisons import proved
from exactdp_proofs.rationals import Fraction

Box = tuple[tuple[Fraction, Fraction], ...]


def always_positive(
    function: Callable[..., arb],
    box: Sequence[tuple[Real, Real]],
    *,
    most_boxes: int = 20_000,
    bits: int = 64,
) -> int:
    """Prove function(x, y, ...) > 0 on a closed box; returns how many parts it took.

    function: takes one ball per coordinate and returns a ball that contains every value on them.
    box: (least, most) per coordinate, exact. Where the function touches 0, divide that factor out.
    Raises Counterexample with a point where the function is certainly < 0 or = 0, and Undecided
    when most_boxes parts do not settle it.

    >>> always_positive(lambda x: 1 + x.exp() - 2 * x, [(0, 1)]) > 0
    True
    """
    whole = tuple(
        (Fraction(rational("box", low)), Fraction(rational("box", high))) for low, high in box
    )
    ties = count()
    queue: list[tuple[Fraction, int, Box]] = [(-_size(whole), next(ties), whole)]
    parts, least, most = 0, arb("inf"), arb(0)
    with precision(bits):
        while queue:
            if parts >= most_boxes:
                raise Undecided(f"not settled with {most_boxes} parts")
            _, __, part = heapq.heappop(queue)
            parts += 1
            value = function(*(_interval(*side) for side in part))
            if value > 0:
                least, most = least.min(value.lower()), most.max(value.upper())
                continue
            _refute(function, part)
            for half in _halves(part, whole):
                heapq.heappush(queue, (-_size(half), next(ties), half))
    near = float((1 - least / most).mid())
    proved(True, f"{_text(whole)} in {parts} part{'s' * (parts > 1)}", near)
    return parts


def never_negative(coefficients: Sequence[Real], low: Real, high: Real) -> None:
    """Prove c0 + c1 x + c2 x^2 + ... >= 0 on [low, high], where equality is allowed.

    Decided exactly: a polynomial lies between its Bernstein coefficients, and on halves of the
    interval these come nearer. Raises Undecided where it touches 0 inside without a sign change.

    >>> never_negative([1, -2], 0, "1/2")
    """
    numbers = [_read("coefficients", c) for c in coefficients]
    whole = _read("low", low), _read("high", high)
    intervals, near = [whole], Fraction(0)
    for _ in range(200):
        left, right = intervals.pop()
        bernstein = _bernstein(numbers, left, right)
        for x, value in ((left, bernstein[0]), (right, bernstein[-1])):
            if value < 0:
                proved(False, f"{float(value):.6g} < 0 at {float(x):.12g}")
        if min(bernstein) < 0:
            middle = (left + right) / 2
            intervals += [(left, middle), (middle, right)]
        elif max(bernstein):
            near = max(near, 1 - min(bernstein) / max(bernstein))
        if not intervals:
            return proved(True, f"{_text((whole,))}, degree {len(numbers) - 1}", float(near))
    raise Undecided("not settled with 200 parts")


def _bernstein(numbers: Sequence[Fraction], left: Fraction, right: Fraction) -> list[Fraction]:
    """The coefficients of the polynomial in Bernstein form on [left, right]."""
    n = len(numbers) - 1
    moved = [  # of the polynomial in t, x = left + (right - left) t
        sum(
            (c * comb(j, i) * left ** (j - i) for j, c in enumerate(numbers) if j >= i),
            Fraction(0),
        )
        * (right - left) ** i
        for i in range(n + 1)
    ]
    return [
        sum((moved[i] * Fraction(comb(j, i), comb(n, i)) for i in range(j + 1)), Fraction(0))
        for j in range(n + 1)
    ]


def _read(name: str, value: Real) -> Fraction:
    return Fraction(rational(name, value))


def _text(box: Box) -> str:
    return " x ".join(f"[{low}, {high}]" for low, high in box)


def _refute(function: Callable[..., arb], part: Box) -> None:
    middle = [(low + high) / 2 for low, high in part]
    if function(*(ball(x) for x in middle)) <= 0:
        proved(False, "at " + ", ".join(f"{float(x):.12g}" for x in middle))


def _interval(low: Fraction, high: Fraction) -> arb:
    middle, radius = (low + high) / 2, (high - low) / 2
    return ball(middle) + arb(0, 1) * ball(radius)


def _size(part: Box) -> Fraction:
    return max(high - low for low, high in part)


def _halves(part: Box, whole: Box) -> list[Box]:
    """Two halves, cut across the side that is longest relative to the whole box."""
    relative = [
        (high - low) / (most - least) if most > least else Fraction(0)
        for (low, high), (least, most) in zip(part, whole, strict=True)
    ]
    axis = relative.index(max(relative))
    if not relative[axis]:
        raise Undecided("a single point cannot be decided at this precision")
    low, high = part[axis]
    middle = (low + high) / 2
    return [(*part[:axis], side, *part[axis + 1 :]) for side in ((low, middle), (middle, high))]
