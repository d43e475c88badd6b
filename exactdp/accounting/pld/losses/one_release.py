"""The loss of a mechanism of which only delta is known: single releases have answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from flint import arb

from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.losses.base import Ends, LossLaw
from exactdp.balls import ball
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided


class DeltaCurve(Hashable, Protocol):
    """delta of a mechanism, for the worst neighbours at each epsilon, in either order."""

    def delta(self, epsilon: Fraction) -> Enclosure:
        """An enclosure of relative width 1e-9 or less; epsilon: >= 0."""


@lru_cache(maxsize=1024)
def delta_at(curve: DeltaCurve, epsilon: Fraction) -> Enclosure:
    """A point of a curve."""
    return curve.delta(epsilon)


@dataclass(frozen=True)
class OneRelease(LossLaw):
    """The loss of a single release; several releases, and samples, are refused."""

    curve_of_one: DeltaCurve

    @property
    def accuracy(self) -> Fraction:
        return Fraction(1, 10**8)

    def excess(self, epsilon: Fraction) -> arb:
        delta = delta_at(self.curve_of_one, epsilon)
        return ball(delta.lower).union(ball(delta.upper))

    def ends(self) -> Ends:
        return Ends(None, Enclosure(Fraction(0), Fraction(1)))

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        raise _only_one()

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        raise _only_one()

    def width(self) -> float:
        raise _only_one()

    def log_moment(self, s: Fraction) -> arb:
        raise _only_one()


def _only_one() -> Undecided:
    return Undecided("of this mechanism only delta is known: a single release has answers")
