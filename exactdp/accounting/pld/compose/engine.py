"""The composition of measures on a grid: one engine over two kinds of numbers.

Masses m_j at the losses offset + j h are tilted to m_j e^(t j) and scaled to sum 1. With the best
tilt the sum of all losses has its mean near the epsilon that is asked for: a relative error there
is then a relative error of delta. Less tilt takes some digits of it, but needs a shorter window
where losses have heavy tails. The number type (`doubles`, `balls`) computes the masses
of the sums in a window of L nodes. What lies outside the window is bounded on both sides by
Chernoff's bound; sums wrapped into the window can only increase its masses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from flint import arb

from exactdp.accounting.pld.compose.window import Tilted, largest_sum, outside_mass, window
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW, UNIT, floor
from exactdp.balls import ball, precision

#: Working precision outside the arrays.
BITS = 128

S = TypeVar("S", bound=Tilted)

#: (measure below, measure above, number of runs), all on grids of one step.
Copies = tuple[Measure, Measure, int]


class Sums(Protocol):
    """The tilted masses of the sums of all losses, at the nodes of a window."""

    def beyond(self, first: int) -> tuple[arb, arb]:
        """The sums over i >= 0 of c_(first+i) e^(-t i) and of c_(first+i) e^(-(t+h) i)."""

    def unknown(self, *, inside: bool) -> arb:
        """A bound of the effect of rounding on the excess; inside: y <= h, see `Composition`."""

    @property
    def nbytes(self) -> int: ...


class Arithmetic(Protocol[S]):
    """A kind of numbers to compose in."""

    @property
    def bits(self) -> int:
        """The working precision of questions."""

    @property
    def alias_bits(self) -> int:
        """About 2^-alias_bits of the mass may lie outside the window."""

    def tilted(self, low: Measure, high: Measure, times: int, rate: float) -> S:
        """The masses of one step, prepared."""

    def sums(
        self, steps: Sequence[S], points: int, origin: int, step: Fraction
    ) -> tuple[Sums, Sums]:
        """The masses of the sums at the nodes origin ... origin + points - 1, below and above."""


@dataclass(frozen=True)
class Composition:
    """Bounds of delta of a composition at any epsilon.

    rate: the tilt t. start: the loss of the first node of the window. low, high: the tilted masses.
    outside: a bound of the mass that is missing in the window or wrapped into it. log_low,
    log_high: logarithms of the scale at the first node, rounded outward. last: index of the largest
    loss. infinite_low, infinite_high: mass at infinity.
    """

    rate: float
    step: arb
    start: arb
    low: Sums
    high: Sums
    outside: arb
    log_low: arb
    log_high: arb
    last: int
    infinite_low: arb
    infinite_high: arb
    bits: int = BITS

    @property
    def nbytes(self) -> int:
        return self.low.nbytes + self.high.nbytes

    def below(self, epsilon: arb) -> arb:
        """A lower bound of delta(epsilon)."""
        with precision(self.bits):
            if self._is_last(epsilon):
                return self.infinite_low
            value, unknown, scale = self._excess(self.low, epsilon)
            finite_part = (value - unknown).max(arb(0)) * (self.log_low + scale).exp()
            return arb((finite_part + self.infinite_low).lower())

    def above(self, epsilon: arb) -> arb:
        """An upper bound of delta(epsilon)."""
        with precision(self.bits):
            if self._is_last(epsilon):
                return self.infinite_high
            value, unknown, scale = self._excess(self.high, epsilon)
            finite_part = (value + unknown) * (self.log_high + scale).exp()
            return arb((finite_part + self.infinite_high).upper())

    def line(self, epsilon: arb) -> tuple[arb, arb]:
        """a and b with a - b x <= delta(log x) for every x > 0, nearly equal at x = e^epsilon.

        a and b are the probabilities of losses above epsilon, of the measures below the curve.
        Sums that are wrapped into the window may add to a, sums beyond it are missing in b.
        """
        with precision(self.bits):
            if self._is_last(epsilon):
                return self.infinite_low, arb(0)
            first = max(floor((epsilon - self.start) / self.step) + 1, 0)
            here, steeper = self.low.beyond(first)
            unknown = self.low.unknown(inside=False) + self.outside
            scale = (self.log_low - arb(self.rate) * first).exp()
            fall = (-(self.start + self.step * first)).exp()
            with_user = (here - unknown).max(arb(0)) * scale + self.infinite_low
            without = (steeper + unknown) * scale * fall
            return arb(with_user.lower()), arb(without.upper())

    def is_rounded(self, epsilon: arb) -> bool:
        """Whether rounding, not the grid, causes a quarter or more of the width of the bounds."""
        if self._is_last(epsilon):
            return False
        with precision(self.bits):
            _, unknown, scale = self._excess(self.high, epsilon)
            width = self.above(epsilon) - self.below(epsilon)
            return not unknown * (self.log_high + scale).exp() * 4 < width

    def _is_last(self, epsilon: arb) -> bool:
        """Whether no finite loss is above epsilon."""
        return bool(epsilon >= self.start + self.step * self.last)

    def _excess(self, masses: Sums, epsilon: arb) -> tuple[arb, arb, arb]:
        """sum_i c_(j+i) (e^(-t i) - e^(-y) e^(-(t+h) i)), its unknown part, and log e^(-t j).

        j is the first node of the window that is above epsilon, and y its distance from epsilon.
        Mass outside the window has weights up to e^(t s), s the nodes from epsilon to the window.
        """
        node = floor((epsilon - self.start) / self.step) + 1
        first = max(node, 0)
        distance = self.start + self.step * first - epsilon
        here, steeper = masses.beyond(first)
        unknown = masses.unknown(inside=node >= 0)
        unknown += self.outside * (arb(self.rate) * (first - node)).exp()
        return here - (-distance).exp() * steeper, unknown, -arb(self.rate) * first


def compose(parts: Sequence[Copies], rate: float, arithmetic: Arithmetic[S]) -> Composition:
    """The composition of all copies, tilted by e^(rate j) with rate >= 0.

    Raises TooLong where the window needs too many points.
    """
    with precision(BITS):
        steps = [arithmetic.tilted(low, high, times, rate) for low, high, times in parts]
        points, origin = window(steps, arithmetic.alias_bits)
    step = parts[0][0].grid.step
    with precision(arithmetic.bits):
        low, high = arithmetic.sums(steps, points, origin, step)
        log_low = sum((part.times * part.log_low for part in steps), arb(0))
        log_high = sum((part.times * part.log_high for part in steps), arb(0))
        back = arb(rate) * origin
        return Composition(
            rate,
            ball(step),
            ball(_least_sum(parts) + origin * step),
            low,
            high,
            outside_mass(steps, points, origin),
            log_low.lower() - back,
            log_high.upper() - back,
            largest_sum(steps) - origin,
            _infinite([(low, times) for low, _, times in parts]).lower(),
            _infinite([(high, times) for _, high, times in parts]).upper(),
            arithmetic.bits,
        )


def _least_sum(parts: Sequence[Copies]) -> Fraction:
    """The least sum of all losses, where every step begins at its first node."""
    return sum(
        (
            times * (low.grid.offset + min(low.first, high.first) * low.grid.step)
            for low, high, times in parts
        ),
        Fraction(0),
    )


def _infinite(measures: Sequence[tuple[Measure, int]]) -> arb:
    """The mass at infinity: the product of all masses less the product of all finite masses."""
    finite, ratio = arb(0), arb(0)
    for measure, times in measures:
        size = len(measure.masses)
        sum_ = float(measure.masses.at(0).sum())
        # entries below 2^-1022 lose at most 2^-1075 each; each addition rounds by at most u
        total = arb(sum_, ROUNDED_UP * size * UNIT * sum_ + UNDERFLOW)
        finite += times * total.log()
        ratio += times * (measure.infinity / total).log1p()
    return finite.exp() * ratio.expm1()
