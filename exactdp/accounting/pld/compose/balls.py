"""Compositions in balls, without a tilt, for tails that doubles cannot resolve.

Where one large loss is likelier than many small ones (few steps, small rates, tiny delta), no tilt
moves the mass of the sum near epsilon. Here the transform (Arb's) works with about as many bits as
delta is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import acb, arb, ctx

from exactdp.accounting.pld.compose.window import Tilted, tilt
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.balls import ball
from exactdp.errors import TooLong
from exactdp.progress import tick

#: Longer transforms of balls take minutes.
MOST_BALLS = 1 << 18

_SPARE_BITS = 80

#: Number of points between two reports of progress.
_REPORTED = 4096


@dataclass(frozen=True)
class BallSums:
    """Masses as balls: at every node the sums over the nodes from there on."""

    sums: list[tuple[arb, arb]]
    nbytes: int

    @classmethod
    def of(cls, masses: Sequence[arb], step: Fraction) -> BallSums:
        """The sums from each node on, at the working precision; a ball takes about 100 bytes."""
        fall = (-ball(step)).exp()

        def with_next(beyond: tuple[arb, arb], mass: arb) -> tuple[arb, arb]:
            return beyond[0] + mass, beyond[1] * fall + mass

        sums = list(accumulate(reversed(masses), with_next, initial=(arb(0), arb(0))))
        return cls(sums[::-1], len(sums) * (200 + ctx.prec // 4))

    def beyond(self, first: int) -> tuple[arb, arb]:
        return self.sums[min(first, len(self.sums) - 1)]

    def unknown(self, *, inside: bool) -> arb:
        return arb(0)


@dataclass(frozen=True)
class Untilted(Tilted):
    """The measures of one step; the masses as doubles serve to guess a window only."""

    measures: tuple[Measure, Measure]

    def log_moments(self, rate: arb) -> tuple[arb, arb]:
        below, above = (_moment(masses, rate).log() for masses in self.masses())
        return below, above

    def masses(self) -> tuple[list[arb], list[arb]]:
        """The exact masses, below and above; both lists begin at one node."""
        first = min(measure.first for measure in self.measures)
        below, above = (
            [arb(0)] * (measure.first - first) + measure.masses.balls() for measure in self.measures
        )
        return below, above


@dataclass(frozen=True)
class Balls:
    """The number type of balls, for deltas of about 2^-alias_bits."""

    alias_bits: int

    @property
    def bits(self) -> int:
        return self.alias_bits + _SPARE_BITS

    def tilted(self, low: Measure, high: Measure, times: int, rate: float) -> Untilted:
        guess = tilt(low, high, times, 0.0)
        return Untilted(guess.low, guess.high, arb(0), arb(0), times, 0.0, (low, high))

    def sums(
        self, steps: Sequence[Untilted], points: int, origin: int, step: Fraction
    ) -> tuple[BallSums, BallSums]:
        if points > MOST_BALLS:
            raise TooLong(MOST_BALLS)
        low, high = _transformed(steps, points, origin)
        return BallSums.of(low, step), BallSums.of(high, step)


def _moment(masses: Sequence[arb], rate: arb) -> arb:
    """sum m_j e^(rate j)."""
    growth, total = rate.exp(), arb(0)
    for mass in reversed(masses):
        total = total * growth + mass
    return total


def _transformed(
    steps: Sequence[Untilted], points: int, origin: int
) -> tuple[list[arb], list[arb]]:
    """The cyclic compositions in the window, from one complex transform: below + i above."""
    half = points // 2 + 1
    low, high = [acb(1)] * half, [acb(1)] * half
    for part in steps:
        values = [acb(0)] * points
        for unit, masses in zip((acb(1), acb(0, 1)), part.masses(), strict=True):
            for place, mass in enumerate(masses):
                values[place] += unit * mass
        seen = acb.dft(values)
        for k in range(half):
            if k % _REPORTED == 0:
                tick()
            here, mirrored = seen[k], seen[-k % points].conjugate()
            low[k] *= ((here + mirrored) / 2) ** part.times
            high[k] *= ((here - mirrored) * acb(0, -0.5)) ** part.times
    spectrum = [a + acb(0, 1) * b for a, b in zip(low, high, strict=True)]
    mirror = [
        a.conjugate() + acb(0, 1) * b.conjugate()
        for a, b in zip(low[half - 2 : 0 : -1], high[half - 2 : 0 : -1], strict=True)
    ]
    sums = acb.dft(spectrum + mirror, inverse=True)
    turned = [sums[(origin + k) % points] for k in range(points)]
    return [c.real for c in turned], [c.imag for c in turned]
