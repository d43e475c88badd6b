"""Polynomials over a binary field: products and interpolation.

A polynomial is a list of field elements, starting with the constant coefficient. Inside, it is an
array of bits, one row for each coefficient. Two polynomials are multiplied by one product of big
integers: every bit of an operand moves to a slot of w bits, wide enough to count the terms of a
coefficient, and the lowest bit of a slot of the product is the coefficient over F_2.

Interpolation uses a tree of products of (y - point), as in Bernstein, "Scaled remainder trees"
(2004): each node with product M passes down the start of the series of f/M in 1/y, which needs one
product per node and no division. All nodes of a level are handled at once.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7 (histograms
described by a polynomial over a field).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TypeAlias

import numpy as np
from gmpy2 import from_binary, get_context, mpz, to_binary
from numpy.typing import NDArray

from exactdp.errors import InvalidParameter
from exactdp.samplers.binary_field import BinaryField

#: Bits of polynomials of the same length: polynomial, coefficient, power of x.
_Bits: TypeAlias = NDArray[np.uint8]

#: Relative time per point of a level of the tree: products, evaluation, and combination.
_WEIGHTS = (1, 4, 2)

#: Smallest number of coefficients of a factor that are multiplied at a time.
_PART = 256

# The prefix that gmpy2.to_binary writes before the little-endian bytes of a positive integer.
_HEADER = b"\x01\x01"


@contextmanager
def other_threads_run() -> Iterator[None]:
    """Let other threads run during products of big integers, which may take seconds each.

    The thread that ends a command after a signal must not wait for a product.
    """
    context = get_context()
    before = context.allow_release_gil
    context.allow_release_gil = True
    try:
        yield
    finally:
        context.allow_release_gil = before


def multiply(field: BinaryField, a: Sequence[int], b: Sequence[int]) -> list[int]:
    """a b, of length len(a) + len(b) - 1; empty if a or b is.

    >>> multiply(BinaryField(3), [1, 1], [1, 1])  # (y + 1)^2 = y^2 + 1
    [1, 0, 1]
    """
    if not a or not b:
        return []
    short, long = sorted((_bits(field, a), _bits(field, b)), key=len)
    size = max(len(short), _PART)  # the longer factor is split into parts to save memory
    product = np.zeros((len(a) + len(b) - 1, field.degree), np.uint8)
    for start in range(0, len(long), size):
        part = _product(field, short, long[start : start + size])
        product[start : start + len(part)] ^= part
    return _elements(product)


def interpolate(field: BinaryField, points: Sequence[int], values: Sequence[int]) -> list[int]:
    """The unique polynomial of length len(points) with the given values at the points.

    points: distinct elements of the field. values: one element for each point.
    Raises InvalidParameter.

    >>> interpolate(BinaryField(3), [0, 1, 2, 3], [1, 0, 3, 2])
    [1, 1, 0, 0]
    """
    return PointTree(field, points).interpolate(values)


class PointTree:
    """The tree of products for distinct points, shared by vanishing and interpolate.

    done: called with the amount of each finished piece of work; the total is ``work(points, k)``
    for k interpolations.
    Level 0 has a node for each point; a node above has two children, except perhaps the last one
    of a level. Every node but the last has 2^level points.
    """

    def __init__(
        self, field: BinaryField, points: Sequence[int], done: Callable[[int], object] | None = None
    ) -> None:
        if len(set(points)) != len(points):
            raise InvalidParameter("points", list(points)[:8], "distinct")
        self._field, self._count = field, len(points)
        self._done = done or (lambda _: None)
        nodes = np.zeros((len(points), 2, field.degree), np.uint8)
        nodes[:, 0], nodes[:, 1, 0] = _bits(field, points), 1
        self._levels: list[tuple[_Slots, list[mpz]]] = []
        while len(nodes) > 1:
            slots = _Slots(field, 2 * nodes.shape[1])
            products = slots.integers(nodes)
            self._levels.append((slots, products))
            whole = [x * y for x, y in zip(products[::2], products[1::2], strict=False)]
            nodes = _with_last(slots.read(whole, 2 * nodes.shape[1] - 1), nodes)
            self._done(_WEIGHTS[0] * len(points))
        self._product = nodes[0, : self._count + 1] if points else np.ones((1, 1), np.uint8)

    @staticmethod
    def work(points: int, interpolations: int = 1) -> int:
        """The total amount of work for these numbers of points and of interpolations."""
        products, evaluation, combination = _WEIGHTS
        weight = products + evaluation + combination * interpolations
        return points * max(points - 1, 0).bit_length() * weight

    def vanishing(self) -> list[int]:
        """The product of (y - point) over the points."""
        return _elements(self._product)

    def interpolate(self, values: Sequence[int]) -> list[int]:
        """The unique polynomial of length len(points) with these values at the points.

        Lagrange's formula: the sum over i of value_i/M'(point_i) M/(y - point_i), with M the
        product of all (y - point).
        """
        if len(values) != self._count:
            raise InvalidParameter("values", len(values), f"as many as points, {self._count}")
        if not self._count:
            return []
        weights = _times(self._field, self._inverse_slopes, _bits(self._field, values))[:, None]
        for slots, products in self._levels:
            integers = slots.integers(weights)
            pairs = zip(integers[::2], products[1::2], integers[1::2], products[::2], strict=False)
            totals = [one * right + other * left for one, right, other, left in pairs]
            weights = _with_last(slots.read(totals, 2 * weights.shape[1]), weights)
            self._done(_WEIGHTS[2] * self._count)
        return _elements(weights[0, : self._count])

    @cached_property
    def _inverse_slopes(self) -> _Bits:
        """1/M' at the points.

        In characteristic 2 the derivative M' is the square of a polynomial of half the length, so
        only that polynomial is evaluated.
        """
        field = self._field
        root = _permuted(field, self._product[1::2], (field.period + 1) // 2)
        return _permuted(field, _inverses(field, self._values(root)), 2)

    def _values(self, polynomial: _Bits) -> _Bits:
        """The values at the points of a polynomial that is not longer than their number.

        A node with product M and n points gets the n coefficients of y^n f/M from y^0 on, without
        the terms below y^0. Multiplied by the product of one child, they become those of the other
        child, up to terms that are cut off.
        """
        field, count, length = self._field, self._count, len(polynomial)
        inverse = _series_inverse(field, self._product[::-1], length)
        series = _product(field, polynomial, inverse[::-1], length - 1, count)[None]
        for depth, (slots, products) in reversed(list(enumerate(self._levels))):
            size, pairs = 1 << depth, len(products) // 2
            integers = slots.integers(series[:pairs])
            halves = np.empty((len(products), size, field.degree), np.uint8)
            halves[2 * pairs :] = series[pairs:, :size]
            starts = [size] * pairs
            to_right = [x * y for x, y in zip(integers, products[::2], strict=False)]
            halves[1 : 2 * pairs : 2] = slots.read(to_right, size, starts)
            if not len(products) % 2:
                starts[-1] = count - (len(products) - 1) * size  # points of the last node
            to_left = [x * y for x, y in zip(integers, products[1::2], strict=False)]
            halves[: 2 * pairs : 2] = slots.read(to_left, size, starts)
            series = halves
            self._done(_WEIGHTS[1] * count)
        return series[:, 0]


def _with_last(nodes: _Bits, below: _Bits) -> _Bits:
    """Nodes of a level, and the last node of the level below if it has no sibling."""
    if len(below) % 2:
        last = np.zeros_like(nodes[:1] if len(nodes) else below[:1])
        last[:, : below.shape[1]] = below[-1:]
        return np.concatenate([nodes, last])
    return nodes


def _series_inverse(field: BinaryField, series: _Bits, length: int) -> _Bits:
    """1/series modulo y^length for a series that starts with 1, by Newton: 2g - f g^2 = f g^2."""
    if length == 1:
        return series[:1]
    half = _series_inverse(field, series, (length + 1) // 2)
    square = np.zeros((length, field.degree), np.uint8)
    square[::2] = _permuted(field, half, 2)
    return _product(field, series[:length], square, 0, length)


def _inverses(field: BinaryField, elements: _Bits) -> _Bits:
    """Inverses of non-zero elements by a single inversion, through products of pairs."""
    if len(elements) == 1:
        return _bits(field, [field._inverse(_elements(elements)[0])])
    whole = len(elements) & ~1
    left, right, rest = elements[:whole:2], elements[1:whole:2], elements[whole:]
    of_pairs = _inverses(field, np.concatenate([_times(field, left, right), rest]))
    inverses = np.empty_like(elements)
    inverses[:whole:2] = _times(field, of_pairs[: whole // 2], right)
    inverses[1:whole:2] = _times(field, of_pairs[: whole // 2], left)
    inverses[whole:] = of_pairs[whole // 2 :]
    return inverses


def _times(field: BinaryField, a: _Bits, b: _Bits) -> _Bits:
    """The products of elements, row by row."""
    slots = _Slots(field, 1)
    pairs = zip(slots.integers(a[:, None]), slots.integers(b[:, None]), strict=True)
    return slots.read([x * y for x, y in pairs], 1)[:, 0]


def _product(
    field: BinaryField, a: _Bits, b: _Bits, start: int = 0, length: int | None = None
) -> _Bits:
    """The product of two polynomials, or `length` of its coefficients from `start` on."""
    slots = _Slots(field, min(len(a), len(b)))
    ((x,), (y,)), whole = (slots.integers(p[None]) for p in (a, b)), len(a) + len(b) - 1
    product: _Bits = slots.read([x * y], whole if length is None else length, [start])[0]
    return product


# --- bits and integers ----------------------------------------------------------------------------


class _Slots:
    """Polynomials over a field as integers, each bit of a coefficient in a slot of w >= 8 bits.

    terms: the most products of coefficients whose sum is one coefficient; 2^w is larger than the
    number of products of bits in it. The slots of one unreduced coefficient take whole bytes.
    """

    def __init__(self, field: BinaryField, terms: int) -> None:
        self._field, slots = field, 2 * field.degree - 1
        width = max((field.degree * terms).bit_length(), 8)
        self._size = (slots * width + 7) // 8
        self._bytes, shifts = np.divmod(np.arange(slots) * width, 8)
        self._shifts = shifts.astype(np.uint8)

    def integers(self, bits: _Bits) -> list[mpz]:
        """An integer for each polynomial."""
        count, length, degree = bits.shape
        spread = np.zeros((count * length, self._size), np.uint8)
        spread[:, self._bytes[:degree]] = bits.reshape(-1, degree) << self._shifts[:degree]
        rows = spread.reshape(count, -1)
        return [from_binary(_HEADER + row.tobytes()) for row in rows]

    def read(
        self, totals: Sequence[mpz], length: int, starts: Sequence[int] | None = None
    ) -> _Bits:
        """`length` coefficients of each sum of products, from starts[i] or 0 on."""
        # np.take and operations in place: several times faster than indexing here
        data = np.zeros((len(totals), length * self._size), np.uint8)
        for i, total in enumerate(totals):
            start = len(_HEADER) + (starts[i] * self._size if starts else 0)
            total_bytes = np.frombuffer(to_binary(total), np.uint8)[start : start + data.shape[1]]
            data[i, : total_bytes.size] = total_bytes
        slots = np.take(data.reshape(-1, self._size), self._bytes, axis=1)
        slots >>= self._shifts
        slots &= 1
        return _reduced(self._field, slots.reshape(len(totals), length, -1))


def _reduced(field: BinaryField, bits: _Bits) -> _Bits:
    """Polynomials in x of degree below 2N modulo Phi_N; see BinaryField._reduce."""
    n, m = field.period, field.degree
    folded = np.zeros((*bits.shape[:-1], n), np.uint8)
    folded[..., : bits.shape[-1]] = bits[..., :n]
    folded[..., : max(bits.shape[-1] - n, 0)] ^= bits[..., n:]
    blocks: _Bits = folded[..., :m].reshape(*bits.shape[:-1], -1, field.step)
    blocks ^= folded[..., None, m:]
    return folded[..., :m]


def _permuted(field: BinaryField, elements: _Bits, factor: int) -> _Bits:
    """x^i becomes x^(i factor): the square for factor 2, the square root for (N + 1)/2."""
    moved = np.zeros((*elements.shape[:-1], field.period), np.uint8)
    moved[..., np.arange(field.degree) * factor % field.period] = elements
    return _reduced(field, moved)


def _bits(field: BinaryField, elements: Sequence[int]) -> _Bits:
    for i, element in enumerate(elements):
        field.check(f"element {i}", element)
    size = (field.degree + 7) // 8
    data = b"".join(element.to_bytes(size, "little") for element in elements)
    rows = np.frombuffer(data, np.uint8).reshape(-1, size)
    return np.unpackbits(rows, axis=1, count=field.degree, bitorder="little")


def _elements(bits: _Bits) -> list[int]:
    packed = np.packbits(bits, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]
