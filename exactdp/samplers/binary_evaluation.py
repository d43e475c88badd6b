"""Fast evaluation of a polynomial over a binary field at single points.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7: a query to a
compact histogram is the value of its polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence

from gmpy2 import f_mod_2exp, mpz, xmpz

from exactdp.samplers.binary_field import BinaryField, window

#: A polynomial is halved until at most this many coefficients are left (measured).
_TAIL = 16


class Evaluator:
    """A polynomial prepared for evaluation at many points, one at a time: ``evaluator(point)``.

    Each step replaces p = low + y^h high by low + point^h high, which halves the length, until
    Horner's rule evaluates the last few coefficients. All coefficients are in one integer, with
    room for an unreduced product each, so a step is one multiplication by an element of the field.
    field: the field. coefficients: from the constant term. Raises InvalidParameter, also for points
    that are not elements.

    >>> Evaluator(BinaryField(3), [1, 1, 1])(2)
    0
    """

    def __init__(self, field: BinaryField, coefficients: Sequence[int]) -> None:
        for i, coefficient in enumerate(coefficients):
            field.check(f"coefficients[{i}]", coefficient)
        self.field = field
        self._halvings = max(0, (len(coefficients) - 1) // _TAIL).bit_length()
        self._tail = -(-len(coefficients) >> self._halvings)
        self._stride = -(-2 * field.period // 8) * 8
        size = self._stride // 8
        data = b"".join(c.to_bytes(size, "little") for c in coefficients)
        self._packed = mpz(int.from_bytes(data, "little"))
        # masks for the lowest N, N - s and s bits of every coefficient
        length = self._tail << self._halvings
        ones = ((mpz(1) << self._stride * length) - 1) // ((mpz(1) << self._stride) - 1)
        widths = field.period, field.degree, field.step
        self._masks = [ones * ((1 << width) - 1) for width in widths]

    def __call__(self, point: int) -> int:
        """The value at the point."""
        self.field.check("point", point)
        field, value = self.field, 0
        for coefficient in reversed(self._short(point)):
            value = field._mul(value, point) ^ coefficient
        return value

    def _short(self, point: int) -> list[int]:
        """A short polynomial with the same value at this point."""
        powers = [self.field._power(point, self._tail)] if self._halvings else []
        while len(powers) < self._halvings:
            powers.append(self.field._square(powers[-1]))
        packed = self._packed
        for i in reversed(range(self._halvings)):
            half = self._stride * (self._tail << i)
            packed = f_mod_2exp(packed, half) ^ self._times(packed >> half, powers[i])
        size, data = self._stride // 8, int(packed)
        parts = data.to_bytes(self._tail * size, "little")
        return [int.from_bytes(parts[i : i + size], "little") for i in range(0, len(parts), size)]

    def _times(self, packed: mpz, factor: int) -> mpz:
        """Every coefficient times the factor."""
        multiples = window(packed)
        product = xmpz(0)  # changed in place
        for digit in f"{factor:x}":
            product <<= 4
            product ^= multiples[digit]
        return self._reduced(mpz(product))

    def _reduced(self, product: mpz) -> mpz:
        """Every coefficient modulo Phi_N; see BinaryField._reduce."""
        field, (whole, body, step) = self.field, self._masks
        folded = (product & whole) ^ (product >> field.period & whole)
        return (folded & body) ^ (folded >> field.degree & step) * field._repeat
