"""Laws of losses between two ends: densities between marks, which may have point masses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from flint import acb, arb

from exactdp.accounting.pld.grid import pieces
from exactdp.accounting.pld.grid.cells import Density, Masses
from exactdp.accounting.pld.grid.measure import Bounds
from exactdp.accounting.pld.laws.base import Ends, LossLaw
from exactdp.accounting.pld.laws.density import log_of
from exactdp.balls import ball
from exactdp.enclosure import Enclosure

__all__ = ["Piece", "PiecewiseLaw"]

#: Cells of a sketch between two marks.
_CELLS = 256

#: Their ends, as parts of the distance: ever closer to the marks, where a density may be steep.
_SHARES = sorted(
    {Fraction(i, _CELLS) for i in range(_CELLS + 1)}
    | {Fraction(1, _CELLS << k) for k in range(60)}
    | {1 - Fraction(1, _CELLS << k) for k in range(60)}
)


class PiecewiseLaw(LossLaw):
    """A loss between two ends; see `grid.pieces.Pieces` for the methods."""

    between_marks: ClassVar[bool] = True

    #: Whether the marks are exactly at anchor + i unit, or up to OFF above.
    exact = False

    @property
    @abstractmethod
    def unit(self) -> Fraction: ...

    @property
    @abstractmethod
    def anchor(self) -> Fraction: ...

    @abstractmethod
    def marks(self) -> Sequence[tuple[int, arb]]: ...

    @abstractmethod
    def pieces(self) -> Sequence[Density]: ...

    @abstractmethod
    def with_unit(self, unit: Fraction) -> PiecewiseLaw: ...

    @abstractmethod
    def scale(self) -> arb:
        """About the width of the law."""

    def bounds(self, step: Fraction, tail_bits: int, rate: Fraction) -> Bounds:
        return pieces.bounds(self, step)

    def width(self) -> float:
        return float(self.scale().mid())

    def sketch(self, bits: int) -> Iterator[tuple[float, float]]:
        marks = [(self.anchor + i * self.unit, mass) for i, mass in self.marks()]
        yield from ((float(place), log_of(mass)) for place, mass in marks if mass > 0)
        for piece, ((start, _), (end, _)) in zip(self.pieces(), pairwise(marks), strict=True):
            places = [start + (end - start) * share for share in _SHARES]
            masses = [piece.below(ball(place))[0] for place in places]
            for (place, after), (one, two) in zip(pairwise(places), pairwise(masses), strict=True):
                if two - one > 0:
                    yield float(place + after) / 2, log_of(two - one)

    def ends(self) -> Ends:
        last = self.anchor + self.marks()[-1][0] * self.unit
        largest = Enclosure(last, last if self.exact else last + pieces.OFF)
        return Ends(largest, Enclosure.exact(0))

    def log_moment(self, s: Fraction) -> arb:
        places, power = pieces.places(self), ball(s)
        total = sum(
            (mass * (power * at).exp() for at, (_, mass) in zip(places, self.marks(), strict=True)),
            arb(0),
        )
        for piece, (low, high) in zip(self.pieces(), pairwise(places), strict=True):
            total += _integral(piece, power, low, high)
        return total.log()


def _integral(piece: Density, power: arb, low: arb, high: arb) -> arb:
    """The integral of e^(power loss) between two losses."""

    def integrand(x: acb, _: bool) -> acb:
        found: acb = piece.density(x) * (power * x).exp()
        return found

    return acb.integral(integrand, low, high).real


class Piece:
    """A density between two marks; its masses are integrals, up to one constant."""

    steep = 0

    @abstractmethod
    def density(self, loss: Any) -> Any:
        """The density under P."""

    @abstractmethod
    def below(self, loss: arb) -> Masses:
        """The masses up to a loss, from a fixed place on."""

    def above(self, loss: arb) -> Masses:
        p, q = self.below(loss)
        return -p, -q

    def centre(self) -> arb:
        return arb(0)
