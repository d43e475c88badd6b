"""The check of numpy's products tells right ones from wrong ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from exactdp.accounting.pld.compose import premises
from exactdp.errors import Undecided

Complexes = NDArray[np.complex128]


def _strassen(a: Complexes, b: Complexes) -> Complexes:
    """One level of Strassen's algorithm."""
    half = a.shape[-1] // 2
    a1, a2, a3, a4 = (a[..., r, c] for r in _halves(half) for c in _halves(half))
    b1, b2, b3, b4 = (b[..., r, c] for r in _halves(half) for c in _halves(half))
    m1, m2, m3 = (a1 + a4) @ (b1 + b4), (a3 + a4) @ b1, a1 @ (b2 - b4)
    m4, m5, m6, m7 = a4 @ (b3 - b1), (a1 + a2) @ b4, (a3 - a1) @ (b1 + b2), (a2 - a4) @ (b3 + b4)
    upper = np.concatenate([m1 + m4 - m5 + m7, m3 + m5], axis=-1)
    return np.concatenate([upper, np.concatenate([m2 + m4, m1 - m2 + m3 + m6], axis=-1)], axis=-2)


def _halves(half: int) -> tuple[slice, slice]:
    return slice(0, half), slice(half, None)


def test_this_numpy_keeps_them() -> None:
    premises.check_premises.__wrapped__()


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32])
def test_strassen_gets_the_products_wrong(size: int) -> None:
    for left, right, exact in premises._products(size):
        assert np.array_equal(left @ right, exact)
        assert not np.array_equal(_strassen(left, right), exact)


def test_a_complex_product_that_errs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(premises, "_UNIT", premises._UNIT / 8)
    with pytest.raises(Undecided, match="errs by more than 3u"):
        premises.check_premises.__wrapped__()
