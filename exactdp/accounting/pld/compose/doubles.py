"""Compositions in doubles, with an a-priori bound of the rounding error of every mass.

The tilted masses p are doubles with sum 1 (up to a relative 2^22 u), known exactly. u = 2^-53. The
masses below are the real part and those above the imaginary part of one transform of L points.

- Forward transform: each output errs by at most `relative` times the sum of the moduli of the
  inputs, at most 2.
- Both spectra are (Z_k + conj Z_-k)/2 and (Z_k - conj Z_-k)(-i/2), with a modulus of at most 1.1
  where d below is at most 0.1. They have the mean error of two outputs, one rounding (u) and a
  product (3u): |Z - z| <= d = 2 relative + 1.1 (u + 3u) < 2 relative + 6u.
- Powers: |Z^n - z^n| <= (e^(2nd) - 1) max(|Z|, 1/2)^n. A product of complex doubles errs by at most
  3u, relatively; at most n products count, so (1 + 3u)^n - 1 <= 4nu for nu <= 1/60.
- With m the larger of both moduli and 1/2, the inputs of the inverse are low + i high: a product
  with i of modulus m (3u) and a sum of modulus 2m (2u) err by 5um, and by less than 8um with the
  products of all errors.
- Inverse transform: the masses below are the real parts, those above the imaginary parts. The
  spectra have the symmetry of a real input, up to the rounding of powers: so an output has once the
  mean of (e^(2nd) - 1) m^n, and twice the mean of 4nu m^n. Its own error is at most `relative`
  times the mean modulus of the inputs, which is at most twice the mean of m^n.
- m is the root of a sum of two squares: within 3u, as the roundings of the sum count half. Its
  power has at most n more roundings: together e^(4nu).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from flint import arb

from exactdp.accounting.pld.compose.engine import BITS
from exactdp.accounting.pld.compose.listed import in_lists
from exactdp.accounting.pld.compose.transform import (
    ROWS,
    forward_rows,
    inverse_rows,
    relative_error,
)
from exactdp.accounting.pld.compose.window import Tilted, dot, tilt
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.accounting.pld.grid.scaled import ROUNDED_UP, UNDERFLOW, UNIT, falling
from exactdp.arrays import HAS_NUMPY, Complexes, Floats, np
from exactdp.balls import ball
from exactdp.errors import Undecided

#: The powers of one row of a spectrum: below, above, and of the larger modulus.
_Powers = tuple[Complexes, Complexes, Floats]

T = TypeVar("T", Floats, Complexes)

#: Weights e^(-t i) are used for t i <= 42; the rest is below e^-42 < 2^-60, and the masses beyond
#: sum to at most 2.
_LAST_WEIGHT = 42
_LEFT_OUT = arb(2) ** -59

#: Number of entries that are processed at a time.
_BLOCK = 1 << 14


@dataclass(frozen=True)
class DoubleSums:
    """Tilted masses as doubles, each within `error` of the exact one."""

    masses: Floats
    error: float
    weights: Weights

    @property
    def nbytes(self) -> int:
        """The masses, and half of the two weights, which the sums below and above share."""
        size = len(self.masses)
        return self.masses.nbytes * (size + self.weights.count) // size

    def beyond(self, first: int) -> tuple[arb, arb]:
        here = self.masses[first : first + len(self.weights.gentle)]
        gentle, steep = (w[: len(here)] for w in (self.weights.gentle, self.weights.steep))
        # weights are within 4u; the sum rounds each product once (u) and each partial sum once
        error = (len(here) + 5) * UNIT * ROUNDED_UP * _moduli(here, gentle)
        return arb(dot(here, gentle), error), arb(dot(here, steep), error)

    def unknown(self, *, inside: bool) -> arb:
        return self.error * arb(self.weights.spread(inside=inside)) + _LEFT_OUT


@dataclass(frozen=True)
class Weights:
    """The weights e^(-t i) and e^(-(t+h) i) of the masses beyond epsilon."""

    rate: float
    step: Fraction
    count: int

    @cached_property
    def gentle(self) -> Floats:
        return falling(-arb(self.rate), self.count)

    @cached_property
    def steep(self) -> Floats:
        return falling(-(arb(self.rate) + ball(self.step)), self.count)

    def spread(self, *, inside: bool) -> float:
        """An upper bound of the sum of e^(-t i) - e^(-y) e^(-(t+h) i); inside: where y <= h."""
        return self._spread if inside else ROUNDED_UP * float(self.gentle.sum())

    @cached_property
    def _spread(self) -> float:
        # a narrow ball, its conversion and this product: 3u; y <= h, so e^-y is at least this
        shrunk = float((-ball(self.step)).exp().mid()) * (1 - 4 * UNIT)
        gentle, steep = float(self.gentle.sum()), float(self.steep.sum())
        # weights are within 4u, and each addition rounds once; the steep sum is the smaller one
        error = 2 * (self.count + 4) * UNIT * gentle
        return ROUNDED_UP * (gentle - shrunk * steep + error)


class Doubles:
    """The number type of doubles."""

    bits = BITS
    alias_bits = 36

    def tilted(self, low: Measure, high: Measure, times: int, rate: float) -> Tilted:
        return tilt(low, high, times, rate)

    def sums(
        self, steps: Sequence[Tilted], points: int, origin: int, step: Fraction
    ) -> tuple[DoubleSums, DoubleSums]:
        low, high, error = _transformed(steps, points, origin)
        rate = steps[0].rate
        count = min(points, math.ceil(_LAST_WEIGHT / rate)) if rate > 0 else points
        weights = Weights(rate, step, count)
        return DoubleSums(low, error, weights), DoubleSums(high, error, weights)


def _moduli(masses: Floats, weights: Floats) -> float:
    """The inner product of the moduli, in blocks, to need no other array of this length."""
    places = (slice(start, start + _BLOCK) for start in range(0, len(masses), _BLOCK))
    return sum(dot(np.abs(masses[here]), weights[here]) for here in places)


def _transformed(steps: Sequence[Tilted], points: int, origin: int) -> tuple[Floats, Floats, float]:
    """The cyclic compositions in the window, below and above, and a bound of their errors."""
    relative, count = relative_error(points), sum(part.times for part in steps)
    distance = count * (2 * relative + 6 * UNIT) * ROUNDED_UP  # n d
    if distance > 0.1:
        raise Undecided("too many steps for double precision")
    low, high, moduli = (_in_arrays if HAS_NUMPY else in_lists)(steps, points, origin % points)
    mean = math.exp(4 * UNIT * count) * moduli / points * ROUNDED_UP
    growth = math.expm1(2 * distance) + 8 * UNIT * count + 2 * relative + 8 * UNIT
    return low, high, mean * growth * ROUNDED_UP + UNDERFLOW


def _in_arrays(steps: Sequence[Tilted], points: int, first: int) -> tuple[Floats, Floats, float]:
    """The masses below and above, `first` ahead, and the sum of all powers of m."""
    moduli, kept = 0.0, list[_Powers]()
    for number, part in enumerate(steps):
        rows = forward_rows(_packed(part, points))
        for r in range(ROWS // 2 + 1):
            low, high, modulus = _powers(rows, r, part.times)
            if number:
                low, high, modulus = low * kept[r][0], high * kept[r][1], modulus * kept[r][2]
            if number + 1 < len(steps):
                kept[r : r + 1] = [(low, high, modulus)]
                continue
            # the other rows are mirror images
            alone = r % (ROWS // 2) == 0
            moduli += float(modulus.sum()) * (1 if alone else 2)
            rows[r] = low + 1j * high
            if not alone:
                rows[-r] = (np.conj(low) + 1j * np.conj(high))[::-1]
    sums = inverse_rows(rows)
    _rotate(sums, first)
    return sums.real, sums.imag, moduli


def _powers(rows: Complexes, r: int, times: int) -> _Powers:
    """The powers of row r of the spectra below and above, and of the larger modulus or 1/2."""
    row, opposite = rows[r], np.conj(rows[-r][::-1])
    mirrored = opposite if r else np.roll(opposite, 1)
    low, high = (row + mirrored) / 2, (row - mirrored) * -0.5j
    squares = np.maximum(low.real**2 + low.imag**2, high.real**2 + high.imag**2)
    largest = np.sqrt(np.maximum(squares, 0.25))
    return _power(low, times), _power(high, times), _power(largest, times)


def _rotate(values: Complexes, places: int) -> None:
    """Move the first values to the end, in place, by three reversals."""
    for part in (values[:places], values[places:], values):
        half, size = len(part) // 2, len(part)
        for start in range(0, half, _BLOCK):
            stop = min(start + _BLOCK, half)
            front = part[start:stop].copy()
            part[start:stop] = part[size - stop : size - start][::-1]
            part[size - stop : size - start] = front[::-1]


def _packed(part: Tilted, points: int) -> Complexes:
    """The masses below as the real part, those above as the imaginary part."""
    values = np.zeros(points, dtype=np.complex128)
    values.real[: len(part.low)] = part.low
    values.imag[: len(part.high)] = part.high
    return values


def _power(base: T, exponent: int) -> T:
    """The power of every entry, by squaring: fewer than `exponent` roundings count."""
    result, square = np.ones_like(base), base.copy()
    while exponent:
        if exponent & 1:
            result *= square
        exponent >>= 1
        if exponent:
            square *= square
    return result
