"""delta of a composition by polynomials with integer coefficients, rounded one way."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb, fmpz_poly

from exactdp.accounting.pld.compose.engine import Copies
from exactdp.accounting.pld.grid.measure import Measure
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure


def in_integers(parts: Sequence[Copies], epsilon: Fraction, *, bits: int = 256) -> Enclosure:
    """delta at epsilon. parts: measures on grids of one step. bits: masses are in units 2^-bits.

    Shares no code with `compose`: no tilt, no window, and infinite masses are counted on the way.
    """
    with precision(bits):
        below = _delta([(low, times) for low, _, times in parts], epsilon, bits, up=False)
        above = _delta([(high, times) for _, high, times in parts], epsilon, bits, up=True)
        return Enclosure(_end(below.lower()), _end(above.upper())).clamped(0, 1)


def _delta(
    measures: Sequence[tuple[Measure, int]], epsilon: Fraction, bits: int, *, up: bool
) -> arb:
    spare = ((1 << bits) - 1) * up

    def joined(one: tuple[fmpz_poly, int], other: tuple[fmpz_poly, int]) -> tuple[fmpz_poly, int]:
        (a, a_infinite), (b, b_infinite) = one, other
        product = fmpz_poly([(c + spare) >> bits for c in (a * b).coeffs()])
        infinite = a_infinite * (int(b(1)) + b_infinite) + int(a(1)) * b_infinite
        return product, (infinite + spare) >> bits

    def rounded(mass: Fraction) -> int:
        return -(-mass * (1 << bits) // 1) if up else mass * (1 << bits) // 1

    whole = fmpz_poly([1 << bits]), 0
    for measure, times in measures:
        ends = enclosure(measure.infinity) if measure.infinity != 0 else Enclosure.exact(0)
        masses = fmpz_poly([rounded(mass) for mass in _fractions(measure)])
        square = masses, rounded(ends.upper if up else ends.lower)
        while times:
            if times & 1:
                whole = joined(whole, square)
            times >>= 1
            if times:
                square = joined(square, square)
    unit = arb(2) ** bits
    values = [arb(c) / unit for c in whole[0].coeffs()]
    return _excess(measures, epsilon, values) + whole[1] / unit


def _excess(
    measures: Sequence[tuple[Measure, int]], epsilon: Fraction, values: Sequence[arb]
) -> arb:
    """The sum of v_j (1 - e^(epsilon - loss_j)) over losses above epsilon."""
    step = measures[0][0].grid.step
    start = sum(
        (times * (m.grid.offset + m.first * m.grid.step) for m, times in measures), Fraction(0)
    )
    first = max(0, (epsilon - start) // step + 1)
    ratio = ball(epsilon - start - first * step).exp()
    fall, total = ball(-step).exp(), arb(0)
    for value in values[first:]:
        total += value * (1 - ratio)
        ratio *= fall
    return total


def _fractions(measure: Measure) -> list[Fraction]:
    pairs = zip(measure.masses.mantissa.tolist(), measure.masses.exponent.tolist(), strict=True)
    return [Fraction(m) * Fraction(2) ** e for m, e in pairs]


def _end(value: arb) -> Fraction:
    return Fraction(0) if value <= 0 else enclosure(value).lower
