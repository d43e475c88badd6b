"""Groups on noise of integers and on Laplace noise, against sums over the noise in doubles."""

from collections.abc import Callable

import numpy as np
import pytest

from exactdp.accounting import pld
from exactdp.errors import InvalidParameter
from tests.accounting.pld.curves import Floats, excess

RATE, SIZE, SHIFT = 0.2, 3, 2
PLACES = np.arange(-400, 401)
NOISES: dict[str, tuple[pld.Pld, Callable[[Floats], Floats]]] = {
    "laplace": (
        pld.discrete_laplace(epsilon="0.6", sensitivity=SHIFT),
        lambda z: np.exp(-0.3 * np.abs(z)),
    ),
    "gaussian": (
        pld.discrete_gaussian(sigma2=9, sensitivity=SHIFT),
        lambda z: np.exp(-(z**2) / 18),
    ),
}


def _laws(density: Callable[[Floats], Floats], moves: list[int]) -> tuple[Floats, Floats]:
    """The noise moved by each user who is in the sample, and the noise alone."""
    total = density(PLACES.astype(float)).sum()
    with_ = np.zeros(len(PLACES))
    for members in range(1 << len(moves)):
        inside = [m for i, m in enumerate(moves) if members >> i & 1]
        chance = RATE ** len(inside) * (1 - RATE) ** (len(moves) - len(inside))
        with_ += chance * density((PLACES - sum(inside)).astype(float)) / total
    return with_, density(PLACES.astype(float)) / total


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1.1"])
def test_a_group_on_a_sample(noise: str, epsilon: str) -> None:
    loss, density = NOISES[noise]
    p, q = _laws(density, [SHIFT] * SIZE)
    expected = max(excess(p, q, float(epsilon)), excess(q, p, float(epsilon)))
    delta = loss.sampled(str(RATE)).grouped(SIZE).delta(epsilon, relative_width="1e-9")
    assert float(delta.lower) == pytest.approx(expected, rel=1e-9)
    assert float(delta.upper) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("moves", [[2, 2, -2], [2, 1, 0], [-2, -2, -2], [2, -1, -2]])
def test_no_other_group_leaks_more(noise: str, moves: list[int]) -> None:
    loss, density = NOISES[noise]
    group = loss.sampled(str(RATE)).grouped(SIZE)
    p, q = _laws(density, moves)
    for epsilon in ("-0.4", "0.1", "0.7"):
        for one, other in ((p, q), (q, p)):
            most = group.delta(epsilon).float_upper()
            assert excess(one, other, float(epsilon)) <= most * (1 + 1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", NOISES)
def test_two_runs_of_a_group(noise: str) -> None:
    loss, density = NOISES[noise]
    p, q = _laws(density, [SHIFT] * SIZE)
    expected = max(excess(np.outer(a, a), np.outer(b, b), 0.5) for a, b in ((p, q), (q, p)))
    delta = loss.sampled(str(RATE)).grouped(SIZE).composed(2).delta("0.5")
    assert delta.float_lower() <= expected * (1 + 1e-9)
    assert expected <= delta.float_upper() * (1 + 1e-9)
    assert delta.width <= delta.lower / 900


def test_without_sampling_a_group_is_one_user_with_its_sensitivity() -> None:
    assert pld.laplace(scale=7).grouped(4).steps == pld.laplace(scale=7, sensitivity=4).steps
    noise = pld.discrete_gaussian(sigma2=9, sensitivity=2)
    assert noise.grouped(3).steps == pld.discrete_gaussian(sigma2=9, sensitivity=6).steps
    with pytest.raises(
        InvalidParameter, match="discrete Laplace noise, for groups on samples: where"
    ):
        pld.laplace(scale=7).sampled("0.1").grouped(2)
