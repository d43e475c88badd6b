"""A loss of which the curve is known at some points: chords above it.

delta(epsilon) for epsilon >= 0 is that of the worst neighbours at each epsilon, in either order. So
it is a maximum of convex curves, and the curve of a pair: for x < 1, D(x) = 1 - x + x D(1/x), which
exchanges masses under P and Q. The points may be rounded up: chords through points above a convex
curve are above it, and so are chords that leave points out, as is done where those given are not
convex.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from exactdp.accounting.pld.atoms import Outcome
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["KnownCurve"]

_BITS = 256


@dataclass(frozen=True)
class KnownCurve:
    """The loss of a pair that dominates in both orders, by bounds on its delta.

    step: of epsilon. deltas: at the epsilons 0, step, 2 step, ..., none below the true one, and
    below 1; beyond the last, delta is at most what it is there.
    """

    step: Fraction
    deltas: tuple[Fraction, ...]

    @property
    def lattice(self) -> Fraction:
        return self.step

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        with precision(_BITS):
            chain = self._chain()
            slopes = [_slope(a, b) for a, b in pairwise(chain)] + [arb(0)]
            masses = [
                (index * self.step, x * (after - before), after - before)
                for (index, x, _), (before, after) in zip(chain[1:], pairwise(slopes), strict=True)
            ]
            beyond = chain[-1][2]
            at_zero = 1 - beyond - sum((p + q for _, p, q in masses), arb(0))
        if not at_zero >= 0:
            raise Undecided("the bounds of a curve are too far from it")
        for loss, p, q in masses:
            yield loss, p, q
            yield -loss, q, p
        yield Fraction(0), at_zero, at_zero
        yield math.inf, beyond, arb(0)
        yield -math.inf, arb(0), beyond

    def _chain(self) -> list[tuple[int, arb, arb]]:
        """(index, x, bound) of the points that are kept, with rising slopes that end below 0."""
        kept: list[tuple[int, arb, arb]] = []
        for index, delta in enumerate(self.deltas):
            point = index, ball(index * self.step).exp(), ball(delta)
            while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < _slope(kept[-1], point):
                kept.pop()
            kept.append(point)
        while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < 0:
            kept.pop()
        return kept


def _slope(left: tuple[int, arb, arb], right: tuple[int, arb, arb]) -> arb:
    return (right[2] - left[2]) / (right[1] - left[1])
