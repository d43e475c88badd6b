"""The check of numpy's products tells right ones from wrong ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from exactdp.accounting.pld.compose import premises
from exactdp.errors import Undecided

Complexes = NDArray[np.complex128]


def _strassen(a: Complexes, b: Complexes) -> Complexes:
    """One level of Strassen's algorithm."""
    (a1, a2, a3, a4), (b1, b2, b3, b4) = _quarters(a), _quarters(b)
    m1, m2, m3 = (a1 + a4) @ (b1 + b4), (a3 + a4) @ b1, a1 @ (b2 - b4)
    m4, m5, m6, m7 = a4 @ (b3 - b1), (a1 + a2) @ b4, (a3 - a1) @ (b1 + b2), (a2 - a4) @ (b3 + b4)
    upper = np.concatenate([m1 + m4 - m5 + m7, m3 + m5], axis=-1)
    return np.concatenate([upper, np.concatenate([m2 + m4, m1 - m2 + m3 + m6], axis=-1)], axis=-2)


def _quarters(matrix: Complexes) -> list[Complexes]:
    halves = np.split(matrix, 2, axis=-2)
    return [part for half in halves for part in np.split(half, 2, axis=-1)]


def test_this_numpy_keeps_them() -> None:
    premises.check(np.matmul, np.multiply)


@pytest.mark.parametrize("shape", [(n, c) for n, c in premises.SHAPES if c > 1], ids=str)
def test_strassen_gets_the_products_wrong(shape: tuple[int, int]) -> None:
    for left, right, exact in premises.exact_products(*shape):
        assert not np.array_equal(_strassen(left, right), exact)


def test_one_wrong_shape_is_enough() -> None:
    def product(a: Complexes, b: Complexes) -> Complexes:
        return _strassen(a, b) if b.shape[1:] == (32, 4) else a @ b

    with pytest.raises(Undecided, match="does not form inner products"):
        premises.check(product, np.multiply)


def _gauss(one: Complexes, other: Complexes) -> Complexes:
    """Three products of real numbers instead of four: cancellation in the imaginary part."""
    real, imag = one.real * other.real, one.imag * other.imag
    return real - imag + 1j * ((one.real + one.imag) * (other.real + other.imag) - real - imag)


def _less(one: Complexes, other: Complexes) -> Complexes:
    return one * other * (1 + 2.0**-51)


@pytest.mark.parametrize("product", [_gauss, _less])
def test_a_complex_product_that_errs_is_refused(product: premises._Product) -> None:
    with pytest.raises(Undecided, match="errs by more than 3u"):
        premises.check(np.matmul, product)
