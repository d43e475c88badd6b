"""Certified statements about every point of a box: interval evaluation with bisection."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count

from flint import arb, fmpq

from exactdp.balls import ball, precision
from exactdp.errors import Undecided
from exactdp.parameters import Real, rational
from exactdp.proofs_check.claim import Counterexample

__all__ = ["always_positive"]

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
    whole = tuple((rational("box", low), rational("box", high)) for low, high in box)
    ties = count()
    queue: list[tuple[Fraction, int, Box]] = [(-_size(whole), next(ties), whole)]
    parts = 0
    with precision(bits):
        while queue:
            if parts >= most_boxes:
                raise Undecided(f"not settled with {most_boxes} parts")
            _, __, part = heapq.heappop(queue)
            parts += 1
            if function(*(_interval(*side) for side in part)) > 0:
                continue
            _refute(function, part)
            queue_parts = ((-_size(half), next(ties), half) for half in _halves(part, whole))
            for entry in queue_parts:
                heapq.heappush(queue, entry)
    return parts


def _refute(function: Callable[..., arb], part: Box) -> None:
    middle = [(low + high) / 2 for low, high in part]
    if function(*(ball(x) for x in middle)) <= 0:
        raise Counterexample("at " + ", ".join(f"{float(x):.12g}" for x in middle))


def _interval(low: Fraction, high: Fraction) -> arb:
    middle, radius = (low + high) / 2, (high - low) / 2
    return arb(fmpq(middle.numerator, middle.denominator)) + arb(0, 1) * ball(radius)


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
