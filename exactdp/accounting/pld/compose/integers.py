"""Compositions in integers that are rounded one way: a second opinion on doubles and balls.

Masses are multiples of 2^-bits. Below they are rounded down after every multiplication, above they
are rounded up. There is no window: all sums are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpz_poly

from exactdp.accounting.pld.compose.balls import BallSums, Untilted, untilted
from exactdp.accounting.pld.grid.measure import Measure


@dataclass(frozen=True)
class Integers:
    """The number type of integers in units of 2^-bits."""

    bits: int = 256
    alias_bits = None

    def tilted(self, low: Measure, high: Measure, times: int, rate: float) -> Untilted:
        return untilted(low, high, times)

    def sums(
        self, steps: Sequence[Untilted], points: int, origin: int, step: Fraction
    ) -> tuple[BallSums, BallSums]:
        low, high = (
            BallSums.of(self._powers([(part.masses()[up], part.times) for part in steps], up), step)
            for up in (0, 1)
        )
        return low, high

    def _powers(self, parts: Sequence[tuple[list[arb], int]], up: int) -> list[arb]:
        """The masses of the sums, by binary powers of polynomials."""
        whole = fmpz_poly([1 << self.bits])
        for masses, times in parts:
            scaled = [mass * arb(2) ** self.bits for mass in masses]
            square = fmpz_poly([int((x.ceil() if up else x.floor()).fmpz()) for x in scaled])
            while times:
                if times & 1:
                    whole = self._product(whole, square, up)
                times >>= 1
                if times:
                    square = self._product(square, square, up)
        return [arb(c) * arb(2) ** -self.bits for c in whole.coeffs()]

    def _product(self, one: fmpz_poly, other: fmpz_poly, up: int) -> fmpz_poly:
        spare = ((1 << self.bits) - 1) * up
        return fmpz_poly([(c + spare) >> self.bits for c in (one * other).coeffs()])
