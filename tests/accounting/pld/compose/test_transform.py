"""The transform against Arb's, within the bound it states."""

import numpy as np
import pytest
from flint import acb

from exactdp.accounting.pld.compose import transform
from exactdp.balls import precision


def _inputs(points: int) -> np.ndarray:
    generator = np.random.default_rng(points)
    return generator.random(points) - 0.5 + 1j * (generator.random(points) - 0.5)


@pytest.mark.parametrize(
    "points", [1, 2, 32, 64, 1024, 4096, pytest.param(1 << 15, marks=pytest.mark.slow)]
)
def test_within_its_bound_of_arbs(points: int) -> None:
    values = _inputs(points)
    with precision(128):
        exact = acb.dft([acb(v) for v in values.tolist()])
        transformed = [acb(v) for v in transform.forward(values.copy()).tolist()]
        bound = transform.relative_error(points) * float(np.abs(values).sum())
        assert all(abs(a - b) <= bound for a, b in zip(transformed, exact, strict=True))


@pytest.mark.parametrize("points", [2, 64, 2048])
def test_the_inverse_within_its_bound(points: int) -> None:
    values = _inputs(points)
    with precision(128):
        exact = acb.dft([acb(v) for v in values.tolist()], inverse=True)
        transformed = [acb(v) for v in transform.inverse(values.copy()).tolist()]
        bound = transform.relative_error(points) * float(np.abs(values).mean())
        assert all(abs(a - b) <= bound for a, b in zip(transformed, exact, strict=True))


@pytest.mark.parametrize("points", [64, 512, 1 << 13])
def test_rows_are_the_same_and_lead_back(points: int) -> None:
    values = _inputs(points)
    rows = transform.forward_rows(values.copy())
    bound = transform.relative_error(points) * float(np.abs(values).sum())
    assert np.abs(rows.T.reshape(-1) - transform.forward(values.copy())).max() <= 2 * bound
    with precision(128):
        exact = acb.dft([acb(v) for v in rows.T.reshape(-1).tolist()], inverse=True)
        mean = float(np.abs(rows).mean())
        transformed = [acb(v) for v in transform.inverse_rows(rows).tolist()]
        bound = transform.relative_error(points) * mean
        assert all(abs(a - b) <= bound for a, b in zip(transformed, exact, strict=True))


def test_the_bound_is_of_the_order_of_what_is_seen() -> None:
    values = _inputs(1 << 15)
    seen = np.abs(transform.forward(values.copy()) - np.fft.fft(values)).max()
    bound = transform.relative_error(1 << 15) * np.abs(values).sum()
    assert bound / 10**4 < seen < bound
