"""Polynomials over F_2^(2·3^l): products, division, values at many points, interpolation.

A polynomial is a list of field elements, starting with the constant coefficient. Internally a
polynomial is a vector of :class:`~exactdp.samplers.binary_field.Slots`: one product of two big
integers multiplies two polynomials. Evaluation at many points uses a tree of products of
(y - point), after Bernstein, "Scaled remainder trees" (2004): each node with product M passes down
the start of the series of f/M in 1/y, which needs one product per node and no division.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 7 (histograms
described by a polynomial over a field).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import TypeAlias

from gmpy2 import get_context, mpz

from exactdp.errors import InvalidParameter
from exactdp.samplers.binary_field import BinaryField, Slots

_Done: TypeAlias = Callable[[int], object]

#: Relative time per point at a node of the tree: products, evaluation, and combination.
_WEIGHTS = (1, 4, 2)


#: Smallest number of coefficients of a factor that are multiplied at a time.
_PART = 256


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


def _unwatched(_: int) -> None:
    """Ignore progress."""


def add(field: BinaryField, a: Sequence[int], b: Sequence[int]) -> list[int]:
    """a + b, which equals a - b; its length is that of the longer polynomial.

    :raises InvalidParameter: a coefficient is not an element of the field.
    """
    _check(field, a=a, b=b)
    return [x ^ y for x, y in zip_longest(a, b, fillvalue=0)]


def multiply(field: BinaryField, a: Sequence[int], b: Sequence[int]) -> list[int]:
    """a·b, of length len(a) + len(b) - 1; empty if a or b is.

    :raises InvalidParameter: a coefficient is not an element of the field.

    >>> multiply(BinaryField(0), [1, 1], [1, 1])  # (y + 1)² = y² + 1
    [1, 0, 1]
    """
    _check(field, a=a, b=b)
    if not a or not b:
        return []
    short, long = sorted((a, b), key=len)
    size = max(len(short), _PART)  # the longer factor is split into parts to save memory
    slots = _slots(field, len(short), len(short) + size - 1)
    factor, product = slots.pack(short), [0] * (len(a) + len(b) - 1)
    for start in range(0, len(long), size):
        part = long[start : start + size]
        values = slots.unpack(slots.reduce(factor * slots.pack(part)), len(short) + len(part) - 1)
        for i, value in enumerate(values, start):
            product[i] ^= value
    return product


def divide(field: BinaryField, a: Sequence[int], b: Sequence[int]) -> tuple[list[int], list[int]]:
    """Quotient and remainder of a by b, both without leading zeros.

    :raises InvalidParameter: a coefficient is not an element of the field, or b is zero.

    >>> divide(BinaryField(0), [1, 0, 1], [1, 1])
    ([1, 1], [])
    """
    _check(field, a=a, b=b)
    a, b = _stripped(a), _stripped(b)
    if not b:
        raise InvalidParameter("b", b, "a polynomial other than zero")
    length = len(a) - len(b) + 1
    if length <= 0:
        return [], a
    slots = _slots(field, length, len(a))
    dividend, divisor = slots.pack(a), slots.pack(b)
    scale = slots.spread(field._inverse(b[-1]))
    monic = slots.reduce(slots.reverse(divisor, len(b)) * scale)
    top = slots.reverse(slots.skip(dividend, len(b) - 1), length)
    top = _low_product(slots, top, _series_inverse(slots, monic, length), length)
    quotient = slots.reverse(slots.reduce(top * scale), length)
    remainder = dividend ^ slots.reduce(quotient * divisor)
    return slots.unpack(quotient, length), _stripped(slots.unpack(remainder, len(b) - 1))


def vanishing(field: BinaryField, points: Sequence[int]) -> list[int]:
    """The product of (y - point) over the points: monic, of length len(points) + 1.

    :raises InvalidParameter: a point is not an element of the field.

    >>> vanishing(BinaryField(0), [0, 1, 2, 3])  # y⁴ - y
    [0, 1, 0, 0, 1]
    """
    return PointTree(field, points).vanishing()


def evaluate_many(
    field: BinaryField, coefficients: Sequence[int], points: Sequence[int]
) -> list[int]:
    """The values at many points, which may repeat; :class:`Evaluator` is faster for a few points.

    :raises InvalidParameter: a coefficient or a point is not an element of the field.

    >>> evaluate_many(BinaryField(0), [1, 1], [0, 1, 2, 3])
    [1, 0, 3, 2]
    """
    _check(field, coefficients=coefficients, points=points)
    if not points or not coefficients:
        return [0] * len(points)
    longest = max(len(coefficients), len(points))
    slots = _slots(field, longest, longest + 1)
    packed = slots.pack(coefficients)
    values = _values(slots, _tree(slots, points, _unwatched), packed, len(coefficients), _unwatched)
    return [slots.gather(value) for value in values]


def interpolate(field: BinaryField, points: Sequence[int], values: Sequence[int]) -> list[int]:
    """The unique polynomial of length len(points) with the given values at the points.

    Lagrange's formula: the sum over i of value_i / M'(point_i) · M / (y - point_i), with M the
    product of all (y - point). In characteristic 2 the derivative M' is the square of a polynomial
    of half the length, so only that polynomial is evaluated.

    :param points: distinct elements of the field.
    :param values: one element for each point.
    :raises InvalidParameter: not elements of the field, repeated points, or different lengths.

    >>> interpolate(BinaryField(0), [0, 1, 2, 3], [1, 0, 3, 2])
    [1, 1, 0, 0]
    """
    return PointTree(field, points).interpolate(values)


class PointTree:
    """The tree of products for a set of points, shared by vanishing and interpolate.

    done: called with the amount of each finished piece of work; the total is ``work(points)``.
    """

    def __init__(
        self, field: BinaryField, points: Sequence[int], done: Callable[[int], object] | None = None
    ) -> None:
        _check(field, points=points)
        self._field, self._points, self._done = field, points, done or _unwatched
        self._slots = _slots(field, len(points), len(points) + 1)
        self._tree = _tree(self._slots, points, self._done) if points else None

    @staticmethod
    def work(points: int) -> int:
        """The total amount of work for this number of points."""
        depth = max(points, 1).bit_length() - 1
        sizes = points * depth + 2 * (points - (1 << depth)) if points else 0
        return sizes * sum(_WEIGHTS)

    def vanishing(self) -> list[int]:
        """The product of (y - point) over the points."""
        if self._tree is None:
            return [1]
        return self._slots.unpack(self._tree.product, len(self._points) + 1)

    def interpolate(self, values: Sequence[int]) -> list[int]:
        """The unique polynomial of length len(points) with these values at the points."""
        field, slots, length = self._field, self._slots, len(self._points)
        _check(field, values=values)
        if length != len(values):
            raise InvalidParameter("len(values)", len(values), f"len(points) = {length}")
        if len(set(self._points)) != length:
            raise InvalidParameter("points", self._points, "distinct")
        if self._tree is None:
            return []
        root = slots.pack([field._sqrt(c) for c in self.vanishing()[1::2]])
        there = _values(slots, self._tree, root, (length + 1) // 2, self._done)
        weights = [
            slots.reduce(slots.reduce(inverse * inverse) * slots.spread(value))
            for inverse, value in zip(_inverses(field, slots, there), values, strict=True)
        ]
        return slots.unpack(_combine(slots, self._tree, weights, self._done), length)


# --- vectors of slots -----------------------------------------------------------------------------


def _slots(field: BinaryField, terms: int, length: int) -> Slots:
    # A slot of a product counts at most 2k·terms; two products are added before reduction, and a
    # product in the tree has one coefficient more than points.
    return Slots(field.level, (field.degree * (terms + 3)).bit_length(), length)


def _low_product(slots: Slots, a: mpz, b: mpz, length: int) -> mpz:
    return slots.reduce(slots.first(a * b, length))


def _series_inverse(slots: Slots, series: mpz, length: int) -> mpz:
    """1/series modulo y^length for a series that starts with 1: Newton, where 2g - f·g² = f·g²."""
    if length == 1:
        return mpz(1)
    half = _series_inverse(slots, series, (length + 1) // 2)
    square = _low_product(slots, half, half, length)
    return _low_product(slots, slots.first(series, length), square, length)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node: the product of (y - point) over its points, their number, and its two children."""

    product: mpz
    size: int
    halves: tuple[_Node, _Node] | None = None


def _tree(slots: Slots, points: Sequence[int], done: _Done) -> _Node:
    if len(points) == 1:
        return _Node(slots.join([slots.spread(points[0]), mpz(1)]), 1)
    half = len(points) // 2
    left, right = _tree(slots, points[:half], done), _tree(slots, points[half:], done)
    product = slots.reduce(left.product * right.product)
    done(_WEIGHTS[0] * len(points))
    return _Node(product, len(points), (left, right))


def _values(slots: Slots, tree: _Node, polynomial: mpz, length: int, done: _Done) -> list[mpz]:
    """Values at the points of the tree."""
    n = tree.size
    inverse = _series_inverse(slots, slots.reverse(tree.product, n + 1), length)
    product = polynomial * slots.reverse(inverse, length)
    return _descend(slots, tree, _middle(slots, product, length - 1, n), done)


def _descend(slots: Slots, node: _Node, series: mpz, done: _Done) -> list[mpz]:
    """From the series of f/M in 1/y (as many terms as points) to the values of f at the points.

    The series is floor(y^size · f/M) modulo y^size. Multiplied by the product of one child, the
    series becomes that of the other child, up to terms that are cut off.
    """
    if node.halves is None:
        return [series]
    left, right = node.halves
    down = _middle(slots, series * right.product, right.size, left.size)
    values = _descend(slots, left, down, done)
    down = _middle(slots, series * left.product, left.size, right.size)
    done(_WEIGHTS[1] * node.size)
    return values + _descend(slots, right, down, done)


def _middle(slots: Slots, product: mpz, skip: int, length: int) -> mpz:
    return slots.reduce(slots.first(slots.skip(product, skip), length))


def _combine(slots: Slots, node: _Node, weights: Sequence[mpz], done: _Done) -> mpz:
    """The sum over the points of weight · M / (y - point)."""
    if node.halves is None:
        return weights[0]
    left, right = node.halves
    one = _combine(slots, left, weights[: left.size], done)
    other = _combine(slots, right, weights[left.size :], done)
    found = slots.reduce(one * right.product + other * left.product)
    done(_WEIGHTS[2] * node.size)
    return found


def _inverses(field: BinaryField, slots: Slots, elements: Sequence[mpz]) -> list[mpz]:
    """Inverses of non-zero elements by a single inversion (Montgomery's trick)."""
    products = list(accumulate(elements, lambda a, b: slots.reduce(a * b)))
    rest = slots.spread(field._inverse(slots.gather(products.pop())))
    inverses = []
    for element in reversed(elements):
        before = products.pop() if products else mpz(1)
        inverses.append(slots.reduce(rest * before))
        rest = slots.reduce(rest * element)
    return inverses[::-1]


# --- checks ---------------------------------------------------------------------------------------


def _check(field: BinaryField, **lists: Sequence[int]) -> None:
    for name, elements in lists.items():
        for i, element in enumerate(elements):
            field.check(f"{name}[{i}]", element)


def _stripped(polynomial: Sequence[int]) -> list[int]:
    length = len(polynomial)
    while length and not polynomial[length - 1]:
        length -= 1
    return list(polynomial[:length])
