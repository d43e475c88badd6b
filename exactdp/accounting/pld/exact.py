"""The same compositions in two other arithmetics: integers rounded one way, and balls.

Both take long and serve as second and third opinions on `composed`. Integers are the oracle: masses
in units of 2^-bits, rounded down below and up above after every multiplication.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb, fmpz_poly

from exactdp.accounting.pld.composed import Copies
from exactdp.accounting.pld.measure import Measure
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure

__all__ = ["in_balls", "in_integers"]


def in_integers(parts: Sequence[Copies], epsilon: Fraction, *, bits: int = 256) -> Enclosure:
    """Delta of a composition at epsilon, by polynomials with integer coefficients.

    parts: measures on grids of one step. bits: the masses' unit is 2^-bits.
    """
    with precision(bits):
        below = _integers([(low, times) for low, _, times in parts], epsilon, bits, up=False)
        above = _integers([(high, times) for _, high, times in parts], epsilon, bits, up=True)
        return Enclosure(_end(below.lower()), _end(above.upper())).clamped(0, 1)


def in_balls(parts: Sequence[Copies], epsilon: Fraction, *, bits: int = 128) -> Enclosure:
    """Delta of a composition at epsilon, by Fourier transforms of balls; no mass is left out."""
    with precision(bits):
        below = _balls([(low, times) for low, _, times in parts], epsilon)
        above = _balls([(high, times) for _, high, times in parts], epsilon)
        return Enclosure(_end(below.lower()), _end(above.upper())).clamped(0, 1)


def _integers(
    measures: Sequence[tuple[Measure, int]], epsilon: Fraction, bits: int, *, up: bool
) -> arb:
    def joined(one: tuple[fmpz_poly, int], other: tuple[fmpz_poly, int]) -> tuple[fmpz_poly, int]:
        (a, a_infinite), (b, b_infinite) = one, other
        product = fmpz_poly([(c + up_one) >> bits for c in (a * b).coeffs()])
        infinite = a_infinite * (_total(b) + b_infinite) + _total(a) * b_infinite
        return product, (infinite + up_one) >> bits

    up_one = ((1 << bits) - 1) * up
    whole = fmpz_poly([1 << bits]), 0
    for measure, times in measures:
        masses = fmpz_poly([_integer(mass, bits, up=up) for mass in _fractions(measure)])
        square = masses, _integer_of(measure.infinity, bits, up)
        while times:
            if times & 1:
                whole = joined(whole, square)
            times >>= 1
            if times:
                square = joined(square, square)
    unit = arb(2) ** bits
    return _excess(measures, epsilon, [arb(c) / unit for c in whole[0].coeffs()]) + whole[1] / unit


def _total(masses: fmpz_poly) -> int:
    return int(masses(1))


def _balls(measures: Sequence[tuple[Measure, int]], epsilon: Fraction) -> arb:
    whole = 1 + sum(times * (len(measure.masses) - 1) for measure, times in measures)
    points = 1 << (whole - 1).bit_length()
    spectrum, total = [acb(1)] * points, arb(1)
    for measure, times in measures:
        masses = [acb(ball(mass)) for mass in _fractions(measure)]
        padded = acb.dft(masses + [acb(0)] * (points - len(masses)))
        spectrum = [s * z**times for s, z in zip(spectrum, padded, strict=True)]
        total *= (sum((m.real for m in masses), arb(0)) + measure.infinity) ** times
    values = [c.real for c in acb.dft(spectrum, inverse=True)][:whole]
    has_infinity = any(measure.infinity != 0 for measure, _ in measures)
    rest = total - sum(values, arb(0)) if has_infinity else arb(0)
    return _excess(measures, epsilon, values) + rest.max(arb(0))


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
    """The masses, which are exact numbers."""
    pairs = zip(measure.masses.mantissa.tolist(), measure.masses.exponent.tolist(), strict=True)
    return [Fraction(m) * Fraction(2) ** e for m, e in pairs]


def _integer(mass: Fraction, bits: int, *, up: bool) -> int:
    scaled = mass * (1 << bits)
    return -(-scaled // 1) if up else scaled // 1


def _integer_of(mass: arb, bits: int, up: bool) -> int:
    ends = enclosure(mass) if mass != 0 else Enclosure.exact(0)
    return _integer(ends.upper if up else ends.lower, bits, up=up)


def _end(value: arb) -> Fraction:
    """A number >= 0 as a fraction."""
    return Fraction(0) if value <= 0 else enclosure(value).lower
