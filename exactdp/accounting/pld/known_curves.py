"""A loss of which the curve is known at some points: chords above it.

delta(epsilon) for epsilon >= 0 is that of the worst neighbours at each epsilon, in either order. So
it is a maximum of convex curves, and the curve of a pair: for x < 1, D(x) = 1 - x + x D(1/x), which
exchanges masses under P and Q. The points may be rounded up: chords through points above a convex
curve are above it, and so are chords that leave points out, as is done where those given are not
convex. One step alone has the curve itself.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.atoms import Outcome
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure

__all__ = ["ExactLoss", "KnownCurve"]

_BITS = 256

#: Points on a curve per width of the noise's loss, and the fewest.
_DENSITY = 24
_FEWEST = 32


class Curve(Hashable, Protocol):
    """The exact curve of a mechanism, for the worst neighbours at each epsilon, in either order."""

    @property
    def shown(self) -> Fraction:
        """At most what delta does not fall below at any epsilon."""

    @property
    def mu(self) -> Fraction:
        """About the width of its losses."""

    @property
    def most_points(self) -> int:
        """So many epsilons are asked for in a composition."""

    def delta(self, epsilon: Fraction) -> Enclosure:
        """An enclosure of relative width 1e-9 or less."""


@dataclass(frozen=True)
class ExactLoss:
    """The loss of a pair with this curve."""

    curve: Curve

    @property
    def lattice(self) -> Fraction:
        return self.known.lattice

    @property
    def known(self) -> KnownCurve:
        """The curve at some points."""
        return _known(self.curve)

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        return self.known.outcomes(tail_bits)


#: Its index, x = e^epsilon, a bound on delta.
_Point = tuple[int, arb, arb]


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
            centre, *chain = self._chain()
            start = self._crossing(centre, chain)
            slopes = [start, *(_slope(a, b) for a, b in pairwise(chain)), arb(0)]
            masses = [
                (index * self.step, x * (after - before), after - before)
                for (index, x, _), (before, after) in zip(chain, pairwise(slopes), strict=False)
            ]
            beyond = (chain or [centre])[-1][2]
            at_zero = (1 - beyond - sum((p + q for _, p, q in masses), arb(0))).max(arb(0))
        for loss, p, q in masses:
            yield loss, p, q
            yield -loss, q, p
        yield Fraction(0), at_zero, at_zero
        yield math.inf, beyond, arb(0)
        yield -math.inf, arb(0), beyond

    def _chain(self) -> list[_Point]:
        """The points that are kept, with rising slopes that end below 0."""
        kept: list[_Point] = []
        for index, delta in enumerate(self.deltas):
            point = index, ball(index * self.step).exp(), ball(delta)
            while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < _slope(kept[-1], point):
                kept.pop()
            kept.append(point)
        while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < 0:
            kept.pop()
        return kept

    def _crossing(self, centre: _Point, chain: list[_Point]) -> arb:
        """The slope just after x = 1; points that do not fit on are taken off the chain.

        Where the chord that crosses x = 1 to the first point's image is flatter than that from the
        centre, the centre is left out.
        """
        while chain:
            across = (chain[0][2] - 1) / (chain[0][1] + 1)
            if len(chain) == 1 or across < _slope(chain[0], chain[1]):
                return across.max(_slope(centre, chain[0]))
            chain.pop(0)
        return arb(0)


def _slope(left: _Point, right: _Point) -> arb:
    return (right[2] - left[2]) / (right[1] - left[1])


@lru_cache(maxsize=32)
def _known(curve: Curve) -> KnownCurve:
    """The curve up to about where only what is shown counts."""
    flat = curve.shown * Fraction(10_001, 10_000)
    low, high = Fraction(0), Fraction(float(curve.mu))
    while curve.delta(high).upper > flat:
        low, high = high, 2 * high
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if curve.delta(middle).upper > flat else (low, middle)
    count = min(max(math.ceil(_DENSITY * high / curve.mu), _FEWEST), curve.most_points)
    step = high / count
    return KnownCurve(step, tuple(curve.delta(i * step).upper for i in range(count + 1)))
