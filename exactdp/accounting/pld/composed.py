"""Compositions of measures by Fourier transforms of tilted masses, with a bound on every error.

Masses m_j at the losses offset + j h are tilted to m_j e^(t j), so that the sum of all losses has
its mean near the epsilon asked for: a relative error there is then a relative error of delta. The
tilted and rescaled masses p are doubles, known exactly once they are there, with sum near 1. Five
things are bounded:

- tilting and rescaling: relative, once per step (`_TILT_ERROR`);
- the forward transform: |Z - z| <= d, so |Z^n - z^n| <= expm1(2 n d) max(|Z|, 1/2)^n;
- the powers: 3u relative a multiplication, fewer than n of them count;
- the inverse transform: relative to the mean modulus of its inputs;
- what lies outside the window of L sums, by Chernoff's bound on both sides: it is missing above,
  and what of it is wrapped into the window is too much below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from exactdp.accounting.pld.measure import Measure
from exactdp.accounting.pld.tilted import LEAST, Tilted, dot, outside_mass, tilt, whole, window
from exactdp.accounting.pld.transform import (
    ROWS,
    UNIT,
    forward_rows,
    inverse_rows,
    relative_error,
)
from exactdp.accounting.pld.wide import falling, floor
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

__all__ = ["BITS", "Composed", "Copies", "compose", "infinite_mass", "start_of"]

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Of one row of a spectrum.
_Powers = tuple[Complexes, Complexes, Floats]

T = TypeVar("T", np.float64, np.complex128)

#: Working precision of what is not an array.
BITS = 128

#: Weights beyond the last one kept are below 2^-60.
_MISSING = arb(2) ** -59

#: Entries that are moved at a time.
_BLOCK = 1 << 14

#: (measure below, measure above, how often), all on grids of one step.
Copies = tuple[Measure, Measure, int]


@dataclass(frozen=True)
class Composed:
    """The law of the sum of all losses, tilted, in a window of losses.

    low, high: tilted masses at the losses start + j step; each is within `error` of the exact one,
    and `outside` bounds all that is missing or wrapped. log_low, log_high: logarithms of the scale
    at j = 0, rounded outward. last: the largest j that occurs. infinite_low, infinite_high: mass at
    infinity.
    """

    rate: float
    step: arb
    start: arb
    low: Floats
    high: Floats
    error: float
    outside: float
    log_low: arb
    log_high: arb
    last: int
    infinite_low: arb
    infinite_high: arb

    def below(self, epsilon: arb) -> arb:
        """A lower bound on delta(epsilon)."""
        if self._ended(epsilon):
            return self.infinite_low
        value, unknown, scale = self._sum(self.low, epsilon)
        return (
            (value - unknown).max(arb(0)) * (self.log_low + scale).exp() + self.infinite_low
        ).lower()

    def above(self, epsilon: arb) -> arb:
        """An upper bound on delta(epsilon)."""
        if self._ended(epsilon):
            return self.infinite_high
        value, unknown, scale = self._sum(self.high, epsilon)
        missing = unknown + _MISSING
        return ((value + missing) * (self.log_high + scale).exp() + self.infinite_high).upper()

    def vague(self, epsilon: arb) -> bool:
        """Whether it is the accuracy of doubles, not the grid, that keeps the bounds apart."""
        if self._ended(epsilon):
            return False
        _, unknown, scale = self._sum(self.high, epsilon)
        apart = self.above(epsilon) - self.below(epsilon)
        return not (unknown + _MISSING) * (self.log_high + scale).exp() * 4 < apart

    def _ended(self, epsilon: arb) -> bool:
        """Whether no finite loss is above epsilon."""
        return bool(epsilon >= self.start + self.step * self.last)

    def _sum(self, masses: Floats, epsilon: arb) -> tuple[arb, arb, arb]:
        """sum_i c_(j+i) (e^(-t i) - e^(-y) e^(-(t+h) i)), what is not known of it, log e^(-t j).

        j is the first node above epsilon in the window or beyond it, y its distance. What lies
        outside the window has weights below e^(t s), s the nodes between epsilon and the window.
        """
        place = floor((epsilon - self.start) / self.step) + 1
        first = max(place, 0)
        distance = self.start + self.step * first - epsilon
        here = masses[first : first + len(self._plain)]
        plain, steeper = (w[: len(here)] for w in (self._plain, self._steeper))
        relative = (len(here) + 10) * UNIT * _moduli(here, plain)
        first_sum = arb(dot(here, plain), 1.01 * relative)
        second_sum = arb(dot(here, steeper), 1.01 * relative)
        spread = self._spread if place >= 0 else 1.001 * float(self._plain.sum())
        unknown = self.error * arb(spread) + self.outside * (arb(self.rate) * (first - place)).exp()
        return first_sum - (-distance).exp() * second_sum, unknown, -arb(self.rate) * first

    @cached_property
    def _plain(self) -> Floats:
        return self._weights(arb(self.rate))

    @cached_property
    def _steeper(self) -> Floats:
        return self._weights(arb(self.rate) + self.step)

    @cached_property
    def _spread(self) -> float:
        """At least the sum of all weights e^(-t i) - e^(-y) e^(-(t+h) i), as y <= h."""
        shrunk = float((-self.step).exp().mid()) * (1 - 8 * UNIT)
        plain, steeper = float(self._plain.sum()), float(self._steeper.sum())
        return 1.001 * (plain - shrunk * steeper + 4 * len(self._plain) * UNIT * plain)

    def _weights(self, rate: arb) -> Floats:
        count = len(self.low)
        if self.rate > 0:
            count = min(count, math.ceil(42 / self.rate))
        with precision(BITS):  # whoever asks first may work at less
            return falling(-rate, count)


def _moduli(masses: Floats, weights: Floats) -> float:
    """The inner product of the moduli, in blocks: no other array of this length is taken."""
    places = (slice(start, start + _BLOCK) for start in range(0, len(masses), _BLOCK))
    return sum(dot(np.abs(masses[here]), weights[here]) for here in places)


def compose(parts: Sequence[Copies], rate: float) -> Composed:
    """The composition of all copies, tilted by e^(rate j) with rate >= 0.

    Raises Undecided where it needs a transform of more than MOST_POINTS.
    """
    with precision(BITS):
        tilted = [tilt(low, high, times, rate) for low, high, times in parts]
        points, origin = window(tilted)
        low, high, error = _transformed(tilted, points, origin)
        step = parts[0][0].grid.step
        log_low = sum((part.times * part.log_low for part in tilted), arb(0))
        log_high = sum((part.times * part.log_high for part in tilted), arb(0))
        back = arb(rate) * origin
        return Composed(
            rate,
            ball(step),
            ball(start_of(parts) + origin * step),
            low,
            high,
            error,
            outside_mass(tilted, points, origin),
            log_low.lower() - back,
            log_high.upper() - back,
            whole(tilted) - 1 - origin,
            infinite_mass([(low, times) for low, _, times in parts]).lower(),
            infinite_mass([(high, times) for _, high, times in parts]).upper(),
        )


def _transformed(
    tilted: Sequence[Tilted], points: int, origin: int
) -> tuple[Floats, Floats, float]:
    """The cyclic compositions in the window, below and above, and a bound on their errors.

    Both go through one complex transform: below is its real part, above the imaginary one.
    """
    relative = relative_error(points)
    shift, count, moduli = 0.0, 0, 0.0
    kept: list[_Powers] = []
    for number, part in enumerate(tilted):
        rows = forward_rows(_packed(part, points))
        shift += part.times * (2.02 * relative + 6 * UNIT)
        count += part.times
        for r in range(ROWS // 2 + 1):
            low, high, modulus = _powers(rows, r, part.times)
            if number:
                low, high, modulus = low * kept[r][0], high * kept[r][1], modulus * kept[r][2]
            if number + 1 < len(tilted):
                kept[r : r + 1] = [(low, high, modulus)]
                continue
            # every other row is the mirror image of one
            alone = r % (ROWS // 2) == 0
            moduli += float(modulus.sum()) * (1 if alone else 2)
            rows[r] = low + 1j * high
            if not alone:
                rows[-r] = (np.conj(low) + 1j * np.conj(high))[::-1]
    if shift > 0.1:
        raise Undecided("too many steps for double precision")
    mean = 1.01 * math.exp(20 * UNIT * count) * moduli / points
    growth = math.expm1(2 * shift) + 4 * UNIT * count + 2.1 * relative + 8 * UNIT
    sums = inverse_rows(rows)
    _turn(sums, origin % points)
    return sums.real, sums.imag, 1.01 * mean * growth + 2.0**-900


def _powers(rows: Complexes, r: int, times: int) -> _Powers:
    """In row r of the spectrum the powers of that below, of that above, and of a larger modulus."""
    row, opposite = rows[r], np.conj(rows[-r][::-1])
    mirrored = opposite if r else np.roll(opposite, 1)
    low, high = (row + mirrored) / 2, (row - mirrored) * -0.5j
    largest = np.maximum(np.maximum(np.abs(low), np.abs(high)), 0.5)
    return _power(low, times), _power(high, times), _power(largest, times)


def _turn(values: Complexes, places: int) -> None:
    """Move all values so many places to the front, and those to the end, by three reversals."""
    for part in (values[:places], values[places:], values):
        half, size = len(part) // 2, len(part)
        for start in range(0, half, _BLOCK):
            stop = min(start + _BLOCK, half)
            front = part[start:stop].copy()
            part[start:stop] = part[size - stop : size - start][::-1]
            part[size - stop : size - start] = front[::-1]


def _packed(part: Tilted, points: int) -> Complexes:
    """The masses below as the real part, those above as the imaginary one."""
    values = np.zeros(points, dtype=np.complex128)
    values.real[: len(part.low)] = part.low
    values.imag[: len(part.high)] = part.high
    return values


def _power(base: NDArray[T], exponent: int) -> NDArray[T]:
    """Entry by entry, by squaring: fewer than exponent roundings count."""
    result, square = np.ones_like(base), base.copy()
    while exponent:
        if exponent & 1:
            result *= square
        exponent >>= 1
        if exponent:
            square *= square
    return result


def start_of(parts: Sequence[Copies]) -> Fraction:
    """The least sum of all losses, where each begins at its first node."""
    return sum(
        (
            times * (low.grid.offset + min(low.first, high.first) * low.grid.step)
            for low, high, times in parts
        ),
        Fraction(0),
    )


def infinite_mass(measures: Sequence[tuple[Measure, int]]) -> arb:
    """The mass at infinity of a composition: all of it less what is finite throughout."""
    finite, ratio = arb(0), arb(0)
    for measure, times in measures:
        size = len(measure.masses)
        sum_ = float(measure.masses.at(0).sum())
        total = arb(sum_, 2 * size * UNIT * sum_ + size * LEAST)
        finite += times * total.log()
        ratio += times * (measure.infinity / total).log1p()
    return finite.exp() * ratio.expm1()
