"""Fast evaluation of a polynomial over the field F_2^(2·3^l) at single points.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7: a query to a
compact histogram is the value of its polynomial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gmpy2 import mpz, xmpz
from numpy.typing import NDArray

from exactdp.samplers.binary_field import BinaryField, Slots, element_slots
from exactdp.samplers.binary_polynomials import _check

_Bytes = NDArray[np.uint8]


def evaluate(field: BinaryField, coefficients: Sequence[int], point: int) -> int:
    """The value of a polynomial at one point; :class:`Evaluator` is faster for several points.

    :raises InvalidParameter: a coefficient or the point is not an element of the field.

    >>> evaluate(BinaryField(0), [1, 1], 2)
    3
    """
    return Evaluator(field, coefficients)(point)


class Evaluator:
    """A polynomial prepared for evaluation at many points, one at a time: ``evaluator(point)``.

    Each step replaces p = low + y^h·high by low + point^h·high, which halves the length, until
    Horner's rule evaluates the last few coefficients. Long vectors over large fields are matrices
    of bytes (see :func:`_times_rows`), all others single integers (see :func:`_times_packed`).

    :param field: the field.
    :param coefficients: the polynomial.
    :raises InvalidParameter: a coefficient, or later a point, is not an element of the field.

    >>> Evaluator(BinaryField(0), [1, 1, 1])(2)
    0
    """

    def __init__(self, field: BinaryField, coefficients: Sequence[int]) -> None:
        _check(field, coefficients=coefficients)
        halvings = max(0, (len(coefficients) - 1) // _TAIL).bit_length()
        self.field = field
        self._halvings = halvings
        self._tail = -(-len(coefficients) >> halvings)
        self._rows = max(0, halvings - _PACKED_HALVINGS) if field.level > _PACKED_LEVEL else 0
        length = self._tail << halvings
        padded = [*coefficients, *[0] * (length - len(coefficients))]
        self._dense = Slots(field.level, 1, length >> self._rows)
        if self._rows:
            self._matrix = _matrix(field, padded)
        else:
            self._vector = self._dense.pack(padded)

    def __call__(self, point: int) -> int:
        """The value at the point."""
        self.field.check("point", point)
        return self._value(point)

    def _value(self, point: int) -> int:
        slots = element_slots(self.field.level)
        spread, value = slots.spread(point), mpz(0)
        for coefficient in reversed(self._short(point)):
            value = slots.reduce(value * spread) ^ slots.spread(coefficient)
        return slots.gather(value)

    def _short(self, point: int) -> list[int]:
        """A short polynomial with the same value at this point."""
        powers = [self.field._power(point, self._tail)] if self._halvings else []
        while len(powers) < self._halvings:
            powers.append(self.field._square(powers[-1]))
        vector = self._after_rows(powers) if self._rows else self._vector
        for i in reversed(range(self._halvings - self._rows)):
            half = self._tail << i
            high = _times_packed(self._dense, self._dense.skip(vector, half), powers[i])
            vector = self._dense.first(vector, half) ^ high
        return self._dense.unpack(vector, self._tail)

    def _after_rows(self, powers: list[int]) -> mpz:
        """The vector after the halvings on matrices of bytes."""
        matrix = self._matrix
        for power in reversed(powers[-self._rows :]):
            half = matrix.shape[1] // 2
            matrix = matrix[:, :half] ^ _times_rows(matrix[:, half:], power, self.field.degree)
        size, columns = matrix.shape
        data = np.zeros((columns, self._dense.stride // 8), np.uint8)
        data[:, :size] = matrix.T
        return self._dense.load(data.tobytes())


#: A polynomial is halved until at most this many coefficients are left (all three: measured).
_TAIL = 16

#: Number of last halvings that work on a single integer, over any field;
_PACKED_HALVINGS = 3

#: over fields up to this level, all halvings do.
_PACKED_LEVEL = 4


def _times_packed(slots: Slots, vector: mpz, factor: int) -> mpz:
    """Multiply every element of a packed vector by the factor.

    The factor is read by half-bytes from the top; the sixteen multiples of the vector are computed
    once. For packed bits this is faster than an integer product.
    """
    multiples = [mpz(0), vector]
    for i in range(2, 16, 2):
        multiples.append(multiples[i // 2] << 1)
        multiples.append(multiples[i] ^ vector)
    by_digit = dict(zip("0123456789abcdef", multiples, strict=True))
    product = xmpz(0)  # changed in place
    for digit in f"{factor:x}":
        product <<= 4
        product ^= by_digit[digit]
    return slots.reduce(mpz(product))


def _matrix(field: BinaryField, elements: Sequence[int]) -> _Bytes:
    """Row i holds byte i of every element."""
    size = -(-field.degree // 8)
    data = b"".join(element.to_bytes(size, "little") for element in elements)
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(-1, size).T)


def _times_rows(matrix: _Bytes, factor: int, degree: int) -> _Bytes:
    """Multiply every column, as an element, by the factor.

    The factor is read by half-bytes. The sixteen multiples of the matrix are computed once; adding
    a multiple at an offset of whole bytes is an exclusive or of adjacent rows.
    """
    size, columns = matrix.shape
    multiples = list(_multiples(matrix).reshape(16, -1))
    width = (size + 1) * columns
    product = np.zeros((2, 2 * (size + 1) * columns), np.uint8)
    low, high = product
    for start, byte in enumerate(factor.to_bytes(size, "little")):
        place = slice(start * columns, start * columns + width)
        if byte & 15:
            part = low[place]
            np.bitwise_xor(part, multiples[byte & 15], part)
        if byte >> 4:
            part = high[place]
            np.bitwise_xor(part, multiples[byte >> 4], part)
    low ^= high << 4
    low[columns:] ^= high[:-columns] >> 4
    return _reduced(low.reshape(-1, columns), degree)


def _multiples(matrix: _Bytes) -> _Bytes:
    """The matrix times each polynomial of degree below 4, with one more row for the overflow."""
    size, columns = matrix.shape
    multiples = np.empty((16, size + 1, columns), np.uint8)
    multiples[1, :size] = matrix
    multiples[1, size] = 0
    for i in (2, 4, 8):
        half = multiples[i // 2]
        np.left_shift(half, 1, out=multiples[i])
        multiples[i, 1:] |= half[:-1] >> 7
        np.bitwise_xor(multiples[i], multiples[1:i], out=multiples[i + 1 : 2 * i])
    return multiples


def _reduced(product: _Bytes, degree: int) -> _Bytes:
    """The columns modulo the modulus, as :meth:`Slots.reduce` does it."""
    k, size = degree // 2, -(-degree // 8)
    border, bit = divmod(k, 8)
    rows = 3 * k // 8 + 2
    folded = product[:rows] ^ _shifted(product, k, rows)
    lower = product[: border + 1] ^ _shifted(folded, 2 * k, border + 1)
    mask = (1 << bit) - 1
    folded[:border] = lower[:border]
    folded[border] ^= (folded[border] ^ lower[border]) & mask
    folded[size - 1] &= (1 << degree % 8) - 1
    return folded[:size]


def _shifted(matrix: _Bytes, bits: int, rows: int) -> _Bytes:
    """The first rows of the columns shifted right; bits is not a multiple of 8 (k is odd)."""
    skip, bit = divmod(bits, 8)
    lower, upper = matrix[skip : skip + rows], matrix[skip + 1 : skip + rows + 1]
    return (lower >> np.uint8(bit)) ^ (upper << np.uint8(8 - bit))
