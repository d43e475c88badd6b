"""What the error bound of the transform needs of arithmetic, checked once in every process."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from operator import mul

from exactdp.arrays import HAS_NUMPY, Complexes, np
from exactdp.errors import Undecided

#: A product of two arrays.
_Product = Callable[[Complexes, Complexes], Complexes]

#: Factors of the transform have 2 to 32 points.
_SIZES = (2, 4, 8, 16, 32)

#: (n, c): the products have a square matrix of n rows on the left and c columns on the right, or c
#: rows on the left and that matrix on the right.
SHAPES = list(product(_SIZES, (1, *_SIZES)))

#: Rows and columns of the tests differ by this factor, far beyond the accuracy of doubles.
_SCALE = 2.0**-80

#: Times 2^_SHIFT the numbers of a test, all above 2^-40, are integers.
_SHIFT = 100

_PAIRS = 256


@lru_cache(maxsize=1)
def check_premises() -> None:
    """Raises Undecided where products are not computed as the bound of the transform assumes."""
    if HAS_NUMPY:
        check(np.matmul, np.multiply)
    else:
        check_numbers(lambda one, other: list(map(mul, one, other)))


def check(matrix_product: _Product, number_product: _Product) -> None:
    """The check for two products. Raises Undecided."""
    for left, right, exact in (case for shape in SHAPES for case in exact_products(*shape)):
        if not np.array_equal(matrix_product(left, right), exact):
            raise Undecided("numpy's matrix product does not form inner products")
    check_numbers(lambda one, other: number_product(np.array(one), np.array(other)).tolist())


def check_numbers(multiply: Callable[[list[complex], list[complex]], list[complex]]) -> None:
    """The check of a product of complex numbers, pair by pair. Raises Undecided."""
    # doubles of both signs with all their bits, as good as random ones
    parts = [math.sin(i) * 2.0 ** (i % 5) for i in range(1, 4 * _PAIRS + 1)]
    numbers = list(map(complex, parts[::2], parts[1::2]))
    one, other = numbers[::2], numbers[1::2]
    if not all(map(_is_accurate, one, other, multiply(one, other))):
        raise Undecided("a product of complex numbers errs by more than 3u")


def exact_products(size: int, columns: int) -> Iterator[tuple[Complexes, Complexes, Complexes]]:
    """Matrices, one of them in two blocks, of which every inner product is exact in any order.

    Entries are small integers times a power of two for each row of the left and each column of the
    right matrix. Strassen's algorithm adds rows i and j (and columns) where the binary digits of i
    and j differ in one place. Their scales differ, so that it loses the small ones. The exact
    product comes from integers.
    """
    count = size * max(size, columns)
    # not from numpy.random, whose import takes longer than the check
    numbers = np.arange(1, 6 * count + 1) ** 2 * 7919 % 2003 % 2001 - 1000
    scales = np.array([_SCALE if i.bit_count() % 2 else 1.0 for i in range(max(size, columns))])
    a, b = (part[: size * size].reshape(size, size) for part in (numbers, numbers[count:]))
    c, d = numbers[2 * count :][: 4 * size * columns].reshape(2, 2, size, columns)
    exact = (a @ c - b @ d) + 1j * (a @ d + b @ c)
    exact = exact * scales[:size, None] * scales[:columns]
    left, right = (a + 1j * b) * scales[:size, None], (c + 1j * d) * scales[:columns]
    yield left, right, exact
    # the layout in memory that the transform uses
    yield left, np.ascontiguousarray(right.transpose(1, 0, 2)).transpose(1, 0, 2), exact
    right, left, exact = (np.swapaxes(x, -1, -2).copy() for x in (right, left, exact))
    yield right, left, exact


def _is_accurate(one: complex, other: complex, value: complex) -> bool:
    a, b, c, d = (int(math.ldexp(x, _SHIFT)) for x in (one.real, one.imag, other.real, other.imag))
    real, imag = a * c - b * d, a * d + b * c
    off_real, off_imag = (int(math.ldexp(x, 2 * _SHIFT)) for x in (value.real, value.imag))
    error = (off_real - real) ** 2 + (off_imag - imag) ** 2
    return error << 106 <= 9 * (real**2 + imag**2)
